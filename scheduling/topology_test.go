package scheduling_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// soldIn is a type of 4 cores and 16Gi that is sold on demand in the zones, at one price.
func soldIn(zones ...string) *cloudprovider.InstanceType {
	var list []cloudprovider.Offering
	for _, z := range zones {
		list = append(list, offering(z, v1.CapacityTypeOnDemand, 0.2))
	}
	return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), list...)
}

// nothingNew is a pool that launches no nodes.
func nothingNew() scheduling.NodePool { return nodePool("none", catalogOf("")) }

// constraint changes the pod's last spread constraint.
func constraint(change func(*corev1.TopologySpreadConstraint)) podOption {
	return func(p *corev1.Pod) {
		change(&p.Spec.TopologySpreadConstraints[len(p.Spec.TopologySpreadConstraints)-1])
	}
}

func minDomains(n int32) podOption {
	return constraint(func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n })
}

func podLabel(key, value string) podOption {
	return func(p *corev1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

func phase(phase corev1.PodPhase) func(*scheduling.Node) {
	return func(n *scheduling.Node) { n.Pods[len(n.Pods)-1].Status.Phase = phase }
}

func terminating(p *corev1.Pod) {
	now := metav1.Now()
	p.DeletionTimestamp = &now
}

// placeCase is a cluster and where pods of it go: "on <node>", "new <zone>", "new" for whatever zone, "nowhere".
type placeCase struct {
	name  string
	parts []any
	want  map[string]string
}

func (c placeCase) check(t *testing.T) {
	t.Helper()
	s := copyOf(cluster(c.parts...))
	p := solveQuery(t, s, scheduling.Query{})
	for name, want := range c.want {
		got := place(p, name)
		if rest, ok := strings.CutPrefix(got, "new "); ok {
			got = "new " + strings.Split(rest, "/")[1]
			if want == "new" {
				got = "new"
			}
		}
		if got != want {
			t.Errorf("pod %s: %s, want %s\n%v", name, got, want, p.Unschedulable)
		}
	}
}

// zonesOf counts the pods of new nodes by zone.
func zonesOf(p *scheduling.Plan) map[string]int {
	out := map[string]int{}
	for i := range p.NewNodes {
		out[p.NewNodes[i].InstanceTypes[0].Zone] += len(p.NewNodes[i].Pods)
	}
	return out
}

// Which nodes and values are domains of a spread, and how many members each has.
func TestSpreadDomains(t *testing.T) {
	w := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append([]podOption{labelled("w")}, options...)...)
	}
	ofW := spreadBy(zoneKey, 1, "w")
	byRack := func(name string) *corev1.Pod { return w(name, spreadBy("rack", 1, "w")) }
	rack := func(name, value string, list ...*corev1.Pod) scheduling.Node {
		return node(name, nodeLabel("rack", value), bound(list...))
	}
	nodeAffinityPolicy := func(p corev1.NodeInclusionPolicy) podOption {
		return constraint(func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &p })
	}
	nodeTaintsPolicy := func(p corev1.NodeInclusionPolicy) podOption {
		return constraint(func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &p })
	}
	tainted := node("tainted", inZone("b"), nodeTaints("x=:NoSchedule"))
	for _, c := range []placeCase{
		{"SCH-112 domains of pools whose taints keep the pod away don't count", []any{nodePool("open", poolNeeds(zoneKey, opIn, "a")), nodePool("tainted", poolNeeds(zoneKey, opIn, "b"), poolTaints("x=:NoSchedule")),
			w("p1", ofW), w("p2", ofW)}, map[string]string{"p1": "new a", "p2": "new a"}},
		{"SCH-112 those of pools whose taints are tolerated do", []any{nodePool("open", limit("nodes=0")), nodePool("tainted", weight(9), poolNeeds(zoneKey, opIn, "b"), poolTaints("x=:NoSchedule")),
			node("n", bound(w("w"))), w("p", ofW, tolerates(toleration("x", corev1.TolerationOpExists, "", "")))}, map[string]string{"p": "new b"}},
		{"SCH-113 any label is a key", []any{nothingNew(), rack("r1", "1", w("w1")), rack("r2", "2"), byRack("p")}, map[string]string{"p": "on r2"}},
		{"SCH-113 the capacity type is a key", []any{soldOnDemandAndSpot(), w("p1", spreadBy(capacityKey, 1, "w"), selector(capacityKey+"=on-demand")), w("p2", spreadBy(capacityKey, 1, "w"), selector(capacityKey+"=spot"))},
			map[string]string{"p1": "new", "p2": "new"}},
		{"SCH-113 without the label there is no place", []any{node("n"), byRack("p")}, map[string]string{"p": "nowhere"}},
		{"SCH-119 no selector selects no pod, bound ones included", []any{nothingNew(), node("a", bound(w("w1"), w("w2"))), node("full", inZone("b"), allocatable("cpu=0", "memory=0")),
			w("p", ofW, constraint(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }))}, map[string]string{"p": "on a"}},
		{"SCH-120 nodes that the pod's node selector excludes don't count", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b")), w("p", ofW, selector(zoneKey+"=a"))}, map[string]string{"p": "on a"}},
		{"SCH-120 nor those that each required term excludes", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b")), w("p", ofW, required(in(zoneKey, "a")), required(in(zoneKey, "z")))}, map[string]string{"p": "on a"}},
		{"SCH-120 with nodeAffinityPolicy Ignore they do", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b")), w("p", ofW, nodeAffinityPolicy(corev1.NodeInclusionPolicyIgnore), selector(zoneKey+"=a"))}, map[string]string{"p": "nowhere"}},
		{"SCH-120 taints are ignored", []any{nothingNew(), node("a", bound(w("w1"))), tainted, w("p", ofW)}, map[string]string{"p": "nowhere"}},
		{"SCH-120 with nodeTaintsPolicy Honor nodes that the pod does not tolerate don't count", []any{nothingNew(), node("a", bound(w("w1"))), tainted, w("p", ofW, nodeTaintsPolicy(corev1.NodeInclusionPolicyHonor))}, map[string]string{"p": "on a"}},
		{"SCH-120 those that it does tolerate do", []any{nothingNew(), node("a", bound(w("w1"))), tainted, w("p", ofW, nodeTaintsPolicy(corev1.NodeInclusionPolicyHonor), tolerates(toleration("x", corev1.TolerationOpExists, "", "")))}, map[string]string{"p": "on tainted"}},
		{"SCH-121 bound pods count", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b")), w("p", ofW)}, map[string]string{"p": "on b"}},
		{"SCH-121 pods of other labels don't", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b"), bound(pod("other", labelled("v")))), w("p", ofW)}, map[string]string{"p": "on b"}},
		{"SCH-121 nor those of other namespaces", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b"), bound(w("other", namespace("elsewhere")))), w("p", ofW)}, map[string]string{"p": "on b"}},
		{"SCH-121 nor those that are terminating", []any{nothingNew(), node("a", bound(w("w1"), w("w2"))), node("b", inZone("b"), bound(w("going1", terminating), w("going2", terminating))), w("p", ofW)}, map[string]string{"p": "on b"}},
		{"SCH-121 nor those that have ended", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b"), bound(w("done")), phase(corev1.PodSucceeded)), w("p", ofW)}, map[string]string{"p": "on b"}},
		{"SCH-121 nor those on nodes that are leaving, which are no domains", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b"), bound(w("w2")), leaving), node("c", inZone("c"), leaving), w("p", ofW)}, map[string]string{"p": "on a"}},
		{"SCH-121 nor those on nodes without the label, which take none", []any{nothingNew(), node("a", unlabelled(zoneKey), bound(w("w1"))), node("b", inZone("b")), w("p", ofW, requests("cpu=3"))}, map[string]string{"p": "on b"}},
		{"SCH-121 nor, for a pod with several constraints, on nodes that lack the key of one", []any{nothingNew(), node("a", bound(w("w1"))), rack("r1", "1"),
			node("r2", inZone("b"), nodeLabel("rack", "2"), allocatable("cpu=0", "memory=0")), w("p", ofW, spreadBy("rack", 1, "w"))}, map[string]string{"p": "on r1"}},
		{"SCH-128 a node whose domain has too many is passed over", []any{node("a", bound(w("w1"))), soldIn("b"), w("p", ofW)}, map[string]string{"p": "new b"}},
	} {
		t.Run(c.name, c.check)
	}
}

// SCH-111: a value that a pool's NotIn names is no domain: nothing could ever be there, and it holds no pod back. The
// pool's nodes get another value, which is one.
func TestExcludedValueIsNoDomain(t *testing.T) {
	w := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append(options, labelled("w"))...)
	}
	spread := spreadBy("rack", 1, "w")
	p := solveQuery(t, cluster(nodePool("p", poolNeeds("rack", opNotIn, "x")), soldIn("a"),
		node("r1", nodeLabel("rack", "1"), bound(w("w1"))), node("r2", nodeLabel("rack", "2"), bound(w("w2"))), w("p", spread), w("q", spread)), scheduling.Query{})
	if len(p.Unschedulable) > 0 || len(p.NewNodes) != 1 {
		t.Fatalf("%d pods without a place, %d nodes; want one node, for the pod that makes the third domain", len(p.Unschedulable), len(p.NewNodes))
	}
	if got := p.NewNodes[0].Requirements.Get("rack"); got.Has("x") || len(got.Values()) != 1 {
		t.Errorf("the node's rack is %s, want one that the pool allows", got)
	}
}

func soldOnDemandAndSpot() *cloudprovider.InstanceType {
	return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.2), offering("a", v1.CapacityTypeSpot, 0.1))
}

func namespace(name string) podOption { return func(p *corev1.Pod) { p.Namespace = name } }

func unlabelled(key string) nodeOption {
	return func(n *scheduling.Node) { delete(n.Object.Labels, key) }
}

// SCH-116: rules that differ in minDomains alone, or in the values of their owners' node selectors, are two rules.
func TestRulesThatDiffer(t *testing.T) {
	w := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append([]podOption{labelled("w"), spreadBy(zoneKey, 1, "w")}, options...)...)
	}
	for _, c := range []placeCase{
		{"minDomains", []any{nothingNew(), node("n", bound(w("w1"))), w("p"), w("q", minDomains(2))}, map[string]string{"p": "on n", "q": "nowhere"}},
		{"minDomains that are there", []any{nothingNew(), node("a", bound(w("w1"))), node("b", inZone("b")), w("q", minDomains(2))}, map[string]string{"q": "on b"}},
		{"values of the node selector", []any{nothingNew(),
			node("a", nodeLabel("team", "x"), bound(w("w1"))), node("b", inZone("b"), nodeLabel("team", "y")),
			w("x", selector("team=x")), w("y", selector("team=y"))}, map[string]string{"x": "on a", "y": "on b"}},
	} {
		t.Run(c.name, c.check)
	}
}

// SCH-118: matchLabelKeys count only pods that have the owner's values; keys that it lacks, and what the API server has
// merged already, change nothing.
func TestMatchLabelKeys(t *testing.T) {
	hash := func(value string) podOption { return podLabel("hash", value) }
	w := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append([]podOption{labelled("w")}, options...)...)
	}
	spread := func(keys ...string) podOption {
		return func(p *corev1.Pod) {
			spreadBy(zoneKey, 1, "w")(p)
			constraint(func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = keys })(p)
		}
	}
	merged := constraint(func(c *corev1.TopologySpreadConstraint) {
		c.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "hash", Operator: metav1.LabelSelectorOpIn, Values: []string{"new"}}}
	})
	before := []any{nothingNew(), node("a", bound(w("new1", hash("new")))), node("b", inZone("b"), bound(w("old1", hash("old")), w("old2", hash("old"))), allocatable("cpu=3", "memory=16Gi"))}
	for _, c := range []placeCase{
		{"without", append(before, w("p", hash("new"), spread())), map[string]string{"p": "on a"}},
		{"with", append(before, w("p", hash("new"), spread("hash"))), map[string]string{"p": "on b"}},
		{"a key the pod lacks", append(before, w("p", hash("new"), spread("team"))), map[string]string{"p": "on a"}},
		{"merged already", append(before, w("p", hash("new"), spread("hash"), merged)), map[string]string{"p": "on b"}},
	} {
		t.Run(c.name, c.check)
	}
}

// SCH-066, SCH-103: neither what a pod prefers nor where its volumes are changes which domains a spread counts.
func TestSpreadIgnoresWishesAndVolumes(t *testing.T) {
	t.Run("SCH-066 a preferred zone", func(t *testing.T) {
		p := solveQuery(t, cluster(soldIn("a", "b"), pods("p", 4, labelled("w"), spreadBy(zoneKey, 1, "w"), preferred(100, in(zoneKey, "a")))), scheduling.Query{})
		if zones := zonesOf(p); zones["a"] != 2 || zones["b"] != 2 {
			t.Errorf("pods by zone %v, want 2 in each", zones)
		}
	})
	t.Run("SCH-103 a volume", func(t *testing.T) {
		s := cluster(nothingNew(), node("a", bound(pod("w1", labelled("w")))), node("b", inZone("b")), pod("p", labelled("w"), spreadBy(zoneKey, 1, "w"), claiming("data")))
		boundVolume(s, "data", "a")
		wantPlace(t, solveQuery(t, s, scheduling.Query{}), "p", "nowhere")
	})
}

// SCH-126: a spread decides the zone of each node, the same in every run.
func TestSpreadPinsZones(t *testing.T) {
	build := func() *scheduling.Snapshot {
		return cluster(soldIn("a", "b", "c"), pods("p", 20, labelled("w"), spreadBy(zoneKey, 1, "w")))
	}
	first := solveQuery(t, build(), scheduling.Query{})
	zones := zonesOf(first)
	counts := []int{zones["a"], zones["b"], zones["c"]}
	slices.Sort(counts)
	if !slices.Equal(counts, []int{6, 7, 7}) {
		t.Errorf("pods by zone %v, want 20 spread with a skew of 1", zones)
	}
	for i := range first.NewNodes {
		if got := first.NewNodes[i].Requirements.Get(zoneKey).Values(); len(got) != 1 {
			t.Errorf("%s may be in %v, want one zone", first.NewNodes[i].Name, got)
		}
	}
	for range 3 {
		if again := solveQuery(t, build(), scheduling.Query{}); text(t, again) != text(t, first) {
			t.Error("another run gives another plan")
		}
	}
}

// SCH-122, SCH-127: over single nodes a spread bounds how many of its pods one node has, and nothing else: each
// new node is a domain as soon as it is planned.
func TestSpreadOverMachines(t *testing.T) {
	for _, c := range []struct {
		skew, pods int32
		parts      []any
		options    []podOption
		newNodes   int
	}{
		{1, 9, nil, nil, 9},
		{3, 9, nil, nil, 3},
		{1, 1, nil, []podOption{minDomains(5)}, 1},
		{2, 4, []any{node("n", bound(pod("w", labelled("w"), requests("cpu=10m"))))}, nil, 2},
	} {
		t.Run(fmt.Sprintf("%d pods, maxSkew %d, %d options", c.pods, c.skew, len(c.options)), func(t *testing.T) {
			options := append([]podOption{labelled("w"), spreadBy(corev1.LabelHostname, c.skew, "w"), requests("cpu=500m", "memory=1Gi")}, c.options...)
			p := solveQuery(t, cluster(append(c.parts, soldIn("a"), pods("p", int(c.pods), options...))...), scheduling.Query{})
			if len(p.Unschedulable) > 0 || len(p.NewNodes) != c.newNodes {
				t.Errorf("%d nodes and %d pods without a place, want %d nodes", len(p.NewNodes), len(p.Unschedulable), c.newNodes)
			}
			for i := range p.NewNodes {
				if n := len(p.NewNodes[i].Pods); n > int(c.skew) {
					t.Errorf("%s has %d pods, want at most %d", p.NewNodes[i].Name, n, c.skew)
				}
			}
			for i := range p.Existing {
				if n := len(p.Existing[i].Pods); n >= int(c.skew) {
					t.Errorf("%s gets %d pods in addition to the one it has, want fewer than %d", p.Existing[i].Name, n, c.skew)
				}
			}
		})
	}
}
