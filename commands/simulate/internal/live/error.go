package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Error says why a market could not be read, and how to correct it.
type Error struct {
	// Region is the region that was queried; empty if it is not known.
	Region string
	// Cause is the error that occurred. errors.Is tests for its kind (cloudprovider.ErrorKind).
	Cause error
	// Cure says what the user can do to correct the error.
	Cure string
}

// Error returns one line: the operation, the problem and the cure.
func (e *Error) Error() string {
	of := ""
	if e.Region != "" {
		of = " of " + e.Region
	}
	return fmt.Sprintf("reading the instance types%s from AWS: %s; %s", of, e.problem(), e.Cure)
}

// problem returns the cause as text, without advice about credentials, which is in Cure.
func (e *Error) problem() string {
	var credentials *sdk.CredentialsError
	if errors.As(e.Cause, &credentials) && credentials.Missing {
		return "there are no usable credentials: " + oneLine(credentials.Cause)
	}
	return oneLine(e.Cause)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// permissions names the actions that an IAM policy must allow, and the actions that it should also allow.
const permissions = "ec2:DescribeInstanceTypes and ec2:DescribeInstanceTypeOfferings; for prices of today and ids of zones also " +
	"pricing:GetProducts, ec2:DescribeSpotPriceHistory and ec2:DescribeAvailabilityZones"

// explain adds the cure to an error. It adds no cure if the context has ended.
func explain(ctx context.Context, region string, err error) error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return fmt.Errorf("reading the instance types of %s from AWS: %w", region, err)
	}
	return &Error{Region: region, Cause: err, Cure: cure(err)}
}

// explainSettings is like explain, for errors in the user's settings that are found before AWS is called.
func explainSettings(ctx context.Context, region string, err error) error {
	if ctx.Err() != nil {
		return explain(ctx, region, err)
	}
	help := "look at --region, AWS_PROFILE and the AWS configuration files"
	if errors.Is(err, sdk.ErrNoRegion) {
		help = "give --region eu-west-1, or set AWS_REGION or AWS_PROFILE"
	}
	return &Error{Region: region, Cause: err, Cure: help}
}

func cure(err error) string {
	var empty *aws.NothingInRegionError
	switch {
	case errors.As(err, &empty):
		return "give another --region, or enable this one for the account"
	case errors.Is(err, cloudprovider.Unauthorized):
		return credentialsCure(sdk.Code(err))
	case errors.Is(err, cloudprovider.Throttled):
		return "try again in a minute"
	case errors.Is(err, cloudprovider.Permanent):
		return "look whether --region and the endpoint are right"
	}
	return "try again; without AWS, leave out --provider or give --catalog FILE"
}

// credentialsCure returns the advice for missing, wrong or insufficient credentials, by AWS's error code.
func credentialsCure(code string) string {
	switch code {
	case "":
		return "give credentials as for the AWS command line: AWS_PROFILE and aws sso login, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "NotAuthorized":
		return "let a policy allow the credentials " + permissions
	case "AuthFailure", "OptInRequired":
		return "look whether the credentials are right and the region is enabled for the account"
	}
	return "renew the credentials, as with aws sso login or aws configure"
}
