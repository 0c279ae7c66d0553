package replay

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// pod is a pod of the trace that has arrived and has not ended.
type pod struct {
	object *corev1.Pod
	// since is the time when the pod became pending. bound is true if the pod ever had a node. on is its present node, or nil.
	since time.Time
	bound bool
	on    *instance
}

// instance is a node of the fleet.
type instance struct {
	name  string
	claim *v1.NodeClaim
	price float64
	// terms contain the price and its possible range.
	terms terms
	// estimated says that the price is an estimate.
	estimated bool
	spot      bool
	// ready is true when the node is ready, and leaving is true while it is being emptied.
	ready, leaving bool
	pods           map[string]*pod
	// planned are the names of the pods for which the node was launched. When the node is ready, these pods are bound to it first, even if
	// other pods are pending.
	planned []string
	// readied is called once, when the node becomes ready; nil means no call.
	readied func() error
}

// engine is one simulation.
type engine struct {
	Options
	ctx    context.Context
	now    time.Time
	end    time.Time
	agenda agenda
	chance *rand.Rand
	clock  *fake.SimClock
	cloud  *fake.Cloud
	state  *cluster.State
	batch  *provisioning.Batch
	// devices allocates the devices that bound pods claim.
	devices *allocator
	// wake is the time of the next check of the batch in the agenda.
	wake  time.Time
	model *scheduling.Model
	pods  map[string]*pod
	// waiting are the pods without a node, by name.
	waiting   map[string]*pod
	instances map[string]*instance
	launched  int
	record    *record
	// revision is the view's revision at the last consolidation. moving has the nodes that commands are about to remove, with the IDs of
	// the commands.
	revision uint64
	moving   map[string]string
}

// Run simulates the trace. If the context is cancelled, it returns ctx.Err() and no result.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	e := &engine{
		Options: o, ctx: ctx, now: o.Start, end: o.Start.Add(o.Length),
		chance: rand.New(rand.NewPCG(o.Seed, 0x6472617700)),
		clock:  fake.NewSimClock(o.Start),
		pods:   map[string]*pod{}, waiting: map[string]*pod{}, instances: map[string]*instance{}, moving: map[string]string{},
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	e.record = newRecord(e)
	for i := range o.Trace {
		a := &o.Trace[i]
		if missing := e.devices.missing(a); missing != "" {
			return nil, fmt.Errorf("pod %s of the trace: there is no %s", a.Name, missing)
		}
		e.agenda.enter(o.Start.Add(a.At), func() error { return e.arrive(podOf(a), o.Start.Add(a.Until), a.Until > 0) })
	}
	for _, p := range o.Snapshot.Pods {
		e.agenda.enter(o.Start, func() error { return e.arrive(unbound(p.DeepCopy()), time.Time{}, false) })
	}
	if o.Consolidate > 0 {
		e.agenda.enter(o.Start.Add(o.Consolidate), e.shrink)
	}
	for count := 0; ; count++ {
		next, ok := e.agenda.next(e.end)
		if !ok {
			break
		}
		if count%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			o.Progress(e.now.Sub(o.Start))
		}
		e.advance(next.at)
		if err := next.do(); err != nil {
			return nil, fmt.Errorf("after %s of simulated time: %w", e.now.Sub(o.Start), err)
		}
	}
	e.advance(e.end)
	return e.record.result(e), ctx.Err()
}

// open creates the cloud that offers the instance types of the pools, and the view of an empty cluster.
func (e *engine) open() error {
	var sold []*cloudprovider.InstanceType
	seen := map[string]bool{}
	for _, name := range sortedNames(e.Snapshot.Catalogs) {
		for _, t := range e.Snapshot.Catalogs[name] {
			if !seen[t.Name] {
				seen[t.Name] = true
				sold = append(sold, t)
			}
		}
	}
	kinds := []metav1.GroupKind{}
	for i := range e.Snapshot.NodePools {
		ref := e.Snapshot.NodePools[i].Object.Spec.Template.Spec.NodeClassRef
		if kind := (metav1.GroupKind{Group: ref.Group, Kind: ref.Kind}); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	capabilities := cloudprovider.Capabilities{NodeClasses: kinds, Vocabulary: e.Snapshot.Vocabulary}
	var err error
	if e.cloud, err = fake.New(sold, fake.Options{Capabilities: &capabilities, Clock: e.clock, LaunchLatency: e.Boot / 2, ShutdownLatency: e.Drain}); err != nil {
		return fmt.Errorf("the simulated cloud: %w", err)
	}
	if e.batch, err = provisioning.NewBatch(provisioning.DefaultBatchOptions()); err != nil {
		return err
	}
	if e.state, err = cluster.New(cluster.Options{Vocabulary: e.Snapshot.Vocabulary, Kinds: []cluster.Kind{}}); err != nil {
		return err
	}
	for i := range e.Snapshot.NodePools {
		if err := e.state.Apply(cluster.Upsert(e.Snapshot.NodePools[i].Object)); err != nil {
			return err
		}
	}
	e.devices = newAllocator(e.Snapshot, e.DeviceMatcher)
	return e.state.Apply(e.devices.open(e.Snapshot)...)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// podOf returns the API object of a pod. A pod of the trace gets a controller as its owner, so that planners expect it to be created again
// after an eviction.
func podOf(a *Arrival) *corev1.Pod {
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(a.MilliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(a.Memory, resource.BinarySI),
	}
	if a.GPU > 0 {
		requests["nvidia.com/gpu"] = *resource.NewQuantity(a.GPU, resource.DecimalSI)
	}
	controller := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cmp.Or(a.Namespace, "trace"), Name: a.Name, UID: types.UID(a.Name),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "trace", UID: "trace", Controller: &controller}},
	}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "trace", Resources: corev1.ResourceRequirements{Requests: requests, Limits: corev1.ResourceList{}}}}
	claim := func(pc corev1.PodResourceClaim) {
		pc.Name = fmt.Sprint("devices-", len(p.Spec.ResourceClaims))
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, pc)
		list := &p.Spec.Containers[0].Resources.Claims
		*list = append(*list, corev1.ResourceClaim{Name: pc.Name})
	}
	for i := range a.ClaimTemplates {
		claim(corev1.PodResourceClaim{ResourceClaimTemplateName: &a.ClaimTemplates[i]})
	}
	for i := range a.Claims {
		claim(corev1.PodResourceClaim{ResourceClaimName: &a.Claims[i]})
	}
	return unbound(p)
}

// unbound removes a pod from its node, and marks the pod as unschedulable, as kube-scheduler does.
func unbound(p *corev1.Pod) *corev1.Pod {
	p.Spec.NodeName = ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
	}}
	return p
}

// advance moves the clock, and updates everything that depends on the time.
func (e *engine) advance(to time.Time) {
	e.record.pass(e, to)
	e.now = to
	e.clock.AdvanceTo(to)
}

func keyOf(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// arrive handles the arrival of a pod.
func (e *engine) arrive(object *corev1.Pod, until time.Time, departs bool) error {
	p := &pod{object: object, since: e.now}
	key := keyOf(object)
	if e.pods[key] != nil {
		return fmt.Errorf("pod %s occurs twice: the trace and the input both have a pod of this name", key)
	}
	e.pods[key], e.waiting[key] = p, p
	e.record.arrived++
	if departs {
		e.agenda.enter(until, func() error { return e.depart(key) })
	}
	return e.await(p)
}

// await adds a pending pod to the cluster state and to the batch.
func (e *engine) await(p *pod) error {
	if err := e.state.Apply(cluster.Upsert(p.object)); err != nil {
		return err
	}
	e.batch.Trigger(p.object.UID, e.now)
	e.look()
	return nil
}

// look adds the next check of the batch to the agenda, unless the agenda already contains an earlier check.
func (e *engine) look() {
	due, again := e.batch.Next(e.now)
	if due {
		again = 0
	} else if again == 0 {
		return
	}
	at := e.now.Add(again)
	if e.wake.After(e.now) && !at.Before(e.wake) {
		return
	}
	e.wake = at
	e.agenda.enter(at, func() error {
		if due, _ := e.batch.Next(e.now); !due {
			e.look()
			return nil
		}
		return e.plan()
	})
}

// depart handles the end of a pod.
func (e *engine) depart(key string) error {
	p := e.pods[key]
	if p == nil {
		return nil
	}
	if !p.bound {
		e.record.never++
		if refused := e.record.refused[key]; refused != nil {
			e.record.gone = append(e.record.gone, refused)
		}
	}
	delete(e.pods, key)
	delete(e.waiting, key)
	if p.on != nil {
		delete(p.on.pods, key)
		e.record.unbound(p)
		return e.state.Apply(append(e.devices.free(p.object), cluster.Delete(p.object))...)
	}
	return e.state.Apply(cluster.Delete(p.object))
}

// view returns the present state of the cluster.
func (e *engine) view() *cluster.View {
	v := e.state.Snapshot(cluster.Query{Time: e.now, NodePools: e.Snapshot.NodePools, Catalogs: e.Snapshot.Catalogs})
	s := v.Snapshot
	s.CostModel, s.DaemonSets, s.NodeOverlays = e.Snapshot.CostModel, e.Snapshot.DaemonSets, e.Snapshot.NodeOverlays
	return v
}

// compile creates a Model of the view, from the previous Model if there is one.
func (e *engine) compile(s *scheduling.Snapshot) error {
	var err error
	if e.model == nil {
		e.model, err = scheduling.Compile(s, scheduling.WithDeviceMatcher(e.DeviceMatcher))
	} else {
		e.model, err = e.model.Update(s)
	}
	return err
}

// plan runs one planning pass: it binds pods that are planned on ready nodes, and launches nodes for other pods.
func (e *engine) plan() error {
	e.batch.Begin(e.now)
	defer e.batch.End(true, e.now)
	if len(e.waiting) == 0 {
		return nil
	}
	e.record.passes++
	v := e.view()
	if err := e.compile(v.Snapshot); err != nil {
		return err
	}
	plan, err := e.model.Solve(e.ctx, e.Query)
	if err != nil {
		return err
	}
	for _, node := range plan.Existing {
		m := e.instances[node.Name]
		if m == nil || !m.ready || m.leaving {
			continue
		}
		for _, key := range node.Pods {
			if err := e.bind(e.waiting[key.String()], m); err != nil {
				return err
			}
		}
	}
	orders, err := provisioning.Decide(v.Snapshot, plan, provisioning.PassOptions{DeviceMatcher: e.DeviceMatcher})
	if err != nil {
		return err
	}
	for i := range orders.Launches {
		m, err := e.launch(orders.Launches[i].Claim)
		if err != nil {
			return err
		}
		for _, key := range orders.Launches[i].Pods {
			if m != nil {
				m.planned = append(m.planned, key.String())
			}
		}
	}
	e.record.refuse(plan.Unschedulable)
	return nil
}
