package cloudprovider

import (
	"context"
	"errors"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GroupCreator is for providers that can launch the instances of several NodeClaims either all together or not at all. So nobody pays for
// some of the instances while the others are out of stock.
//
//   - CP-GROUP-01: nil means that each claim has exactly one instance, described as Create describes it, at the index of its claim; the
//     instance meets its claim (CP-CREATE-01). Why: callers store each answer on its claim.
//   - CP-GROUP-02: if there is not enough capacity for all claims, no instance remains, and the error is the one of CP-CREATE-07. Why: a
//     part of the group is useless, and planners must not use the same offerings again.
//   - CP-GROUP-03: if it is called again for the same claims, in any order, in parallel, or by the next process, it returns the same
//     instances. Create for one of the claims also returns its instance. Why: responses get lost and processes restart.
//   - CP-GROUP-04: after an error, a timeout or a cancelled context, either no instance exists or one for each claim. List shows such
//     instances with the UIDs of their claims, and a repeated call returns them. The name of the claim may be missing in List until the
//     claim's node has joined. Why: an instance that nobody can find costs money forever.
//   - CP-GROUP-05: if some but not all instances of the group are shutting down or gone, a repeated call fails with kind
//     InsufficientCapacity and launches nothing. The other instances stay with their claims until somebody deletes them. Why: the caller
//     abandons the whole group, and a claim that received another claim's instance would lose it again.
type GroupCreator interface {
	// CreateGroup launches one instance for each of the claims, or none. The claims have different UIDs; they are not changed. If the
	// provider can't launch these claims together, the error is a *GroupUnsupportedError, and errors.Is(err, errors.ErrUnsupported) is
	// true. In this case the provider has launched nothing for the claims: call Create for each claim.
	CreateGroup(ctx context.Context, nodeClaims []*v1.NodeClaim) ([]*v1.NodeClaim, error)
}

// GroupUnsupportedError says that a GroupCreator can't launch these claims as one group. It matches errors.ErrUnsupported.
type GroupUnsupportedError struct {
	// Reason says in a sentence, for people, why this is not possible.
	Reason string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewGroupUnsupportedError returns the error for claims that can't be launched as one group. cause may be nil.
func NewGroupUnsupportedError(reason string, cause error) error {
	return &GroupUnsupportedError{Reason: reason, Cause: cause}
}

func (e *GroupUnsupportedError) Error() string {
	return because("these nodeclaims can't be launched all or nothing: "+e.Reason, e.Cause)
}

// Is makes errors.Is(err, errors.ErrUnsupported) true.
func (e *GroupUnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// Unwrap gives the cause.
func (e *GroupUnsupportedError) Unwrap() error { return e.Cause }
