package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-168: what is free on nodes of the snapshot is used before anything is bought.
func TestExistingMachinesFirst(t *testing.T) {
	p := solve(t, cluster(node("n"), pods("p", 6)))
	if len(p.Existing) != 1 || len(p.Existing[0].Pods) != 4 {
		t.Errorf("existing nodes take %+v, want 4 pods on n", p.Existing)
	}
	if len(p.NewNodes) != 1 || len(p.NewNodes[0].Pods) != 2 {
		t.Errorf("%d new nodes, want one with the other 2 pods", len(p.NewNodes))
	}
}

// SCH-168: nodes that are initialised come before those that are not, whatever their names.
func TestInitialisedMachinesFirst(t *testing.T) {
	young := claimNode()
	young.Name, young.Object.Name = "a", "a"
	p := solve(t, cluster(young, node("z"), pod("p")))
	wantPlace(t, p, "p", "on z")
}

// Pods that no pool can launch a node for have the first claim to the room there is.
func TestStrandedPodsGoFirst(t *testing.T) {
	p := solve(t, cluster(node("n", nodeLabel("disk", "ssd")), pods("a", 4, requests("cpu=1")), pod("z", requests("cpu=4"), selector("disk=ssd"))))
	wantPlace(t, p, "z", "on n")
	if len(p.Unschedulable) != 0 {
		t.Errorf("%d pods without a place: the others can have new nodes", len(p.Unschedulable))
	}
}

// The room there is goes to the pods that would cost most on a new node.
func TestDearPodsGoOnExistingMachines(t *testing.T) {
	p := solve(t, cluster(node("n"), pods("cheap", 1, requests("cpu=4")), pods("dear", 1, requests("cpu=4"), selector(capacityKey+"=on-demand")), nodeWithLabel("n2", capacityKey, "on-demand")))
	if len(p.NewNodes) != 0 {
		t.Errorf("%d new nodes, want none: one pod fits each node", len(p.NewNodes))
	}
	wantPlace(t, p, "dear-0", "on n2")
}

func nodeWithLabel(name, key, value string) scheduling.Node { return node(name, nodeLabel(key, value)) }

// SCH-169: unmanaged nodes, nodes of other pools and launched claims all take pods; leaving ones don't.
func TestWhichMachinesTakePods(t *testing.T) {
	claimOnly := claimNode()
	claimOnly.Object = nil
	for _, c := range []struct {
		name string
		node scheduling.Node
		want string
	}{
		{"unmanaged", node("n"), "on n"},
		{"of a pool", node("n", ofPool("default")), "on n"},
		{"of a pool the snapshot lacks", node("n", ofPool("gone")), "on n"},
		{"a launched claim without a node", claimOnly, "on n"},
		{"leaving", node("n", leaving), "nowhere"},
		{"leaving, of a pool", node("n", ofPool("default"), leaving), "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPlace(t, solve(t, cluster(nodePool("default", catalogOf("")), c.node, pod("p"))), "p", c.want)
		})
	}
}

// PRV-021: where labels and amounts come from, by phase.
func TestMachineByPhase(t *testing.T) {
	base := func(change func(*scheduling.Node)) scheduling.Node {
		n := claimNode()
		n.Object.Labels["from"] = "node"
		n.Claim.Labels["from"] = "claim"
		n.Claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
			{Key: "single", Operator: opIn, Values: []string{"x"}}, {Key: "double", Operator: opIn, Values: []string{"x", "y"}},
		}
		n.Object.Status.Allocatable = amounts("cpu=2", "memory=0", "pods=110")
		n.Object.Status.Capacity = amounts("cpu=2", "memory=0", "pods=110")
		n.Claim.Status.Allocatable = amounts("cpu=4", "memory=16Gi", "pods=110", "example.com/gpu=1")
		change(&n)
		return n
	}
	inFlight := base(func(n *scheduling.Node) { n.Object = nil })
	unregistered := base(func(n *scheduling.Node) { n.Object.Labels[v1.NodeRegisteredLabelKey] = "" })
	registered := base(func(*scheduling.Node) {})
	initialized := base(func(n *scheduling.Node) { n.Object.Labels[v1.NodeInitializedLabelKey] = "true" })
	small := requests("cpu=1")
	for _, c := range []struct {
		name string
		node scheduling.Node
		pod  []podOption
		want bool
	}{
		{"in flight: labels of the claim", inFlight, []podOption{small, selector("from=claim")}, true},
		{"in flight: requirements with one value are labels", inFlight, []podOption{small, selector("single=x")}, true},
		{"in flight: requirements with two values are not", inFlight, []podOption{small, required(in("double", "x", "y"))}, false},
		{"in flight: amounts of the claim", inFlight, []podOption{requests("cpu=4", "memory=16Gi", "example.com/gpu=1")}, true},
		{"in flight: no more than those", inFlight, []podOption{requests("cpu=4001m")}, false},
		{"not registered: labels of the claim", unregistered, []podOption{small, selector("from=claim")}, true},
		{"not registered: not those of the node", unregistered, []podOption{small, selector("from=node")}, false},
		{"not registered: amounts of the node", unregistered, []podOption{requests("cpu=3")}, false},
		{"not registered: zero and missing ones from the claim", unregistered, []podOption{requests("cpu=1", "memory=1Gi", "example.com/gpu=1")}, true},
		{"registered: labels of the node", registered, []podOption{small, selector("from=node")}, true},
		{"registered: not those of the claim", registered, []podOption{small, selector("from=claim")}, false},
		{"registered: zero and missing amounts from the claim", registered, []podOption{requests("cpu=1", "memory=1Gi", "example.com/gpu=1")}, true},
		{"initialised: labels of the node", initialized, []podOption{small, selector("from=node")}, true},
		{"initialised: amounts of the node alone", initialized, []podOption{requests("cpu=1", "example.com/gpu=1")}, false},
		{"initialised: zero is zero", initialized, []podOption{requests("cpu=1", "memory=1Gi")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "nowhere"
			if c.want {
				want = "on n"
			}
			wantPlace(t, solve(t, cluster(nodePool("default", catalogOf("")), c.node, pod("p", c.pod...))), "p", want)
		})
	}
}

// A claim that was not launched yet has no amounts: it takes no pods, and its pool still counts it as a node.
func TestUnlaunchedClaim(t *testing.T) {
	n := claimNode()
	n.Object = nil
	n.Claim.Status.Capacity, n.Claim.Status.Allocatable = nil, nil
	p := solve(t, cluster(nodePool("default", limit("nodes=2")), n, pods("p", 2, requests("cpu=8"))))
	if len(p.NewNodes) != 1 || len(p.Unschedulable) != 1 {
		t.Errorf("%d new nodes and %d pods without a place, want 1 and 1", len(p.NewNodes), len(p.Unschedulable))
	}
}

// Nodes with the least room are filled first, so that whole nodes stay free.
func TestFullestMachinesFirst(t *testing.T) {
	p := solve(t, cluster(node("a"), node("b", bound(pod("x", requests("cpu=2", "memory=2Gi")))), node("c"), pods("p", 2)))
	wantPlace(t, p, "p-0", "on b")
	wantPlace(t, p, "p-1", "on b")
}

// The slots for pods are a resource like any other.
func TestPodSlots(t *testing.T) {
	two := node("n", func(n *scheduling.Node) { n.Object.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("2") })
	p := solve(t, cluster(nodePool("none", catalogOf("")), two, pods("p", 3, requests("cpu=100m"))))
	if len(p.Existing) != 1 || len(p.Existing[0].Pods) != 2 || len(p.Unschedulable) != 1 {
		t.Errorf("placed %+v, want 2 of 3", p.Existing)
	}
}
