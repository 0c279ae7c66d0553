package disruption_test

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// later is the world after some time, with lists of its own: what is changed in it must be copied first.
func (w *world) later(d time.Duration) *world {
	next := *w
	s := *w.snapshot
	s.Time = s.Time.Add(d)
	s.Nodes, s.NodePools, s.Pods = slices.Clone(s.Nodes), slices.Clone(s.NodePools), slices.Clone(s.Pods)
	s.PodDisruptionBudgets = slices.Clone(s.PodDisruptionBudgets)
	next.snapshot, next.changes = &s, slices.Clone(w.changes)
	return &next
}

// anyNode is one of the nodes with objects of its own.
func anyNode(rt *rapid.T, w *world) *scheduling.Node {
	n := &w.snapshot.Nodes[rapid.IntRange(0, len(w.snapshot.Nodes)-1).Draw(rt, "node")]
	n.Object, n.Claim, n.Pods = n.Object.DeepCopy(), n.Claim.DeepCopy(), slices.Clone(n.Pods)
	return n
}

// anyPod is one of the pods of any node, an object of its own; nil if that has none.
func anyPod(rt *rapid.T, w *world) *corev1.Pod {
	n := anyNode(rt, w)
	if len(n.Pods) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(n.Pods)-1).Draw(rt, "pod")
	n.Pods[i] = n.Pods[i].DeepCopy()
	return n.Pods[i]
}

// anyPool is one of the pools, an object of its own.
func anyPool(rt *rapid.T, w *world) *v1.NodePool {
	p := &w.snapshot.NodePools[rapid.IntRange(0, len(w.snapshot.NodePools)-1).Draw(rt, "pool")]
	p.Object = p.Object.DeepCopy()
	return p.Object
}

func onPod(change func(*corev1.Pod)) func(*rapid.T, *world) {
	return func(rt *rapid.T, w *world) {
		if p := anyPod(rt, w); p != nil {
			change(p)
		}
	}
}

func onNode(change func(*scheduling.Node)) func(*rapid.T, *world) {
	return func(rt *rapid.T, w *world) { change(anyNode(rt, w)) }
}

func onPool(change func(*v1.NodePool)) func(*rapid.T, *world) {
	return func(rt *rapid.T, w *world) { change(anyPool(rt, w)) }
}

func onNodeState(change func(*cluster.NodeState)) func(*rapid.T, *world) {
	return func(rt *rapid.T, w *world) { w.nodeState(anyNode(rt, w).Name, change) }
}

// onOffering changes the offerings of a type that nodes of the catalog are bought as.
func onOffering(change func(*cloudprovider.Offering)) func(*rapid.T, *world) {
	return func(rt *rapid.T, w *world) {
		list := slices.Clone(w.snapshot.Catalogs["all"])
		i := rapid.IntRange(0, len(list)-1).Draw(rt, "type")
		it := *list[i]
		it.Offerings = slices.Clone(it.Offerings)
		for k := range it.Offerings {
			change(&it.Offerings[k])
		}
		list[i] = &it
		w.snapshot.Catalogs = map[string][]*cloudprovider.InstanceType{"all": list}
	}
}

// mutation is one change of a fleet.
type mutation struct {
	name string
	do   func(*rapid.T, *world)
}

// mutations are all kinds of what a plan depends on, each changed alone.
func mutations() []mutation {
	quarter := func(o *cloudprovider.Offering) { o.Price /= 4 }
	return []mutation{
		{"a pod asks for less", onPod(asks("cpu=50m", "memory=100Mi"))},
		{"a pod asks for more", onPod(asks("cpu=1900m", "memory=100Mi"))},
		{"a pod must not be disrupted", onPod(podAnnotated(v1.DoNotDisruptAnnotationKey, "true"))},
		{"a pod must not be disrupted for a while", onPod(func(p *corev1.Pod) {
			podAnnotated(v1.DoNotDisruptAnnotationKey, "10m")(p)
			started(0)(p)
		})},
		{"a pod is bound to a zone", onPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"} })},
		{"a pod comes under a budget", onPod(app("x"))},
		{"a pod has ended", onPod(ended)},
		{"a pod is of another owner", onPod(owned("DaemonSet"))},
		{"a pod is gone", onNode(func(n *scheduling.Node) { n.Pods = n.Pods[:max(0, len(n.Pods)-1)] })},
		{"a pod has come", onNode(func(n *scheduling.Node) { holding(pod("come", asks("cpu=100m")))(n) })},
		{"a pod waits", func(_ *rapid.T, w *world) {
			w.snapshot.Pods = append(w.snapshot.Pods, pod("waits", asks("cpu=1900m"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
		}},
		{"a node is tainted", onNode(func(n *scheduling.Node) {
			n.Object.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		})},
		{"a node is cordoned", onNode(func(n *scheduling.Node) { n.Object.Spec.Unschedulable = true })},
		{"a node must not be disrupted", onNode(annotated(v1.DoNotDisruptAnnotationKey, "true"))},
		{"a node is not ready", onNode(notReady)},
		{"a node has less room", onNode(func(n *scheduling.Node) { n.Object.Status.Allocatable = amounts("cpu=2", "memory=4Gi", "pods=4") })},
		{"a node is leaving", onNode(leaving)},
		{"a node is labelled as another type", onNode(labelled(corev1.LabelInstanceTypeStable, "c16"))},
		{"a node has drifted", onNode(drifted(time.Hour))},
		{"a node has time to end", onNode(grace(time.Hour))},
		{"a node expires", onNode(func(n *scheduling.Node) { n.Claim.Spec.ExpireAfter = v1.NewNillableDuration(25 * time.Hour) })},
		{"a node is another", onNode(func(n *scheduling.Node) { n.Claim.UID += "-2" })},
		{"a node is new", onNode(func(n *scheduling.Node) { n.Claim.Conditions().SetTrue(v1.ConditionInitialized, now()) })},
		{"a node is gone", func(rt *rapid.T, w *world) {
			i := rapid.IntRange(0, len(w.snapshot.Nodes)-1).Draw(rt, "node")
			w.snapshot.Nodes = slices.Delete(w.snapshot.Nodes, i, i+1)
		}},
		{"a node is nominated", onNodeState(func(m *cluster.NodeState) { m.NominatedUntil = now().Add(time.Hour) })},
		{"a node is marked", onNodeState(func(m *cluster.NodeState) { m.Marked, m.Leaving = true, true })},
		{"a pod event", onNodeState(func(m *cluster.NodeState) { m.LastPodEvent = now() })},
		{"a type costs less", onOffering(quarter)},
		{"a type is sold out", onOffering(func(o *cloudprovider.Offering) { o.Available = false })},
		{"a pool allows less", onPool(budgets(v1.Budget{Nodes: "1"}))},
		{"a pool waits", onPool(after("48h"))},
		{"a pool removes empty nodes alone", onPool(policy(v1.ConsolidationPolicyWhenEmpty))},
		{"a pool launches in one zone", onPool(func(p *v1.NodePool) {
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}
		})},
		{"a pool is limited", onPool(func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=1") })},
		{"a pool's taint", onPool(func(p *v1.NodePool) {
			p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		})},
		{"a pool is not ready", func(rt *rapid.T, w *world) {
			w.snapshot.NodePools[rapid.IntRange(0, len(w.snapshot.NodePools)-1).Draw(rt, "pool")].NotReady = "its class is gone"
		}},
		{"a PodDisruptionBudget lets none go", func(_ *rapid.T, w *world) { w.pdb("none", "x", 0) }},
		{"a node is under way", func(rt *rapid.T, w *world) { w.input.Executing = map[string]string{anyNode(rt, w).Name: "c"} }},
		{"a node is buffered", func(rt *rapid.T, w *world) { w.input.Buffered = map[string]bool{anyNode(rt, w).Name: true} }},
		{"a budget of its own", func(_ *rapid.T, w *world) {
			w.input.Budgets = []disruption.Budget{{Name: "own", Unit: disruption.UnitNodes, Amount: 1}}
		}},
		{"pods of an owner had to move", func(_ *rapid.T, w *world) {
			w.input.History = disruption.History{{Node: "x", Time: now(), Reason: disruption.ReasonUnderutilized, Pool: v1.NewPoolKey("default"), Owners: []types.UID{"rs"}}}
		}},
		{"a pool is backed off", func(_ *rapid.T, w *world) {
			w.input.BackOff = disruption.NewBackOff(1)
			w.input.BackOff.Failed(v1.NewPoolKey("default"), now())
		}},
		{"a DaemonSet", func(_ *rapid.T, w *world) { w.snapshot.DaemonSets = append(w.snapshot.DaemonSets, daemonSet()) }},
	}
}

func daemonSet() *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent", UID: "agent"}}
	d.Spec.Template.Spec = *pod("agent", asks("cpu=500m")).Spec.DeepCopy()
	return d
}
