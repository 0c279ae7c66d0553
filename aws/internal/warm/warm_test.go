package warm_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/warm"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

func now() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

func class(change ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{awsv1.AnnotationWarmPool: "1"}}}
	c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	c.Status.AMIs, c.Status.Subnets = []awsv1.AMI{{ID: "ami-1"}}, []awsv1.Subnet{{ID: "subnet-a", Zone: "a"}}
	for _, f := range change {
		f(c)
	}
	return c
}

func claim(change ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "claim", Labels: map[string]string{v1.NodePoolLabelKey: "pool", "team": "web"},
		Annotations: map[string]string{v1.NodePoolHashAnnotationKey: "11", v1.NodePoolHashVersionAnnotationKey: "v3"},
	}}
	c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionDisruptionReason, Status: "True", Reason: "Empty"}}
	for _, f := range change {
		f(c)
	}
	return c
}

func instance(id string, change ...func(*instances.Instance)) instances.Instance {
	i := instances.Instance{
		ID: id, State: instances.StateRunning, Type: "m5.large", Zone: "a", SubnetID: "subnet-a", ImageID: "ami-1", Tenancy: "default", CapacityType: "on-demand",
		LaunchTime: now().Add(-time.Hour), Tags: map[string]string{awsv1.TagNodeClass: "default", awsv1.TagNodePool: "pool"},
	}
	for _, f := range change {
		f(&i)
	}
	return i
}

func kept(mark string) func(*instances.Instance) {
	return func(i *instances.Instance) {
		i.State, i.Tags[launch.TagNodeClaimUID] = instances.StateStopped, "warm/"+mark
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3": 3, "100": 100, "101": -1, "-1": -1, "some": -1, "": -1} {
		n, err := warm.Size(class(func(c *awsv1.EC2NodeClass) { c.Annotations[awsv1.AnnotationWarmPool] = text }))
		var wrong *warm.SizeError
		if errors.As(err, &wrong) != (want < 0) || n != max(want, 0) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	deleted := class(func(c *awsv1.EC2NodeClass) { c.DeletionTimestamp = &metav1.Time{Time: now()} })
	for _, c := range []*awsv1.EC2NodeClass{nil, {}, deleted} {
		if n, err := warm.Size(c); n != 0 || err != nil {
			t.Errorf("%v: %d, %v", c, n, err)
		}
	}
}

// Marks are equal if nodes of the claims are configured alike.
func TestMark(t *testing.T) {
	mark := func(hash string, change ...func(*v1.NodeClaim)) string {
		return warm.MarkOf(claim(change...), hash, instancetype.Vocabulary())
	}
	same := mark("7")
	if same == "" || warm.ClassHash(same) != "7" {
		t.Fatalf("the mark is %q", same)
	}
	for name, equal := range map[string]string{
		"another claim":         mark("7", func(c *v1.NodeClaim) { c.Name = "other" }),
		"labels of an instance": mark("7", func(c *v1.NodeClaim) { c.Labels[corev1.LabelTopologyZone] = "a" }),
		"CPU":                   mark("7", func(c *v1.NodeClaim) { c.Spec.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")} }),
	} {
		if equal != same {
			t.Errorf("%s: %q, want %q", name, equal, same)
		}
	}
	for name, other := range map[string]string{
		"class":  mark("8"),
		"pool":   mark("7", func(c *v1.NodeClaim) { c.Annotations[v1.NodePoolHashAnnotationKey] = "12" }),
		"labels": mark("7", func(c *v1.NodeClaim) { c.Labels["team"] = "db" }),
	} {
		if other == same || other == "" {
			t.Errorf("another %s has the mark %q", name, other)
		}
	}
	for name, none := range map[string]string{
		"no class hash": mark(""),
		"no pool hash":  mark("7", func(c *v1.NodeClaim) { delete(c.Annotations, v1.NodePoolHashAnnotationKey) }),
		"GPUs": mark("7", func(c *v1.NodeClaim) {
			c.Spec.Resources.Requests = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}),
		"no claim": warm.MarkOf(nil, "7", instancetype.Vocabulary()),
	} {
		if none != "" {
			t.Errorf("%s: the mark is %q", name, none)
		}
	}
}

// Only instances of consolidated nodes are kept that can start again as they are.
func TestRefused(t *testing.T) {
	if why := warm.Refused(claim(), instance("i-1"), class(), now()); why != "" {
		t.Fatalf("refused: %s", why)
	}
	raid := awsv1.InstanceStorePolicyRAID0
	for name, c := range map[string]struct {
		claim    func(*v1.NodeClaim)
		instance func(*instances.Instance)
		class    func(*awsv1.EC2NodeClass)
	}{
		"deleted by a user": {claim: func(c *v1.NodeClaim) { c.Status.Conditions = nil }},
		"drifted":           {claim: func(c *v1.NodeClaim) { c.Status.Conditions[0].Reason = "Drifted" }},
		"no longer true":    {claim: func(c *v1.NodeClaim) { c.Status.Conditions[0].Status = "False" }},
		"spot":              {instance: func(i *instances.Instance) { i.CapacityType = "spot" }},
		"reserved":          {instance: func(i *instances.Instance) { i.CapacityType = "reserved" }},
		"dedicated":         {instance: func(i *instances.Instance) { i.Tenancy = "dedicated" }},
		"on an Outpost":     {instance: func(i *instances.Instance) { i.OutpostID = "op-1" }},
		"in a group":        {instance: func(i *instances.Instance) { i.PlacementGroupID = "pg-1" }},
		"with EFA":          {instance: func(i *instances.Instance) { i.EFAs = 1 }},
		"of a batch":        {instance: func(i *instances.Instance) { i.Tags[launch.TagBatch] = "b" }},
		"young":             {instance: func(i *instances.Instance) { i.LaunchTime = now().Add(-time.Minute) }},
		"old":               {instance: func(i *instances.Instance) { i.LaunchTime = now().Add(-warm.MaxAge) }},
		"stopped":           {instance: func(i *instances.Instance) { i.State = instances.StateStopped }},
		"another image":     {class: func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].ID = "ami-2" }},
		"another subnet":    {class: func(c *awsv1.EC2NodeClass) { c.Status.Subnets = nil }},
		"local disks":       {class: func(c *awsv1.EC2NodeClass) { c.Spec.InstanceStorePolicy = &raid }},
		"Windows":           {class: func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "windows2022@latest" }},
	} {
		a, i, k := claim(), instance("i-1"), class()
		if c.claim != nil {
			c.claim(a)
		}
		if c.instance != nil {
			c.instance(&i)
		}
		if c.class != nil {
			c.class(k)
		}
		if why := warm.Refused(a, i, k, now()); why == "" {
			t.Errorf("%s: it is kept", name)
		}
	}
}

// A claim gets the first instance in launch order that is configured as its own would be, unless another offering is much cheaper.
func TestChoose(t *testing.T) {
	typ := func(name string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
		return &cloudprovider.InstanceType{Name: name, Offerings: offerings}
	}
	large := typ("m5.large", build.Offering("a", v1.CapacityTypeOnDemand, 1), build.Offering("b", v1.CapacityTypeOnDemand, 1))
	xlarge := typ("m5.xlarge", build.Offering("a", v1.CapacityTypeOnDemand, 2))
	candidates := func(of ...*cloudprovider.InstanceType) (list []cloudprovider.Candidate) {
		for _, it := range of {
			for n := range it.Offerings {
				list = append(list, cloudprovider.Candidate{Type: it, Offering: &it.Offerings[n]})
			}
		}
		return list
	}
	wish := warm.Wish{Mark: "m", NodePool: v1.PoolOf(map[string]string{v1.NodePoolLabelKey: "pool"}), Class: class()}
	big := func(i *instances.Instance) { i.Type = "m5.xlarge" }
	soldOut := typ("m5.large", build.Offering("a", v1.CapacityTypeOnDemand, 1))
	soldOut.Offerings[0].Available = false
	for name, c := range map[string]struct {
		order []cloudprovider.Candidate
		kept  []instances.Instance
		taken string
		want  string
	}{
		"none":                 {candidates(large), nil, "", ""},
		"one":                  {candidates(large), []instances.Instance{instance("i-1", kept("m"))}, "", "i-1"},
		"another mark":         {candidates(large), []instances.Instance{instance("i-1", kept("n"))}, "", ""},
		"taken":                {candidates(large), []instances.Instance{instance("i-1", kept("m")), instance("i-2", kept("m"))}, "i-1", "i-2"},
		"still stopping":       {candidates(large), []instances.Instance{instance("i-1", kept("m"), func(i *instances.Instance) { i.State = "stopping" })}, "", ""},
		"another pool":         {candidates(large), []instances.Instance{instance("i-1", kept("m"), func(i *instances.Instance) { i.Tags[awsv1.TagNodePool] = "other" })}, "", ""},
		"another class":        {candidates(large), []instances.Instance{instance("i-1", kept("m"), func(i *instances.Instance) { i.Tags[awsv1.TagNodeClass] = "other" })}, "", ""},
		"an older image":       {candidates(large), []instances.Instance{instance("i-1", kept("m"), func(i *instances.Instance) { i.ImageID = "ami-0" })}, "", ""},
		"a zone not allowed":   {candidates(xlarge), []instances.Instance{instance("i-1", kept("m"), big, func(i *instances.Instance) { i.Zone = "b" })}, "", ""},
		"too large":            {candidates(large, xlarge), []instances.Instance{instance("i-1", kept("m"), big)}, "", ""},
		"large, nothing else":  {candidates(xlarge), []instances.Instance{instance("i-1", kept("m"), big)}, "", "i-1"},
		"the market is empty":  {candidates(soldOut, xlarge), []instances.Instance{instance("i-1", kept("m"))}, "", "i-1"},
		"spot is much cheaper": {candidates(typ("m5.large", build.Offering("a", v1.CapacityTypeSpot, 0.4)), large), []instances.Instance{instance("i-1", kept("m"))}, "", ""},
	} {
		w := wish
		w.Taken = func(id string) bool { return id == c.taken }
		i, of, ok := warm.Choose(c.order, c.kept, w)
		if i.ID != c.want || ok != (c.want != "") || ok && (of.Type.Name != i.Type || of.Offering.Zone() != i.Zone) {
			t.Errorf("%s: %q as %v, want %q", name, i.ID, of.Type, c.want)
		}
	}
}

// Warm instances that no claim can use are terminated; those that still run are stopped.
func TestTend(t *testing.T) {
	aged := func(d time.Duration) func(*instances.Instance) {
		return func(i *instances.Instance) { i.LaunchTime = now().Add(-d) }
	}
	of := func(name string) func(*instances.Instance) {
		return func(i *instances.Instance) { i.Tags[awsv1.TagNodeClass] = name }
	}
	running := func(i *instances.Instance) { i.State = instances.StateRunning }
	all := []instances.Instance{
		instance("i-older", kept("7/p"), aged(3*time.Hour)),
		instance("i-newer", kept("7/p"), aged(2*time.Hour), running),
		instance("i-hash", kept("8/p")),
		instance("i-image", kept("7/p"), func(i *instances.Instance) { i.ImageID = "ami-0" }),
		instance("i-old", kept("7/p"), aged(warm.MaxAge)),
		instance("i-gone", kept("7/p"), of("gone")),
		instance("i-unread", kept("7/p"), of("unread")),
		instance("i-mistake", kept("7/p"), of("mistake")),
	}
	d := warm.Tend(all, func(name string) (*awsv1.EC2NodeClass, string, bool) {
		switch name {
		case "default":
			return class(), "7", true
		case "mistake":
			return class(func(c *awsv1.EC2NodeClass) { c.Annotations[awsv1.AnnotationWarmPool] = "many" }), "7", true
		}
		return nil, "", name == "gone"
	}, now())
	ids := func(list []instances.Instance) (out []string) {
		for _, i := range list {
			out = append(out, i.ID)
		}
		return out
	}
	if got, want := ids(d.Terminate), []string{"i-gone", "i-hash", "i-image", "i-old", "i-older"}; !slices.Equal(got, want) {
		t.Errorf("terminates %q, want %q", got, want)
	}
	if got, want := ids(d.Stop), []string{"i-newer"}; !slices.Equal(got, want) {
		t.Errorf("stops %q, want %q", got, want)
	}
}
