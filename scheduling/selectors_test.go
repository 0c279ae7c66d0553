package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-063, SCH-064: node selector and required node affinity on the nodes of a pool.
func TestRequirementsOnNewMachines(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []podOption
		want    string
	}{
		{"no demand: the cheapest node", nil, "new small/a/spot"},
		{"a zone", []podOption{selector(zoneKey + "=b")}, "new small/b/spot"},
		{"a capacity type", []podOption{selector(capacityKey + "=on-demand")}, "new small/a/on-demand"},
		{"an architecture", []podOption{selector(archKey + "=arm64")}, "new arm/a/spot"},
		{"an instance type", []podOption{selector(typeKey + "=large")}, "new large/a/spot"},
		{"the pool's name", []podOption{selector("karpenter.sh/nodepool=default")}, "new small/a/spot"},
		{"another pool's name", []podOption{selector("karpenter.sh/nodepool=other")}, "nowhere"},
		{"a zone nobody sells", []podOption{selector(zoneKey + "=z")}, "nowhere"},
		{"not in", []podOption{required(expression(zoneKey, opNotIn, "a"))}, "new small/b/spot"},
		{"several values", []podOption{required(in(typeKey, "large", "medium"))}, "new medium/a/spot"},
		{"exists", []podOption{required(expression(zoneKey, opExists))}, "new small/a/spot"},
		{"does not exist, but does", []podOption{required(expression(zoneKey, opDoesNotExist))}, "nowhere"},
		{"all expressions of a term hold", []podOption{required(in(zoneKey, "b"), in(typeKey, "medium"))}, "new medium/b/spot"},
		{"selector and affinity both hold", []podOption{selector(zoneKey + "=b"), required(in(typeKey, "medium"))}, "new medium/b/spot"},
		{"selector and affinity contradict each other", []podOption{selector(zoneKey + "=b"), required(in(zoneKey, "a"))}, "nowhere"},
		{"terms are alternatives", []podOption{required(in(zoneKey, "z")), required(in(zoneKey, "b"))}, "new small/b/spot"},
		{"the cheaper alternative wins", []podOption{required(in(typeKey, "large")), required(in(typeKey, "small"))}, "new small/a/spot"},
		{"SCH-064 an empty term matches nothing", []podOption{required()}, "nowhere"},
		{"SCH-064 an empty term is no alternative", []podOption{required(), required(in(zoneKey, "b"))}, "new small/b/spot"},
		{"a hostname names no node yet to be launched", []podOption{selector(corev1.LabelHostname + "=n1")}, "nowhere"},
		{"any other host will do", []podOption{required(expression(corev1.LabelHostname, opNotIn, "n1"))}, "new small/a/spot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPlace(t, solve(t, cluster(pod("p", c.options...))), "p", c.want)
		})
	}
}

// SCH-032, SCH-063: the labels of a node that exists are complete.
func TestRequirementsOnExistingMachines(t *testing.T) {
	n := node("n", nodeLabel("level", "5"), nodeLabel("team", "a"))
	for _, c := range []struct {
		name    string
		options []podOption
		want    bool
	}{
		{"in", []podOption{selector("team=a")}, true},
		{"in another", []podOption{selector("team=b")}, false},
		{"a label it lacks", []podOption{selector("absent=x")}, false},
		{"a well-known label it lacks", []podOption{selector(corev1.LabelTopologyRegion + "=r")}, false},
		{"not in, of a label it lacks", []podOption{required(expression("absent", opNotIn, "x"))}, true},
		{"does not exist, of a label it lacks", []podOption{required(expression("absent", opDoesNotExist))}, true},
		{"exists", []podOption{required(expression("team", opExists))}, true},
		{"greater", []podOption{required(expression("level", opGt, "4"))}, true},
		{"not greater", []podOption{required(expression("level", opGt, "5"))}, false},
		{"less", []podOption{required(expression("level", opLt, "6"))}, true},
		{"greater, of a label it lacks", []podOption{required(expression("absent", opGt, "0"))}, false},
		{"greater, of a label that is no number", []podOption{required(expression("team", opGt, "0"))}, false},
		{"its own hostname", []podOption{selector(corev1.LabelHostname + "=n")}, true},
		{"alternatives", []podOption{required(in("team", "b")), required(in("level", "5"))}, true},
		{"SCH-064 an empty term", []podOption{required()}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "nowhere"
			if c.want {
				want = "on n"
			}
			wantPlace(t, solve(t, cluster(nodePool("none", catalogOf("")), n, pod("p", c.options...))), "p", want)
		})
	}
}

// SCH-003: deprecated keys are the canonical ones, wherever they stand.
func TestAliases(t *testing.T) {
	for _, alias := range []string{corev1.LabelFailureDomainBetaZone, "example.com/my-zone"} {
		t.Run(alias, func(t *testing.T) {
			s := cluster(pod("p", selector(alias+"=b")), pod("q", required(in(alias, "b"))), nodePool("default", poolNeeds(alias, opIn, "b", "c")))
			s.Vocabulary = s.Vocabulary.Merge(requirements.Vocabulary{Aliases: map[string]string{"example.com/my-zone": zoneKey}})
			p := solve(t, s)
			wantPlace(t, p, "p", "new small/b/spot")
			wantPlace(t, p, "q", "new small/b/spot")
		})
	}
	t.Run("on a node", func(t *testing.T) {
		n := node("n", nodeLabel(corev1.LabelFailureDomainBetaZone, "b"))
		delete(n.Object.Labels, zoneKey)
		p := solve(t, cluster(nodePool("none", catalogOf("")), n, pod("p", selector(zoneKey+"=b")), pod("q", selector(corev1.LabelFailureDomainBetaZone+"=b"))))
		wantPlace(t, p, "p", "on n")
		wantPlace(t, p, "q", "on n")
	})
	t.Run("values", func(t *testing.T) {
		s := cluster(pod("p", selector(zoneKey+"=bee")))
		s.Vocabulary = s.Vocabulary.Merge(requirements.Vocabulary{ValueAliases: map[string]map[string]string{zoneKey: {"bee": "b"}}})
		wantPlace(t, solve(t, s), "p", "new small/b/spot")
	})
}

// SCH-030, SCH-031, SCH-033: what a pool must say of a custom label for a pod to select it.
func TestCustomLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
		pod  podOption
		// want is the label's value on the node, "-" for no matter, "nowhere" for no node.
		want string
	}{
		{"unknown to the pool", nodePool("p"), selector("team=a"), "nowhere"},
		{"unknown to the pool, not in", nodePool("p"), required(expression("team", opNotIn, "a")), "-"},
		{"unknown to the pool, does not exist", nodePool("p"), required(expression("team", opDoesNotExist)), "-"},
		{"unknown to the pool, exists", nodePool("p"), required(expression("team", opExists)), "nowhere"},
		{"unknown to the pool, greater", nodePool("p"), required(expression("team", opGt, "3")), "nowhere"},
		{"template label", nodePool("p", poolLabel("team", "a")), selector("team=a"), "a"},
		{"another template label", nodePool("p", poolLabel("team", "b")), selector("team=a"), "nowhere"},
		{"template label, not in", nodePool("p", poolLabel("team", "a")), required(expression("team", opNotIn, "a")), "nowhere"},
		{"In has it", nodePool("p", poolNeeds("team", opIn, "a", "b")), selector("team=b"), "b"},
		{"In lacks it", nodePool("p", poolNeeds("team", opIn, "a", "b")), selector("team=c"), "nowhere"},
		{"In, not in", nodePool("p", poolNeeds("team", opIn, "a", "b")), required(expression("team", opNotIn, "a")), "b"},
		{"In, does not exist", nodePool("p", poolNeeds("team", opIn, "a", "b")), required(expression("team", opDoesNotExist)), "nowhere"},
		{"SCH-033 Exists takes any value", nodePool("p", poolNeeds("team", opExists)), selector("team=zebra"), "zebra"},
		{"Exists, exists", nodePool("p", poolNeeds("team", opExists)), required(expression("team", opExists)), "-"},
		{"Exists, does not exist", nodePool("p", poolNeeds("team", opExists)), required(expression("team", opDoesNotExist)), "nowhere"},
		{"NotIn takes another value", nodePool("p", poolNeeds("team", opNotIn, "a")), selector("team=b"), "b"},
		{"NotIn does not take that one", nodePool("p", poolNeeds("team", opNotIn, "a")), selector("team=a"), "nowhere"},
		{"SCH-031 NotIn, does not exist", nodePool("p", poolNeeds("team", opNotIn, "a")), required(expression("team", opDoesNotExist)), "-"},
		{"DoesNotExist, in", nodePool("p", poolNeeds("team", opDoesNotExist)), selector("team=a"), "nowhere"},
		{"DoesNotExist, not in", nodePool("p", poolNeeds("team", opDoesNotExist)), required(expression("team", opNotIn, "a")), "-"},
		{"bounds", nodePool("p", poolNeeds("team", "Gte", "5")), selector("team=7"), "7"},
		{"out of bounds", nodePool("p", poolNeeds("team", "Gte", "5")), selector("team=3"), "nowhere"},
		{"two bounds", nodePool("p", poolNeeds("team", "Gte", "5")), required(expression("team", opLt, "6")), "5"},
		{"two bounds that cross", nodePool("p", poolNeeds("team", "Gte", "5")), required(expression("team", opLt, "5")), "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(c.pool, pod("p", c.pod)))
			if c.want == "nowhere" {
				r := reasonsOf(t, p, "p")
				if len(r) != 1 || r[0].Code != scheduling.ReasonRequirements || r[0].Key != "team" || !strings.Contains(r[0].String(), "team") {
					t.Errorf("reasons %q, want one about the label team", r)
				}
				return
			}
			got := newNodeOf(t, p, "p").Requirements.Get("team")
			if c.want != "-" && !(got.Operator() == requirements.OpIn && len(got.Values()) == 1 && got.Values()[0] == c.want) {
				t.Errorf("the node's label is %v, want %s", got, c.want)
			}
		})
	}
}

// Demands that contradict each other are met by no node, not even by one that lacks the label altogether.
func TestContradictoryDemands(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []podOption
	}{
		{"selector and term", []podOption{selector("team=a"), required(in("team", "b"))}},
		{"two expressions of a term", []podOption{required(in("team", "a"), in("team", "b"))}},
		{"bounds that cross", []podOption{required(expression("team", opGt, "6"), expression("team", opLt, "3"))}},
		{"a value out of bounds", []podOption{selector("team=6"), required(expression("team", opGt, "6"))}},
		{"in and not in", []podOption{required(in("team", "a"), expression("team", opNotIn, "a"))}},
		{"exists and does not", []podOption{required(expression("team", opExists), expression("team", opDoesNotExist))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, np := range map[string]scheduling.NodePool{
				"unknown": nodePool("p"), "exists": nodePool("p", poolNeeds("team", opExists)), "absent": nodePool("p", poolNeeds("team", opDoesNotExist)),
			} {
				if got := place(solve(t, cluster(np, node("n"), pod("p", c.options...))), "p"); got != "nowhere" {
					t.Errorf("pool where the label is %s: %s", name, got)
				}
			}
		})
	}
	t.Run("a preference that contradicts a demand is given up", func(t *testing.T) {
		p := solve(t, cluster(nodePool("p", poolNeeds("team", opExists)), pod("p", selector("team=6"), preferred(1, expression("team", opGt, "6")))))
		if got := newNodeOf(t, p, "p").Requirements.Get("team"); !got.Equal(requirements.In("team", "6")) {
			t.Errorf("the node's label is %v, want 6", got)
		}
	})
	t.Run("a DaemonSet that contradicts itself runs nowhere", func(t *testing.T) {
		d := daemonSet("d", []string{"cpu=1"}, selector("team=a"), required(in("team", "b")))
		wantPlace(t, solve(t, cluster(catalogue()[:2], d, pod("p", requests("cpu=1500m")))), "p", "new small/a/spot")
	})
}

// NotIn alone is met by a node without the label; joined with Exists it is not.
func TestExistsAndNotIn(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []podOption
	}{
		{"in one term", []podOption{required(expression("team", opExists), expression("team", opNotIn, "b"))}},
		{"the other way", []podOption{required(expression("team", opNotIn, "b"), expression("team", opExists))}},
		{"as a preference", []podOption{required(expression("team", opExists)), preferred(1, expression("team", opNotIn, "b"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPlace(t, solve(t, cluster(node("n"), pod("p", c.options...))), "p", "nowhere")
			wantPlace(t, solve(t, cluster(node("n", nodeLabel("team", "a")), pod("p", c.options...))), "p", "on n")
			p := solve(t, cluster(nodePool("p", poolNeeds("team", opExists)), pod("p", c.options...)))
			if got := newNodeOf(t, p, "p").Requirements.Get("team"); got.Operator() != requirements.OpIn || got.Has("b") {
				t.Errorf("the node's label is %v, want one value that is not b", got)
			}
		})
	}
}

// SCH-033: a pool that leaves a label open makes nodes of one value each: pods that want different ones never share.
func TestOpenLabelsSeparatePods(t *testing.T) {
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
	}{
		{"In", nodePool("default", poolNeeds("team", opIn, "a", "b"))},
		{"Exists", nodePool("default", poolNeeds("team", opExists))},
		{"NotIn", nodePool("default", poolNeeds("team", opNotIn, "x"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			tiny := requests("cpu=100m", "memory=64Mi")
			p := solve(t, cluster(c.pool,
				pods("a", 3, tiny, selector("team=a")), pods("b", 3, tiny, selector("team=b")),
				pods("nota", 2, tiny, required(expression("team", opNotIn, "a"))), pods("any", 3, tiny)))
			if len(p.NewNodes) != 2 || len(p.Unschedulable) != 0 {
				t.Errorf("%d nodes and %d pods without a place, want 2 and 0", len(p.NewNodes), len(p.Unschedulable))
			}
			a, b := newNodeOf(t, p, "a-0"), newNodeOf(t, p, "b-0")
			if a == b {
				t.Fatalf("pods of teams a and b share %s", a.Name)
			}
			for _, x := range []string{"a-1", "a-2"} {
				if newNodeOf(t, p, x) != a {
					t.Errorf("%s has a node of its own", x)
				}
			}
			for _, x := range []string{"b-1", "b-2", "nota-0", "nota-1"} {
				if newNodeOf(t, p, x) != b {
					t.Errorf("%s is not with team b", x)
				}
			}
			if got := a.Requirements.Get("team").String(); got != requirements.In("team", "a").String() {
				t.Errorf("node of team a is labelled %s", got)
			}
		})
	}
}

// Two open labels at once: only pods that agree on both may share.
func TestTwoOpenLabels(t *testing.T) {
	tiny := requests("cpu=100m", "memory=64Mi")
	p := solve(t, cluster(nodePool("default", poolNeeds("team", opIn, "a", "b"), poolNeeds("stage", opExists)),
		pod("at", tiny, selector("team=a", "stage=test")), pod("ap", tiny, selector("team=a", "stage=prod")),
		pod("b", tiny, selector("team=b")), pod("t", tiny, selector("stage=test")), pod("p", tiny, selector("stage=prod"))))
	if len(p.NewNodes) > 3 || len(p.Unschedulable) != 0 {
		t.Errorf("%d nodes, want at most 3", len(p.NewNodes))
	}
	if newNodeOf(t, p, "at") == newNodeOf(t, p, "ap") || newNodeOf(t, p, "t") == newNodeOf(t, p, "p") || newNodeOf(t, p, "at") == newNodeOf(t, p, "b") {
		t.Errorf("pods that contradict each other share a node")
	}
}

// More combinations of open labels than are looked at side by side must not cost any pod its place.
func TestManyOpenLabels(t *testing.T) {
	var options []poolOption
	var parts []any
	keys := []string{"k1", "k2", "k3"}
	for _, key := range keys {
		options = append(options, poolNeeds(key, opExists))
		for i := range 8 {
			parts = append(parts, pod(key+string(rune('a'+i)), requests("cpu=100m"), selector(key+"=v"+string(rune('a'+i)))))
		}
	}
	p := solve(t, cluster(append(parts, nodePool("default", options...))...))
	if len(p.Unschedulable) != 0 {
		t.Errorf("%d pods have no place, want none", len(p.Unschedulable))
	}
}

// A label for which a type leaves several values open narrows to what the node's pods want.
func TestTypeWithSeveralValues(t *testing.T) {
	multi := with(typeOf("multi", 0.1, "cpu=8", "memory=32Gi"), requirements.In("example.com/os-image", "v1", "v2"))
	tiny := requests("cpu=100m", "memory=64Mi")
	s := cluster(multi, pod("one", tiny, selector("example.com/os-image=v1")), pod("two", tiny, selector("example.com/os-image=v2")), pod("any", tiny))
	s.Vocabulary = s.Vocabulary.Merge(requirements.Vocabulary{WellKnown: []string{"example.com/os-image"}})
	p := solve(t, s)
	if newNodeOf(t, p, "one") == newNodeOf(t, p, "two") {
		t.Errorf("pods that want different values share a node")
	}
	if len(p.NewNodes) != 2 {
		t.Errorf("%d nodes, want 2", len(p.NewNodes))
	}
}

// Types that state one value of a label stay in the choice along with types that leave several values of it open.
func TestTypesWithOneValueBesideTypesWithSeveral(t *testing.T) {
	const gen = "example.com/gen"
	s := cluster(
		with(typeOf("open", 0.2, "cpu=4", "memory=16Gi"), requirements.In(gen, "6", "7")),
		with(typeOf("gpu", 0.4, "cpu=4", "memory=16Gi", "example.com/gpu=1"), requirements.In(gen, "9")),
		with(typeOf("cheap", 0.1, "cpu=4", "memory=16Gi"), requirements.In(gen, "3")),
		pod("six", requests("cpu=4"), selector(gen+"=6")), pod("gpu", requests("cpu=4", "example.com/gpu=1")), pods("any", 4, requests("cpu=4")),
	)
	s.Vocabulary = s.Vocabulary.Merge(requirements.Vocabulary{WellKnown: []string{gen}})
	p := solve(t, s)
	wantPlace(t, p, "six", "new open/a/spot")
	wantPlace(t, p, "gpu", "new gpu/a/spot")
	wantPlace(t, p, "any-0", "new cheap/a/spot")
}
