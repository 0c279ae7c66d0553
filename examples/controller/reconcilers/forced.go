package reconcilers

import (
	"context"
	"fmt"

	"github.com/drawknife/drawknife/disruption"
)

// remover deletes nodes with forced removals, which no budget can prevent.
type remover struct {
	*actor
	told *disruptionMetrics
	// removed is called for each removal, because budgets with a rate and cool-downs of the pods' owners count removals.
	removed func(disruption.Disruption)
}

// remove stores the removal's deadline, if it has one, and deletes the claim. The claim's node then drains, and its pods are planned again.
// node is the name of the node, and may be empty.
func (r *remover) remove(ctx context.Context, removal *disruption.Removal, node string) error {
	claim := removal.Claim
	moving := r.podsOf(claim)
	if want, changed := removal.WithDeadline(); changed {
		stored, err := putClaim(ctx, r.client, claim, want)
		if err != nil {
			return fmt.Errorf("storing the deadline of nodeclaim %s: %w", claim.Name, err)
		}
		if stored == nil {
			return nil // it is gone
		}
	}
	if err := deleteExactly(ctx, r.client, claim.DeepCopy()); err != nil {
		return err
	}
	r.log.Info("deleted NodeClaim", "nodeClaim", claim.Name, "node", node, "reason", removal.Reason, "detail", removal.Detail, "deadline", removal.Deadline)
	r.told.take(removal.Samples(len(moving)))
	r.removed(disruption.ForcedDisruption(claim, node, removal.Reason, moving, r.now()))
	return nil
}
