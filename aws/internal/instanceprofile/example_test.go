package instanceprofile_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"

	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/sdk"
)

// emptyAccount is an IAM without any profile, in which the role "nodes" exists.
type emptyAccount struct{ sdk.IAMAPI }

func (emptyAccount) GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error) {
	return nil, &smithy.GenericAPIError{Code: "NoSuchEntity"}
}

func (emptyAccount) CreateInstanceProfile(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
	fmt.Println("created below", *in.Path)
	return &iam.CreateInstanceProfileOutput{}, nil
}

func (emptyAccount) AddRoleToInstanceProfile(_ context.Context, in *iam.AddRoleToInstanceProfileInput, _ ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
	if *in.RoleName != "nodes" {
		return nil, &smithy.GenericAPIError{Code: "NoSuchEntity", Message: "The role with name " + *in.RoleName + " cannot be found."}
	}
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

func ExampleManager_Ensure() {
	manager, err := instanceprofile.New(instanceprofile.Options{IAM: emptyAccount{}, Region: "us-east-1", ClusterName: "demo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	wanted := instanceprofile.Wanted{NodeClass: "default", UID: "11b1", Role: "nodes"}
	name, err := manager.Ensure(context.Background(), wanted)
	fmt.Println(name == manager.Name("11b1", "nodes"), err)

	wanted.Role = "noodles"
	_, err = manager.Ensure(context.Background(), wanted)
	var missing *instanceprofile.RoleNotFoundError
	fmt.Println(errors.As(err, &missing), missing)
	// Output:
	// created below /karpenter/us-east-1/demo/11b1/
	// true <nil>
	// created below /karpenter/us-east-1/demo/11b1/
	// true there is no IAM role "noodles": create it, or correct spec.role of the node class
}
