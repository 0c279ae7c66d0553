package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Code returns AWS's error code, for instance "InvalidInstanceID.NotFound", or "" for an error that AWS did not return.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Message returns AWS's error message, or the text of an error that AWS did not return. It is empty for nil.
func Message(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorMessage()
	}
	return err.Error()
}

// RequestID returns the id of the failed request, for AWS's support, or "" if AWS did not answer.
func RequestID(err error) string {
	var withID interface{ ServiceRequestID() string }
	if errors.As(err, &withID) {
		return withID.ServiceRequestID()
	}
	return ""
}

// Action returns the permission that the failed call needs, for instance "ec2:CreateFleet": the permission that the error message names, or
// else the one with the name of the call. The result is empty if neither is known.
func Action(err error) string {
	if action := namedAction(Message(err)); action != "" {
		return action
	}
	var op *smithy.OperationError
	if errors.As(err, &op) {
		return actionOf(op.Service(), op.Operation())
	}
	return ""
}

// namesAction matches the permission in the messages of IAM and EC2 about a refused call.
var namesAction = regexp.MustCompile(`not authorized to perform:? ([a-z0-9-]+:[A-Za-z0-9]+)`)

func namedAction(message string) string {
	if m := namesAction.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// actionOf converts the SDK's names of a service and its call to the name in IAM policies.
func actionOf(service, operation string) string {
	prefix := strings.ToLower(strings.ReplaceAll(service, " ", "-"))
	return prefix + ":" + operation
}

// IsNotFound reports whether the requested object does not exist.
func IsNotFound(err error) bool {
	switch Code(err) {
	case "InvalidCapacityReservationId.NotFound",
		"InvalidInstanceID.NotFound",
		"InvalidLaunchTemplateName.NotFoundException",
		"InvalidLaunchTemplateId.NotFound",
		"InvalidPlacementGroup.Unknown",
		"InvalidPlacementGroupId.NotFound",
		"AWS.SimpleQueueService.NonExistentQueue",
		"QueueDoesNotExist",
		"NoSuchEntity",
		"NoSuchEntityException",
		"ParameterNotFound",
		"ResourceNotFoundException":
		return true
	}
	return false
}

// IsLaunchTemplateNotFound reports whether a launch named a missing launch template.
func IsLaunchTemplateNotFound(err error) bool { return launchTemplateNotFound(Code(err)) }

func launchTemplateNotFound(code string) bool {
	switch code {
	case "InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateId.NotFoundException":
		return true
	}
	return false
}

// IsAlreadyExists reports whether the object to create already exists.
func IsAlreadyExists(err error) bool {
	switch Code(err) {
	case "EntityAlreadyExists", "EntityAlreadyExistsException", "InvalidLaunchTemplateName.AlreadyExistsException":
		return true
	}
	return false
}

// IsThrottled reports whether AWS refused the call because of too many calls.
func IsThrottled(err error) bool { return throttling(Code(err)) }

func throttling(code string) bool {
	switch code {
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "RequestThrottling", "EC2ThrottledException", "PriorRequestNotComplete",
		"BandwidthLimitExceeded", "SlowDown", "TransactionInProgressException":
		return true
	}
	return false
}

// IsUnauthorized reports whether the credentials are missing, expired or lack a permission.
func IsUnauthorized(err error) bool {
	return refused(Code(err)) || badCredentials(err)
}

func refused(code string) bool {
	switch code {
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "NotAuthorized", "OptInRequired":
		return true
	}
	// AuthFailure.ServiceLinkedRoleCreationNotPermitted concerns only spot launches. Explain has a reason of its own for it.
	return false
}

// badCredentials reports whether AWS does not accept the credentials, or no longer accepts them.
func badCredentials(err error) bool {
	switch Code(err) {
	case "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException", "InvalidToken",
		"SignatureDoesNotMatch", "IncompleteSignature", "MissingAuthenticationToken", "RequestExpired":
		return true
	case "AuthFailure": // EC2 also returns this code for resources of other accounts
		return strings.Contains(Message(err), "validate the provided access credentials")
	case "":
		var op *smithy.OperationError
		return errors.As(err, &op) && strings.Contains(err.Error(), "get identity") && !isContext(err)
	}
	return false
}

// IsDryRun reports whether a dry run found that the call would have succeeded.
func IsDryRun(err error) bool { return Code(err) == "DryRunOperation" }

// IsServerFault reports whether the service itself has a temporary failure.
func IsServerFault(err error) bool {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorFault() == smithy.FaultServer {
		return true
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError
}

// IsTokenMismatch reports whether a client token was used before for a different request.
func IsTokenMismatch(err error) bool { return Code(err) == "IdempotentParameterMismatch" }

// Wrap adds the failed operation to an error, and gives the error a kind: throttled, unauthorised, permanent or transient. An unauthorised
// error names the missing permission, or is a *CredentialsError. errors.Is still finds the error of an ended context. An error that is
// already wrapped keeps its kind. Nil returns nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var kinded interface {
		Kind() cloudprovider.ErrorKind
	}
	if errors.As(err, &kinded) || isContext(err) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, typed(err))
}

func typed(err error) error {
	switch code := Code(err); {
	case throttling(code):
		return cloudprovider.NewThrottledError(operation(err), retryAfter(err), err)
	case badCredentials(err):
		return &CredentialsError{Action: Action(err), Missing: Code(err) == "", Cause: err}
	case IsUnauthorized(err):
		return cloudprovider.NewUnauthorizedError(Action(err), err)
	case code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted":
		return cloudprovider.NewUnauthorizedError("iam:CreateServiceLinkedRole", err)
	case badRequest(code):
		return cloudprovider.NewPermanentError(err)
	case unknownHost(err):
		return cloudprovider.NewPermanentError(fmt.Errorf("no such endpoint: check the region, and the endpoint if one is configured: %w", err))
	}
	return cloudprovider.NewTransientError(err)
}

// badRequest matches the codes of invalid requests.
func badRequest(code string) bool {
	switch code {
	case "InvalidParameter", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter", "UnknownParameter",
		"ValidationError", "ValidationException", "InvalidAction", "UnsupportedOperation", "InvalidFilter":
		return true
	}
	return strings.HasSuffix(code, ".Malformed")
}

// unknownHost reports whether the service has no address, as in a region that does not exist.
func unknownHost(err error) bool {
	var dns interface {
		error
		Temporary() bool
	}
	return errors.As(err, &dns) && !dns.Temporary() && strings.Contains(err.Error(), "no such host")
}

// operation returns the SDK's name of the failed call.
func operation(err error) string {
	var op *smithy.OperationError
	if errors.As(err, &op) {
		return op.Operation()
	}
	return "the call"
}

// retryAfter returns the delay that the service requests; zero if it requests none.
func retryAfter(err error) time.Duration {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil || response.Response.Response == nil {
		return 0
	}
	seconds, parseErr := strconv.Atoi(response.Response.Header.Get("Retry-After"))
	if parseErr != nil || seconds < 0 {
		return 0
	}
	const longest = 3600 // limits the delay, because a header must not block a caller for a day
	return time.Duration(min(seconds, longest)) * time.Second
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
