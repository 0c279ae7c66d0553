package aws_test

import (
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// API-440, AWN-267, AWN-274, AWN-275, AWN-366, AWI-149, DIS-229, CP-DRIFT-01 to CP-DRIFT-04: reasons in their order, and what can't be told.
func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		class    func(*awsv1.EC2NodeClass)
		instance func(*ec2types.Instance)
		claim    func(*v1.NodeClaim)
		want     cloudprovider.DriftReason
		fails    bool
	}{
		"none":                    {},
		"hash":                    {class: func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"a": "b"} }, want: aws.NodeClassDrift},
		"hash before image":       {class: func(c *awsv1.EC2NodeClass) { c.Spec.Tags, c.Status.AMIs = map[string]string{"a": "b"}, nil }, want: aws.NodeClassDrift},
		"no hash":                 {class: func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"a": "b"} }, claim: func(c *v1.NodeClaim) { c.Annotations = nil }},
		"hash of another version": {class: func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"a": "b"} }, claim: func(c *v1.NodeClaim) { c.Annotations[awsv1.AnnotationHashVersion] = "v0" }},
		"image":                   {class: func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].ID = "ami-new" }, want: aws.AMIDrift},
		"no image for the type":   {class: func(c *awsv1.EC2NodeClass) { c.Status.AMIs = c.Status.AMIs[1:] }, want: aws.AMIDrift},
		"no images":               {class: func(c *awsv1.EC2NodeClass) { c.Status.AMIs = nil }, fails: true},
		"no image known":          {instance: func(i *ec2types.Instance) { i.ImageId = nil }, fails: true},
		"type unknown":            {instance: func(i *ec2types.Instance) { i.InstanceType = "z9.large" }, fails: true},
		"type unknown, groups differ": {instance: func(i *ec2types.Instance) {
			i.InstanceType, i.SecurityGroups[0].GroupId = "z9.large", awssdk.String("sg-9")
		}, want: aws.SecurityGroupDrift},
		"security groups": {class: func(c *awsv1.EC2NodeClass) {
			c.Status.SecurityGroups = append(c.Status.SecurityGroups, awsv1.SecurityGroup{ID: "sg-2"})
		}, want: aws.SecurityGroupDrift},
		"no security groups":        {class: func(c *awsv1.EC2NodeClass) { c.Status.SecurityGroups = nil }, fails: true},
		"security groups not shown": {instance: func(i *ec2types.Instance) { i.SecurityGroups = nil }, fails: true},
		"subnet":                    {class: func(c *awsv1.EC2NodeClass) { c.Status.Subnets[0].ID = "subnet-new" }, want: aws.SubnetDrift},
		"subnets in another order":  {class: func(c *awsv1.EC2NodeClass) { slices.Reverse(c.Status.Subnets) }},
		"reservation": {instance: func(i *ec2types.Instance) {
			i.SpotInstanceRequestId, i.CapacityReservationId = nil, awssdk.String("cr-1")
			i.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: "capacity-reservations-only"}
		}, want: aws.CapacityReservationDrift},
		"placement group":     {claim: func(c *v1.NodeClaim) { c.Labels[awsv1.LabelPlacementGroupID] = "pg-1" }, want: aws.PlacementGroupDrift},
		"no pool":             {class: func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].ID = "ami-new" }, claim: func(c *v1.NodeClaim) { delete(c.Labels, v1.NodePoolLabelKey) }},
		"class gone":          {claim: func(c *v1.NodeClaim) { c.Spec.NodeClassRef.Name = "gone" }},
		"class being deleted": {class: func(c *awsv1.EC2NodeClass) { now := metav1.Now(); c.DeletionTimestamp, c.Status.AMIs = &now, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			a, class := newAccount(t), readyClass("default")
			p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{"default": class} })
			wanted := claim("a", in(corev1.LabelArchStable, "amd64"))
			created, err := p.Create(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			created.Spec.NodeClassRef = classRef("default")
			if c.class != nil {
				c.class(class)
			}
			if c.instance != nil {
				c.instance(&a.instances[0])
			}
			if c.claim != nil {
				c.claim(created)
			}
			reason, err := p.IsDrifted(t.Context(), created)
			if reason != c.want || (err != nil) != c.fails {
				t.Errorf("got %q, %v; want %q, failing %v", reason, err, c.want, c.fails)
			}
		})
	}
	a := newAccount(t)
	p := newProvider(t, a)
	gone := claim("a")
	gone.Status.ProviderID = "aws:///us-east-1a/i-gone"
	if _, err := p.IsDrifted(t.Context(), gone); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("an instance that is gone: %v (CP-DRIFT-03)", err)
	}
	if _, err := p.IsDrifted(t.Context(), nil); !cloudprovider.IsPermanent(err) {
		t.Errorf("nil: %v", err)
	}
}

// AWN-268, AWN-275, AWN-277, AWN-278, AWN-353: all that differs is reported, field by field, in addition to what is not known.
func TestDriftInFull(t *testing.T) {
	a, class := newAccount(t), readyClass("default")
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{"default": class} })
	created, err := p.Create(t.Context(), claim("a", in(corev1.LabelArchStable, "amd64"), in(corev1.LabelTopologyZone, "us-east-1a")))
	if err != nil {
		t.Fatal(err)
	}
	created.Spec.NodeClassRef = classRef("default")
	hash := created.Annotations[awsv1.AnnotationHash]
	class.Spec.Tags = map[string]string{"a": "b"}
	class.Status.AMIs = class.Status.AMIs[1:]
	class.Status.Subnets = class.Status.Subnets[1:]
	class.Status.SecurityGroups = nil
	d, err := p.Drift(t.Context(), created)
	if err != nil {
		t.Fatal(err)
	}
	want := []aws.Difference{
		{Field: "spec", Have: []string{"hash " + hash}, Want: []string{"hash " + class.Hash("Q0E=")}},
		{Field: "status.amis", Have: []string{"ami-amd64"}},
		{Field: "status.subnets", Have: []string{"subnet-a"}, Want: []string{"subnet-b"}},
	}
	if diff := cmp.Diff(want, d.Differences); diff != "" || d.Reason != aws.NodeClassDrift {
		t.Errorf("%s, -want +got:\n%s", d.Reason, diff)
	}
	if d.Unknown == nil || !strings.Contains(d.Unknown.Error(), "lists no security group") {
		t.Errorf("unknown is %v", d.Unknown)
	}
}

// AWN-336: what does not count is told and makes nothing drift; the first of the rest is the reason.
func TestDriftThatDoesNotCount(t *testing.T) {
	a, class := newAccount(t), readyClass("default")
	soaked := false
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) {
		o.NodeClasses = aws.NodeClasses{"default": class}
		o.IsDrift = func(c *v1.NodeClaim, d aws.Difference) bool {
			return c.Name == "a" && !d.IsForeignSecurityGroups() && (soaked || d.Field != "status.amis")
		}
	})
	created, err := p.Create(t.Context(), claim("a", in(corev1.LabelArchStable, "amd64"), in(corev1.LabelTopologyZone, "us-east-1a")))
	if err != nil {
		t.Fatal(err)
	}
	created.Spec.NodeClassRef = classRef("default")
	class.Status.AMIs[0].ID = "ami-new"
	a.instances[0].SecurityGroups = append(a.instances[0].SecurityGroups, ec2types.GroupIdentifier{GroupId: awssdk.String("sg-foreign")})
	look := func(want cloudprovider.DriftReason, differences int) {
		t.Helper()
		reason, err := p.IsDrifted(t.Context(), created)
		if err != nil || reason != want {
			t.Errorf("got %q, %v; want %q", reason, err, want)
		}
		if d, err := p.Drift(t.Context(), created); err != nil || len(d.Differences) != differences {
			t.Errorf("told %v, %v", d.Differences, err)
		}
	}
	look("", 2)
	class.Status.Subnets = class.Status.Subnets[1:]
	look(aws.SubnetDrift, 3)
	soaked = true
	look(aws.AMIDrift, 3)
	// A group of the class that is missing is nobody else's doing.
	class.Status.SecurityGroups = append(class.Status.SecurityGroups, awsv1.SecurityGroup{ID: "sg-new"})
	class.Status.Subnets, class.Status.AMIs[0].ID = readyClass("default").Status.Subnets, readyClass("default").Status.AMIs[0].ID
	look(aws.SecurityGroupDrift, 1)
}
