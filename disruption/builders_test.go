package disruption_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// now is a Monday, 10:00 UTC.
func now() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }

// amounts are of pairs "name=amount".
func amounts(pairs ...string) corev1.ResourceList {
	var list []string
	for _, pair := range pairs {
		name, amount, _ := strings.Cut(pair, "=")
		list = append(list, name, amount)
	}
	return build.Amounts(list...)
}

// instanceType has so many cores, 4Gi of memory for each, and is sold at the price for each capacity type, "on-demand=0.1",
// in zones a and b.
func instanceType(name string, cores int, prices ...string) *cloudprovider.InstanceType {
	t := build.InstanceType(name, build.CPU(strconv.Itoa(cores)), build.Memory(fmt.Sprintf("%dGi", 4*cores)))
	t.Requirements = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name))
	for _, pair := range prices {
		capacityType, text, _ := strings.Cut(pair, "=")
		var price float64
		if _, err := fmt.Sscanf(text, "%g", &price); err != nil {
			panic(err)
		}
		for _, zone := range []string{"a", "b"} {
			t.Offerings = append(t.Offerings, build.Offering(zone, capacityType, price))
		}
	}
	return t
}

// world is a cluster to put together.
type world struct {
	snapshot *scheduling.Snapshot
	changes  []func(*cluster.View)
	input    disruption.Input
}

// newWorld has the pool "default" with types of 2, 4, 8 and 16 cores at 0.05 USD/h a core, on demand.
func newWorld() *world {
	w := &world{snapshot: &scheduling.Snapshot{Time: now(), Vocabulary: requirements.CoreVocabulary()}}
	w.catalog("all", instanceType("c2", 2, "on-demand=0.1"), instanceType("c4", 4, "on-demand=0.2"),
		instanceType("c8", 8, "on-demand=0.4"), instanceType("c16", 16, "on-demand=0.8"))
	w.pool("default")
	return w
}

func (w *world) catalog(name string, types ...*cloudprovider.InstanceType) {
	if w.snapshot.Catalogs == nil {
		w.snapshot.Catalogs = map[string][]*cloudprovider.InstanceType{}
	}
	w.snapshot.Catalogs[name] = types
}

// pool adds a pool of the catalog "all" without budgets, or changes it.
func (w *world) pool(name string, change ...func(*v1.NodePool)) *v1.NodePool {
	var pool *v1.NodePool
	for i := range w.snapshot.NodePools {
		if w.snapshot.NodePools[i].Object.Name == name {
			pool = w.snapshot.NodePools[i].Object
		}
	}
	if pool == nil {
		pool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("pool-" + name)}}
		pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
		pool.Spec.Disruption.Budgets = []v1.Budget{}
		w.snapshot.NodePools = append(w.snapshot.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(name), Object: pool, Catalog: "all"})
	}
	for _, f := range change {
		f(pool)
	}
	return pool
}

func after(text string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		d, err := v1.ParseNillableDuration(text)
		if err != nil {
			panic(err)
		}
		p.Spec.Disruption.ConsolidateAfter = d
	}
}

func policy(is v1.ConsolidationPolicy) func(*v1.NodePool) {
	return func(p *v1.NodePool) { p.Spec.Disruption.ConsolidationPolicy = is }
}

func budgets(list ...v1.Budget) func(*v1.NodePool) {
	return func(p *v1.NodePool) { p.Spec.Disruption.Budgets = list }
}

func replicas(n int64) func(*v1.NodePool) {
	return func(p *v1.NodePool) { p.Spec.Replicas = &n }
}

// node is one of the snapshot, with the NodeClaim it was made for.
type nodeOption func(*scheduling.Node)

// node adds an initialised, ready node of the type, on demand in zone a of the pool "default", a day old.
func (w *world) node(name, instance string, options ...nodeOption) *scheduling.Node {
	since, id := now().Add(-24*time.Hour), build.ProviderID("cloud://"+name)
	claim := build.Claim("claim-"+name, id, build.UID("uid-"+name), build.Created(since), build.Labels(), build.Initialized(since))
	claim.Status.NodeName, claim.Spec.ExpireAfter = name, v1.Never()
	object := build.Node(name, id, build.OfPool("default"), build.Created(since), build.Initialized(since),
		build.Labels(corev1.LabelInstanceTypeStable, instance, corev1.LabelTopologyZone, "a", v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	for _, t := range w.snapshot.Catalogs["all"] {
		if t.Name == instance {
			object.Status.Capacity, object.Status.Allocatable = t.Capacity, t.Allocatable()
		}
	}
	n := scheduling.Node{Name: name, Object: object, Claim: claim, Pool: v1.NewPoolKey("default")}
	for _, o := range options {
		o(&n)
	}
	for k, v := range n.Object.Labels {
		n.Claim.Labels[k] = v
	}
	n.Pool = scheduling.PoolOf(n.Object.Labels)
	w.snapshot.Nodes = append(w.snapshot.Nodes, n)
	return &w.snapshot.Nodes[len(w.snapshot.Nodes)-1]
}

func holding(list ...*corev1.Pod) nodeOption {
	return func(n *scheduling.Node) {
		for _, p := range list {
			p.Spec.NodeName = n.Name
			n.Pods = append(n.Pods, p)
		}
	}
}

func labelled(key, value string) nodeOption {
	return func(n *scheduling.Node) {
		if value == "" {
			delete(n.Object.Labels, key)
			return
		}
		n.Object.Labels[key] = value
	}
}

func ofPool(name string) nodeOption { return labelled(v1.NodePoolLabelKey, name) }
func bought(as string) nodeOption   { return labelled(v1.CapacityTypeLabelKey, as) }
func annotated(k, v string) nodeOption {
	return func(n *scheduling.Node) { n.Object.Annotations = map[string]string{k: v} }
}

func drifted(ago time.Duration) nodeOption {
	return func(n *scheduling.Node) {
		n.Claim.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, "Drifted", "Drifted", now().Add(-ago))
	}
}

func grace(d time.Duration) nodeOption {
	return func(n *scheduling.Node) {
		period := v1.NewDuration(d)
		n.Claim.Spec.TerminationGracePeriod = &period
	}
}

func notReady(n *scheduling.Node) {
	n.Object.Status.Conditions[0].Status = corev1.ConditionUnknown
}

func leaving(n *scheduling.Node) { n.Leaving = true }

type podOption = build.PodFunc

// pod requests one core and a GiB and is owned by a ReplicaSet.
func pod(name string, options ...podOption) *corev1.Pod {
	p := build.Pod(name, build.UID(name), build.CPU("1"), build.Memory("1Gi"))
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "rs"}}
	p.Status.Phase = corev1.PodRunning
	for _, o := range options {
		o(p)
	}
	return p
}

// pods are n pods of so many cores.
func pods(prefix string, n int, cpu string, options ...podOption) []*corev1.Pod {
	out := make([]*corev1.Pod, n)
	for i := range out {
		out[i] = pod(fmt.Sprintf("%s-%d", prefix, i), append([]podOption{asks("cpu=" + cpu)}, options...)...)
	}
	return out
}

func asks(pairs ...string) podOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts(pairs...) }
}

func owned(kind string) podOption {
	return func(p *corev1.Pod) {
		version := appsv1.SchemeGroupVersion.String()
		if kind == "Node" {
			version = "v1"
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "owner", UID: "owner"}}
		if kind == "" {
			p.OwnerReferences = nil
		}
	}
}

func terminating(p *corev1.Pod) {
	at := metav1.NewTime(now().Add(30 * time.Second))
	p.DeletionTimestamp = &at
}

func ended(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }

func podAnnotated(k, v string) podOption {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{k: v} }
}

func started(ago time.Duration) podOption {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(now().Add(-ago))
		p.Status.StartTime = &at
	}
}

func app(name string) podOption {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": name} }
}

// pdb allows so many disruptions of the app's pods.
func (w *world) pdb(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptionsAllowed = allowed
	w.snapshot.PodDisruptionBudgets = append(w.snapshot.PodDisruptionBudgets, b)
	return b
}

// nodeState has the node's view changed before the fleet is surveyed.
func (w *world) nodeState(name string, change func(*cluster.NodeState)) {
	w.changes = append(w.changes, func(v *cluster.View) {
		for i := range v.Nodes {
			if v.Nodes[i].Name == name {
				change(&v.Nodes[i])
			}
		}
	})
}

func (w *world) fleet(t testing.TB) *disruption.Fleet {
	t.Helper()
	in := w.input
	in.View = disruption.ViewOf(w.snapshot)
	for _, f := range w.changes {
		f(in.View)
	}
	f, err := disruption.Survey(in)
	if err != nil {
		t.Fatal("Survey:", err)
	}
	return f
}

func (w *world) tracker(t testing.TB) (*disruption.Fleet, *disruption.BudgetTracker) {
	t.Helper()
	f := w.fleet(t)
	l, err := disruption.NewBudgetTracker(f)
	if err != nil {
		t.Fatal("NewBudgetTracker:", err)
	}
	return f, l
}

// blocked is the code that keeps the node from being a candidate, or from the method; "" for nothing.
func blocked(f *disruption.Fleet, m disruption.Method, node string) disruption.BlockCode {
	if why := f.Blocked[node]; why != nil {
		return why.Code
	}
	_, refused := f.Eligible(m)
	if why := refused[node]; why != nil {
		return why.Code
	}
	return ""
}

func ptr[T any](v T) *T { return &v }
