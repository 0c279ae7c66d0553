package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/fake"
)

// These are the start-up and shutdown times of simulated instances.
const (
	simulatedLaunch   = 5 * time.Second
	simulatedBoot     = 2 * time.Second
	simulatedShutdown = 5 * time.Second
	simulationTick    = 200 * time.Millisecond
)

// simulation is a fake cloud. Its instances join the cluster as Node objects, but no real servers run behind them. At its first call about
// instances, it restores the instances of earlier processes from the cluster's NodeClaims. Only the leader makes such calls, so no other
// process launches at that time. Before that call it writes nothing.
type simulation struct {
	*fake.Cloud
	// ctx ends with the process.
	ctx     context.Context
	clients kubernetes.Interface
	reader  client.Reader
	// still is true if no kubelets are simulated. A simulated kubelet writes to the cluster.
	still bool
	log   *slog.Logger

	mu       sync.Mutex
	awake    bool
	kubelets *kubelet.Simulator
}

// simulationOptions are the options of a simulation.
type simulationOptions struct {
	// catalog is the value of --fake-catalog; generic is the only known value.
	catalog string
	// alpha adds support for Provisioners.
	alpha bool
	// still means that no kubelets are simulated.
	still bool
	// launchCost is fake.Options.LaunchCost.
	launchCost func(v1.PoolKey) cloudprovider.LaunchCost
}

func newSimulation(ctx context.Context, mgr ctrl.Manager, o simulationOptions, log *slog.Logger) (*simulation, error) {
	types, err := simulatedTypes(o.catalog)
	if err != nil {
		return nil, err
	}
	s := &simulation{ctx: ctx, reader: mgr.GetAPIReader(), still: o.still, log: log}
	if s.clients, err = kubernetes.NewForConfig(mgr.GetConfig()); err != nil {
		return nil, err
	}
	capabilities := fake.GenericCapabilities()
	if o.alpha { // Provisioners refer to EC2NodeClasses, which have no effect on simulated instances
		capabilities.NodeClasses = append(capabilities.NodeClasses, metav1.GroupKind{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass})
	}
	s.Cloud, err = fake.New(types, fake.Options{
		Capabilities:  &capabilities,
		LaunchCost:    o.launchCost,
		LaunchLatency: simulatedLaunch, ShutdownLatency: simulatedShutdown,
		OnLaunch:    func(i fake.Instance) { s.kubelets.Boot(i.Node(), kubelet.Behaviour{ReadyAfter: simulatedBoot}) },
		OnTerminate: func(i fake.Instance) { s.kubelets.PowerOff(i.NodeName) },
	})
	if err != nil {
		return nil, err
	}
	return s, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		ticker := time.NewTicker(simulationTick)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				s.Settle()
			}
		}
	}))
}

// wake restores the instances of existing NodeClaims in the fake cloud and, unless still is true, starts their kubelets. After the first
// success, it does nothing.
func (s *simulation) wake(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.awake {
		return nil
	}
	var claims v1.NodeClaimList
	if err := s.reader.List(ctx, &claims); err != nil {
		return fmt.Errorf("reading the nodeclaims of earlier simulated instances: %w", err)
	}
	if s.kubelets == nil && !s.still {
		var err error
		if s.kubelets, err = kubelet.Start(s.ctx, s.clients, kubelet.Options{Log: s.log}); err != nil {
			return err
		}
	}
	for i := range claims.Items {
		if err := s.Restore(&claims.Items[i]); err != nil {
			return err
		}
	}
	if !s.still {
		if err := s.bootRestored(ctx, claims.Items); err != nil {
			return err
		}
	}
	s.awake = true
	return nil
}

// bootRestored starts the kubelets of restored instances. Before that, it continues the termination of instances that an earlier process
// began to terminate. Otherwise a simulated kubelet could register a drained node again, and nobody would remove it.
func (s *simulation) bootRestored(ctx context.Context, claims []v1.NodeClaim) error {
	for i := range claims {
		claim := claims[i].DeepCopy()
		if claim.DeletionTimestamp == nil || !claim.Conditions().IsTrue(v1.ConditionInstanceTerminating) {
			continue
		}
		if err := s.Cloud.Delete(ctx, claim); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
			return fmt.Errorf("terminating the instance of nodeclaim %q: %w", claim.Name, err)
		}
	}
	for _, i := range s.Instances() {
		if i.Phase == fake.Running {
			s.kubelets.Boot(i.Node(), kubelet.Behaviour{})
		}
	}
	return nil
}

// Create launches an instance.
func (s *simulation) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if err := s.wake(ctx); err != nil {
		return nil, err
	}
	return s.Cloud.Create(ctx, claim)
}

// Delete terminates an instance.
func (s *simulation) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	if err := s.wake(ctx); err != nil {
		return err
	}
	return s.Cloud.Delete(ctx, claim)
}

// Get describes an instance.
func (s *simulation) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	if err := s.wake(ctx); err != nil {
		return nil, err
	}
	return s.Cloud.Get(ctx, providerID)
}

// List describes all instances.
func (s *simulation) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	if err := s.wake(ctx); err != nil {
		return nil, err
	}
	return s.Cloud.List(ctx)
}

// IsDrifted reports whether an instance differs from what would be launched now.
func (s *simulation) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	if err := s.wake(ctx); err != nil {
		return "", err
	}
	return s.Cloud.IsDrifted(ctx, claim)
}

// Registered reports whether a node may take pods.
func (s *simulation) Registered(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.GateResult, error) {
	if err := s.wake(ctx); err != nil {
		return cloudprovider.GateResult{}, err
	}
	return s.Cloud.Registered(ctx, claim)
}
