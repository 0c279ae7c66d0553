package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/cloudprovider"
)

var errCause = errors.New("the cloud said no")

func spotIn(zone string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: zone, CapacityType: "spot"}
}

// CP-ERROR-01, CP-ERROR-02, PRV-180: each constructor gives one kind, found through wrapping and joining, with its
// data and its cause in reach.
func TestEachErrorHasItsKind(t *testing.T) {
	predicates := map[cloudprovider.ErrorKind]func(error) bool{
		cloudprovider.NodeClaimNotFound:    cloudprovider.IsNodeClaimNotFound,
		cloudprovider.InsufficientCapacity: cloudprovider.IsInsufficientCapacity,
		cloudprovider.QuotaExceeded:        cloudprovider.IsQuotaExceeded,
		cloudprovider.NodeClassNotReady:    cloudprovider.IsNodeClassNotReady,
		cloudprovider.CreateFailed:         cloudprovider.IsCreateFailed,
		cloudprovider.UnevaluatedNodePool:  cloudprovider.IsUnevaluatedNodePool,
		cloudprovider.Throttled:            cloudprovider.IsThrottled,
		cloudprovider.Unauthorized:         cloudprovider.IsUnauthorized,
		cloudprovider.Transient:            cloudprovider.IsTransient,
		cloudprovider.Permanent:            cloudprovider.IsPermanent,
	}
	tests := []struct {
		kind      cloudprovider.ErrorKind
		err       error
		message   string
		abandoned bool
	}{
		{
			cloudprovider.NodeClaimNotFound, cloudprovider.NewNodeClaimNotFoundError("fake:///i-1", errCause),
			`no instance has provider id "fake:///i-1": the cloud said no`, false,
		},
		{
			cloudprovider.InsufficientCapacity, cloudprovider.NewInsufficientCapacityError(errCause, spotIn("b"), spotIn("a"), spotIn("b")),
			`insufficient capacity in m5.large/a/spot, m5.large/b/spot: the cloud said no`, true,
		},
		{
			cloudprovider.QuotaExceeded, cloudprovider.NewQuotaExceededError("vCPUs", errCause, spotIn("a")),
			`quota "vCPUs" is used up, which closes m5.large/a/spot: the cloud said no`, true,
		},
		{
			cloudprovider.NodeClassNotReady, cloudprovider.NewNodeClassNotReadyError("FakeNodeClass default", "no image", errCause),
			`node class "FakeNodeClass default" is not ready: no image: the cloud said no`, true,
		},
		{
			cloudprovider.CreateFailed, cloudprovider.NewCreateError("BadSubnet", "the subnet is full", errCause),
			`BadSubnet: the subnet is full: the cloud said no`, false,
		},
		{
			cloudprovider.UnevaluatedNodePool, cloudprovider.NewUnevaluatedNodePoolError("default", errCause),
			`instance types of nodepool "default" are not evaluated yet: the cloud said no`, false,
		},
		{
			cloudprovider.Throttled, cloudprovider.NewThrottledError("CreateFleet", 2*time.Second, errCause),
			`CreateFleet was throttled, retry after 2s: the cloud said no`, false,
		},
		{
			cloudprovider.Unauthorized, cloudprovider.NewUnauthorizedError("ec2:CreateFleet", errCause),
			`not authorised for "ec2:CreateFleet": grant it to the credentials in use: the cloud said no`, false,
		},
		{cloudprovider.Transient, cloudprovider.NewTransientError(errCause), `transient: the cloud said no`, false},
		{cloudprovider.Permanent, cloudprovider.NewPermanentError(errCause), `permanent: the cloud said no`, false},
	}
	if len(tests) != len(predicates) {
		t.Fatalf("%d tests for %d kinds", len(tests), len(predicates))
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			if got := tt.err.Error(); got != tt.message {
				t.Errorf("message %q, want %q", got, tt.message)
			}
			for _, wrapped := range []error{
				tt.err,
				fmt.Errorf("launching nodeclaim %q: %w", "default-1", tt.err),
				errors.Join(errors.New("another"), tt.err),
			} {
				if !errors.Is(wrapped, tt.kind) {
					t.Errorf("%q is not %s", wrapped, tt.kind)
				}
				if !errors.Is(wrapped, errCause) {
					t.Errorf("%q lost its cause", wrapped)
				}
				if got := cloudprovider.KindOf(wrapped); got != tt.kind {
					t.Errorf("%q has kind %s, want %s", wrapped, got, tt.kind)
				}
				if got := cloudprovider.LaunchAbandoned(wrapped); got != tt.abandoned {
					t.Errorf("LaunchAbandoned(%q) = %v, want %v", wrapped, got, tt.abandoned)
				}
				for kind, is := range predicates {
					if got := is(wrapped); got != (kind == tt.kind) {
						t.Errorf("predicate of %s on %q = %v", kind, wrapped, got)
					}
				}
			}
		})
	}
}

// Literals without a cause are legal and print well.
func TestErrorsWithoutCause(t *testing.T) {
	tests := map[string]error{
		"no instance: the provider id is empty":                &cloudprovider.NodeClaimNotFoundError{},
		"insufficient capacity: no offering suits":             &cloudprovider.InsufficientCapacityError{},
		`quota "vCPUs" is used up`:                             &cloudprovider.QuotaExceededError{Quota: "vCPUs"},
		"RunInstances was throttled":                           &cloudprovider.ThrottledError{Action: "RunInstances"},
		"transient":                                            &cloudprovider.TransientError{},
		"permanent":                                            &cloudprovider.PermanentError{},
		"InsufficientCapacity":                                 cloudprovider.InsufficientCapacity,
		`node class "K n" is not ready: r`:                     &cloudprovider.NodeClassNotReadyError{NodeClass: "K n", Reason: "r"},
		`instance types of nodepool "p" are not evaluated yet`: &cloudprovider.UnevaluatedNodePoolError{NodePool: "p"},
	}
	for want, err := range tests {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a message has said already is not said twice.
func TestErrorsThatSayTheirCause(t *testing.T) {
	for want, err := range map[string]error{
		"NoImage: none boots":                   cloudprovider.NewCreateError("NoImage", "none boots", errors.New("none boots")),
		"BadUserData: class x: line 2":          cloudprovider.NewCreateError("BadUserData", "class x: line 2", errors.New("line 2")),
		"LaunchFailed: no such image: CODE: no": cloudprovider.NewCreateError("LaunchFailed", "no such image", errors.New("CODE: no")),
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// CP-ERROR-03: an error without a kind is transient; nil is nothing; a bare kind is itself; the outermost kind wins.
func TestKindOf(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want cloudprovider.ErrorKind
	}{
		{"nil", nil, ""},
		{"untyped", errCause, cloudprovider.Transient},
		{"deadline", context.DeadlineExceeded, cloudprovider.Transient},
		{"bare kind", fmt.Errorf("x: %w", cloudprovider.Throttled), cloudprovider.Throttled},
		{
			"outermost", cloudprovider.NewCreateError("R", "m", cloudprovider.NewThrottledError("a", 0, nil)),
			cloudprovider.CreateFailed,
		},
		{
			"first of joined", errors.Join(errCause, cloudprovider.NewUnauthorizedError("a", nil), cloudprovider.NewThrottledError("a", 0, nil)),
			cloudprovider.Unauthorized,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cloudprovider.KindOf(tt.err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if cloudprovider.IsTransient(nil) {
		t.Error("nil is called transient")
	}
}

// CP-ERROR-04: of several waits the longest counts, however deep it is.
func TestRetryAfter(t *testing.T) {
	deep := fmt.Errorf("x: %w", errors.Join(
		cloudprovider.NewThrottledError("a", time.Second, nil),
		cloudprovider.NewCreateError("R", "m", cloudprovider.NewThrottledError("b", time.Minute, nil)),
	))
	if got, ok := cloudprovider.RetryAfter(deep); !ok || got != time.Minute {
		t.Errorf("got %v, %v; want 1m0s, true", got, ok)
	}
	for _, err := range []error{nil, errCause, cloudprovider.NewThrottledError("a", 0, nil)} {
		if got, ok := cloudprovider.RetryAfter(err); ok {
			t.Errorf("RetryAfter(%v) = %v, true", err, got)
		}
	}
}

// CP-ERROR-06, S1-093: several causes of one failure are all kept, and so are the offerings each names.
func TestJoinedErrorKeepsEveryCause(t *testing.T) {
	other := errors.New("other")
	err := fmt.Errorf("launching: %w", errors.Join(
		cloudprovider.NewInsufficientCapacityError(errors.Join(errCause, other), spotIn("b")),
		cloudprovider.NewQuotaExceededError("vCPUs", nil, spotIn("a"), spotIn("b")),
	))
	for _, target := range []error{errCause, other, cloudprovider.InsufficientCapacity, cloudprovider.QuotaExceeded} {
		if !errors.Is(err, target) {
			t.Errorf("%v is lost", target)
		}
	}
	var quota *cloudprovider.QuotaExceededError
	if !errors.As(err, &quota) || quota.Quota != "vCPUs" {
		t.Errorf("quota error is %v", quota)
	}
	want := []cloudprovider.OfferingKey{spotIn("a"), spotIn("b")}
	if diff := cmp.Diff(want, cloudprovider.ExhaustedOfferings(err)); diff != "" {
		t.Errorf("offerings (-want +got):\n%s", diff)
	}
	if got := cloudprovider.ExhaustedOfferings(errCause); got != nil {
		t.Errorf("an untyped error names %v", got)
	}
}

// A constructor must not keep the caller's slice, which callers reuse.
func TestInsufficientCapacityCopiesItsOfferings(t *testing.T) {
	keys := []cloudprovider.OfferingKey{spotIn("a")}
	err := cloudprovider.NewInsufficientCapacityError(nil, keys...)
	keys[0] = spotIn("z")
	if diff := cmp.Diff([]cloudprovider.OfferingKey{spotIn("a")}, cloudprovider.ExhaustedOfferings(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLongOfferingListIsCutInTheMessageOnly(t *testing.T) {
	var keys []cloudprovider.OfferingKey
	for i := range 12 {
		keys = append(keys, spotIn(fmt.Sprintf("z%02d", i)))
	}
	err := cloudprovider.NewInsufficientCapacityError(nil, keys...)
	want := "insufficient capacity in m5.large/z00/spot, m5.large/z01/spot, m5.large/z02/spot, m5.large/z03/spot, m5.large/z04/spot, " +
		"m5.large/z05/spot, m5.large/z06/spot, m5.large/z07/spot, m5.large/z08/spot, m5.large/z09/spot and 2 more"
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := len(cloudprovider.ExhaustedOfferings(err)); got != 12 {
		t.Errorf("%d offerings are left, want 12", got)
	}
}

func TestIgnoreNodeClaimNotFound(t *testing.T) {
	if err := cloudprovider.IgnoreNodeClaimNotFound(fmt.Errorf("x: %w", cloudprovider.NewNodeClaimNotFoundError("i", nil))); err != nil {
		t.Errorf("not found became %v", err)
	}
	if err := cloudprovider.IgnoreNodeClaimNotFound(errCause); !errors.Is(err, errCause) {
		t.Errorf("another error became %v", err)
	}
	if err := cloudprovider.IgnoreNodeClaimNotFound(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
}
