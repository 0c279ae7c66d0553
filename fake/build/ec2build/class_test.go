package ec2build_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The class that no option changes is one that the API accepts, and is not ready before Ready says so.
func TestClass(t *testing.T) {
	class := ec2build.Class("default", nil)
	if errs := class.Validate(); len(errs) != 0 {
		t.Errorf("the class is refused: %v", errs)
	}
	if diff := cmp.Diff(class, ec2build.Class("default")); diff != "" {
		t.Errorf("a second one differs: %s", diff)
	}
	if class.Conditions().IsTrue(awsv1.ConditionReady) || !ec2build.Class("default", ec2build.Ready(start)).Conditions().IsTrue(awsv1.ConditionReady) {
		t.Error("a class is ready if and only if Ready says so")
	}
	class.Spec.SubnetSelectorTerms[0].Tags["team"] = "a"
	if len(class.Spec.SecurityGroupSelectorTerms[0].Tags) != 1 || len(ec2build.Class("other").Spec.SubnetSelectorTerms[0].Tags) != 1 {
		t.Error("classes share their tags")
	}
}

func TestOptions(t *testing.T) {
	class := ec2build.Class("blue",
		ec2build.Meta(build.Labels("team", "a"), nil, build.UID("u-1")), ec2build.Profile("nodes"), ec2build.SecurityGroups("sg-1", "sg-2"),
		ec2build.Subnet("subnet-a", "us-east-1a", "use1-az1"), ec2build.Subnet("subnet-b", "us-east-1b", ""), ec2build.Image("ami-1", "arm64"),
		func(c *awsv1.EC2NodeClass) { c.Spec.AMIFamily = awsv1.AMIFamilyBottlerocket },
	)
	if class.Name != "blue" || class.Labels["team"] != "a" || class.UID != "u-1" || class.Spec.AMIFamily != awsv1.AMIFamilyBottlerocket {
		t.Errorf("the class is %+v", class)
	}
	want := []awsv1.Subnet{{ID: "subnet-a", Zone: "us-east-1a", ZoneID: "use1-az1"}, {ID: "subnet-b", Zone: "us-east-1b"}}
	if diff := cmp.Diff(want, class.Status.Subnets); diff != "" {
		t.Errorf("subnets: %s", diff)
	}
	if diff := cmp.Diff([]awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}}, class.Status.SecurityGroups); diff != "" {
		t.Errorf("security groups: %s", diff)
	}
	image := class.Status.AMIs[0]
	if image.ID != "ami-1" || image.Requirements[0].Values[0] != "arm64" || class.Status.InstanceProfile != "nodes" {
		t.Errorf("the status is %+v", class.Status)
	}
}

func TestOf(t *testing.T) {
	ref := build.Pool("default", ec2build.Of("blue")).Spec.Template.Spec.NodeClassRef
	if ref.Group != awsv1.Group || ref.Kind != awsv1.KindEC2NodeClass || ref.Name != "blue" {
		t.Errorf("the pool has %+v", ref)
	}
}

func ExampleClass() {
	class := ec2build.Class("default",
		ec2build.Subnet("subnet-a", "us-east-1a", "use1-az1"), ec2build.Image("ami-1", "amd64"), ec2build.Ready(start))
	pool := build.Pool("default", ec2build.Of(class.Name))
	fmt.Println(pool.Spec.Template.Spec.NodeClassRef.Kind, class.Status.Subnets[0].Zone, class.Status.AMIs[0].ID)
	// Output: EC2NodeClass us-east-1a ami-1
}
