package provisioning_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/provisioning"
)

func newEstimate(t *testing.T) *provisioning.StockEstimate {
	t.Helper()
	b, err := provisioning.NewStockEstimate(provisioning.DefaultStockEstimateOptions())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func spot(name, zone string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: name, Zone: zone, CapacityType: v1.CapacityTypeSpot}
}

// One failure closes an offering and makes its neighbours doubtful; two close a family's zone; strangers learn nothing.
func TestStockEstimateTeachesNeighbours(t *testing.T) {
	for name, c := range map[string]struct {
		exhausted []cloudprovider.OfferingKey
		launched  []cloudprovider.OfferingKey
		about     cloudprovider.OfferingKey
		want      float64
	}{
		"nothing seen":                    {nil, nil, spot("m5.large", "a"), 0.95},
		"itself":                          {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, spot("m5.large", "a"), 0.05},
		"another size of the family":      {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, spot("m5.xlarge", "a"), 0.5},
		"two sizes of the family":         {[]cloudprovider.OfferingKey{spot("m5.large", "a"), spot("m5.2xlarge", "a")}, nil, spot("m5.xlarge", "a"), 0.05},
		"another zone":                    {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, spot("m5.large", "b"), 0.82},
		"another family":                  {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, spot("c5.large", "a"), 0.95},
		"another size in another zone":    {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, spot("m5.xlarge", "b"), 0.95},
		"on demand":                       {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, nil, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: v1.CapacityTypeOnDemand}, 0.95},
		"a success after a failure":       {[]cloudprovider.OfferingKey{spot("m5.large", "a")}, []cloudprovider.OfferingKey{spot("m5.large", "a")}, spot("m5.large", "a"), 0.5},
		"a success makes it more certain": {nil, []cloudprovider.OfferingKey{spot("m5.large", "a")}, spot("m5.large", "a"), 0.998},
	} {
		b := newEstimate(t)
		for _, key := range c.exhausted {
			b.Exhausted([]cloudprovider.OfferingKey{key}, start)
		}
		for _, key := range c.launched {
			b.Launched(key, start)
		}
		if got := b.Probability(c.about, start); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %.3f, want %.3f", name, got, c.want)
		}
	}
	// Several sizes found empty by one launch are one observation for their neighbours.
	b := newEstimate(t)
	b.Exhausted([]cloudprovider.OfferingKey{spot("m5.large", "a"), spot("m5.2xlarge", "a")}, start)
	if got := b.Probability(spot("m5.xlarge", "a"), start); math.Abs(got-0.5) > 0.01 {
		t.Errorf("one launch: %.3f, want 0.5", got)
	}
}

func TestStockEstimateForgets(t *testing.T) {
	b := newEstimate(t)
	b.Exhausted([]cloudprovider.OfferingKey{spot("m5.large", "a")}, start)
	if got := b.Probability(spot("m5.large", "a"), start.Add(10*time.Minute)); math.Abs(got-0.5) > 0.01 {
		t.Errorf("after a half-life: %.3f, want 0.5", got)
	}
	if got := b.Probability(spot("m5.large", "a"), start.Add(24*time.Hour)); math.Abs(got-0.95) > 0.01 {
		t.Errorf("after a day: %.3f, want 0.95", got)
	}
}

func estimateTypes() []*cloudprovider.InstanceType {
	reserved := build.Offering("a", v1.CapacityTypeReserved, 1)
	reserved.ReservationCapacity = 1
	var list []*cloudprovider.InstanceType
	for _, name := range []string{"m5.large", "c5.large"} {
		list = append(list, build.InstanceType(name, build.Spot("a", 1), build.Spot("b", 1), build.Sold(reserved)))
	}
	return list
}

// CP-CATALOG-09: what is closed shows in copies that keep their identity; what is not stays the object it was.
func TestStockEstimateApply(t *testing.T) {
	b, types := newEstimate(t), estimateTypes()
	if got := b.Apply(types, start); got[0] != types[0] || got[1] != types[1] {
		t.Error("types were copied though nothing was seen")
	}
	b.Exhausted([]cloudprovider.OfferingKey{spot("m5.large", "a"), {InstanceType: "m5.large", Zone: "a", CapacityType: v1.CapacityTypeReserved}}, start)
	first, second := b.Apply(types, start), b.Apply(types, at(1))
	if first[0] != second[0] || first[0] == types[0] || first[1] != types[1] {
		t.Error("identities are not kept")
	}
	closed := []bool{}
	for _, o := range first[0].Offerings {
		closed = append(closed, !o.Available)
	}
	if !closed[0] || closed[1] || closed[2] {
		t.Errorf("closed %v, want the first alone: what a reservation has left is counted", closed)
	}
	if !types[0].Offerings[0].Available {
		t.Error("the type handed in was changed")
	}
}

// A wave of launches tries an empty offering once per probe, not a hundred times.
func TestStockEstimateProbes(t *testing.T) {
	b, err := provisioning.NewStockEstimate(provisioning.StockEstimateOptions{HalfLife: time.Hour, Threshold: 0.3, ProbeEvery: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	types, key := estimateTypes(), spot("m5.large", "a")
	open := func(now time.Time) bool { return b.Apply(types, now)[0].Offerings[0].Available }
	b.Exhausted([]cloudprovider.OfferingKey{key}, start)
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {5*time.Minute - 1, false}, {5 * time.Minute, true}} {
		if got := open(start.Add(step.after)); got != step.want {
			t.Errorf("after %s: open %t", step.after, got)
		}
	}
	b.Begin([]cloudprovider.OfferingKey{key}, start.Add(5*time.Minute))
	if open(start.Add(6 * time.Minute)) {
		t.Error("open to others while a probe is under way")
	}
	b.Launched(key, start.Add(6*time.Minute))
	if !open(start.Add(6 * time.Minute)) {
		t.Error("still closed after a launch found room")
	}
}

// Whatever was seen: probabilities are within 0 and 1, a further failure never makes its offering likelier, a further
// success never less likely.
func TestStockEstimateIsMonotone(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		b, err := provisioning.NewStockEstimate(provisioning.DefaultStockEstimateOptions())
		if err != nil {
			t.Fatal(err)
		}
		now := start
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "s")) * time.Second)
			key := spot(rapid.SampledFrom([]string{"m5.large", "m5.xlarge", "c5.large"}).Draw(t, "type"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"))
			before := b.Probability(key, now)
			if rapid.Bool().Draw(t, "room") {
				b.Launched(key, now)
				if got := b.Probability(key, now); got < before-1e-9 || got > 1 {
					t.Fatalf("a success turned %v into %v", before, got)
				}
			} else {
				b.Exhausted([]cloudprovider.OfferingKey{key}, now)
				if got := b.Probability(key, now); got > before+1e-9 || got < 0 {
					t.Fatalf("a failure turned %v into %v", before, got)
				}
			}
		}
	})
}

func TestStockEstimateOptions(t *testing.T) {
	for _, o := range []provisioning.StockEstimateOptions{
		{}, {HalfLife: -1}, {HalfLife: 1, ProbeEvery: -1}, {HalfLife: 1, Threshold: 1}, {HalfLife: 1, Threshold: -0.1}, {HalfLife: 1, Threshold: math.NaN()},
	} {
		var wrong *option.Error
		if _, err := provisioning.NewStockEstimate(o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	options := provisioning.DefaultStockEstimateOptions()
	options.Threshold = 0
	b, err := provisioning.NewStockEstimate(options)
	if err != nil {
		t.Fatal(err)
	}
	types, key := estimateTypes(), spot("m5.large", "a")
	b.Exhausted([]cloudprovider.OfferingKey{key}, start)
	if !b.Apply(types, start)[0].Offerings[0].Available {
		t.Error("0 is not 0: an offering is left alone")
	}
}

// A stock-out on dedicated hardware teaches nothing about shared hardware, not even about other sizes and zones, and vice versa.
func TestStockEstimateKeepsHardwareApart(t *testing.T) {
	const label = "example.com/tenancy"
	options := provisioning.DefaultStockEstimateOptions()
	options.Hardware = map[string]string{label: "default"}
	on := func(key cloudprovider.OfferingKey, tenancy string) cloudprovider.OfferingKey {
		if key.Others = "a=1"; tenancy != "" {
			key.Others += "," + label + "=" + tenancy
		}
		return key
	}
	for _, out := range []string{"", "default", "dedicated"} {
		for _, about := range []string{"", "default", "dedicated"} {
			b, err := provisioning.NewStockEstimate(options)
			if err != nil {
				t.Fatal(err)
			}
			b.Exhausted([]cloudprovider.OfferingKey{on(spot("m5.large", "a"), out)}, start)
			same := out == about || out != "dedicated" && about != "dedicated"
			for _, key := range []cloudprovider.OfferingKey{spot("m5.xlarge", "a"), spot("m5.large", "b")} {
				if learned := b.Probability(on(key, about), start) < 0.9; learned != same {
					t.Errorf("after a stock-out on %q, %s on %q changed: %t", out, key, about, learned)
				}
			}
		}
	}
}

// A success that is known by the labels of a NodeClaim opens the offering again, which has more labels; one on other hardware does not.
func TestStockEstimateKnowsOfferingsByLabels(t *testing.T) {
	options := provisioning.DefaultStockEstimateOptions()
	options.Hardware = map[string]string{"example.com/tenancy": "default"}
	full := spot("m5.large", "a")
	full.Others = "topology.k8s.aws/zone-id=use1-az2"
	dedicated := spot("m5.large", "a")
	dedicated.Others = "example.com/tenancy=dedicated"
	for name, c := range map[string]struct {
		launched cloudprovider.OfferingKey
		want     float64
	}{
		"by its labels": {spot("m5.large", "a"), 0.5}, "by its key": {full, 0.5}, "in another zone": {spot("m5.large", "b"), 0.05}, "on other hardware": {dedicated, 0.05},
	} {
		b, err := provisioning.NewStockEstimate(options)
		if err != nil {
			t.Fatal(err)
		}
		b.Exhausted([]cloudprovider.OfferingKey{full}, start)
		b.Launched(c.launched, start)
		if got := b.Probability(full, start); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%s: %.3f, want %.3f", name, got, c.want)
		}
	}
}
