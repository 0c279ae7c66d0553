package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// poolName is the name of the only NodePool.
const poolName = "conformance-engine"

// world is an API server, kubelets and a controller in memory, above the provider's instances.
type world struct {
	conformance.Subject
	t         testing.TB
	options   Options
	now       time.Time
	pool      *v1.NodePool
	lifecycle *provisioning.Lifecycle
	claims    map[string]*v1.NodeClaim
	nodes     map[string]*corev1.Node
	pods      map[types.NamespacedName]*corev1.Pod
	version   int
	named     int
	log       []string
	// steps counts the steps. The field ended is true if an effect found its object missing or changed. The remaining effects for this
	// object are then skipped.
	steps int
	ended bool

	// vanish deletes an object before effect number vanishAt of the current life of a node; effects counts the effects of this life. vanish
	// is nil if no object vanishes.
	vanish            func() bool
	effects, vanishAt int
	// silent are instances whose Node was deleted: their kubelets do not create the Node again.
	silent map[string]bool
	// poolBack is the step at which a deleted NodePool is created again.
	poolBack int

	// disrupts is true if nodes are consolidated and drifted nodes are replaced; commands are the commands in progress.
	disrupts bool
	commands map[string]*command
	detector cloudprovider.DriftDetector
	source   cloudprovider.InterruptionSource
	policies []cloudprovider.RepairPolicy
}

// command is a disruption command that has launched its replacements and waits for them.
type command struct {
	*disruption.Command
	launched []string // names of claims
}

func newWorld(t testing.TB, s conformance.Subject, o Options) *world {
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	if s.Provider == nil {
		t.Fatal("the factory gave no provider: set Subject.Provider")
	}
	if s.Advance == nil {
		t.Skip("needs the hook Advance")
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	}
	caps := s.Provider.Describe()
	if s.NodeClass == (v1.NodeClassReference{}) {
		kind := caps.DefaultNodeClass()
		s.NodeClass = v1.NodeClassReference{Group: kind.Group, Kind: kind.Kind, Name: "default"}
	}
	times := provisioning.DefaultLifecycleOptions()
	times.LaunchTimeout = caps.LaunchTimeoutOrDefault()
	lifecycle, err := provisioning.NewLifecycle(times)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		Subject: s, t: t, options: o, now: o.Start, lifecycle: lifecycle, claims: map[string]*v1.NodeClaim{},
		nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}, commands: map[string]*command{}, silent: map[string]bool{},
	}
	w.pool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: poolName, UID: poolName, Generation: 1}}
	w.pool.Spec.Template.Spec.NodeClassRef = s.NodeClass
	w.pool.Spec.Template.Spec.Requirements = s.Requirements
	w.pool.Spec.Disruption.Budgets = []v1.Budget{} // nothing is bounded
	w.pool.Default()
	for _, condition := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady, v1.ConditionNodeRegistrationHealthy} {
		w.pool.Conditions().SetTrue(condition, w.now)
	}
	return w
}

// run adds n pods; cpu is the CPU request of each.
func (w *world) run(app string, n int, cpu string) {
	controlled := true
	for i := range n {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: fmt.Sprint(app, "-", i), UID: types.UID(fmt.Sprint(app, "-", i)),
				Labels: map[string]string{"app": app}, CreationTimestamp: metav1.NewTime(w.now),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID(app), Controller: &controlled}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending},
		}
		w.pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
}

// stop removes an app's pods. After that, consolidation removes their nodes.
func (w *world) stop(app string) {
	maps.DeleteFunc(w.pods, func(_ types.NamespacedName, p *corev1.Pod) bool { return p.Labels["app"] == app })
	w.disrupts = true
}

func (w *world) allRun() bool {
	for _, p := range w.pods {
		if p.Spec.NodeName == "" {
			return false
		}
	}
	return len(w.commands) == 0
}

func (w *world) empty() bool {
	listed, err := w.Provider.List(w.t.Context())
	ours := 0
	for _, c := range listed {
		if c.Labels[v1.NodePoolLabelKey] == poolName {
			ours++
		}
	}
	return err == nil && ours == 0 && len(w.claims) == 0 && len(w.nodes) == 0
}

// anyInstance returns the provider ID of the instance with the most pods.
func (w *world) anyInstance() string {
	best, most := "", -1
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if n := len(w.podsOn(name)); n > most {
			best, most = w.nodes[name].Spec.ProviderID, n
		}
	}
	return best
}

// has reports whether a claim or a node of the instance exists.
func (w *world) has(providerID string) bool {
	for _, n := range w.nodes {
		if n.Spec.ProviderID == providerID {
			return true
		}
	}
	for _, c := range w.claims {
		if c.Status.ProviderID == providerID {
			return true
		}
	}
	return false
}

func (w *world) podsOn(node string) []*corev1.Pod {
	var on []*corev1.Pod
	for _, key := range slices.SortedFunc(maps.Keys(w.pods), func(a, b types.NamespacedName) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	}) {
		if p := w.pods[key]; p.Spec.NodeName == node {
			on = append(on, p)
		}
	}
	return on
}

// price returns the sum of the catalogue's prices of all claims, in USD per hour.
func (w *world) price() float64 {
	types, err := w.Provider.InstanceTypes(w.t.Context(), w.pool)
	if err != nil {
		w.t.Fatalf("instance types: %v", err)
	}
	sum := 0.0
	for _, c := range w.claims {
		for _, t := range types {
			for i := range t.Offerings {
				o := &t.Offerings[i]
				if t.Name == c.Labels[corev1.LabelInstanceTypeStable] && o.Zone() == c.Labels[corev1.LabelTopologyZone] && o.CapacityType() == c.Labels[v1.CapacityTypeLabelKey] {
					sum += o.Price
				}
			}
		}
	}
	return sum
}

// sound checks three conditions that must hold whenever all pods run: no node has more pods than fit on it, each instance of the provider
// has one claim, and each claim has an instance.
func (w *world) sound() {
	for name, node := range w.nodes {
		var used resource.Quantity
		for _, p := range w.podsOn(name) {
			used.Add(*p.Spec.Containers[0].Resources.Requests.Cpu())
		}
		if has := node.Status.Allocatable[corev1.ResourceCPU]; used.Cmp(has) > 0 {
			w.t.Errorf("node %q has %s cores and pods that ask for %s", name, has.String(), used.String())
		}
	}
	listed, err := w.Provider.List(w.t.Context())
	if err != nil {
		w.t.Fatalf("listing: %v", err)
	}
	claims, deleted := map[types.UID]int{}, map[types.UID]bool{}
	for _, c := range w.claims {
		claims[c.UID], deleted[c.UID] = 0, c.DeletionTimestamp != nil
	}
	for _, m := range listed {
		if n, ours := claims[m.UID]; ours && m.DeletionTimestamp.IsZero() {
			claims[m.UID] = n + 1
		} else if !ours && m.Labels[v1.NodePoolLabelKey] == poolName && m.DeletionTimestamp.IsZero() {
			w.t.Errorf("instance %q runs without a claim", m.Status.ProviderID)
		}
	}
	for uid, n := range claims {
		if n != 1 && (n != 0 || !deleted[uid]) { // a deleted claim may have no running instance: the instance is shutting down
			w.t.Errorf("claim %q has %d instances", uid, n)
		}
	}
}

// until calls w.step repeatedly, until so() is true.
func (w *world) until(what string, so func() bool) {
	for range w.options.Steps {
		if so() {
			return
		}
		w.step()
	}
	w.t.Fatalf("%s: not after %d steps of %s; %d claims, %d nodes, %d pods; the last of what was done: %q",
		what, w.options.Steps, w.options.Step, len(w.claims), len(w.nodes), len(w.pods), w.log[max(0, len(w.log)-15):])
}

// pass lets time pass without reconciling anything.
func (w *world) pass(d time.Duration) {
	w.Advance(d)
	w.now = w.now.Add(d)
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) putNode(node *corev1.Node) {
	if node.DeletionTimestamp != nil && len(node.Finalizers) == 0 {
		delete(w.nodes, node.Name)
		for _, p := range w.podsOn(node.Name) {
			w.unbind(p)
		}
		return
	}
	w.version++
	node.ResourceVersion = strconv.Itoa(w.version)
	w.nodes[node.Name] = node
}

func (w *world) putClaim(claim *v1.NodeClaim) {
	if claim.DeletionTimestamp != nil && len(claim.Finalizers) == 0 {
		delete(w.claims, claim.Name)
		return
	}
	w.version++
	claim.ResourceVersion = strconv.Itoa(w.version)
	w.claims[claim.Name] = claim
}

func (w *world) deleteClaim(name string) {
	c := w.claims[name]
	if c == nil || c.DeletionTimestamp != nil {
		return
	}
	out := c.DeepCopy()
	out.DeletionTimestamp = &metav1.Time{Time: w.now}
	w.putClaim(out)
}

// unbind makes a pod pending again, as if its ReplicaSet had created another.
func (w *world) unbind(p *corev1.Pod) {
	again := p.DeepCopy()
	again.Spec.NodeName, again.Status.Phase = "", corev1.PodPending
	w.pods[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = again
}
