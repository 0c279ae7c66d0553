package cloudprovider

import (
	"context"
	"errors"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GroupCreator is for providers that can launch the instances of several NodeClaims all or nothing. So nobody pays for some of them while
// the rest are out of stock.
//
//   - CP-GROUP-01: nil means that each claim has exactly one instance, described as Create describes it, at the index of its claim; the
//     instance meets its claim (CP-CREATE-01). Why: callers store each answer on its claim.
//   - CP-GROUP-02: if there is no capacity for all of them, no instance is left, and the error is as CP-CREATE-07 says. Why: a part of
//     the group is of no use, and the offerings must not be planned with again.
//   - CP-GROUP-03: called again for the same claims, in any order, in parallel, or by the next process, it returns the same instances; so
//     does Create for one of them. Why: responses get lost and processes restart.
//   - CP-GROUP-04: after an error, a timeout or a cancelled context, there is no instance, or one for each claim, which List shows with
//     the UID of its claim, and which a repeated call returns. The name of the claim may be missing in List until the claim's node has
//     joined. Why: an instance that nobody can find costs money forever.
//   - CP-GROUP-05: while some instances of the group are shutting down or gone and others are not, a repeated call fails with kind
//     InsufficientCapacity and launches nothing; the others stay with their claims until somebody ends them. Why: the caller gives
//     the whole group up, and a claim that got another's instance would lose it again.
type GroupCreator interface {
	// CreateGroup launches one instance for each of the claims, or none. The claims have different UIDs; they are not changed. If the
	// provider can't launch these claims together, the error is a *GroupUnsupportedError, and errors.Is(err, errors.ErrUnsupported) is
	// true. Then the provider has launched nothing for them: call Create for each.
	CreateGroup(ctx context.Context, nodeClaims []*v1.NodeClaim) ([]*v1.NodeClaim, error)
}

// GroupUnsupportedError says that a GroupCreator can't launch these claims all or nothing. It matches errors.ErrUnsupported.
type GroupUnsupportedError struct {
	// Reason says why, in a sentence for people.
	Reason string
	// Cause is the error behind it; it may be nil.
	Cause error
}

// NewGroupUnsupportedError returns the error for claims that can't be launched all or nothing. cause may be nil.
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
