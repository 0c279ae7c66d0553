package cloudprovider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The error types below contain the data that callers need. Create them by a constructor or as a composite literal; they are never changed
// after they are returned. errors.Is finds their ErrorKind, and errors.As finds their type.

// NodeClaimNotFoundError says that an instance is gone or never existed.
type NodeClaimNotFoundError struct {
	// ProviderID is the provider ID in the request; empty if the caller had none.
	ProviderID string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewNodeClaimNotFoundError returns the error for a provider ID that no instance has. providerID may be empty, and cause may be nil.
func NewNodeClaimNotFoundError(providerID string, cause error) error {
	return &NodeClaimNotFoundError{ProviderID: providerID, Cause: cause}
}

func (e *NodeClaimNotFoundError) Error() string {
	if e.ProviderID == "" {
		return because("no instance: the provider id is empty", e.Cause)
	}
	return because(fmt.Sprintf("no instance has provider id %q", e.ProviderID), e.Cause)
}

// Kind is NodeClaimNotFound.
func (e *NodeClaimNotFoundError) Kind() ErrorKind { return NodeClaimNotFound }

// Is makes errors.Is(err, NodeClaimNotFound) true.
func (e *NodeClaimNotFoundError) Is(target error) bool { return target == NodeClaimNotFound }

// Unwrap returns the cause.
func (e *NodeClaimNotFoundError) Unwrap() error { return e.Cause }

// InsufficientCapacityError says that a launch found no capacity in any offering that is compatible with the NodeClaim. It names these
// offerings. The provider shows them as unavailable from this moment on (CP-CREATE-07).
type InsufficientCapacityError struct {
	// Offerings are the offerings that were out of stock, sorted; empty if no offering is compatible with the NodeClaim.
	Offerings []OfferingKey
	// Cause is the underlying error; it may be nil. Several causes are joined with errors.Join, so that none is lost.
	Cause error
}

// NewInsufficientCapacityError returns the error for offerings without capacity. The offerings are copied and sorted, without duplicates.
// cause may be nil, or a result of errors.Join.
func NewInsufficientCapacityError(cause error, offerings ...OfferingKey) error {
	return &InsufficientCapacityError{Offerings: sortedKeys(offerings), Cause: cause}
}

func (e *InsufficientCapacityError) Error() string {
	if len(e.Offerings) == 0 {
		return because("insufficient capacity: no offering suits", e.Cause)
	}
	return because("insufficient capacity in "+listKeys(e.Offerings), e.Cause)
}

// Kind is InsufficientCapacity.
func (e *InsufficientCapacityError) Kind() ErrorKind { return InsufficientCapacity }

// Is makes errors.Is(err, InsufficientCapacity) true.
func (e *InsufficientCapacityError) Is(target error) bool { return target == InsufficientCapacity }

// Unwrap returns the cause.
func (e *InsufficientCapacityError) Unwrap() error { return e.Cause }

// QuotaExceededError says that a quota of the account is used up.
type QuotaExceededError struct {
	// Quota is the cloud's name for the quota.
	Quota string
	// Offerings are the offerings that the quota blocks, sorted. The provider shows them as unavailable (CP-CREATE-07).
	Offerings []OfferingKey
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewQuotaExceededError names the quota and the offerings that it blocks. The offerings are copied and sorted, without duplicates.
// cause may be nil.
func NewQuotaExceededError(quota string, cause error, offerings ...OfferingKey) error {
	return &QuotaExceededError{Quota: quota, Offerings: sortedKeys(offerings), Cause: cause}
}

func (e *QuotaExceededError) Error() string {
	what := fmt.Sprintf("quota %q is used up", e.Quota)
	if len(e.Offerings) > 0 {
		what += ", which closes " + listKeys(e.Offerings)
	}
	return because(what, e.Cause)
}

// Kind is QuotaExceeded.
func (e *QuotaExceededError) Kind() ErrorKind { return QuotaExceeded }

// Is makes errors.Is(err, QuotaExceeded) true.
func (e *QuotaExceededError) Is(target error) bool { return target == QuotaExceeded }

// Unwrap returns the cause.
func (e *QuotaExceededError) Unwrap() error { return e.Cause }

// NodeClassNotReadyError says that no instance can be launched with a node class at present.
type NodeClassNotReadyError struct {
	// NodeClass is the node class as "Kind name".
	NodeClass string
	// Reason says in a sentence, for people, what is missing.
	Reason string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewNodeClassNotReadyError returns the error for a node class ("Kind name") and the reason why it is not ready. cause may be nil.
func NewNodeClassNotReadyError(nodeClass, reason string, cause error) error {
	return &NodeClassNotReadyError{NodeClass: nodeClass, Reason: reason, Cause: cause}
}

func (e *NodeClassNotReadyError) Error() string {
	return because(fmt.Sprintf("node class %q is not ready: %s", e.NodeClass, e.Reason), e.Cause)
}

// Kind is NodeClassNotReady.
func (e *NodeClassNotReadyError) Kind() ErrorKind { return NodeClassNotReady }

// Is makes errors.Is(err, NodeClassNotReady) true.
func (e *NodeClassNotReadyError) Is(target error) bool { return target == NodeClassNotReady }

// Unwrap returns the cause.
func (e *NodeClassNotReadyError) Unwrap() error { return e.Cause }

// CreateError is a failed launch, with a reason and a message for the NodeClaim's Launched condition.
type CreateError struct {
	// Reason is a CamelCase word, suitable for a condition's reason.
	Reason string
	// Message is a sentence for people, suitable for a condition's message.
	Message string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewCreateError returns the error of a failed launch that a NodeClaim's condition can show: a CamelCase reason and a sentence. cause may
// be nil.
func NewCreateError(reason, message string, cause error) error {
	return &CreateError{Reason: reason, Message: message, Cause: cause}
}

func (e *CreateError) Error() string {
	return because(fmt.Sprintf("%s: %s", e.Reason, e.Message), e.Cause)
}

// Kind is CreateFailed.
func (e *CreateError) Kind() ErrorKind { return CreateFailed }

// Is makes errors.Is(err, CreateFailed) true.
func (e *CreateError) Is(target error) bool { return target == CreateFailed }

// Unwrap returns the cause.
func (e *CreateError) Unwrap() error { return e.Cause }

// UnevaluatedNodePoolError says that a NodePool's instance types are not known yet.
type UnevaluatedNodePoolError struct {
	// NodePool is the name of the NodePool.
	NodePool string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewUnevaluatedNodePoolError returns the error for the NodePool of this name. cause may be nil.
func NewUnevaluatedNodePoolError(nodePool string, cause error) error {
	return &UnevaluatedNodePoolError{NodePool: nodePool, Cause: cause}
}

func (e *UnevaluatedNodePoolError) Error() string {
	return because(fmt.Sprintf("instance types of nodepool %q are not evaluated yet", e.NodePool), e.Cause)
}

// Kind is UnevaluatedNodePool.
func (e *UnevaluatedNodePoolError) Kind() ErrorKind { return UnevaluatedNodePool }

// Is makes errors.Is(err, UnevaluatedNodePool) true.
func (e *UnevaluatedNodePoolError) Is(target error) bool { return target == UnevaluatedNodePool }

// Unwrap returns the cause.
func (e *UnevaluatedNodePoolError) Unwrap() error { return e.Cause }

// ThrottledError says that the cloud refused a call because of too many calls.
type ThrottledError struct {
	// Action is the cloud's name for the call, "CreateFleet" for instance.
	Action string
	// RetryAfter is how long to wait before the next call. If it is zero, the caller uses its own back-off.
	RetryAfter time.Duration
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewThrottledError returns the error for a throttled call of the cloud. retryAfter is how long to wait before the next call; if it is
// zero, the caller uses its own back-off. cause may be nil.
func NewThrottledError(action string, retryAfter time.Duration, cause error) error {
	return &ThrottledError{Action: action, RetryAfter: retryAfter, Cause: cause}
}

func (e *ThrottledError) Error() string {
	what := fmt.Sprintf("%s was throttled", e.Action)
	if e.RetryAfter > 0 {
		what += fmt.Sprintf(", retry after %s", e.RetryAfter)
	}
	return because(what, e.Cause)
}

// Kind is Throttled.
func (e *ThrottledError) Kind() ErrorKind { return Throttled }

// Is makes errors.Is(err, Throttled) true.
func (e *ThrottledError) Is(target error) bool { return target == Throttled }

// Unwrap returns the cause.
func (e *ThrottledError) Unwrap() error { return e.Cause }

// RetryAfter returns the waiting time of the ThrottledError in err, or the longest one if there are several. The second result is false if
// err contains no ThrottledError.
func RetryAfter(err error) (time.Duration, bool) {
	var longest time.Duration
	walk(err, func(e error) {
		if t, ok := e.(*ThrottledError); ok {
			longest = max(longest, t.RetryAfter)
		}
	})
	return longest, longest > 0
}

// UnauthorizedError says which call the credentials do not allow.
type UnauthorizedError struct {
	// Action is the cloud's name for the missing permission, for instance "ec2:CreateFleet".
	Action string
	// Cause is the underlying error; it may be nil.
	Cause error
}

// NewUnauthorizedError names the permission that is missing. cause may be nil.
func NewUnauthorizedError(action string, cause error) error {
	return &UnauthorizedError{Action: action, Cause: cause}
}

func (e *UnauthorizedError) Error() string {
	return because(fmt.Sprintf("not authorised for %q: grant it to the credentials in use", e.Action), e.Cause)
}

// Kind is Unauthorized.
func (e *UnauthorizedError) Kind() ErrorKind { return Unauthorized }

// Is makes errors.Is(err, Unauthorized) true.
func (e *UnauthorizedError) Is(target error) bool { return target == Unauthorized }

// Unwrap returns the cause.
func (e *UnauthorizedError) Unwrap() error { return e.Cause }

// TransientError marks a cause as transient: it goes away by itself.
type TransientError struct {
	// Cause is the error that is transient.
	Cause error
}

// NewTransientError marks cause as transient. Errors without a kind are treated as transient, too; this type is for a provider that knows
// that its error is transient.
func NewTransientError(cause error) error { return &TransientError{Cause: cause} }

func (e *TransientError) Error() string { return because("transient", e.Cause) }

// Kind is Transient.
func (e *TransientError) Kind() ErrorKind { return Transient }

// Is makes errors.Is(err, Transient) true.
func (e *TransientError) Is(target error) bool { return target == Transient }

// Unwrap returns the cause.
func (e *TransientError) Unwrap() error { return e.Cause }

// PermanentError says that the request itself is wrong.
type PermanentError struct {
	// Cause says what is wrong with the request.
	Cause error
}

// NewPermanentError says that the request itself is wrong because of cause: the same call can never succeed.
func NewPermanentError(cause error) error { return &PermanentError{Cause: cause} }

func (e *PermanentError) Error() string { return because("permanent", e.Cause) }

// Kind is Permanent.
func (e *PermanentError) Kind() ErrorKind { return Permanent }

// Is makes errors.Is(err, Permanent) true.
func (e *PermanentError) Is(target error) bool { return target == Permanent }

// Unwrap returns the cause.
func (e *PermanentError) Unwrap() error { return e.Cause }

// ExhaustedOfferings returns the offerings that err names as out of stock or blocked by a quota, sorted and without repetitions. It returns
// nil if err names no offerings.
func ExhaustedOfferings(err error) []OfferingKey {
	var keys []OfferingKey
	walk(err, func(e error) {
		switch e := e.(type) {
		case *InsufficientCapacityError:
			keys = append(keys, e.Offerings...)
		case *QuotaExceededError:
			keys = append(keys, e.Offerings...)
		}
	})
	return sortedKeys(keys)
}

// walk calls visit for err and all errors that it wraps, the outermost first, and joined errors in their order.
func walk(err error, visit func(error)) {
	for err != nil {
		visit(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, each := range joined.Unwrap() {
				walk(each, visit)
			}
			return
		}
		err = errors.Unwrap(err)
	}
}

// because appends the cause to a message. If cause is nil, the message stays unchanged. The message also stays unchanged if it already ends
// with the text of the cause.
func because(what string, cause error) string {
	if cause == nil || strings.HasSuffix(what, cause.Error()) {
		return what
	}
	return what + ": " + cause.Error()
}

func sortedKeys(keys []OfferingKey) []OfferingKey {
	if len(keys) == 0 {
		return nil
	}
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, OfferingKey.Compare)
	return slices.Compact(sorted)
}

// mostKeysListed limits the offerings in a message, because there may be thousands. The error's field lists all offerings.
const mostKeysListed = 10

func listKeys(keys []OfferingKey) string {
	var b strings.Builder
	for i, k := range keys {
		if i == mostKeysListed {
			fmt.Fprintf(&b, " and %d more", len(keys)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.String())
	}
	return b.String()
}
