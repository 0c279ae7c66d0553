package cloudprovider

import "errors"

// ErrorKind classifies errors of a provider by the required action of the caller (CP-ERROR-01). Kinds are constants that are errors
// themselves, so that errors.Is(err, cloudprovider.InsufficientCapacity) works on any error that carries the kind, however deeply it is
// wrapped or joined.
type ErrorKind string

const (
	// NodeClaimNotFound: the instance is gone or never existed. Delete, Get and IsDrifted return it. A caller that wanted to terminate the
	// instance treats this error as success.
	NodeClaimNotFound ErrorKind = "NodeClaimNotFound"
	// InsufficientCapacity: no offering compatible with the NodeClaim has capacity. Create returns it. Delete the claim and plan its pods
	// again; the provider shows these offerings as unavailable for a while.
	InsufficientCapacity ErrorKind = "InsufficientCapacity"
	// QuotaExceeded: a quota of the account is used up. Create returns it. Treat it like InsufficientCapacity and notify an operator,
	// because waiting alone rarely helps.
	QuotaExceeded ErrorKind = "QuotaExceeded"
	// NodeClassNotReady: no instance can be launched with the node class at present. Create returns it. Delete the claim and plan its pods
	// again, perhaps in other NodePools.
	NodeClassNotReady ErrorKind = "NodeClassNotReady"
	// CreateFailed: the launch failed, and the NodeClaim's Launched condition should show the reason. Create returns it. Keep the claim and
	// try again.
	CreateFailed ErrorKind = "CreateFailed"
	// UnevaluatedNodePool: the instance types of the NodePool are not known yet. InstanceTypes returns it. Plan without the NodePool for
	// now.
	UnevaluatedNodePool ErrorKind = "UnevaluatedNodePool"
	// Throttled: the cloud refused a call because of too many calls. Any method may return it. Try again, but not before RetryAfter has
	// passed.
	Throttled ErrorKind = "Throttled"
	// Unauthorized: the credentials are missing, expired or lack a permission. Any method may return it. Retry at long intervals and show
	// an operator which action was refused.
	Unauthorized ErrorKind = "Unauthorized"
	// Transient: a failure that goes away by itself. Any method may return it. Try again with back-off. An error without a kind is treated
	// as transient.
	Transient ErrorKind = "Transient"
	// Permanent: the same call can never succeed because the request is invalid. Any method may return it. Don't repeat the call unchanged.
	Permanent ErrorKind = "Permanent"
)

// Error returns the kind's name. This method makes each kind a target for errors.Is.
func (k ErrorKind) Error() string { return string(k) }

// kinded is implemented by all error types of this package.
type kinded interface {
	error
	Kind() ErrorKind
}

// KindOf returns the kind of the outermost error that has a kind, or of the first such error among joined errors. If no error has a kind,
// it returns Transient. This includes context errors, so check ctx.Err() first. For nil it returns the empty kind. Use it for metrics and
// to choose a reaction; use the Is… predicates to find a kind anywhere in the error.
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	var typed kinded
	if errors.As(err, &typed) {
		return typed.Kind()
	}
	var bare ErrorKind
	if errors.As(err, &bare) {
		return bare
	}
	return Transient
}

// IsNodeClaimNotFound reports whether the instance is gone or never existed.
func IsNodeClaimNotFound(err error) bool { return errors.Is(err, NodeClaimNotFound) }

// IsInsufficientCapacity reports whether a launch failed because capacity was missing.
func IsInsufficientCapacity(err error) bool { return errors.Is(err, InsufficientCapacity) }

// IsQuotaExceeded reports whether a launch failed because of an account's quota.
func IsQuotaExceeded(err error) bool { return errors.Is(err, QuotaExceeded) }

// IsNodeClassNotReady reports whether a launch was refused because its node class is not ready.
func IsNodeClassNotReady(err error) bool { return errors.Is(err, NodeClassNotReady) }

// IsCreateFailed reports whether err is a CreateError.
func IsCreateFailed(err error) bool { return errors.Is(err, CreateFailed) }

// IsUnevaluatedNodePool reports whether a NodePool's instance types are not known yet.
func IsUnevaluatedNodePool(err error) bool { return errors.Is(err, UnevaluatedNodePool) }

// IsThrottled reports whether the cloud refused a call because of too many calls.
func IsThrottled(err error) bool { return errors.Is(err, Throttled) }

// IsUnauthorized reports whether the cloud refused a call because a permission is missing.
func IsUnauthorized(err error) bool { return errors.Is(err, Unauthorized) }

// IsTransient reports whether err has the kind Transient, or no kind at all. It is false for nil.
func IsTransient(err error) bool { return KindOf(err) == Transient }

// IsPermanent reports whether err says that the same call can never succeed.
func IsPermanent(err error) bool { return errors.Is(err, Permanent) }

// LaunchAbandoned reports whether an error of Create means that the NodeClaim can't be launched, so the caller should delete it and
// plan its pods again.
func LaunchAbandoned(err error) bool {
	switch KindOf(err) {
	case InsufficientCapacity, QuotaExceeded, NodeClassNotReady:
		return true
	}
	return false
}

// IgnoreNodeClaimNotFound returns nil if err says that the instance is gone, and otherwise err.
func IgnoreNodeClaimNotFound(err error) error {
	if IsNodeClaimNotFound(err) {
		return nil
	}
	return err
}
