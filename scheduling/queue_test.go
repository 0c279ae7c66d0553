package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
)

// queueTally counts what became of plans that kube-scheduler carried out from its queue.
type queueTally struct{ plans, pods, refusedPlans, refused, leftPlans, left int }

func (c *queueTally) add(pods int, out planvalidator.Queued) {
	c.plans++
	c.pods += pods
	c.refused += len(out.Refused)
	c.left += len(out.Left)
	if len(out.Refused) > 0 {
		c.refusedPlans++
	}
	if len(out.Left) > 0 {
		c.leftPlans++
	}
}

// Plans come true from kube-scheduler's queue: once the nodes are there, its pods find nodes in the order of the queue, not only
// in that of the plan. A plan may need one order, since its pods may follow others or wait for their domains: of the random
// ones at most 4 in 100 have a pod that is refused its planned node when its turn comes, and at most 2 in 100 leave a pod over
// where kube-scheduler prefers the planned nodes. Where it prefers others, it may give a pod that suits many nodes the last room
// on the one node that suits another: nodes as full as these leave a pod over in up to 12 of 100 plans then. -v lists the counts.
//
//	go test ./scheduling -run TestPlansComeTrueFromTheQueue -v -rapid.checks 20000 -rapid.seed 7
func TestPlansComeTrueFromTheQueue(t *testing.T) {
	var planned, spread, random queueTally
	seeded.Times(t, 300, func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		p := solved(t, s)
		planned.add(len(p.Order), planvalidator.Queue(s, p, planvalidator.AsPlanned()))
		spread.add(len(p.Order), planvalidator.Queue(s, p, planvalidator.LeastAllocated()))
		random.add(len(p.Order), planvalidator.Queue(s, p, planvalidator.AtRandom(rapid.Uint64().Draw(t, "choices"))))
	})
	for _, c := range []struct {
		name          string
		tally         queueTally
		refused, left int // most in 100 plans
	}{{"the planned node first", planned, 4, 2}, {"the least allocated node", spread, 4, 12}, {"any node", random, 4, 12}} {
		t.Logf("%s: of %d plans with %d pods %d have %d that are refused their planned node when their turn comes, %d leave %d over",
			c.name, c.tally.plans, c.tally.pods, c.tally.refusedPlans, c.tally.refused, c.tally.leftPlans, c.tally.left)
		if c.name == "the planned node first" && c.tally.refusedPlans*100 > c.refused*c.tally.plans {
			t.Errorf("%s: %d of %d plans have a pod that is refused its planned node", c.name, c.tally.refusedPlans, c.tally.plans)
		}
		if c.tally.leftPlans*100 > c.left*c.tally.plans {
			t.Errorf("%s: %d of %d plans leave a pod over", c.name, c.tally.leftPlans, c.tally.plans)
		}
	}
}

// SCH-130: of pods that follow each other the head of kube-scheduler's queue begins. Its architecture is the others', unless the
// plan is cheaper where one of them begins elsewhere; then Plan.Order has that one first.
func TestHeadOfTheQueueStartsADomain(t *testing.T) {
	for _, c := range []struct {
		name  string
		amd64 float64 // USD per hour of the type that only the follower can use
		first string
		torn  bool
	}{{"at the same price", 0.2, "default/head", false}, {"cheaper elsewhere", 0.1, "default/tail", true}} {
		t.Run(c.name, func(t *testing.T) {
			types := []*cloudprovider.InstanceType{
				with(typeOf("arm", 0.2, "cpu=16", "memory=128Gi"), requirements.In(archKey, "arm64")),
				typeOf("amd", c.amd64, "cpu=16", "memory=128Gi"),
			}
			apartBySpread := spreadOver(corev1.TopologySpreadConstraint{
				TopologyKey: corev1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: matching("security", "s2"),
			})
			follows := near(corev1.PodAffinityTerm{TopologyKey: archKey, LabelSelector: matching("security", "s2")})
			s := cluster(nodePool("default"), types,
				pod("head", label("security", "s2"), requests("cpu=2"), apartBySpread, selector(archKey+"=arm64")),
				pod("tail", label("security", "s2"), requests("cpu=1"), apartBySpread, follows))
			p := solve(t, s)
			if len(p.Order) != 2 || p.Order[0].String() != c.first {
				t.Errorf("the order is %v, want %s first", p.Order, c.first)
			}
			if torn := len(planvalidator.Queue(s, p, planvalidator.AsPlanned()).Refused) > 0; torn != c.torn {
				t.Errorf("that the queue contradicts the plan is %v, want %v", torn, c.torn)
			}
		})
	}
}
