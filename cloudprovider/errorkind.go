package cloudprovider

import "errors"

// ErrorKind classifies what went wrong in a provider, by what a caller has to do about it (CP-ERROR-01). Kinds are
// constants that are errors themselves, so that errors.Is(err, cloudprovider.InsufficientCapacity) works on any
// error that carries the kind, however deeply it is wrapped or joined.
type ErrorKind string

const (
	// NodeClaimNotFound: the instance is gone, or never was. From Delete, Get and IsDrifted. It is success for a
	// caller that wanted the instance gone.
	NodeClaimNotFound ErrorKind = "NodeClaimNotFound"
	// InsufficientCapacity: no offering that suits the NodeClaim has room. From Create. Delete the claim and plan its
	// pods anew; the provider shows the offerings concerned as unavailable for a while.
	InsufficientCapacity ErrorKind = "InsufficientCapacity"
	// QuotaExceeded: the account may not have more of this. From Create. Treat it like InsufficientCapacity, and tell
	// an operator, since waiting alone rarely helps.
	QuotaExceeded ErrorKind = "QuotaExceeded"
	// NodeClassNotReady: the node class can't be launched from now. From Create. Delete the claim and plan its pods
	// anew, on other NodePools perhaps.
	NodeClassNotReady ErrorKind = "NodeClassNotReady"
	// CreateFailed: the launch failed for a reason that belongs on the NodeClaim's Launched condition. From Create.
	// Keep the claim, show the reason, try again.
	CreateFailed ErrorKind = "CreateFailed"
	// UnevaluatedNodePool: the NodePool's instance types are not known yet. From InstanceTypes. Leave the NodePool out
	// for now.
	UnevaluatedNodePool ErrorKind = "UnevaluatedNodePool"
	// Throttled: the cloud asks for fewer calls. From any method. Try again, not before RetryAfter.
	Throttled ErrorKind = "Throttled"
	// Unauthorized: the credentials are missing, expired or lack a permission. From any method. Try again slowly and
	// tell an operator which action was refused.
	Unauthorized ErrorKind = "Unauthorized"
	// Transient: something that passes by itself. From any method. Try again with back-off. An error without a kind is
	// read as transient.
	Transient ErrorKind = "Transient"
	// Permanent: the same call can never succeed: the request itself is at fault. From any method. Don't repeat it
	// unchanged.
	Permanent ErrorKind = "Permanent"
)

// Error is the kind's name. It makes each kind a target for errors.Is.
func (k ErrorKind) Error() string { return string(k) }

// kinded is what this package's error types have in common.
type kinded interface {
	error
	Kind() ErrorKind
}

// KindOf gives an error its one kind: that of the outermost typed error, and of joined errors the first in their
// order. An error without a kind is Transient, context errors included (look at ctx.Err() first); nil has the empty
// kind. Use it for metrics and for the choice of a reaction; use the Is… predicates to look for one kind anywhere.
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

// IsNodeClaimNotFound reports whether the instance is gone or never was.
func IsNodeClaimNotFound(err error) bool { return errors.Is(err, NodeClaimNotFound) }

// IsInsufficientCapacity reports whether a launch failed for lack of capacity.
func IsInsufficientCapacity(err error) bool { return errors.Is(err, InsufficientCapacity) }

// IsQuotaExceeded reports whether a launch failed because of an account's quota.
func IsQuotaExceeded(err error) bool { return errors.Is(err, QuotaExceeded) }

// IsNodeClassNotReady reports whether a launch was refused because its node class is not ready.
func IsNodeClassNotReady(err error) bool { return errors.Is(err, NodeClassNotReady) }

// IsCreateFailed reports whether err is a CreateError.
func IsCreateFailed(err error) bool { return errors.Is(err, CreateFailed) }

// IsUnevaluatedNodePool reports whether a NodePool's instance types are not known yet.
func IsUnevaluatedNodePool(err error) bool { return errors.Is(err, UnevaluatedNodePool) }

// IsThrottled reports whether the cloud refused a call because there were too many.
func IsThrottled(err error) bool { return errors.Is(err, Throttled) }

// IsUnauthorized reports whether the cloud refused a call for want of a permission.
func IsUnauthorized(err error) bool { return errors.Is(err, Unauthorized) }

// IsTransient reports whether err passes by itself: it has that kind, or no kind at all. It is false for nil.
func IsTransient(err error) bool { return KindOf(err) == Transient }

// IsPermanent reports whether err says that the same call can never succeed.
func IsPermanent(err error) bool { return errors.Is(err, Permanent) }

// LaunchAbandoned reports whether an error of Create means that the NodeClaim can't be met as it is, so that it
// should be deleted and its pods planned anew.
func LaunchAbandoned(err error) bool {
	switch KindOf(err) {
	case InsufficientCapacity, QuotaExceeded, NodeClassNotReady:
		return true
	}
	return false
}

// IgnoreNodeClaimNotFound returns nil for an error that says that the instance is gone, and err otherwise.
func IgnoreNodeClaimNotFound(err error) error {
	if IsNodeClaimNotFound(err) {
		return nil
	}
	return err
}
