package launchtemplates_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
)

// account is an EC2 that can only make launch templates. A real one comes from sdk.Load.
type account struct {
	sdk.EC2API
}

func (account) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	fmt.Println("EC2 makes", *in.LaunchTemplateName)
	id := "lt-0123456789abcdef0"
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: &ec2types.LaunchTemplate{LaunchTemplateId: &id}}, nil
}

// A template is made for the first launch that needs it and used by all others.
func ExampleStore_Ensure() {
	store, err := launchtemplates.New(account{}, launchtemplates.Options{ClusterName: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	// In earnest, what launchtemplate.Build made.
	templates := []launchtemplate.Template{{Name: "karpenter.k8s.aws/1", Data: &ec2types.RequestLaunchTemplateData{}}}
	for range 2 {
		ready, err := store.Ensure(context.Background(), templates)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("ready:", ready[0].Name)
	}
	// Output:
	// EC2 makes karpenter.k8s.aws/1
	// ready: karpenter.k8s.aws/1
	// ready: karpenter.k8s.aws/1
}
