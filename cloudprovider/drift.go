package cloudprovider

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// DriftReason says, in one CamelCase word, how an instance differs from its node class. The reason is empty if the instance does not
// differ.
type DriftReason string

// DriftDetector is for providers whose instances can differ from their node class after it changes: an older image, another subnet.
//
//   - CP-DRIFT-01: the result compares the present instance with the present node class, and does not depend on the time of the call. Why:
//     drift is checked repeatedly, and a result that changes without a cause makes the planner replace nodes for nothing.
//   - CP-DRIFT-02: an instance that was just launched has not drifted. Why: otherwise its replacement would be replaced again, forever.
//   - CP-DRIFT-03: an instance that is gone gives an error of kind NodeClaimNotFound, not drift. Why: an instance that is gone can't be
//     replaced.
//   - CP-DRIFT-04: if the state of the instance or the node class is unknown, the result is an error, never "not drifted". Why: the caller
//     keeps its previous result.
type DriftDetector interface {
	// IsDrifted returns why the claim's instance has drifted; empty if it has not.
	IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (DriftReason, error)
}
