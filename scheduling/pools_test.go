package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-168, API-445: pools by weight; those of equal weight compete by price.
func TestPoolsByWeight(t *testing.T) {
	dear := poolNeeds(capacityKey, opIn, "on-demand")
	for _, c := range []struct {
		name  string
		pools []scheduling.NodePool
		want  string
	}{
		{"the heavier, though more expensive", []scheduling.NodePool{nodePool("a"), nodePool("b", weight(10), dear)}, "b"},
		{"no weight is the least", []scheduling.NodePool{nodePool("a", dear), nodePool("b", weight(1))}, "b"},
		{"the cheaper of equals", []scheduling.NodePool{nodePool("a", dear), nodePool("b")}, "b"},
		{"the cheaper of equals, the other way", []scheduling.NodePool{nodePool("a"), nodePool("b", dear)}, "a"},
		{"the heavier that takes the pod", []scheduling.NodePool{nodePool("a"), nodePool("b", weight(10), poolTaints("x=:NoSchedule"))}, "a"},
		{"the heavier that is large enough", []scheduling.NodePool{nodePool("a"), nodePool("b", weight(10), poolNeeds(typeKey, opIn, "small"))}, "a"},
		{"the heavier that is ready", []scheduling.NodePool{nodePool("a"), nodePool("b", weight(10), func(np *scheduling.NodePool) { np.NotReady = "no node class" })}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := []any{pod("p", requests("cpu=3"))}
			for _, np := range c.pools {
				parts = append(parts, np)
			}
			if got := newNodeOf(t, solve(t, cluster(parts...)), "p").Pool.Name; got != c.want {
				t.Errorf("pool %s, want %s", got, c.want)
			}
		})
	}
}

// SCH-168: a pool of less weight is used for just those pods that the heavier one can't take.
func TestLighterPoolForTheRest(t *testing.T) {
	p := solve(t, cluster(nodePool("heavy", weight(9), poolNeeds(archKey, opIn, "amd64")), nodePool("light"),
		pods("any", 3), pods("arm", 2, selector(archKey+"=arm64"))))
	for _, n := range p.NewNodes {
		for _, key := range n.Pods {
			want := "heavy"
			if key.Name[:3] == "arm" {
				want = "light"
			}
			if n.Pool.Name != want {
				t.Errorf("%s is in pool %s, want %s", key, n.Pool, want)
			}
		}
	}
}

// Pools that launch nothing say why, each on its own (PRV-036, SCH-182).
func TestPoolsThatLaunchNothing(t *testing.T) {
	replicas := int64(3)
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
		want string
	}{
		{"not ready", nodePool("p", func(np *scheduling.NodePool) { np.NotReady = "its NodeClass was not found" }),
			`incompatible with nodepool "p", it launches no nodes: its NodeClass was not found`},
		{"API-411: being deleted", nodePool("p", func(np *scheduling.NodePool) { np.Object.DeletionTimestamp = &metav1.Time{} }),
			`incompatible with nodepool "p", it launches no nodes: it is being deleted`},
		{"SCH-182 static", nodePool("p", func(np *scheduling.NodePool) { np.Object.Spec.Replicas = &replicas }),
			`incompatible with nodepool "p", it launches no nodes: it is static: its nodes are counted, not planned`},
		{"no catalog", nodePool("p", catalogOf("")), `incompatible with nodepool "p", it launches no nodes: it has no instance types`},
		{"no type left", nodePool("p", poolNeeds(archKey, opIn, "sparc")),
			`incompatible with nodepool "p", the pool's own requirements leave none of its 4 instance types with an available offering`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantReason(t, solve(t, cluster(c.pool, pod("p"))), "p", c.want)
		})
	}
	t.Run("no pool at all", func(t *testing.T) {
		s := cluster(pod("p"))
		s.NodePools = nil
		wantReason(t, solve(t, s), "p", "there is no nodepool to launch nodes from")
	})
}

// SCH-171, SCH-172, API-436: limits.
func TestLimits(t *testing.T) {
	used := func(name string) scheduling.Node {
		return node(name, ofPool("default"), bound(pod("full-"+name, requests("cpu=4"))))
	}
	for _, c := range []struct {
		name  string
		parts []any
		pods  int
		want  int // pods placed; each takes a node of its own
	}{
		{"none", nil, 5, 5},
		{"SCH-172 nodes", []any{nodePool("default", limit("nodes=2"))}, 5, 2},
		{"SCH-172 no nodes at all", []any{nodePool("default", limit("nodes=0"))}, 5, 0},
		{"SCH-172 nodes that exist count", []any{nodePool("default", limit("nodes=3")), used("n")}, 5, 2},
		{"nodes of other pools don't", []any{nodePool("default", limit("nodes=3")), node("n", ofPool("other"), bound(pod("full", requests("cpu=4"))))}, 5, 3},
		{"leaving nodes don't", []any{nodePool("default", limit("nodes=3")), func() scheduling.Node { n := used("n"); n.Leaving = true; return n }()}, 5, 3},
		{"cpu, exactly", []any{nodePool("default", limit("cpu=16"))}, 5, 4},
		{"cpu, a millicore short", []any{nodePool("default", limit("cpu=15999m"))}, 5, 3},
		{"cpu counts capacity, not requests", []any{nodePool("default", limit("cpu=16")), used("n")}, 5, 3},
		{"memory", []any{nodePool("default", limit("memory=40Gi"))}, 5, 2},
		{"the tightest of several", []any{nodePool("default", limit("cpu=100", "nodes=3", "memory=1000Gi"))}, 5, 3},
		{"a resource no node has", []any{nodePool("default", limit("example.com/gpu=0"))}, 5, 5},
		{"a pool that is over its limit is closed", []any{nodePool("default", limit("cpu=3", "nodes=100")), used("n")}, 5, 0},
		{"SCH-171 over a limit of what new nodes don't have", []any{nodePool("default", limit("example.com/gpu=1")),
			func() scheduling.Node {
				n := used("n")
				n.Object.Status.Capacity["example.com/gpu"] = resource.MustParse("2")
				return n
			}()}, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(append(c.parts, catalogue()[1:2], pods("p", c.pods, requests("cpu=3")))...))
			if got := c.pods - len(p.Unschedulable); got != c.want {
				t.Errorf("%d pods placed, want %d", got, c.want)
			}
			for _, u := range p.Unschedulable {
				if u.Reasons[0].Code != scheduling.ReasonLimits {
					t.Errorf("reason %+v, want the limits", u.Reasons[0])
				}
			}
		})
	}
}

// SCH-171: a smaller node is chosen where only that is within the limit.
func TestLimitsChooseSmallerMachines(t *testing.T) {
	p := solve(t, cluster(nodePool("default", limit("cpu=6")), pods("p", 6, requests("cpu=900m", "memory=1Gi"))))
	if len(p.Unschedulable) != 0 {
		t.Errorf("%d pods without a place: 6 cores are allowed, a medium and a small hold them", len(p.Unschedulable))
	}
}

// OPP-11: every instance type listed for the nodes of a limited pool is within the limit, all together.
func TestLimitsHoldForEveryListedType(t *testing.T) {
	p := solve(t, cluster(nodePool("default", limit("cpu=8", "memory=33Gi")), pods("p", 4, requests("cpu=1500m"))))
	if len(p.NewNodes) == 0 {
		t.Fatal("nothing was planned") // the validator adds up the largest listed types
	}
}

// SCH-171: claims name larger types as long as all nodes, each at the largest of its types, keep the limits; nodes on their way
// out are counted as there.
func TestSpareLimitsNameLargerTypes(t *testing.T) {
	small := sold(typeOf("small", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeSpot, 0.2))
	large := sold(typeOf("large", 0.9, "cpu=16", "memory=64Gi"), offering("a", v1.CapacityTypeSpot, 0.9))
	leaving := node("old", ofPool("default"))
	leaving.Leaving = true
	for _, c := range []struct {
		name  string
		limit string
		parts []any
		want  int
	}{
		{"room for two large ones", "cpu=32", nil, 2},
		{"room for one large one", "cpu=31", nil, 1},
		{"room that a leaving node still takes", "cpu=32", []any{leaving}, 1},
		{"room next to a leaving node", "cpu=36", []any{leaving}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(append(c.parts, nodePool("default", limit(c.limit)), small, large, pods("p", 2, requests("cpu=3")))...))
			for _, n := range p.NewNodes {
				if len(n.InstanceTypes) != c.want {
					t.Errorf("%s names %d types, want %d", n.Name, len(n.InstanceTypes), c.want)
				}
			}
			if len(p.NewNodes) != 2 {
				t.Errorf("%d new nodes, want 2", len(p.NewNodes))
			}
		})
	}
}

// SCH-156, SCH-171: pods that limits leave without a node go to the next pool; the rest are told what is in use.
func TestLimitsFallBackAndExplain(t *testing.T) {
	medium := poolNeeds(typeKey, opIn, "medium")
	p := solve(t, cluster(nodePool("first", weight(9), medium, limit("cpu=8")), nodePool("second", medium, limit("nodes=1")), pods("p", 4, requests("cpu=3"))))
	count := map[string]int{}
	for _, n := range p.NewNodes {
		count[n.Pool.Name]++
	}
	if count["first"] != 2 || count["second"] != 1 {
		t.Errorf("nodes %v, want 2 of first and 1 of second", count)
	}
	r := reasonsOf(t, p, "p-3")
	want := []string{
		`incompatible with nodepool "first", all instance types that would fit exceed the nodepool's limits (in use: cpu 8 of 8)`,
		`incompatible with nodepool "second", all instance types that would fit exceed the nodepool's limits (in use: nodes 1 of 1)`,
	}
	if len(r) != 2 || r[0].String() != want[0] || r[1].String() != want[1] {
		t.Errorf("reasons %q, want %q", r, want)
	}
}

// API-011, API-262: a Provisioner and a NodePool may share a name: they are two pools all the way.
func TestTwoGenerationsOfOneName(t *testing.T) {
	old := nodePool("banana", bornIn(v1.GenerationV1Alpha5), weight(2), limit("nodes=1"), poolNeeds(zoneKey, opIn, "a"))
	current := nodePool("banana", weight(1), poolNeeds(zoneKey, opIn, "b"))
	owned := node("n", ofPool("banana"), bound(pod("full", requests("cpu=4")))) // of the current generation
	p := solve(t, cluster(old, current, owned, catalogue()[1:2], pods("p", 2, requests("cpu=3")), pod("x", requests("cpu=99"))))
	if len(p.NewNodes) != 2 || p.NewNodes[0].Pool == p.NewNodes[1].Pool || p.NewNodes[0].Name == p.NewNodes[1].Name {
		t.Fatalf("want one node of each pool, got %+v", p.NewNodes)
	}
	for _, n := range p.NewNodes {
		zone := map[v1.Generation]string{v1.GenerationV1Alpha5: "a", v1.GenerationV1: "b"}[n.Pool.Generation]
		if n.InstanceTypes[0].Zone != zone {
			t.Errorf("node of %s in zone %s, want %s", n.Pool, n.InstanceTypes[0].Zone, zone)
		}
	}
	r := reasonsOf(t, p, "x")
	if len(r) != 3 || r[0].Pool == r[1].Pool || r[0].String() == r[1].String() || r[2].Code != scheduling.ReasonExistingNodes {
		t.Errorf("reasons %q, want one for each pool and one for the nodes", r)
	}
}

// API-012, API-013, API-193, SCH-168: between pools of which none is better, weight decides, then the later generation, then the later
// name; a cheaper pool of the same weight goes before either.
func TestOrderOfPools(t *testing.T) {
	old := func(name string, options ...poolOption) scheduling.NodePool {
		return nodePool(name, append(options, bornIn(v1.GenerationV1Alpha5))...)
	}
	for _, c := range []struct {
		name  string
		pools []scheduling.NodePool
		want  string
	}{
		{"weight", []scheduling.NodePool{nodePool("z"), old("a", weight(2))}, "v1alpha5/a"},
		{"generation", []scheduling.NodePool{old("z"), nodePool("a")}, "a"},
		{"generation, whatever the order", []scheduling.NodePool{nodePool("a"), old("z")}, "a"},
		{"generation, one name", []scheduling.NodePool{old("a"), nodePool("a")}, "a"},
		{"name", []scheduling.NodePool{nodePool("a"), nodePool("c"), nodePool("b")}, "c"},
		{"name, of the first generation", []scheduling.NodePool{old("c"), old("a")}, "v1alpha5/c"},
		{"price before generation", []scheduling.NodePool{old("a"), nodePool("b", poolNeeds(capacityKey, opIn, "on-demand"))}, "v1alpha5/a"},
	} {
		parts := []any{pod("p")}
		for _, p := range c.pools {
			parts = append(parts, p)
		}
		n := newNodeOf(t, solve(t, cluster(parts...)), "p")
		if n == nil || n.Pool.String() != c.want {
			t.Errorf("%s: %+v, want a node of %s", c.name, n, c.want)
		}
	}
}

// API-084, API-295, API-436, API-447: a pool of the first generation whose nodes use up a limit launches nothing more, even what takes
// nothing of that resource, and the reason says so; a plan may reach the limit; what is leaving, or hidden in a what-if, does not
// count; and a limit of which nothing is used closes nothing.
func TestReachedLimitsOfTheFirstGeneration(t *testing.T) {
	const gpu = "example.com/gpu"
	with := func(amount string, options ...nodeOption) scheduling.Node {
		n := node("n", append([]nodeOption{ofPool("default"), bound(pod("full", requests("cpu=4")))}, options...)...)
		n.Pool.Generation = v1.GenerationV1Alpha5
		delete(n.Object.Labels, v1.NodePoolLabelKey)
		delete(n.Claim.Labels, v1.NodePoolLabelKey)
		n.Object.Labels["karpenter.sh/provisioner-name"], n.Claim.Labels["karpenter.sh/provisioner-name"] = "default", "default"
		n.Object.Status.Capacity[gpu], n.Claim.Status.Capacity[gpu] = resource.MustParse(amount), resource.MustParse(amount)
		return n
	}
	old := func(amounts ...string) scheduling.NodePool {
		return nodePool("default", bornIn(v1.GenerationV1Alpha5), limit(amounts...))
	}
	for _, c := range []struct {
		name  string
		parts []any
		want  int // of two pods, each of which takes a node
	}{
		{"reached", []any{old(gpu+"=2", "cpu=100"), with("2")}, 0},
		{"not reached", []any{old(gpu+"=3", "cpu=100"), with("2")}, 2},
		{"leaving", []any{old(gpu+"=2", "cpu=100"), with("2", func(n *scheduling.Node) { n.Leaving = true })}, 2},
		{"none used", []any{old(gpu+"=0", "cpu=100"), with("0")}, 2},
		{"reached by the plan", []any{old("cpu=8")}, 2},
		{"reached by the plan in addition to what is there", []any{old("cpu=12"), with("0")}, 2},
		{"passed by the plan: types that would are left out", []any{old("cpu=11"), with("0")}, 1},
		{"reached, of a later pool", []any{nodePool("default", limit(gpu+"=2", "cpu=100")), with("2")}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(append(c.parts, catalogue()[1:2], pods("p", 2, requests("cpu=3")))...)
			p := solve(t, s)
			if got := 2 - len(p.Unschedulable); got != c.want {
				t.Errorf("%d pods placed, want %d: %v", got, c.want, p.Unschedulable)
			}
			if c.name != "reached" {
				return
			}
			r := p.Unschedulable[0].Reasons[0]
			const text = "the nodepool was created as v1alpha5 and launches nothing more while its limit of example.com/gpu is reached (in use: cpu 4 of 100, example.com/gpu 2 of 2)"
			if r.Code != scheduling.ReasonLimits || !strings.Contains(r.String(), text) {
				t.Errorf("reason %q", r)
			}
			m, err := scheduling.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			trial := m.Trial()
			place := func() int {
				t.Helper()
				out, err := trial.Place(t.Context(), scheduling.PlaceOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return out.Placed
			}
			mark := trial.Mark()
			if _, err := trial.Hide("n"); err != nil {
				t.Fatal(err)
			}
			if placed := place(); placed != 3 {
				t.Errorf("%d pods placed while the node is hidden, want all three", placed)
			}
			if err := trial.Rollback(mark); err != nil {
				t.Fatal(err)
			}
			if placed := place(); placed != 0 {
				t.Errorf("%d pods placed once the node is back, want none", placed)
			}
		})
	}
}

// API-220, API-412: nodes bear the label of the generation that their pool was created in, and that label alone: a pod that names
// the one pool has no place in its namesake, and one that stays away from all pools says so of both labels.
func TestLabelOfAGeneration(t *testing.T) {
	const provisioner, nodepool = "karpenter.sh/provisioner-name", "karpenter.sh/nodepool"
	none := func(keys ...string) podOption {
		var list []corev1.NodeSelectorRequirement
		for _, key := range keys {
			list = append(list, expression(key, corev1.NodeSelectorOpDoesNotExist))
		}
		return required(list...)
	}
	old, current := nodePool("banana", bornIn(v1.GenerationV1Alpha5)), nodePool("banana")
	p := solve(t, cluster(old, current, catalogue()[1:2], pod("of-old", selector(provisioner+"=banana")), pod("of-new", selector(nodepool+"=banana")),
		pod("not-of-new", none(nodepool)), pod("of-none", none(nodepool, provisioner))))
	for name, want := range map[string]v1.Generation{"of-old": v1.GenerationV1Alpha5, "of-new": v1.GenerationV1, "not-of-new": v1.GenerationV1Alpha5} {
		if n := newNodeOf(t, p, name); n == nil || n.Pool.Generation != want {
			t.Errorf("%s is on %+v, want a node of generation %s", name, n, want)
		}
	}
	if r := reasonsOf(t, p, "of-none"); len(r) != 1 || r[0].Code != scheduling.ReasonOptedOut {
		t.Errorf("reasons %q, want that no pool may launch for it", r)
	}
	if a, b := scheduling.PoolLabel(old.Key), scheduling.PoolLabel(current.Key); a != provisioner || b != nodepool {
		t.Errorf("labels %q and %q", a, b)
	}
}

// A pool's catalog is its own: two pools may name different ones.
func TestCatalogsPerPool(t *testing.T) {
	s := cluster(nodePool("a", catalogOf("x"), weight(1)), nodePool("b", catalogOf("y")), pod("small"), pod("big", requests("cpu=5")))
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"x": catalogue()[:1], "y": catalogue()[2:3]}
	p := solve(t, s)
	wantPlace(t, p, "small", "new small/a/spot")
	wantPlace(t, p, "big", "new large/a/spot")
}

// SCH-157: the claim carries the pool's labels, its name and its node class.
func TestClaimRequirements(t *testing.T) {
	np := nodePool("default", poolLabel("team", "a"), poolNeeds(capacityKey, opIn, "on-demand"), poolNeeds("example.com/x", opExists))
	np.Object.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.test", Kind: "TestClass", Name: "main"}
	p := solve(t, cluster(np, pod("p", required(expression(zoneKey, opNotIn, "a")))))
	n := newNodeOf(t, p, "p")
	for key, want := range map[string]requirements.Requirement{
		"team":                     requirements.In("team", "a"),
		v1.NodePoolLabelKey:        requirements.In(v1.NodePoolLabelKey, "default"),
		"karpenter.test/testclass": requirements.In("karpenter.test/testclass", "main"),
		capacityKey:                requirements.In(capacityKey, "on-demand"),
		zoneKey:                    requirements.In(zoneKey, "b"),
		"example.com/x":            requirements.Exists("example.com/x"),
	} {
		if got := n.Requirements.Get(key); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if n.Requirements.Has(typeKey) {
		t.Errorf("the claim names instance types in its requirements: %s", n.Requirements)
	}
}
