package oracle_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/internal/e2e/oracle/snapshots"
	"github.com/drawknife/drawknife/scheduling"
)

// defaultQueued is what CI plays from the queue: of fewer, the share that leaves a pod over is off by several in 100.
const defaultQueued = "1000"

// Most plans come true when kube-scheduler takes their pods from its queue, in its own order: of the random ones at most 2 in
// 100 have a pod that is refused its planned node when its turn comes, and at most 1 in 100 leaves a pod over where
// kube-scheduler prefers the planned nodes. Where it prefers others, it may give a pod that suits many nodes the last room on the
// one node that suits another: full nodes leave a pod over in about 15 of 100 plans then,
// 448 of 3,000 with seeds 1, 11 and 12 when last counted; the next round plans such pods again. Plans that found a place for fewer pods
// on the nodes there are left one over in 436 of them.
func TestRandomQueues(t *testing.T) {
	features := featuresFromEnv(t)
	setRapid(t)
	setFlag(t, "rapid.checks", "ORACLE_QUEUED", defaultQueued)
	preferences := []oracle.Preference{oracle.PlannedNode, oracle.LeastAllocated, oracle.AnyNode}
	plans, pods := 0, 0
	refusedPlans, refused := make([]int, len(preferences)), make([]int, len(preferences))
	leftPlans, left := make([]int, len(preferences)), make([]int, len(preferences))
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots.Of(features).Draw(t, "snapshot")
		q := snapshots.Queries(features).Draw(t, "query")
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		choices, err := oracle.Choices(s, plan)
		if err != nil {
			t.Fatal(err)
		}
		plans++
		pods += len(plan.Order)
		for i, prefer := range preferences {
			out, err := oracle.Queue(context.Background(), s, plan, choices[0], prefer)
			if err != nil {
				t.Fatal(err)
			}
			refused[i] += len(out.Refused)
			left[i] += len(out.Left)
			if len(out.Refused) > 0 {
				refusedPlans[i]++
			}
			if len(out.Left) > 0 {
				leftPlans[i]++
			}
		}
	})
	for i, prefer := range preferences {
		fmt.Printf("oracle: from the queue, %s: of %d plans with %d pods %d have %d that are refused their planned node when their turn comes, %d leave %d over\n",
			prefer, plans, pods, refusedPlans[i], refused[i], leftPlans[i], left[i])
		most := 17 // of 1,000 plans the share is off by one or two in 100
		if prefer == oracle.PlannedNode {
			most = 1
			if refusedPlans[i]*100 > 2*plans {
				t.Errorf("%s: %d of %d plans have a pod that is refused its planned node", prefer, refusedPlans[i], plans)
			}
		}
		if leftPlans[i]*100 > most*plans {
			t.Errorf("%s: %d of %d plans leave a pod over", prefer, leftPlans[i], plans)
		}
	}
}
