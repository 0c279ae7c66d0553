package nodeclass

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// launchInto launches an instance from a class that was found ready, and holds the instance against the launch template it
// was to be made of: its user data, subnet, image and tags (AWN-246, AWN-254, AWN-259). moto does not give instances the
// groups of a template's interfaces.
func launchInto(t *testing.T, api sdk.EC2API, raw *ec2.Client, store *launchtemplates.Store, cluster launchtemplate.Cluster, c *awsv1.EC2NodeClass, now func() time.Time) {
	t.Helper()
	m5 := machine("m5.large", "amd64", 0)
	m5.Capacity[corev1.ResourcePods] = resource.MustParse("29")
	for _, s := range c.Status.Subnets {
		m5.Offerings = append(m5.Offerings, cloudprovider.Offering{
			Requirements: requirements.FromLabels(map[string]string{corev1.LabelTopologyZone: s.Zone, v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}),
			Price:        1, Available: true,
		})
	}
	templates := &launchtemplates.Launches{Store: store, Cluster: func(context.Context) (launchtemplate.Cluster, error) { return cluster, nil }}
	launcher, err := launch.New(launch.Options{EC2: api, Templates: templates, Cluster: cluster.Name, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	claim := &v1.NodeClaim{}
	claim.Name, claim.UID = "blue-1", "claim-1"
	claim.Labels = map[string]string{v1.NodePoolLabelKey: "blue", "team": "infra"}
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: c.Name}
	claim.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	want, err := launchtemplate.Build(launchtemplate.Request{
		Cluster: cluster, NodeClass: c, NodeClaim: claim, InstanceTypes: []*cloudprovider.InstanceType{m5}, CapacityType: v1.CapacityTypeOnDemand,
	})
	if err != nil {
		t.Fatal(err)
	}
	launched, err := launcher.Launch(t.Context(), launch.Request{NodeClaim: claim, NodeClass: c, InstanceTypes: []*cloudprovider.InstanceType{m5}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := raw.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{launched.InstanceID}})
	if err != nil {
		t.Fatal(err)
	}
	i := out.Reservations[0].Instances[0]
	if *i.ImageId != c.Status.AMIs[0].ID || *i.SubnetId != launched.SubnetID || i.InstanceType != "m5.large" {
		t.Errorf("instance %+v", i)
	}
	tags := map[string]string{}
	for _, tag := range i.Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	for key, value := range launchtemplate.Tags(cluster, c, "blue") {
		if tags[key] != value {
			t.Errorf("tag %s is %q, want %q", key, tags[key], value)
		}
	}
	data, err := raw.DescribeInstanceAttribute(t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: i.InstanceId, Attribute: "userData"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(aws.ToString(data.UserData.Value))
	if err != nil || string(text) != want.Templates[0].UserData.Text {
		t.Errorf("user data is %q (%v), want %q", text, err, want.Templates[0].UserData.Text)
	}
	if _, err := raw.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{launched.InstanceID}}); err != nil {
		t.Fatal(err)
	}
}
