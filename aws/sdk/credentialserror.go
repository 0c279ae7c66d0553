package sdk

import (
	"fmt"

	"github.com/drawknife/drawknife/cloudprovider"
)

// CredentialsError means that credentials are missing, or that AWS does not accept them. It is of kind Unauthorized; no additional
// permission would help.
type CredentialsError struct {
	// Action is the permission for the call, "ec2:CreateFleet"; empty if unknown.
	Action string
	// Missing is true if no credentials were found, false if AWS refused them.
	Missing bool
	// Cause is the error of the SDK or of AWS.
	Cause error
}

func (e *CredentialsError) Error() string {
	call := ""
	if e.Action != "" {
		call = " for " + e.Action
	}
	if e.Missing {
		return fmt.Sprintf("no AWS credentials were found%s: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "+
			"or sign in with \"aws sso login\"; in a cluster give the service account a role (EKS Pod Identity or IRSA), or the instance an instance profile: %v", call, e.Cause)
	}
	return fmt.Sprintf("AWS does not accept the credentials in use%s: they are mistyped, revoked or expired, or the clock is wrong; renew them: %v", call, e.Cause)
}

// Kind is Unauthorized.
func (e *CredentialsError) Kind() cloudprovider.ErrorKind { return cloudprovider.Unauthorized }

// Is makes errors.Is(err, Unauthorized) true.
func (e *CredentialsError) Is(target error) bool { return target == cloudprovider.Unauthorized }

// Unwrap returns the cause.
func (e *CredentialsError) Unwrap() error { return e.Cause }
