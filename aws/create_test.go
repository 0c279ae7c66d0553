package aws_test

import (
	"context"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

// CP-CREATE-02, CP-CREATE-05: an instance that is there is the answer, though its class may be gone by now.
func TestCreateAdopts(t *testing.T) {
	a := newAccount(t)
	p := newProvider(t, a)
	a.put("i-younger", "m5.large", "default", func(i *ec2types.Instance) { i.LaunchTime = awssdk.Time(time.Unix(1.8e9, 0)) })
	a.put("i-1", "m5.large", "default")
	for n := range a.instances {
		for k, tag := range a.instances[n].Tags {
			if *tag.Key == "drawknife.dev/nodeclaim-uid" {
				a.instances[n].Tags[k].Value = awssdk.String("uid-a")
			}
		}
	}
	created, err := p.Create(t.Context(), claim("a"))
	if err != nil || created.Status.ProviderID != "aws:///us-east-1a/i-1" || created.Name != "a" || created.UID != "uid-a" || created.Annotations[awsv1.AnnotationHash] == "" {
		t.Errorf("%+v, %v", created, err)
	}
	if a.count("CreateFleet") != 0 {
		t.Error("another instance was launched")
	}
}

// AWN-135, AWI-086: types that no image of the class boots on are neither offered nor launched, be they cheaper: a claim
// that is open to both architectures becomes an instance of the one that there is an image of.
func TestImagesOfOneArchitecture(t *testing.T) {
	for arch, want := range map[string]string{"amd64": "m5.large", "arm64": "m6g.large"} {
		t.Run(arch, func(t *testing.T) {
			a := newAccount(t)
			class := readyClass("default")
			class.Status.AMIs = nil
			ec2build.Image("ami-1", arch)(class)
			p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{"default": class} })
			types, err := p.InstanceTypes(t.Context(), nodePool())
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range types {
				for o := range it.OfferingsWithRoom() {
					if !it.Requirements.Get(corev1.LabelArchStable).Has(arch) {
						t.Fatalf("%s is offered in %s", it.Name, o.Zone())
					}
				}
			}
			created, err := p.Create(t.Context(), claim("a"))
			if err != nil || created.Labels[corev1.LabelInstanceTypeStable] != want || created.Status.ImageID != "ami-1" {
				t.Errorf("got %+v, %v", created, err)
			}
		})
	}
}

// Faults of Create before the launch, each with its kind.
func TestCreateFaults(t *testing.T) {
	for name, c := range map[string]struct {
		claim  func() *v1.NodeClaim
		change func(*account, *aws.Options)
		kind   cloudprovider.ErrorKind
	}{
		"nil":              {func() *v1.NodeClaim { return nil }, nil, cloudprovider.Permanent},
		"no UID":           {func() *v1.NodeClaim { c := claim("a"); c.UID = ""; return c }, nil, cloudprovider.Permanent},
		"lookup refused":   {nil, func(a *account, _ *aws.Options) { a.fail["DescribeInstances"] = apiError("UnauthorizedOperation", "") }, cloudprovider.Unauthorized},
		"class unreadable": {nil, func(_ *account, o *aws.Options) { o.NodeClasses = brokenClasses{readyClass("other")} }, cloudprovider.Transient},
		"overlays unknown": {nil, func(_ *account, o *aws.Options) {
			o.Overlays = overlays{err: cloudprovider.NewUnevaluatedNodePoolError("pool", nil)}
		}, cloudprovider.UnevaluatedNodePool},
		"overlays fail":   {nil, func(_ *account, o *aws.Options) { o.Overlays = overlays{err: errStore} }, cloudprovider.CreateFailed},
		"cluster unknown": {nil, func(_ *account, o *aws.Options) { o.Cluster = brokenCluster{} }, cloudprovider.Transient},
		"template refused": {nil, func(a *account, _ *aws.Options) {
			a.fail["CreateLaunchTemplate"] = apiError("UnauthorizedOperation", "")
		}, cloudprovider.Unauthorized},
		"subnets refused": {nil, func(a *account, _ *aws.Options) { a.fail["DescribeSubnets"] = apiError("UnauthorizedOperation", "") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) {
				if c.change != nil {
					c.change(a, o)
				}
			})
			wanted := claim("a")
			if c.claim != nil {
				wanted = c.claim()
			}
			created, err := p.Create(t.Context(), wanted)
			if kind := cloudprovider.KindOf(err); kind != c.kind || (created == nil) != (err != nil) {
				t.Errorf("got %v of kind %q, want %q", err, kind, c.kind)
			}
		})
	}
}

type overlays struct {
	err   error
	price float64
}

func (o overlays) Overlay(_ context.Context, _ string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	if o.err != nil {
		return nil, o.err
	}
	changed := slices.Clone(types)
	for n, it := range types {
		if it.Name == "m5.large" {
			overlaid := *it
			overlaid.Offerings = slices.Clone(it.Offerings)
			for k := range overlaid.Offerings {
				overlaid.Offerings[k].Price = o.price
			}
			changed[n] = &overlaid
		}
	}
	return changed, nil
}

type brokenCluster struct{}

func (brokenCluster) ClusterInfo(context.Context) (aws.ClusterInfo, error) {
	return aws.ClusterInfo{}, errStore
}

// CP-CREATE-11, PRV-144: Create buys what InstanceTypes shows, overlays included; a claim without a pool has none.
func TestOverlays(t *testing.T) {
	a := newAccount(t)
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.Overlays = overlays{price: 0.000123} })
	types, err := p.InstanceTypes(t.Context(), nodePool())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(types, func(it *cloudprovider.InstanceType) bool { return it.Name == "m5.large" })
	if types[at].Offerings[0].Price != 0.000123 {
		t.Errorf("shown for %v", types[at].Offerings[0].Price)
	}
	alone := claim("b")
	delete(alone.Labels, v1.NodePoolLabelKey)
	for _, c := range []*v1.NodeClaim{claim("a"), alone} {
		c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues(in(corev1.LabelInstanceTypeStable, "m5.large")))
		if _, err := p.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if bought := *a.fleets[0].LaunchTemplateConfigs[0].Overrides[0].Priority; bought != 0.000123 {
		t.Errorf("bought for %v", bought)
	}
	if bought := *a.fleets[1].LaunchTemplateConfigs[0].Overrides[0].Priority; bought == 0.000123 {
		t.Error("a claim without a pool was overlaid")
	}
}
