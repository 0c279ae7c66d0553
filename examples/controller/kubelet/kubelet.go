// Package kubelet simulates kubelets on a real API server, for instances that exist only in a test. Nodes register, become ready and send
// heartbeats. Pods that are bound to them run, and terminating pods and the pods of deleted nodes are removed.
//
//	s, err := kubelet.Start(ctx, client, kubelet.Options{})
//	s.Boot(instance.Node(), kubelet.Behaviour{ReadyAfter: time.Second}) // for instance from fake.Options.OnLaunch
//	s.PowerOff(instance.NodeName)                                       // and from OnTerminate
//	cancel()
//	s.Wait()
//
// Failed requests are repeated, so the API server may be unavailable for a while. A block storage driver is simulated as well:
// see StorageDriver.
package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/drawknife/drawknife/api/option"
)

// DefaultHeartbeat is how often a kubelet renews its lease.
const DefaultHeartbeat = 10 * time.Second

// workers is the number of goroutines that process pods.
const workers = 8

// Options are the options of a simulator.
type Options struct {
	// Heartbeat is how often leases are renewed; more than 0. Nil is DefaultHeartbeat.
	Heartbeat *time.Duration
	// Log logs errors whose requests are repeated; nil discards the errors.
	Log *slog.Logger
	// Run runs the program of a pod, and returns its exit code. Run is called once for each pod, in a goroutine of its own. Its context ends
	// when the pod is deleted or the simulator stops; Run must then return soon. Nil means that pods have no program: see CompletesAfter.
	Run func(ctx context.Context, pod *corev1.Pod) int
}

// Behaviour says how the kubelet of one instance behaves. The zero value is a healthy kubelet without delays.
type Behaviour struct {
	// NeverRegisters means that the instance runs but never creates its Node.
	NeverRegisters bool
	// RegisterAfter is the time from the instance's start until its Node is created.
	RegisterAfter time.Duration
	// ReadyAfter is the time from the creation of the Node until the node is ready.
	ReadyAfter time.Duration
	// Less is subtracted from the capacity and allocatable resources passed to Boot.
	Less corev1.ResourceList
	// Drivers are the storage drivers on the node, for its CSINode. Nil means StorageDriver without a limit; an empty list means no driver.
	Drivers []storagev1.CSINodeDriver
	// HoldsPods simulates a hanging kubelet: terminating pods stay.
	HoldsPods bool
}

// Simulator simulates kubelets. It is safe for concurrent use. Start returns one.
type Simulator struct {
	client  kubernetes.Interface
	options Options
	ctx     context.Context
	wg      sync.WaitGroup

	pods    cache.SharedIndexInformer
	claims  corelisters.PersistentVolumeClaimLister
	classes storagelisters.StorageClassLister
	nodes   corelisters.NodeLister
	queue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
	storage workqueue.TypedRateLimitingInterface[storageWork]

	mu sync.Mutex
	// instances are the instances that were booted, by the name of their node, until both the instance and the node are gone.
	instances map[string]*instance
	// programs are the programs of pods that were started, by the UID of the pod. They stay after their end, so that none is started twice.
	programs map[types.UID]*program
}

// instance is an instance that was booted.
type instance struct {
	behaviour Behaviour
	// off stops the kubelet.
	off context.CancelFunc
	// running is true until PowerOff is called.
	running bool
	// registered is true once the Node was created; ready is true once the Node was ready for the first time.
	registered, ready bool
}

// Start starts a simulator without instances. It runs until the context ends; Wait waits until it has stopped.
func Start(ctx context.Context, client kubernetes.Interface, options Options) (*Simulator, error) {
	if beat := option.Or(options.Heartbeat, DefaultHeartbeat); beat <= 0 {
		return nil, &option.Error{Package: "kubelet", Option: "Heartbeat", Rule: fmt.Sprintf("is %s: it must be more than 0", beat)}
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{
		client:    client,
		options:   options,
		ctx:       ctx,
		instances: map[string]*instance{},
		programs:  map[types.UID]*program{},
		queue:     newQueue[types.NamespacedName](),
		storage:   newQueue[storageWork](),
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	for range workers {
		s.wg.Go(func() { work(ctx, s.queue, s.syncPod, s.log) })
	}
	s.wg.Go(func() { work(ctx, s.storage, s.syncStorage, s.log) })
	s.wg.Go(s.heartbeats)
	return s, nil
}

// Wait returns when everything has stopped after the end of the context given to Start.
func (s *Simulator) Wait() { s.wg.Wait() }

// Boot starts an instance whose kubelet registers the node with that name, labels, taints, provider ID and resources. Boot does not wait
// for the node. Pods that are already bound to the node, for example before this process started, are managed too. If an instance with that
// node name already runs, nothing happens.
func (s *Simulator) Boot(node *corev1.Node, behaviour Behaviour) {
	ctx, off := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.instances[node.Name]; m != nil && m.running || s.ctx.Err() != nil {
		off()
		return
	}
	// Record the instance before its node exists: the first pod may be bound as soon as the node is ready.
	s.instances[node.Name] = &instance{behaviour: behaviour, off: off, running: true}
	s.requeue(node.Name)
	s.wg.Go(func() {
		defer off()
		s.register(ctx, node.DeepCopy(), behaviour)
	})
}

// PowerOff stops an instance at once: heartbeats stop, and pods and node stay as they are until someone deletes them.
func (s *Simulator) PowerOff(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.instances[name]
	if m == nil {
		return
	}
	m.off()
	m.running = false
	if !m.registered {
		delete(s.instances, name)
	}
}

// SetBehaviour changes the behaviour of an instance from now on. This also affects its existing pods. An unknown name is ignored.
func (s *Simulator) SetBehaviour(name string, behaviour Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.instances[name]; m != nil {
		m.behaviour = behaviour
		s.requeue(name)
	}
}

// Running returns the names of the instances that are on, registered or not.
func (s *Simulator) Running() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, m := range s.instances {
		if m.running {
			names = append(names, name)
		}
	}
	return names
}

// runs returns the behaviour of an instance, or false if the instance does not run.
func (s *Simulator) runs(name string) (Behaviour, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.instances[name]; m != nil && m.running {
		return m.behaviour, true
	}
	return Behaviour{}, false
}

// nodeDeleted forgets the instance of a deleted node, unless the instance still runs, and reports whether the node belonged to a simulated
// instance.
func (s *Simulator) nodeDeleted(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.instances[name]
	if m != nil && !m.running {
		delete(s.instances, name)
	}
	return m != nil
}

func (s *Simulator) log(task string, err error) {
	if s.ctx.Err() == nil {
		s.options.Log.Warn("cannot complete task of simulated kubelet", "task", task, "error", err)
	}
}
