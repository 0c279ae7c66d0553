package cloudprovider_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

// Each row breaks one clause, and only that one is reported.
func TestValidateCatalogNamesTheBrokenClause(t *testing.T) {
	type instanceType = cloudprovider.InstanceType
	tests := []struct {
		name   string
		clause string
		spoil  func(*instanceType)
	}{
		{"sound", "", func(*instanceType) {}},
		{"free reservation", "", func(it *instanceType) { it.Offerings[2].Price = 0 }},
		{"unavailable", "", func(it *instanceType) { it.Offerings[0].Available = false }},
		{"absent reservation stated", "", func(it *instanceType) {
			it.Offerings[0].Requirements = it.Offerings[0].Requirements.With(requirements.DoesNotExist(reservationKey))
		}},
		{"no name", "CP-CATALOG-02", func(it *instanceType) {
			it.Name = ""
			it.Requirements = it.Requirements.Without(corev1.LabelInstanceTypeStable).With(requirements.In(corev1.LabelInstanceTypeStable, ""))
		}},
		{"label is another name", "CP-CATALOG-02", func(it *instanceType) {
			it.Requirements = it.Requirements.Without(corev1.LabelInstanceTypeStable).With(requirements.In(corev1.LabelInstanceTypeStable, "other"))
		}},
		{"well-known label not stated", "CP-CATALOG-03", func(it *instanceType) { it.Requirements = it.Requirements.Without("cloud.test/family") }},
		{"architecture stated as absent", "CP-CATALOG-03", func(it *instanceType) {
			it.Requirements = it.Requirements.Without(corev1.LabelArchStable).With(requirements.DoesNotExist(corev1.LabelArchStable))
		}},
		{"alias stated", "CP-CATALOG-04", func(it *instanceType) {
			it.Requirements = it.Requirements.With(requirements.In("beta.kubernetes.io/arch", "amd64"))
		}},
		{"open-ended statement", "CP-CATALOG-04", func(it *instanceType) {
			it.Requirements = it.Requirements.Without("cloud.test/family").With(requirements.Exists("cloud.test/family"))
		}},
		{"undeclared zone", "CP-CATALOG-04", func(it *instanceType) { it.Offerings[0] = offering("c", "spot", 1) }},
		{"illegal value", "CP-CATALOG-04", func(it *instanceType) {
			it.Requirements = it.Requirements.Without("cloud.test/family").With(requirements.In("cloud.test/family", "a b"))
		}},
		{"offering repeated at another price", "CP-CATALOG-05", func(it *instanceType) {
			it.Offerings = append(it.Offerings, offering("a", "spot", 2, requirements.DoesNotExist(reservationKey)))
		}},
		{"no offering", "CP-CATALOG-06", func(it *instanceType) { it.Offerings = nil }},
		{"no zone", "CP-CATALOG-06", func(it *instanceType) {
			it.Offerings[0].Requirements = it.Offerings[0].Requirements.Without(corev1.LabelTopologyZone)
		}},
		{"unknown capacity type", "CP-CATALOG-06", func(it *instanceType) { it.Offerings[0] = offering("a", "leased", 1) }},
		{"reservation without a name", "CP-CATALOG-06", func(it *instanceType) { it.Offerings[0] = offering("a", v1.CapacityTypeReserved, 1) }},
		{"spot with a reservation", "CP-CATALOG-06", func(it *instanceType) {
			it.Offerings[0] = offering("a", "spot", 1, requirements.In(reservationKey, "r-2"))
		}},
		{"two values for a key", "CP-CATALOG-06", func(it *instanceType) {
			it.Offerings[0] = offering("a", "spot", 1, requirements.In("cloud.test/rack", "1", "2"))
		}},
		{"reservation overdrawn", "CP-CATALOG-06", func(it *instanceType) { it.Offerings[2].ReservationCapacity = -1 }},
		{"an end of what is not reserved", "CP-CATALOG-06", func(it *instanceType) { it.Offerings[0].ReservationEnds = time.Unix(1e9, 0) }},
		{"a reservation that ends twice", "CP-CATALOG-06", func(it *instanceType) {
			again := it.Offerings[2]
			again.Requirements = again.Requirements.With(requirements.In("cloud.test/rack", "1"))
			again.ReservationEnds = time.Unix(1e9, 0)
			it.Offerings = append(it.Offerings, again)
		}},
		{"free spot", "CP-CATALOG-07", func(it *instanceType) { it.Offerings[0].Price = 0 }},
		{"negative price", "CP-CATALOG-07", func(it *instanceType) { it.Offerings[2].Price = -1 }},
		{"price not a number", "CP-CATALOG-07", func(it *instanceType) { it.Offerings[0].Price = math.NaN() }},
		{"interrupted more often than always", "CP-CATALOG-07", func(it *instanceType) {
			it.Offerings[0].InterruptionRate = &cloudprovider.InterruptionRate{Low: 0.2, High: 2}
		}},
		{"interruption rate upside down", "CP-CATALOG-07", func(it *instanceType) {
			it.Offerings[0].InterruptionRate = &cloudprovider.InterruptionRate{Low: 0.2, High: 0.1}
		}},
		{"infinite price", "CP-CATALOG-07", func(it *instanceType) { it.Offerings[0].Price = math.Inf(1) }},
		{"no pods", "CP-CATALOG-08", func(it *instanceType) { delete(it.Capacity, corev1.ResourcePods) }},
		{"negative extended resource", "CP-CATALOG-08", func(it *instanceType) { it.Capacity["x.test/gpu"] = build.Amounts("x", "-1")["x"] }},
		{"negative overhead", "CP-CATALOG-08", func(it *instanceType) { it.Overhead.EvictionThreshold = build.Amounts("memory", "-1Gi") }},
		{"overhead takes all", "CP-CATALOG-08", func(it *instanceType) { it.Overhead.SystemReserved = build.Amounts("memory", "15Gi") }},
		{"an offering's overhead takes all", "CP-CATALOG-08", func(it *instanceType) {
			it.Offerings[0].Overhead = &cloudprovider.Overhead{KubeReserved: build.Amounts("cpu", "4")}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := testType("m5.xlarge", offering("a", "spot", 0.1), offering("a", "on-demand", 0.3), reserved("b", "r-1", 0.001, 2))
			tt.spoil(it)
			err := cloudprovider.ValidateCatalog([]*instanceType{it}, testCapabilities())
			if tt.clause == "" {
				if err != nil {
					t.Fatalf("unexpected: %v", err)
				}
				return
			}
			clauses := brokenClauses(t, err)
			if diff := cmp.Diff([]string{tt.clause}, slices.Compact(clauses)); diff != "" {
				t.Errorf("clauses (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func brokenClauses(t *testing.T, err error) []string {
	t.Helper()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		t.Fatalf("%v holds no list of faults", err)
	}
	var clauses []string
	for _, each := range all.Unwrap() {
		var fault *cloudprovider.CatalogError
		if !errors.As(each, &fault) {
			t.Fatalf("%v is not a CatalogError", each)
		}
		clauses = append(clauses, fault.Clause)
	}
	return clauses
}

// CP-CATALOG-02.
func TestValidateCatalogRefusesTwoTypesOfOneName(t *testing.T) {
	types := []*cloudprovider.InstanceType{testType("x", offering("a", "spot", 1)), testType("x", offering("a", "spot", 1)), nil}
	err := cloudprovider.ValidateCatalog(types, testCapabilities())
	if diff := cmp.Diff([]string{"CP-CATALOG-02", "CP-CATALOG-02"}, brokenClauses(t, err)); diff != "" {
		t.Errorf("clauses (-want +got):\n%s", diff)
	}
	want := "instance type \"x\": occurs twice; names are unique (CP-CATALOG-02)\ninstance type \"\": is nil (CP-CATALOG-02)"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// CP-CATALOG-03: offerings may state a key in the type's stead. What only some state is absent from the others, which
// a label that must have a value can't be.
func TestOfferingsMayStateAWellKnownLabel(t *testing.T) {
	tests := []struct {
		name   string
		key    string
		stated int // by how many of the two offerings
		ok     bool
	}{
		{"region by both", corev1.LabelTopologyRegion, 2, true},
		{"region by one", corev1.LabelTopologyRegion, 1, true},
		{"region by none", corev1.LabelTopologyRegion, 0, false},
		{"reservation by one", reservationKey, 1, true},
		{"reservation by none", reservationKey, 0, false},
		{"architecture by both", corev1.LabelArchStable, 2, true},
		{"architecture by one", corev1.LabelArchStable, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := testType("x", reserved("a", "r-1", 1, 1), reserved("b", "r-2", 1, 1))
			it.Requirements = it.Requirements.Without(tt.key)
			if tt.key == reservationKey {
				it.Offerings[0], it.Offerings[1] = offering("a", "spot", 1), offering("b", "spot", 1)
			}
			for i := range tt.stated {
				it.Offerings[i].Requirements = it.Offerings[i].Requirements.With(requirements.In(tt.key, "r"))
				if tt.key == reservationKey {
					it.Offerings[i] = reserved("a", "r-1", 1, 1)
				}
			}
			err := cloudprovider.ValidateCatalog([]*cloudprovider.InstanceType{it}, testCapabilities())
			if tt.ok != (err == nil) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if diff := cmp.Diff([]string{"CP-CATALOG-03"}, brokenClauses(t, err)); diff != "" {
					t.Errorf("clauses (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// CP-DESCRIBE-02: each row spoils one field of a sound declaration.
func TestCapabilitiesValidate(t *testing.T) {
	type capabilities = cloudprovider.Capabilities
	tests := []struct {
		name  string
		path  string
		spoil func(*capabilities)
	}{
		{"sound", "", func(*capabilities) {}},
		{"no node class", "nodeClasses", func(c *capabilities) { c.NodeClasses = nil }},
		{"node class without kind", "nodeClasses[1].kind", func(c *capabilities) { c.NodeClasses[1].Kind = "" }},
		{"node class of an illegal group", "nodeClasses[0].group", func(c *capabilities) { c.NodeClasses[0].Group = "A B" }},
		{"node class twice", "nodeClasses[1]", func(c *capabilities) { c.NodeClasses[1] = c.NodeClasses[0] }},
		{"core label unknown", "vocabulary.wellKnown", func(c *capabilities) {
			c.Vocabulary.WellKnown = slices.DeleteFunc(c.Vocabulary.WellKnown, func(k string) bool { return k == corev1.LabelOSStable })
		}},
		{"illegal key", "vocabulary.wellKnown[0]", func(c *capabilities) { c.Vocabulary.WellKnown[0] += "/x/y" }},
		{"alias of an alias", "vocabulary.aliases[zone]", func(c *capabilities) { c.Vocabulary.Aliases["zone"] = "csi.cloud.test/zone" }},
		{"well-known alias", "vocabulary.aliases[cloud.test/family]", func(c *capabilities) { c.Vocabulary.Aliases["cloud.test/family"] = corev1.LabelArchStable }},
		{"value alias under an alias", "vocabulary.valueAliases[csi.cloud.test/zone]", func(c *capabilities) {
			c.Vocabulary.ValueAliases = map[string]map[string]string{"csi.cloud.test/zone": {"A": "a"}}
		}},
		{"values of an unknown key", "labelValues[colour]", func(c *capabilities) { c.LabelValues["colour"] = []string{"red"} }},
		{"no values", "labelValues[cloud.test/family]", func(c *capabilities) { c.LabelValues["cloud.test/family"] = nil }},
		{"value twice", "labelValues[topology.kubernetes.io/zone][1]", func(c *capabilities) { c.LabelValues[corev1.LabelTopologyZone] = []string{"a", "a"} }},
		{"illegal label value", "labelValues[topology.kubernetes.io/zone][0]", func(c *capabilities) { c.LabelValues[corev1.LabelTopologyZone] = []string{"a b"} }},
		{"reservation id not among the labels", "reservationIDLabel", func(c *capabilities) { c.ReservationIDLabel = "cloud.test/family" }},
		{"reservation labels without id", "reservationIDLabel", func(c *capabilities) { c.ReservationIDLabel = "" }},
		{"reservation label unknown", "reservationLabels[1]", func(c *capabilities) { c.ReservationLabels = append(c.ReservationLabels, "cloud.test/block") }},
		{"illegal volume key", "unsupportedVolumeTopologyKeys[0]", func(c *capabilities) { c.UnsupportedVolumeTopologyKeys = []string{"//"} }},
		{"nameless driver", "unsupportedVolumeDrivers[0]", func(c *capabilities) { c.UnsupportedVolumeDrivers = []string{""} }},
		{"negative time-out", "launchTimeout", func(c *capabilities) { c.LaunchTimeout.Duration = -1 }},
		{"negative window", "consistencyWindow", func(c *capabilities) { c.ConsistencyWindow.Duration = -1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := testCapabilities()
			tt.spoil(&c)
			err := c.Validate()
			if tt.path == "" {
				if err != nil {
					t.Fatalf("unexpected: %v", err)
				}
				return
			}
			var fault *field.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a *field.Error at %s", err, tt.path)
			}
			if fault.Field != tt.path {
				t.Errorf("fault is at %s, want %s: %v", fault.Field, tt.path, err)
			}
		})
	}
}

// PRV-036, PRV-050, PRV-061, PRV-177.
func TestCapabilitiesAnswers(t *testing.T) {
	c := testCapabilities()
	if got := c.DefaultNodeClass().Kind; got != "TestNodeClass" {
		t.Errorf("default node class is %s", got)
	}
	if got := (cloudprovider.Capabilities{}).DefaultNodeClass(); got.Kind != "" {
		t.Errorf("default node class of nothing is %s", got)
	}
	for ref, want := range map[v1.NodeClassReference]bool{
		{Group: "cloud.test", Kind: "TestNodeClass", Name: "x"}: true,
		{Group: "cloud.test", Kind: "OldNodeClass", Name: "x"}:  true,
		{Group: "other.test", Kind: "TestNodeClass", Name: "x"}: false,
		{}: false,
	} {
		if got := c.SupportsNodeClass(ref); got != want {
			t.Errorf("SupportsNodeClass(%v) = %v", ref, got)
		}
	}
	if got := c.LaunchTimeoutOrDefault(); got != cloudprovider.DefaultLaunchTimeout {
		t.Errorf("default launch time-out is %v", got)
	}
	c.LaunchTimeout.Duration = 7
	if got := c.LaunchTimeoutOrDefault(); got != 7 {
		t.Errorf("launch time-out is %v, want 7ns", got)
	}
}

func TestCapabilitiesDeepCopySharesNothing(t *testing.T) {
	c := testCapabilities()
	c.Vocabulary.ValueAliases = map[string]map[string]string{corev1.LabelTopologyZone: {"A": "a"}}
	c.UnsupportedVolumeDrivers = []string{"d"}
	want := c.DeepCopy()
	copied := c.DeepCopy()
	copied.NodeClasses[0].Kind = "changed"
	copied.Vocabulary.WellKnown[0] = "changed"
	copied.Vocabulary.Aliases["csi.cloud.test/zone"] = "changed"
	copied.Vocabulary.ValueAliases[corev1.LabelTopologyZone]["A"] = "changed"
	copied.LabelValues[corev1.LabelTopologyZone][0] = "changed"
	copied.ReservationLabels[0] = "changed"
	copied.UnsupportedVolumeDrivers[0] = "changed"
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
}

// CP-REPAIR-02.
func TestValidateRepairPolicies(t *testing.T) {
	sound := cloudprovider.RepairPolicy{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse, Toleration: 1}
	unknown, instant, nameless := sound, sound, sound
	unknown.ConditionStatus = corev1.ConditionUnknown
	instant.Toleration = 0
	nameless.ConditionType = ""
	for name, tt := range map[string]struct {
		policies []cloudprovider.RepairPolicy
		ok       bool
	}{
		"none":         {nil, true},
		"two statuses": {[]cloudprovider.RepairPolicy{sound, unknown}, true},
		"twice":        {[]cloudprovider.RepairPolicy{sound, sound}, false},
		"no patience":  {[]cloudprovider.RepairPolicy{instant}, false},
		"no condition": {[]cloudprovider.RepairPolicy{nameless}, false},
	} {
		if err := cloudprovider.ValidateRepairPolicies(tt.policies); tt.ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
