package reconcilers

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// scale brings a static pool to its number of nodes. Ordered nodes are added to the view of the cluster at once, so that no node is ordered
// twice.
func (r *poolReconciler) scale(ctx context.Context, pool *v1.NodePool) (time.Duration, error) {
	r.planner.scaling.Lock()
	defer r.planner.scaling.Unlock()
	state := provisioning.StaticState{Pool: pool}
	view := r.state.Snapshot(cluster.Query{Time: r.now()})
	state.Gangs = view.Snapshot.Gangs
	for i := range view.Nodes {
		if m := &view.Nodes[i]; m.Pool == pool.Key() && m.Claim != nil {
			state.Claims = append(state.Claims, provisioning.StaticClaim{Claim: m.Claim, Pods: m.Pods, Replaced: m.Marked})
		}
	}
	step, err := provisioning.ScaleStatic(state, nodeclaims.Options{Lookup: r.lookup, TerminationGracePeriod: r.planner.gracePeriod()}, r.now())
	if err != nil {
		return 0, err
	}
	if step.Err != nil {
		r.log.Warn("cannot create all replicas of static NodePool", "nodePool", v1.QualifiedName(pool), "error", step.Err)
	}
	outcome := r.planner.launch(ctx, step.Launches, "static")
	if step.Err != nil || len(step.Launches) == 0 {
		r.health.ordered(pool.Key(), step.Err, r.now())
	}
	for _, launched := range outcome.Launched {
		if launched.Err != nil {
			step.Again = sooner(step.Again, poolEvery)
		}
	}
	work := newRound(nil, nil)
	for _, deletion := range step.Deletions {
		for _, c := range state.Claims {
			if c.Claim.UID == deletion.UID {
				work.claims[deletion.UID] = c.Claim
			}
		}
		if err := r.deleteClaim(ctx, work, deletion); err != nil {
			return 0, err
		}
		// From now on, the claim counts as being removed in the view, so that no other claim is deleted before the watch shows the
		// deletion.
		r.state.Mark(deletion.Name)
	}
	return step.Again, nil
}
