package instanceprofile

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/sdk"
)

// RoleOf returns the name, without its path, of the role in an instance profile. If node templates name a profile and node classes should
// name its role, pass the result as convert.Options.NodeRole. A missing profile and a profile without a role are errors; errors of AWS work
// with the functions of package sdk.
func RoleOf(ctx context.Context, api sdk.IAMAPI, profile string) (string, error) {
	if api == nil {
		return "", option.Missing("RoleOf", "the API")
	}
	out, err := api.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &profile})
	if err != nil {
		return "", sdk.Wrap(fmt.Sprintf("reading instance profile %q", profile), err)
	}
	if out == nil || out.InstanceProfile == nil {
		return "", fmt.Errorf("reading instance profile %q: the answer is empty", profile)
	}
	found := fromIAM(out.InstanceProfile)
	if len(found.Roles) != 1 {
		return "", fmt.Errorf("instance profile %q has no role: add the role of the nodes, or give the role yourself", profile)
	}
	return found.Roles[0], nil
}
