package fake_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

func start() time.Time { return time.Date(2025, time.March, 1, 12, 0, 0, 0, time.UTC) }

// testCloud is a cloud on a clock that stands still, selling the first two sizes of the first family.
func testCloud(t *testing.T, options fake.Options) (*fake.Cloud, *fake.SimClock) {
	t.Helper()
	return cloudOf(t, options, fake.GenericTypes(2)...)
}

func cloudOf(t *testing.T, options fake.Options, types ...*cloudprovider.InstanceType) (*fake.Cloud, *fake.SimClock) {
	t.Helper()
	clock := fake.NewSimClock(start())
	options.Clock = clock
	cloud, err := fake.New(types, options)
	if err != nil {
		t.Fatal(err)
	}
	return cloud, clock
}

func ptr[T any](v T) *T { return &v }

// claim asks for any instance that meets the requirements.
func claim(name string, reqs ...requirements.Requirement) *v1.NodeClaim {
	c := build.Claim(name, build.UID("uid-"+name), build.OfPool("default"), build.Labels("team", "a"))
	c.Spec.Requirements = requirements.NewSet(reqs...).NodeSelectorRequirements()
	return c
}

func create(t *testing.T, cloud *fake.Cloud, c *v1.NodeClaim) *v1.NodeClaim {
	t.Helper()
	got, err := cloud.Create(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func list(t *testing.T, cloud *fake.Cloud) []*v1.NodeClaim {
	t.Helper()
	got, err := cloud.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func instanceTypes(t *testing.T, cloud *fake.Cloud) []*cloudprovider.InstanceType {
	t.Helper()
	got, err := cloud.InstanceTypes(context.Background(), &v1.NodePool{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// unavailable are the offerings shown without room, in the catalogue's order.
func unavailable(t *testing.T, cloud *fake.Cloud) []string {
	t.Helper()
	var keys []string
	for _, it := range instanceTypes(t, cloud) {
		for i := range it.Offerings {
			if o := &it.Offerings[i]; !o.Available {
				keys = append(keys, cloudprovider.KeyOf(it, o).String())
			}
		}
	}
	return keys
}

func onDemand() requirements.Requirement {
	return requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)
}

func zone(letters ...string) requirements.Requirement {
	var zones []string
	for _, letter := range letters {
		zones = append(zones, fake.GenericRegion+letter)
	}
	return requirements.In(corev1.LabelTopologyZone, zones...)
}

func ofType(names ...string) requirements.Requirement {
	return requirements.In(corev1.LabelInstanceTypeStable, names...)
}

func everyOffering(cloudprovider.OfferingKey) bool { return true }

// CP-DESCRIBE-01, CP-DESCRIBE-02, CP-DESCRIBE-03, CP-DESCRIBE-06, PRV-177, PRV-178.
func TestDescribe(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	described := cloud.Describe()
	if err := described.Validate(); err != nil {
		t.Error(err)
	}
	if got := described.Vocabulary.Canonical("topology.csi.fake.drawknife.test/zone"); got != corev1.LabelTopologyZone {
		t.Errorf("the CSI driver's zone label means %q", got)
	}
	if cloud.Name() != "fake" {
		t.Errorf("the name is %q", cloud.Name())
	}
	described.Vocabulary.WellKnown[0] = "changed"
	described.LabelValues[corev1.LabelTopologyZone][0] = "changed"
	if diff := cmp.Diff(fake.GenericCapabilities(), cloud.Describe()); diff != "" {
		t.Errorf("the second answer differs (-want +got):\n%s", diff)
	}
}

// CP-DESCRIBE-05: two clouds of different vocabularies in one process.
func TestCloudsShareNothing(t *testing.T) {
	own := fake.GenericCapabilities()
	own.NodeClasses[0].Kind = "OtherNodeClass"
	first, _ := testCloud(t, fake.Options{Name: "first"})
	second, _ := testCloud(t, fake.Options{Name: "second", Capabilities: &own})
	own.NodeClasses[0].Kind = "changed"
	create(t, first, claim("a"))
	if got := list(t, second); len(got) != 0 {
		t.Errorf("the second cloud has %v", got)
	}
	if got := second.Describe().DefaultNodeClass().Kind; got != "OtherNodeClass" {
		t.Errorf("the second cloud's node class is %s", got)
	}
}

func TestNewRefusesBadInput(t *testing.T) {
	spoilt := fake.GenericTypes(1)
	spoilt[0].Offerings[0].Price = -1
	tests := []struct {
		name    string
		types   []*cloudprovider.InstanceType
		options fake.Options
		is      func(error) bool
	}{
		{"a type that breaks the contract", spoilt, fake.Options{}, func(err error) bool {
			var fault *cloudprovider.CatalogError
			return errors.As(err, &fault) && fault.Clause == "CP-CATALOG-07"
		}},
		{"capabilities without a node class", nil, fake.Options{Capabilities: &cloudprovider.Capabilities{}}, func(err error) bool {
			var fault *field.Error
			return errors.As(err, &fault) && fault.Field == "nodeClasses"
		}},
		{"negative latency", nil, fake.Options{LaunchLatency: -1}, func(err error) bool { return err != nil }},
		{"repair policy without toleration", nil, fake.Options{RepairPolicies: []cloudprovider.RepairPolicy{{ConditionType: "Ready", ConditionStatus: "False"}}}, func(err error) bool { return err != nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cloud, err := fake.New(tt.types, tt.options)
			if !tt.is(err) || cloud != nil {
				t.Errorf("got %v, %v", cloud, err)
			}
		})
	}
}

// CP-REPAIR-01, CP-REPAIR-02, CP-REPAIR-03, PRV-176, PRV-184.
func TestRepairPolicies(t *testing.T) {
	byDefault, _ := testCloud(t, fake.Options{})
	policies := byDefault.RepairPolicies()
	if err := cloudprovider.ValidateRepairPolicies(policies); err != nil {
		t.Error(err)
	}
	if len(policies) != 7 || policies[2].Toleration != 10*time.Minute {
		t.Errorf("policies are %v", policies)
	}
	policies[0].Toleration = 0
	if diff := cmp.Diff(fake.DefaultRepairPolicies(), byDefault.RepairPolicies()); diff != "" {
		t.Errorf("the second answer differs (-want +got):\n%s", diff)
	}
	off, _ := testCloud(t, fake.Options{RepairPolicies: []cloudprovider.RepairPolicy{}})
	if got := off.RepairPolicies(); len(got) != 0 {
		t.Errorf("repair is off, but policies are %v", got)
	}
}

func TestSimClockRunsForwardOnly(t *testing.T) {
	clock := fake.NewSimClock(start())
	clock.Advance(-time.Hour)
	clock.AdvanceTo(start().Add(-time.Hour))
	if got := clock.Now(); !got.Equal(start()) {
		t.Errorf("the clock stands at %v", got)
	}
	clock.AdvanceTo(start().Add(time.Hour))
	clock.Advance(time.Minute)
	if got := clock.Now().Sub(start()); got != 61*time.Minute {
		t.Errorf("the clock moved by %v", got)
	}
}
