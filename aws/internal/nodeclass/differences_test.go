package nodeclass

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/launchtemplate"
)

// AWN-268, AWN-269, AWN-277 to AWN-281, AWN-353, AWN-366: each cause with what differs, all of them at once, and nothing of what is
// not known.
func TestDifferences(t *testing.T) {
	c := class()
	c.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-2"}, {ID: "sg-1"}}
	c.Status.Subnets = []awsv1.Subnet{{ID: "subnet-2"}, {ID: "subnet-1"}}
	c.Status.CapacityReservations = []awsv1.CapacityReservation{{ID: "cr-1"}}
	fits := func() (Launched, Expected) {
		return Launched{
				Instance: instances.Instance{
					ImageID: "ami-1", SecurityGroupIDs: []string{"sg-1", "sg-2"}, SubnetID: "subnet-1", CapacityType: "reserved", Reservation: &instances.Reservation{ID: "cr-1"},
				},
				Labels:      map[string]string{awsv1.LabelPlacementGroupID: "pg-1"},
				Annotations: map[string]string{awsv1.AnnotationHash: c.Hash("ca"), awsv1.AnnotationHashVersion: awsv1.HashVersion},
			}, Expected{
				NodeClass: c, ClusterCA: "ca", ImageID: "ami-1", Group: &placement.Group{ID: "pg-1"},
			}
	}
	for name, test := range map[string]struct {
		change func(*Launched, *Expected)
		want   []string
	}{
		"nothing":        {func(*Launched, *Expected) {}, nil},
		"another CA":     {func(_ *Launched, e *Expected) { e.ClusterCA = "new" }, []string{"spec: has hash " + c.Hash("ca") + ", wants hash " + c.Hash("new")}},
		"older hash":     {func(l *Launched, e *Expected) { e.ClusterCA = "new"; l.Annotations[awsv1.AnnotationHashVersion] = "v6" }, nil},
		"image":          {func(_ *Launched, e *Expected) { e.ImageID = "ami-2" }, []string{"status.amis: has ami-1, wants ami-2"}},
		"security group": {func(l *Launched, _ *Expected) { l.Instance.SecurityGroupIDs = []string{"sg-3", "sg-1"} }, []string{"status.securityGroups: has sg-3, wants sg-2"}},
		"foreign group":  {func(l *Launched, _ *Expected) { l.Instance.SecurityGroupIDs = []string{"sg-1", "sg-2", "sg-3"} }, []string{"status.securityGroups: has sg-3, wants nothing"}},
		"subnet":         {func(l *Launched, _ *Expected) { l.Instance.SubnetID = "subnet-3" }, []string{"status.subnets: has subnet-3, wants subnet-1, subnet-2"}},
		"reservation":    {func(l *Launched, _ *Expected) { l.Instance.Reservation.ID = "cr-2" }, []string{"status.capacityReservations: has cr-2, wants cr-1"}},
		"group":          {func(_ *Launched, e *Expected) { e.Group = nil }, []string{"spec.placementGroupSelector: has pg-1, wants nothing"}},
		"no label":       {func(l *Launched, _ *Expected) { l.Labels = nil }, []string{"spec.placementGroupSelector: has nothing, wants pg-1"}},
		"nothing known": {func(l *Launched, e *Expected) {
			l.Instance, l.Annotations, e.NodeClass, e.ImageID = instances.Instance{}, nil, class(), ""
		}, nil},
		"two": {func(l *Launched, e *Expected) { l.Instance.SubnetID, e.ImageID = "subnet-3", "ami-2" },
			[]string{"status.amis: has ami-1, wants ami-2", "status.subnets: has subnet-3, wants subnet-1, subnet-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, e := fits()
			test.change(&l, &e)
			var got []string
			for _, d := range Differences(l, e) {
				got = append(got, d.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AWN-275, AWN-276: an instance drifts from its image when the image of its type is another now, because a newer one was made
// or the cluster's version moved the alias on; not because the list or another type's image changed.
func TestImageDrift(t *testing.T) {
	const no, yes = corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpExists
	m5 := machine("m5.large", "amd64", 0)
	launched := Launched{Instance: instances.Instance{ImageID: "ami-1", Type: m5.Name}}
	for name, test := range map[string]struct {
		images []awsv1.AMI
		want   []string
	}{
		"the same":                   {images: []awsv1.AMI{image("ami-1", "amd64", no)}},
		"an older one behind it":     {images: []awsv1.AMI{image("ami-1", "amd64", no), image("ami-0", "amd64", no)}},
		"a newer one before it":      {images: []awsv1.AMI{image("ami-2", "amd64", no), image("ami-1", "amd64", no)}, want: []string{"status.amis: has ami-1, wants ami-2"}},
		"a newer one of arm64":       {images: []awsv1.AMI{image("ami-arm", "arm64", no), image("ami-1", "amd64", no)}},
		"a newer one for GPUs":       {images: []awsv1.AMI{image("ami-gpu", "amd64", yes), image("ami-1", "amd64", no)}},
		"none that boots on it":      {images: []awsv1.AMI{image("ami-arm", "arm64", no)}},
		"another version's, instead": {images: []awsv1.AMI{image("ami-next", "amd64", no)}, want: []string{"status.amis: has ami-1, wants ami-next"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := class(func(c *awsv1.EC2NodeClass) { c.Status.AMIs = test.images })
			now, err := launchtemplate.ImageFor(c, m5)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range Differences(launched, Expected{NodeClass: c, ImageID: now}) {
				got = append(got, d.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AWN-270, AWN-271, AWN-282: the fields through which a class's instances drift.
func TestChangedFields(t *testing.T) {
	then, now := class(), class()
	now.Spec.Role, now.Spec.InstanceProfile = nil, ptr("own")
	now.Spec.Tags = map[string]string{"a": "b"}
	now.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}}
	now.Spec.AMISelectorTerms[0].Alias = "al2023@v20250101"
	now.Spec.AMIFamily = awsv1.AMIFamilyAL2023
	now.Spec.IPPrefixCount = ptr(int32(1))
	now.Spec.MetadataOptions = awsv1.DefaultMetadataOptions()
	got, err := ChangedFields(then, now)
	if diff := cmp.Diff([]string{"spec.instanceProfile", "spec.role", "spec.tags"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err = ChangedFields(then, then); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	now = class()
	now.Spec.AMISelectorTerms[0].Alias = "bottlerocket@latest"
	if got, _ = ChangedFields(then, now); !cmp.Equal(got, []string{"spec.amiSelectorTerms"}) {
		t.Errorf("another family: %v", got)
	}
}
