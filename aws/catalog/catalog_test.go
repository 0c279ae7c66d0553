package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/catalog"
)

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.EmbeddedAsSeen()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// AWI-244: the facts of us-east-1.
func TestEmbeddedCatalogue(t *testing.T) {
	c := embedded(t)
	if c.Region != "us-east-1" || len(c.Zones) != 6 || len(c.Types) != 1354 {
		t.Errorf("has region %q, %d zones and %d types", c.Region, len(c.Zones), len(c.Types))
	}
	if info, err := os.Stat("ec2.json.gz"); err != nil || info.Size() > 200<<10 {
		t.Errorf("the embedded file must stay below 200 KiB: %v %v", info, err)
	}
	m5, ok := c.Lookup("m5.large")
	if !ok {
		t.Fatal("m5.large is missing")
	}
	branchENIs := int64(9)
	want := &catalog.Type{
		Name: "m5.large", VCPUs: 2, Cores: 1, MemoryMiB: 8192,
		Architectures: []string{"x86_64"}, CPUManufacturer: "Intel", ClockGHz: 3.1, Hypervisor: "nitro", DedicatedHosts: true,
		Network: catalog.Network{
			ENIs: 3, ENIsDefaultCard: 3, Cards: 1, IPv4PerENI: 10, IPv6PerENI: 10,
			Grade: "Up to 10 Gigabit", Mbps: 750, BurstMbps: 10000, ENA: "required",
		},
		EBS: catalog.EBS{
			Optimized: "default", BaseMbps: 650, MaxMbps: 4750, MaxIOPS: 18750, NVMe: "required",
			MaxAttach: 27, AttachLimit: "shared",
		},
		PlacementStrategies: []string{"cluster", "partition", "spread"},
		UsageClasses:        []string{"on-demand", "spot"},
		Zones:               []int{0, 1, 2, 3, 5},
		BranchENIs:          &branchENIs,
		OnDemandUSD:         0.096, OnDemandFrom: "a",
		SpotUSD:          []float64{0.0315, 0.0323, 0.0324, 0.036, 0.0383},
		SpotInterruption: "10-15%",
	}
	if diff := cmp.Diff(want, m5); diff != "" {
		t.Error(diff)
	}
	if got, want := c.OnDemandSource(m5), "on-demand price table, 2026-07-20"; got != want {
		t.Errorf("on-demand source is %q, want %q", got, want)
	}
	if got, want := c.SpotSource(m5), "on-demand and spot price snapshot, 2025-05-28"; got != want {
		t.Errorf("spot source is %q, want %q", got, want)
	}
	for _, name := range []string{"", "m5.larg", "m5.largf", "zz.large"} {
		if _, ok := c.Lookup(name); ok {
			t.Errorf("found %q", name)
		}
	}
}

func TestEmbeddedCatalogueIsTheDataFile(t *testing.T) {
	folder := os.Getenv("DRAWKNIFE_DATA")
	if folder == "" {
		t.Skip("set DRAWKNIFE_DATA to the folder of ec2-catalog.json")
	}
	file, err := os.Open(filepath.Join(folder, "ec2-catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c, err := catalog.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	// Limits of branch interfaces are from a table that is read after the file, and newer: it must know all that the file knows.
	got, limits := embedded(t), catalog.BranchLimits()
	c.Sources["branchENIs"] = got.Sources["branchENIs"]
	// What is known of its prices the file does not say itself: to readers of a file they are the user's.
	c.PriceFacts = map[string]catalog.PriceFacts{"a": {Day: "2026-07-20", Kind: catalog.PriceDated}, "b": {Day: "2025-05-28", Kind: catalog.PriceDated}}
	for i := range c.Types {
		// Hosts and weightings were added to the embedded catalogue from later records; the file knows neither.
		if own, ok := got.Lookup(c.Types[i].Name); ok && !c.Types[i].DedicatedHosts && c.Types[i].Network.BandwidthWeightings == nil {
			c.Types[i].DedicatedHosts, c.Types[i].Network.BandwidthWeightings = own.DedicatedHosts, own.Network.BandwidthWeightings
		}
		n, known := limits[c.Types[i].Name]
		if known {
			c.Types[i].BranchENIs = &n
		} else if c.Types[i].BranchENIs != nil {
			t.Errorf("the table lacks %s, for which the file has %d", c.Types[i].Name, *c.Types[i].BranchENIs)
		}
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpotPriceOfZones(t *testing.T) {
	three := []int{0, 2, 3}
	for _, c := range []struct {
		name   string
		prices []float64
		want   []float64 // of zones -1 to 3 of the type
	}{
		{"none without prices", nil, []float64{0, 0, 0, 0, 0}},
		{"each its own", []float64{0.1, 0.2, 0.3}, []float64{0, 0.1, 0.2, 0.3, 0}},
		{"further zones take the highest", []float64{0.3, 0.2}, []float64{0, 0.3, 0.2, 0.3, 0}},
		{"a zone without a price", []float64{0.1, 0, 0.3}, []float64{0, 0.1, 0, 0.3, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			record := catalog.Type{Zones: three, SpotUSD: c.prices}
			for i, want := range c.want {
				if got := record.SpotPrice(i - 1); got != want {
					t.Errorf("price of zone %d is %v, want %v", i-1, got, want)
				}
			}
		})
	}
}

func TestInterfacesOfCards(t *testing.T) {
	same := catalog.Network{ENIs: 60, ENIsDefaultCard: 15, Cards: 4}
	differ := catalog.Network{ENIs: 7, ENIsDefaultCard: 4, Cards: 2, ENIsPerCard: []int64{4, 3}}
	for _, c := range []struct {
		network catalog.Network
		card    int
		want    int64
	}{
		{same, 0, 15}, {same, 3, 15}, {same, 4, 0}, {same, -1, 0},
		{differ, 0, 4}, {differ, 1, 3}, {differ, 2, 0}, {catalog.Network{}, 0, 0},
	} {
		if got := c.network.CardENIs(c.card); got != c.want {
			t.Errorf("card %d of %+v has %d interfaces, want %d", c.card, c.network, got, c.want)
		}
	}
}

func TestNewSortsAndLeavesTheCallersListAlone(t *testing.T) {
	record := func(name string) catalog.Type {
		return catalog.Type{Name: name, VCPUs: 1, MemoryMiB: 1024, Architectures: []string{"x86_64"}}
	}
	types := []catalog.Type{record("m5.large"), record("c5.large")}
	c, err := catalog.New(catalog.Catalog{Region: "eu-west-1", Types: types})
	if err != nil {
		t.Fatal(err)
	}
	if c.Types[0].Name != "c5.large" || types[0].Name != "m5.large" {
		t.Errorf("catalogue starts with %s, caller's list with %s", c.Types[0].Name, types[0].Name)
	}
	types[1].Name = "x"
	if _, ok := c.Lookup("c5.large"); !ok {
		t.Error("changing the caller's list changed the catalogue")
	}
	_, err = catalog.New(catalog.Catalog{Region: "eu-west-1", Types: []catalog.Type{record("m5.large"), {}}})
	var fault *catalog.FieldError
	if !errors.As(err, &fault) || fault.Type != "types[1]" || fault.Field != "name" {
		t.Errorf("a type without a name: %v", err)
	}
}

const head = `{"schema":"drawknife-ec2-catalog/1","region":"r","zones":[{"name":"ra","id":"r1"},{"name":"rb"}],"sources":{"a":"list"},"types":[`

// good is a minimal record; each case of the next test breaks one thing of it.
const good = `{"name":"m5.large","vcpu":2,"memMiB":8192,"arch":["x86_64"],"net":{"enis":3,"enisDefaultCard":3,"ipv4PerENI":10},"ebs":{},"zones":[0,1],"odUSD":0.1,"odFrom":"a","spotUSD":[0.03]}`

func TestParseRefuses(t *testing.T) {
	if _, err := catalog.Parse([]byte(head + good + "]}")); err != nil {
		t.Fatalf("the unbroken file: %v", err)
	}
	for _, c := range []struct {
		name     string
		old, new string // replaced in the good record
		want     string
	}{
		{"unknown field", `"vcpu":2`, `"vcpu":2,"vcpus":2`, `instance type "m5.large": json: unknown field "vcpus"`},
		{"wrong kind of value", `"enis":3`, `"enis":"3"`, `instance type "m5.large": net.enis: must not be a JSON string`},
		{"fraction of a vCPU", `"vcpu":2`, `"vcpu":2.5`, `instance type "m5.large": vcpu: must not be a JSON number 2.5`},
		{"no vCPUs", `"vcpu":2,`, ``, `instance type "m5.large": vcpu: must be from 1 to 1048576, is 0`},
		{"negative memory", `8192`, `-1`, `instance type "m5.large": memMiB: must be from 1 to 4294967296, is -1`},
		{"no name", `"name":"m5.large",`, ``, `instance type "types[0]": name: must not be empty`},
		{"name that is no label value", `m5.large`, `M5 large`, `instance type "M5 large": name: must be letters, digits, and dots, hyphens or underscores between them, is "M5 large"`},
		{"name in upper case", `m5.large`, `M5.large`, `instance type "M5.large": name: must be lower-case, is "M5.large"`},
		{"name that ends in a dot", `m5.large`, `m5.`, `instance type "m5.": name: must be letters, digits, and dots, hyphens or underscores between them, is "m5."`},
		{"hypervisor that is no label value", `"ebs":{}`, `"ebs":{},"hypervisor":"nitro!"`, `instance type "m5.large": hypervisor: must be letters, digits, and dots, hyphens or underscores between them, is "nitro!"`},
		{"no architecture", `["x86_64"]`, `[]`, `instance type "m5.large": arch: must name at least one architecture`},
		{"interfaces beyond reason", `"ipv4PerENI":10`, `"ipv4PerENI":20000`, `instance type "m5.large": net.ipv4PerENI: must be from 0 to 16384, is 20000`},
		{"zone that is not there", `[0,1]`, `[0,2]`, `instance type "m5.large": zones[1]: must be an index into the 2 zones of the catalogue, is 2`},
		{"zone twice", `[0,1]`, `[1,1]`, `instance type "m5.large": zones[1]: must be above the index before it, 1, is 1`},
		{"negative price", `0.1`, `-0.1`, `instance type "m5.large": odUSD: must be from 0 to 1e+06, is -0.1`},
		{"price without origin", `"odFrom":"a"`, `"odFrom":"z"`, `instance type "m5.large": odFrom: must be a key of sources, is "z"`},
		{"negative spot price", `[0.03]`, `[0.03,-1]`, `instance type "m5.large": spotUSD[1]: must be from 0 to 1e+06, is -1`},
		{"spot prices beyond zones", `[0.03]`, `[1,2,3]`, `instance type "m5.large": spotUSD: must have at most one price per zone, has 3 for 2 zones`},
		{"GPU beyond a whole", `"ebs":{}`, `"ebs":{},"gpus":[{"name":"L4","manufacturer":"NVIDIA","count":0,"partition":1.5}]`, `instance type "m5.large": gpus[0].partition: must be from 0 to 1, is 1.5`},
		{"disk of two members", `"ebs":{}`, `"ebs":{},"local":{"totalGB":1,"disks":[[1,2]]}`, `instance type "m5.large": a disk is [count, sizeGB, kind], but has 2 members`},
		{"control characters", `"x86_64"`, `"x86\n"`, `instance type "m5.large": arch[0]: must be printable ASCII, is "x86\n"`},
		{"type twice", good, good + "," + good, `instance type "m5.large": name: is there twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			record := strings.Replace(good, c.old, c.new, 1)
			if record == good {
				t.Fatal("the case changes nothing")
			}
			got, err := catalog.Parse([]byte(head + record + "]}"))
			var fault *catalog.FieldError
			if err == nil || got != nil || !errors.As(err, &fault) {
				t.Fatalf("parsed to %v with error %v, want a *FieldError", got, err)
			}
			if err.Error() != c.want {
				t.Errorf("error is\n%s\nwant\n%s", err, c.want)
			}
		})
	}
}

func TestParseRefusesFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "reading the catalogue: the JSON text is incomplete"},
		{"not JSON", "types: []", "reading the catalogue: not JSON at byte 2"},
		{"cut off", head + good, "reading the catalogue: the JSON text is incomplete"},
		{"more than one value", head + good + "]} {}", "reading the catalogue: unexpected data after the end of the value"},
		{"unknown key", `{"kinds":[]}`, `reading the catalogue: json: unknown field "kinds"`},
		{"another schema", `{"schema":"drawknife-ec2-catalog/2"}`, `schema: must be "drawknife-ec2-catalog/1", is "drawknife-ec2-catalog/2"`},
		{"no region", `{"schema":"drawknife-ec2-catalog/1"}`, "region: must not be empty"},
		{"zone twice", strings.Replace(head, `"rb"`, `"ra"`, 1) + "]}", `zones[1].name: "ra" is there twice`},
		{"zone without a name", strings.Replace(head, `"rb"`, `""`, 1) + "]}", `zones[1].name: must not be empty`},
		{"an answer of EC2", `{"InstanceTypes":[]}`, "reading the catalogue: this is the output of `aws ec2 describe-instance-types`, which also needs a prices file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := catalog.Parse([]byte(c.text))
			if err == nil || got != nil {
				t.Fatalf("parsed to %v", got)
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error is\n%s\nwant\n%s", err, c.want)
			}
		})
	}
}

// endless is a source that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestReadersAreBounded(t *testing.T) {
	source := &endless{}
	_, err := catalog.Load(source)
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("error is %v", err)
	}
	if source.read > 2*catalog.MaxBytes {
		t.Errorf("read %d bytes", source.read)
	}
	if _, err := catalog.Load(nil); err == nil {
		t.Error("read nothing without an error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + good + "]}"))
	f.Add([]byte(head + "]}"))
	f.Add([]byte(`{"InstanceTypes":[]}`))
	f.Add([]byte(head + strings.Replace(good, `"ebs":{}`, `"ebs":{},"local":{"totalGB":1,"disks":[[1,2,"ssd"]]},"accel":{"neuron":[{"name":"x","count":1}]}`, 1) + "]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := catalog.Parse(data)
		if err != nil {
			return
		}
		checkPromises(t, c)
	})
}

// checkPromises holds a catalogue to what every constructor promises.
func checkPromises(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	for i := range c.Types {
		record := &c.Types[i]
		if found, ok := c.Lookup(record.Name); !ok || found != record {
			t.Errorf("%q is not found under its name", record.Name)
		}
		if i > 0 && c.Types[i-1].Name >= record.Name {
			t.Errorf("%q is out of order", record.Name)
		}
		for j, zone := range record.Zones {
			if zone < 0 || zone >= len(c.Zones) {
				t.Errorf("%q is in zone %d", record.Name, zone)
			}
			if price := record.SpotPrice(j); !(price >= 0 && price <= 1e6) {
				t.Errorf("%q has spot price %v", record.Name, price)
			}
		}
		if pods := record.Network.ENIs * record.Network.IPv4PerENI; pods < 0 || pods > 1<<40 {
			t.Errorf("%q has %d addresses", record.Name, pods)
		}
	}
}

func BenchmarkEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Embedded(); err != nil {
			b.Fatal(err)
		}
	}
}

// AWI-019, AWI-061: the size of it all, and facts that no label states.
func TestScaleAndFurtherFacts(t *testing.T) {
	c := embedded(t)
	linux, pairs, burstable, current, baseline, burst, attach, fpga := 0, 0, 0, 0, 0, 0, 0, 0
	for i := range c.Types {
		f := &c.Types[i]
		if f.Architectures[0] == "x86_64_mac" || f.Architectures[0] == "arm64_mac" {
			continue
		}
		linux++
		pairs += len(f.Zones)
		count := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		count(&burstable, f.Burstable)
		count(&current, f.CurrentGeneration)
		count(&baseline, f.EBS.BaseMbps > 0)
		count(&burst, f.Network.BurstMbps > 0)
		count(&attach, f.EBS.MaxAttach > 0)
		count(&fpga, len(f.Accelerators.FPGA) > 0)
	}
	if linux != 1345 || pairs < 6000 || len(c.Zones) != 6 {
		t.Errorf("%d types, %d pairs, %d zones", linux, pairs, len(c.Zones))
	}
	for name, n := range map[string]int{"burstable": burstable, "current generation": current, "EBS baseline": baseline, "network burst": burst, "attachments": attach, "FPGAs": fpga} {
		if n == 0 {
			t.Errorf("no type has facts about %s", name)
		}
	}
}
