package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

func apiError(code, message string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: &smithy.GenericAPIError{Code: code, Message: message}}
}

func withStatus(status int, header http.Header, err error) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header}},
		Err:      err,
	}}
}

// CP-ERROR-01 to CP-ERROR-05, CP-ERROR-07; AWI-214, AWI-215: every error of a service has a kind.
func TestWrap(t *testing.T) {
	const refusal = "You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/x is not authorized to perform: " +
		"ec2:RunInstances on resource: y because no identity-based policy allows the ec2:RunInstances action."
	for name, c := range map[string]struct {
		err    error
		kind   cloudprovider.ErrorKind
		action string
	}{
		"throttled":                {apiError("RequestLimitExceeded", "slow down"), cloudprovider.Throttled, "CreateFleet"},
		"refused, action in text":  {apiError("UnauthorizedOperation", refusal), cloudprovider.Unauthorized, "ec2:RunInstances"},
		"refused, action of call":  {apiError("UnauthorizedOperation", "You are not authorized to perform this operation."), cloudprovider.Unauthorized, "ec2:CreateFleet"},
		"access denied":            {apiError("AccessDeniedException", "no"), cloudprovider.Unauthorized, "ec2:CreateFleet"},
		"expired credentials":      {apiError("ExpiredToken", "expired"), cloudprovider.Unauthorized, "AWS does not accept the credentials in use for ec2:CreateFleet"},
		"unknown credentials":      {apiError("AuthFailure", "AWS was not able to validate the provided access credentials"), cloudprovider.Unauthorized, "AWS does not accept the credentials in use for ec2:CreateFleet"},
		"no credentials":           {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: errors.New("get identity: get credentials: none")}, cloudprovider.Unauthorized, "no AWS credentials were found for ec2:CreateFleet: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and"},
		"no service-linked role":   {apiError("AuthFailure.ServiceLinkedRoleCreationNotPermitted", ""), cloudprovider.Unauthorized, "iam:CreateServiceLinkedRole"},
		"bad request":              {apiError("InvalidParameterValue", "no"), cloudprovider.Permanent, ""},
		"malformed":                {apiError("InvalidAMIID.Malformed", "no"), cloudprovider.Permanent, ""},
		"server fault":             {withStatus(503, nil, &smithy.GenericAPIError{Code: "InternalError"}), cloudprovider.Transient, ""},
		"a code nobody knows":      {apiError("SomethingNew", "?"), cloudprovider.Transient, ""},
		"wrong region":             {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: &net.DNSError{Err: "no such host", Name: "ec2.nowhere-1.amazonaws.com", IsNotFound: true}}, cloudprovider.Permanent, ""},
		"connection cut":           {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: errors.New("connection reset by peer")}, cloudprovider.Transient, ""},
		"typed already":            {cloudprovider.NewNodeClaimNotFoundError("x", nil), cloudprovider.NodeClaimNotFound, ""},
		"throttled by a long wait": {withStatus(400, http.Header{"Retry-After": {"7"}}, &smithy.GenericAPIError{Code: "ThrottlingException"}), cloudprovider.Throttled, "CreateFleet"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sdk.Wrap("launching", c.err)
			if got := cloudprovider.KindOf(err); got != c.kind {
				t.Errorf("kind is %s, want %s: %v", got, c.kind, err)
			}
			if !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), "launching: ") {
				t.Errorf("%v does not wrap its cause or does not say what was done", err)
			}
			var throttled *cloudprovider.ThrottledError
			var unauthorized *cloudprovider.UnauthorizedError
			var credentials *sdk.CredentialsError
			switch {
			case errors.As(err, &credentials):
				if !strings.Contains(err.Error(), c.action) || strings.Contains(err.Error(), "grant") || !cloudprovider.IsUnauthorized(err) {
					t.Errorf("%v: want %q, and no talk of permissions", err, c.action)
				}
			case errors.As(err, &throttled):
				if throttled.Action != c.action {
					t.Errorf("throttled action is %q, want %q", throttled.Action, c.action)
				}
			case errors.As(err, &unauthorized):
				if unauthorized.Action != c.action {
					t.Errorf("refused action is %q, want %q", unauthorized.Action, c.action)
				}
			}
		})
	}
	wait, _ := cloudprovider.RetryAfter(sdk.Wrap("x", withStatus(400, http.Header{"Retry-After": {"7"}}, &smithy.GenericAPIError{Code: "Throttling"})))
	if wait != 7*time.Second {
		t.Errorf("retry after %s, want the 7s of the answer", wait)
	}
	cancelled := sdk.Wrap("x", &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateFleet", Err: fmt.Errorf("cut: %w", context.Canceled)})
	if !errors.Is(cancelled, context.Canceled) || cloudprovider.IsUnauthorized(cancelled) {
		t.Errorf("a cancelled call gives %v", cancelled)
	}
	if sdk.Wrap("x", nil) != nil {
		t.Error("nil became an error")
	}
}

// AWN-317, AWN-318, AWI-213: the table of reasons, in its order.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		code, message string
		want          sdk.Reason
		says          string
	}{
		{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "no", sdk.ReasonSpotRole, "spot.amazonaws.com"},
		{"UnauthorizedOperation", "not authorized to perform: ec2:CreateFleet with an explicit deny in a permissions boundary", sdk.ReasonUnauthorized, "ec2:CreateFleet is denied by a permissions boundary"},
		{"UnauthorizedOperation", "not authorized to perform: ec2:CreateFleet with an explicit deny in a service control policy", sdk.ReasonUnauthorized, "service control policy"},
		{"UnauthorizedOperation", "not authorized to perform: ec2:CreateFleet with an explicit deny in an identity-based policy", sdk.ReasonUnauthorized, "remove the denial"},
		{"AccessDenied", "is not authorized to perform: ec2:RunInstances because no identity-based policy allows", sdk.ReasonUnauthorized, "no policy allows ec2:RunInstances"},
		{"AccessDenied", "", sdk.ReasonUnauthorized, "no policy allows the action"},
		{"AuthFailure", "Not authorized for images: [ami-1]", sdk.ReasonAMIUnauthorized, "share it"},
		{"InvalidParameter", "Security group sg-1 and subnet subnet-1 belong to different networks.", sdk.ReasonVPCMismatch, "one"},
		{"InvalidParameter", "something else", sdk.ReasonLaunchFailed, "something else"},
		{"InvalidParameterValue", "Value (x) for parameter iamInstanceProfile.name is invalid", sdk.ReasonInstanceProfile, "instance profile"},
		{"InvalidParameterValue", "Invalid IAM Instance Profile name", sdk.ReasonInstanceProfile, "instance profile"},
		{"InvalidLaunchTemplateId.NotFound", "", sdk.ReasonLaunchTemplate, "created again"},
		{"InvalidUserData.Malformed", "User data is limited to 16384 bytes", sdk.ReasonUserData, "shorten"},
		{"InvalidAMIID.Malformed", "", sdk.ReasonAMIInvalid, "amiSelectorTerms"},
		{"InvalidAMIID.NotFound", "", sdk.ReasonAMINotFound, "amiSelectorTerms"},
		{"RequestLimitExceeded", "slow", sdk.ReasonThrottled, "slow"},
		{"InternalError", "sorry", sdk.ReasonInternal, "sorry"},
		{"InvalidParameterCombination", "The specified instance type is not eligible for Free Tier", sdk.ReasonFreeTier, "free tier"},
		{"MaxFleetCountExceeded", "", sdk.ReasonFleetQuota, "fleets"},
		{"PendingVerification", "", sdk.ReasonPendingVerification, "verifying"},
		{"MaxSpotInstanceCountExceeded", "", sdk.ReasonSpotQuota, "quota"},
		{"VcpuLimitExceeded", "", sdk.ReasonVCPUQuota, "quota"},
		{"InsufficientFreeAddressesInSubnet", "", sdk.ReasonSubnetFull, "subnet"},
		{"InsufficientInstanceCapacity", "none left", sdk.ReasonLaunchFailed, "none left"},
		{"", "", sdk.ReasonLaunchFailed, ""},
	} {
		reason, sentence := sdk.Explain(c.code, c.message)
		if reason != c.want || !strings.Contains(sentence, c.says) {
			t.Errorf("%s %q is %s (%s), want %s saying %q", c.code, c.message, reason, sentence, c.want, c.says)
		}
	}
}

// AWI-101, AWI-103: which codes mean that a place has nothing, and which say nothing about it.
func TestUnfulfillable(t *testing.T) {
	for code, want := range map[string][2]bool{
		"InsufficientInstanceCapacity":                      {true, false},
		"UnfulfillableCapacity":                             {true, false},
		"Unsupported":                                       {true, false},
		"InsufficientFreeAddressesInSubnet":                 {true, false},
		"ReservationCapacityExceeded":                       {true, false},
		"MaxSpotInstanceCountExceeded":                      {true, true},
		"VcpuLimitExceeded":                                 {true, true},
		"MaxFleetCountExceeded":                             {true, true},
		"RequestLimitExceeded":                              {false, false},
		"UnauthorizedOperation":                             {false, false},
		"InvalidParameterValue":                             {false, false},
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted": {false, false},
	} {
		if got := [2]bool{sdk.Unfulfillable(code), sdk.Quota(code)}; got != want {
			t.Errorf("%s: unfulfillable, quota = %v, want %v", code, got, want)
		}
	}
	if !sdk.SpotRoleMissing("AuthFailure.ServiceLinkedRoleCreationNotPermitted") || sdk.SpotRoleMissing("AuthFailure") {
		t.Error("the spot role is missing for its own code alone")
	}
}

// AWN-316, AWN-317, AWI-214: the codes that callers act on.
func TestCodes(t *testing.T) {
	for code, is := range map[string]func(error) bool{
		"InvalidCapacityReservationId.NotFound":       sdk.IsNotFound,
		"InvalidInstanceID.NotFound":                  sdk.IsNotFound,
		"InvalidLaunchTemplateId.NotFound":            sdk.IsLaunchTemplateNotFound,
		"InvalidLaunchTemplateName.NotFoundException": sdk.IsLaunchTemplateNotFound,
		"QueueDoesNotExist":                           sdk.IsNotFound,
		"NoSuchEntity":                                sdk.IsNotFound,
		"ParameterNotFound":                           sdk.IsNotFound,
		"EntityAlreadyExists":                         sdk.IsAlreadyExists,
		"RequestLimitExceeded":                        sdk.IsThrottled,
		"UnauthorizedOperation":                       sdk.IsUnauthorized,
		"DryRunOperation":                             sdk.IsDryRun,
		"IdempotentParameterMismatch":                 sdk.IsTokenMismatch,
	} {
		if !is(apiError(code, "")) || is(apiError("Other", "")) || is(nil) || is(errors.New(code)) {
			t.Errorf("%s is not told apart", code)
		}
	}
	if !sdk.IsServerFault(withStatus(500, nil, errors.New("x"))) || sdk.IsServerFault(withStatus(400, nil, errors.New("x"))) {
		t.Error("server faults are not told from the caller's")
	}
	if !sdk.IsServerFault(&smithy.GenericAPIError{Fault: smithy.FaultServer}) {
		t.Error("the SDK's own classification is not used")
	}
}

func ExampleExplain() {
	reason, sentence := sdk.Explain("VcpuLimitExceeded", "You have requested more vCPU capacity than your limit of 32 allows.")
	fmt.Println(reason)
	fmt.Println(sentence)
	// Output:
	// VCPULimitExceeded
	// the account may not have more vCPUs of this kind: ask AWS for a higher quota (VcpuLimitExceeded: You have requested more vCPU capacity than your limit of 32 allows.)
}
