// Package ec2build makes EC2NodeClasses for tests and examples, like package build makes objects that don't belong to a cloud.
//
//	class := ec2build.Class("default", ec2build.Subnet("subnet-a", "us-east-1a", "use1-az1"), ec2build.Image("ami-1", "amd64"),
//		ec2build.Ready(start))
//
// Everything that no option sets has a fixed default that the API accepts. Any function can be an option:
//
//	ec2build.Class("blue", func(c *awsv1.EC2NodeClass) { c.Spec.Context = &text })
//
// Options are applied in their order; nil options are ignored. Classes share no memory with each other.
//
// Stability: beta.
package ec2build

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// Option changes the EC2NodeClass that Class builds.
type Option func(*awsv1.EC2NodeClass)

// Class returns an EC2NodeClass of generation 1 with the role "node-role", the newest image of AL2023, and all subnets and security
// groups with a certain tag. Its status is empty: see Subnet, SecurityGroups, Image, Profile and Ready.
func Class(name string, options ...Option) *awsv1.EC2NodeClass {
	role := "node-role"
	class := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       &role,
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"*": "*"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"*": "*"}}},
		},
	}
	for _, option := range options {
		if option != nil {
			option(class)
		}
	}
	return class
}

// Meta applies options of package build, such as build.Labels, to the metadata of a class.
func Meta(options ...build.MetaOption) Option {
	return func(c *awsv1.EC2NodeClass) {
		for _, option := range options {
			if option != nil {
				option(&c.ObjectMeta)
			}
		}
	}
}

// Subnet adds a subnet to the status of a class. An empty zone ID stays empty.
func Subnet(id, zone, zoneID string) Option {
	return func(c *awsv1.EC2NodeClass) {
		c.Status.Subnets = append(c.Status.Subnets, awsv1.Subnet{ID: id, Zone: zone, ZoneID: zoneID})
	}
}

// SecurityGroups adds security groups to the status of a class.
func SecurityGroups(ids ...string) Option {
	return func(c *awsv1.EC2NodeClass) {
		for _, id := range ids {
			c.Status.SecurityGroups = append(c.Status.SecurityGroups, awsv1.SecurityGroup{ID: id})
		}
	}
}

// Image adds an image for one architecture, v1.ArchitectureAmd64 or v1.ArchitectureArm64, to the status of a class.
func Image(id, architecture string) Option {
	return func(c *awsv1.EC2NodeClass) {
		c.Status.AMIs = append(c.Status.AMIs, awsv1.AMI{ID: id, Requirements: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{architecture}},
		}})
	}
}

// Profile sets the instance profile in the status of a class.
func Profile(name string) Option {
	return func(c *awsv1.EC2NodeClass) { c.Status.InstanceProfile = name }
}

// Ready sets all conditions that a class needs before instances can be launched from it, for its current generation.
func Ready(since time.Time) Option {
	return func(c *awsv1.EC2NodeClass) {
		for _, condition := range []string{
			awsv1.ConditionSubnetsReady, awsv1.ConditionSecurityGroupsReady, awsv1.ConditionAMIsReady,
			awsv1.ConditionInstanceProfileReady, awsv1.ConditionPlacementGroupReady, awsv1.ConditionValidationSucceeded,
		} {
			c.Conditions().SetTrue(condition, since)
		}
	}
}

// Of returns a reference to the EC2NodeClass of this name, for a NodePool or NodeClaim.
func Of(name string) build.ClassOption { return build.Class(awsv1.Group, awsv1.KindEC2NodeClass, name) }
