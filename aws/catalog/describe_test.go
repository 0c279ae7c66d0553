package catalog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drawknife/drawknife/aws/catalog"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func describe(answer, prices []byte) (*catalog.Catalog, error) {
	return catalog.ParseDescribeInstanceTypes(bytes.NewReader(answer), bytes.NewReader(prices))
}

// OPP-07: bandwidth and all else but prices follow from EC2's own answer, on types of many kinds.
func TestDescribedTypesEqualTheEmbeddedOnes(t *testing.T) {
	c, err := describe(testdata(t, "describe-instance-types.json"), testdata(t, "prices.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Types) != 15 {
		t.Fatalf("has %d types", len(c.Types))
	}
	market := cmpopts.IgnoreFields(catalog.Type{}, "Zones", "OnDemandUSD", "OnDemandFrom", "OnDemandTenancy", "SpotUSD", "SpotFrom", "SpotInterruption")
	builtIn := embedded(t)
	for i := range c.Types {
		want, ok := builtIn.Lookup(c.Types[i].Name)
		if !ok {
			t.Fatalf("%s is not embedded", c.Types[i].Name)
		}
		if diff := cmp.Diff(want, &c.Types[i], market, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", want.Name, diff)
		}
	}
}

func TestPricesGiveZonesAndOfferings(t *testing.T) {
	c, err := describe(testdata(t, "describe-instance-types.json"), testdata(t, "prices.json"))
	if err != nil {
		t.Fatal(err)
	}
	type market struct {
		Zones    []int
		OnDemand float64
		Spot     []float64
	}
	got := map[string]market{}
	for _, name := range []string{"a1.medium", "p4d.24xlarge", "t3.large", "c1.medium"} {
		record, ok := c.Lookup(name)
		if !ok {
			t.Fatalf("%s is missing", name)
		}
		got[name] = market{record.Zones, record.OnDemandUSD, record.SpotUSD}
	}
	want := map[string]market{
		"a1.medium":    {[]int{0, 1, 2}, 0.0288, []float64{0.009, 0, 0.011}},
		"p4d.24xlarge": {[]int{1}, 35.4, nil},
		"t3.large":     {[]int{0, 1, 2}, 0, []float64{0, 0.031, 0}},
		"c1.medium":    {}, // the prices don't have it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	a1, _ := c.Lookup("a1.medium")
	for _, source := range []string{c.OnDemandSource(a1), c.SpotSource(a1)} {
		if source != "our price list, 2026-08-01" {
			t.Errorf("source is %q", source)
		}
	}
	if c.Region != "eu-west-1" || c.Zones[0].ID != "euw1-az3" {
		t.Errorf("region is %q, zones are %v", c.Region, c.Zones)
	}
}

func TestDescribeRefuses(t *testing.T) {
	answer, prices := string(testdata(t, "describe-instance-types.json")), string(testdata(t, "prices.json"))
	for _, c := range []struct {
		name     string
		inAnswer bool
		old, new string
		want     string
	}{
		{"answer that is none", true, `"InstanceTypes"`, `"Reservations"`, "InstanceTypes: is missing: the output of `aws ec2 describe-instance-types --output json` is expected"},
		{"answer that is cut off", true, "]}\n", "", "reading the instance types: not JSON at byte"},
		{"field of another kind", true, `"DefaultVCpus": 1`, `"DefaultVCpus": "1"`, `instance type "a1.medium": VCpuInfo.DefaultVCpus: must not be a JSON string`},
		{"missing memory", true, `"SizeInMiB": 2048`, `"SizeInGiB": 2`, `instance type "a1.medium": memMiB: must be from 1`},
		{"bandwidth beyond reason", true, `"BaselineBandwidthInGbps": 0.5`, `"BaselineBandwidthInGbps": 1e300`, `instance type "a1.medium": net.mbps: must be from 0`},
		{"prices of another schema", false, `prices/1`, `prices/2`, `schema: must be "drawknife-ec2-prices/1", is "drawknife-ec2-prices/2"`},
		{"prices without origin", false, `our price list`, ``, `source: must say where the prices come from`},
		{"prices without zones", false, `"zones": [
    {"name": "eu-west-1a", "id": "euw1-az3"},
    {"name": "eu-west-1b"},
    {"name": "eu-west-1c", "id": "euw1-az2"}
  ]`, `"zones": []`, `zones: must name at least one zone`},
		{"unknown key", false, `"asOf"`, `"date"`, `reading the prices: json: unknown field "date"`},
		{"spot price of an unknown zone", false, `"eu-west-1c": 0.011`, `"eu-west-1d": 0.011`, `instance type "a1.medium": spot: must name only zones that offer the type`},
		{"zone that is not there", false, `["eu-west-1b"]`, `["eu-west-1b", "eu-west-1x"]`, `instance type "p4d.24xlarge": zones: must name zones of the file, each once`},
		{"zone twice", false, `["eu-west-1b"]`, `["eu-west-1b", "eu-west-1b"]`, `instance type "p4d.24xlarge": zones: must name zones of the file, each once`},
		{"negative price", false, `35.4`, `-35.4`, `instance type "p4d.24xlarge": odUSD: must be from 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, p := answer, prices
			if c.inAnswer {
				a = strings.Replace(a, c.old, c.new, 1)
			} else {
				p = strings.Replace(p, c.old, c.new, 1)
			}
			if a == answer && p == prices {
				t.Fatal("the case changes nothing")
			}
			got, err := describe([]byte(a), []byte(p))
			if err == nil || got != nil {
				t.Fatal("it was accepted")
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error is\n%s\nwant\n%s", err, c.want)
			}
		})
	}
	if _, err := catalog.ParseDescribeInstanceTypes(strings.NewReader(answer), nil); err == nil {
		t.Error("no prices file was accepted")
	}
}

// AWI-051, AWI-074: EC2 reports Inferentia as a Neuron device and as an inference accelerator; it counts once. Chips of
// other makes stay inference accelerators.
func TestInferentiaCountsOnce(t *testing.T) {
	const record = `{"InstanceTypes": [{"InstanceType": "%s", "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 8192},
		"ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}, "SupportedVirtualizationTypes": ["hvm"],
		"InferenceAcceleratorInfo": {"Accelerators": [{"Count": 1, "Name": "%s", "Manufacturer": "%s"}]}, %s}]}`
	const prices = `{"schema": "drawknife-ec2-prices/1", "region": "us-east-1", "source": "none", "zones": [{"name": "us-east-1a"}], "types": {}}`
	for _, test := range []struct {
		name, device, maker, neuron string
		wantInference, wantNeuron   int
	}{
		{"inf1.xlarge", "Inferentia", "AWS", `"NeuronInfo": {"NeuronDevices": [{"Count": 1, "Name": "Inferentia", "CoreInfo": {"Count": 4}}]}`, 0, 1},
		{"dl2q.24xlarge", "QAic100", "Qualcomm", `"NeuronInfo": {}`, 1, 0},
	} {
		c, err := describe(fmt.Appendf(nil, record, test.name, test.device, test.maker, test.neuron), []byte(prices))
		if err != nil {
			t.Fatal(err)
		}
		got := c.Types[0].Accelerators
		if len(got.Inference) != test.wantInference || len(got.Neuron) != test.wantNeuron {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// Types of one family are found by the part of the name before the dot.
func TestFamily(t *testing.T) {
	var names []string
	for f := range embedded(t).Family("m7i.large") {
		names = append(names, f.Name)
	}
	want := strings.Fields("m7i.12xlarge m7i.16xlarge m7i.24xlarge m7i.2xlarge m7i.48xlarge m7i.4xlarge m7i.8xlarge m7i.large m7i.metal-24xl m7i.metal-48xl m7i.xlarge")
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for f := range embedded(t).Family("nothing") {
		t.Errorf("%s is of no family", f.Name)
	}
}
