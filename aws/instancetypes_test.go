package aws_test

import (
	"context"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// instancesOf are a provider's instance types by name, under a configuration.
func instancesOf(t *testing.T, change func(*aws.Config, *aws.Options)) map[string]*cloudprovider.InstanceType {
	t.Helper()
	p := newProvider(t, newAccount(t), change)
	types, err := p.InstanceTypes(t.Context(), nodePool())
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*cloudprovider.InstanceType, len(types))
	for _, it := range types {
		out[it.Name] = it
	}
	return out
}

// OPP-06, OPP-08, AWI-071, AWI-078: each option of instance types is reached through the configuration of the provider.
func TestInstanceTypeOptions(t *testing.T) {
	amount := func(types map[string]*cloudprovider.InstanceType, name, resource string) int64 {
		t.Helper()
		it := types[name]
		if it == nil {
			t.Fatalf("there is no %s", name)
		}
		for key, q := range it.Capacity {
			if string(key) == resource {
				return q.Value()
			}
		}
		return 0
	}
	with := func(o instancetype.Options) map[string]*cloudprovider.InstanceType {
		t.Helper()
		return instancesOf(t, func(c *aws.Config, _ *aws.Options) { c.InstanceTypes = o })
	}
	plain := with(instancetype.Options{})
	for _, c := range []struct {
		what, name, resource string
		options              instancetype.Options
		before, after        func(int64) bool
	}{
		{"prefix delegation", "m5.large", "pods", instancetype.Options{PodDensity: instancetype.VPCCNI{PrefixDelegation: true}},
			func(n int64) bool { return n == 29 }, func(n int64) bool { return n == 110 }},
		{"no branch interfaces", "m5.large", "vpc.amazonaws.com/pod-eni", instancetype.Options{WithoutPodENI: true},
			func(n int64) bool { return n == 9 }, func(n int64) bool { return n == 0 }},
		{"huge pages", "m5.large", "hugepages-2Mi", instancetype.Options{HugePages: map[string]string{"hugepages-2Mi": "1Gi"}},
			func(n int64) bool { return n == 0 }, func(n int64) bool { return n == 1<<30 }},
		{"parts of GPUs", "g6f.large", "nvidia.com/gpu", instancetype.Options{FractionalGPUs: true},
			func(n int64) bool { return n == 0 }, func(n int64) bool { return n == 1 }},
		{"named devices", "vt1.3xlarge", "xilinx.com/u30", instancetype.Options{DeviceResources: map[string]string{"U30": "xilinx.com/u30"}},
			func(n int64) bool { return n == 0 }, func(n int64) bool { return n > 0 }},
		{"measured memory", "m5.24xlarge", "memory", instancetype.Options{MemoryPrior: instancetype.MemoryPriorMeasured},
			func(n int64) bool { return n < 360<<30 }, func(n int64) bool { return n > 360<<30 }},
	} {
		if n := amount(plain, c.name, c.resource); !c.before(n) {
			t.Errorf("%s: %s has %d of %s without the option", c.what, c.name, n, c.resource)
		}
		if n := amount(with(c.options), c.name, c.resource); !c.after(n) {
			t.Errorf("%s: %s has %d of %s", c.what, c.name, n, c.resource)
		}
	}
	for want, o := range map[string]instancetype.Options{
		"instanceTypes: hugePages[x]":          {HugePages: map[string]string{"x": "1Gi"}},
		"instanceTypes: deviceResources[FPGA]": {DeviceResources: map[string]string{"FPGA": "fpga"}},
		"instanceTypes: zones":                 {ReservedENIs: 1},
	} {
		if err := (aws.Config{ClusterName: "demo", InstanceTypes: o}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// pricing is an overlay with a price for one type.
type pricing struct {
	name  string
	asked *[]string
}

func (o pricing) Overlay(_ context.Context, _ string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	return types, nil
}

func (o pricing) StandInPrices(_ context.Context, types []*cloudprovider.InstanceType) (map[string]float64, error) {
	prices := map[string]float64{}
	for _, it := range types {
		*o.asked = append(*o.asked, it.Name)
		if it.Name == o.name {
			prices[it.Name] = 0.25
		}
	}
	return prices, nil
}

// AWI-092, AWI-097: a type that AWS has no price for, as preview types have none, is bought at the price of a NodeOverlay, and not at all
// without one.
func TestOverlayPricesTypeWithoutPrice(t *testing.T) {
	seed, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	known, _ := seed.Lookup("m5.large")
	preview := *known
	preview.Name, preview.OnDemandUSD, preview.SpotUSD = "m99.large", 0, nil
	more := *seed
	more.Types = append(append([]catalog.Type{}, seed.Types...), preview)
	withPreview, err := catalog.New(more)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for name, want := range map[string]bool{"m99.large": true, "m98.large": false} {
		types := instancesOf(t, func(_ *aws.Config, o *aws.Options) {
			o.Types, o.Overlays = withPreview, pricing{name: name, asked: &asked}
		})
		it := types["m99.large"]
		if (it != nil) != want {
			t.Fatalf("overlay for %s: %v", name, it)
		}
		if !want {
			continue
		}
		open := 0
		for _, o := range it.Offerings {
			if o.Available && o.Price == 0.25 {
				open++
			}
		}
		if open == 0 {
			t.Errorf("no offering is open: %+v", it.Offerings)
		}
	}
	for _, name := range asked {
		if name == "m5.large" {
			t.Error("a type with a price is asked about")
		}
	}
}
