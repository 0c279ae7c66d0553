package cloudprovider

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// DriftReason says, in one CamelCase word, how an instance differs from its node class. It is empty if the instance does not differ.
type DriftReason string

// DriftDetector is for providers whose instances can differ from their node class after it changes: an older image, another subnet.
//
//   - CP-DRIFT-01: the answer compares the instance as it is with the node class as it is; it does not depend on when
//     it is asked. Why: drift is asked for again and again, and an answer that wavers rolls nodes for nothing.
//   - CP-DRIFT-02: an instance just launched is not drifted. Why: it would be replaced forever.
//   - CP-DRIFT-03: an instance that is gone gives an error of kind NodeClaimNotFound, not drift. Why: there is nothing
//     to replace.
//   - CP-DRIFT-04: what is unknown now is an error, never "not drifted". Why: the caller keeps its previous result.
type DriftDetector interface {
	// IsDrifted returns why the claim's instance has drifted; empty if it has not.
	IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (DriftReason, error)
}
