package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Hand-made records: "m5.large" is in the built-in catalogue too, "zz1.large" is not, "gone1.large" is offered nowhere.
const (
	types = `{
		"m5.large": {"InstanceType": "m5.large", "VCpuInfo": {"DefaultVCpus": 2}, "MemoryInfo": {"SizeInMiB": 8192},
			"ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}, "SupportedVirtualizationTypes": ["hvm"]},
		"zz1.large": {"InstanceType": "zz1.large", "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 4096},
			"ProcessorInfo": {"SupportedArchitectures": ["arm64"]}, "SupportedVirtualizationTypes": ["hvm"],
			"NeuronInfo": {"NeuronDevices": [{"Name": "Chip", "Count": 1}]},
			"InferenceAcceleratorInfo": {"Accelerators": [{"Name": "Chip", "Count": 1}, {"Name": "Other", "Count": 2}]}},
		"gone1.large": {"InstanceType": "gone1.large"}
	}`
	zoneNames = `[{"InstanceType": "zz1.large", "Location": "us-east-1b"}, {"InstanceType": "m5.large", "Location": "us-east-1b"},
		{"InstanceType": "m5.large", "Location": "us-east-1a"}]`
	zoneIDs = `[{"InstanceType": "m5.large", "Location": "use1-az1"}, {"InstanceType": "zz1.large", "Location": "use1-az1"},
		{"InstanceType": "m5.large", "Location": "use1-az2"}]`
	prices = `[
		{"instance_type": "m5.large", "pricing": {"us-east-1": {"linux": {
			"ondemand": "0.5", "spot": ["0.30", "0.20", "0.40"], "pct_interrupt": ">20%"}}, "eu-west-1": {"linux": {"ondemand": "9"}}}},
		{"instance_type": "zz1.large", "pricing": {"us-east-1": {"mswin": {"ondemand": "7"}}}}
	]`
)

// sources writes the records as moto has them, zones packed, and the prices.
func sources(t *testing.T, zoneNames string) (moto, pricesFile string) {
	t.Helper()
	moto = t.TempDir()
	pricesFile = filepath.Join(moto, "prices.json")
	offerings := filepath.Join(moto, "ec2", "resources", "instance_type_offerings")
	for name, text := range map[string]string{
		filepath.Join(moto, "__init__.py"):                                    "x = 1\n__version__ = \"1.2.3\"\n",
		filepath.Join(moto, "ec2", "resources", "instance_types.json"):        types,
		filepath.Join(offerings, "availability-zone", "us-east-1.json.gz"):    pack(t, zoneNames),
		filepath.Join(offerings, "availability-zone-id", "us-east-1.json.gz"): pack(t, zoneIDs),
		pricesFile: prices,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return moto, pricesFile
}

func pack(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func generate(t *testing.T, args ...string) string {
	t.Helper()
	moto, pricesFile := sources(t, zoneNames)
	var out bytes.Buffer
	if err := run(append([]string{"-moto", moto, "-prices", pricesFile}, args...), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCatalogueOfHandMadeRecords(t *testing.T) {
	builtIn, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	branch := builtIn.Sources["branchENIs"]
	want := `{"schema":"drawknife-ec2-catalog/1","region":"us-east-1",` +
		`"zones":[{"name":"us-east-1a","id":"use1-az2"},{"name":"us-east-1b","id":"use1-az1"}],"sources":{` +
		`"b":"on-demand and spot price snapshot","branchENIs":"` + branch + `",` +
		`"hardware":"DescribeInstanceTypes / DescribeInstanceTypeOfferings dump, moto 1.2.3"},"types":[
{"name":"m5.large","vcpu":2,"memMiB":8192,"arch":["x86_64"],"net":{"enis":0,"enisDefaultCard":0,"ipv4PerENI":0},"ebs":{},` +
		`"zones":[0,1],"branchENIs":9,"odUSD":0.5,"odFrom":"b","spotUSD":[0.2,0.3],"spotInterrupt":">20%"},
{"name":"zz1.large","vcpu":4,"memMiB":4096,"arch":["arm64"],"net":{"enis":0,"enisDefaultCard":0,"ipv4PerENI":0},"ebs":{},` +
		`"accel":{"neuron":[{"name":"Chip","count":1}],"inference":[{"name":"Other","count":2}]},"zones":[1]}
]}
`
	if got := generate(t); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestKeptPriceIsTheNewerOneOfTheBuiltInCatalogue(t *testing.T) {
	c, err := catalog.Parse([]byte(generate(t, "-keep-prices")))
	if err != nil {
		t.Fatal(err)
	}
	m5, ok := c.Lookup("m5.large")
	if !ok || m5.OnDemandUSD != 0.096 || m5.OnDemandFrom != "a" || c.Sources["a"] == "" {
		t.Errorf("m5.large is %+v, sources are %q", m5, c.Sources)
	}
}

func TestCheckNamesWhatDiffers(t *testing.T) {
	moto, pricesFile := sources(t, zoneNames)
	other := filepath.Join(t.TempDir(), "other.json.gz")
	text := strings.NewReplacer(`"memMiB":8192`, `"memMiB":8000`, "zz1.large", "zz2.large").Replace(generate(t))
	if err := os.WriteFile(other, []byte(pack(t, text)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run([]string{"-moto", moto, "-prices", pricesFile, "-check", other}, &out)
	if err == nil || !strings.HasSuffix(err.Error(), "3 types differ") {
		t.Errorf("error is %v", err)
	}
	want := "2 types before, 2 now, 3 differ\nmemMiB: 1\n\tm5.large 8000 -> 8192\ntype gone: 1\n\tzz2.large\ntype new: 1\n\tzz1.large\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}

	out.Reset()
	same := filepath.Join(t.TempDir(), "same.json")
	if err := run([]string{"-moto", moto, "-prices", pricesFile, "-o", same}, &out); err != nil || out.Len() > 0 {
		t.Fatalf("error is %v, output %q", err, out.String())
	}
	if err := run([]string{"-moto", moto, "-prices", pricesFile, "-check", same}, &out); err != nil {
		t.Errorf("compared with itself: %v\n%s", err, out.String())
	}
}

func TestZoneIDIsUnknownWhenSeveralZonesAreAlike(t *testing.T) {
	alike := []offering{{"a.large", "z-a"}, {"a.large", "z-b"}, {"b.large", "z-c"}}
	ids := []offering{{"a.large", "id1"}, {"a.large", "id2"}, {"b.large", "id3"}}
	got := pairZones(alike, ids)
	want := []catalog.Zone{{Name: "z-a"}, {Name: "z-b"}, {Name: "z-c", ID: "id3"}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("zones are %v, want %v", got, want)
	}
}

func TestBadSourcesAreRefused(t *testing.T) {
	moto, pricesFile := sources(t, zoneNames)
	undescribed, _ := sources(t, `[{"InstanceType": "new1.large", "Location": "us-east-1a"}]`)
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"no folder", "usage:", nil},
		{"not moto", "moto's version", []string{"-moto", t.TempDir()}},
		{"unknown region", "plain or packed", []string{"-moto", moto, "-region", "xx-1"}},
		{"offered, not described", `"new1.large" is offered`, []string{"-moto", undescribed, "-prices", pricesFile}},
		{"no prices", "reading the prices", []string{"-moto", moto, "-prices", "nowhere.json"}},
		{"prices are no list", "reading the prices", []string{"-moto", moto, "-prices", filepath.Join(moto, "ec2", "resources", "instance_types.json")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(c.args, &out); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// The table of all regions has the sold types alone, and neither local zones nor gaps filled in.
func TestRegionalTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	const text = `[
		{"instance_type": "b.large", "pricing": {"eu-west-1": {"linux": {"ondemand": "0.2"}}, "us-gov-west-1": {"linux": {"ondemand": "0.25"}}, "us-west-2-lax-1": {"linux": {"ondemand": "9"}}}},
		{"instance_type": "a.large", "pricing": {"eu-west-1": {"linux": {"ondemand": "0.1"}}, "us-gov-west-1": {"rhel": {"ondemand": "1"}}}},
		{"instance_type": "c.large", "pricing": {"eu-west-1": {"linux": {"ondemand": "0"}}}}]`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"-regional", "-prices", file}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "\teu-west-1\tus-gov-west-1\na.large\t0.1\t\nb.large\t0.2\t0.25\n"; out.String() != want {
		t.Errorf("is\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	if err := run([]string{"-local-zones", "-prices", file}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "\tus-west-2-lax-1\nb.large\t9\n"; out.String() != want {
		t.Errorf("the table of Local Zones is\n%swant\n%s", out.String(), want)
	}
	if err := os.WriteFile(file, []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-regional", "-prices", file}, &out); err == nil {
		t.Error("a file without prices is a table")
	}
}

// Licences that are not what the vCPUs cost are listed; here one of two is.
func TestWindowsLicences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	text := `[{"instance_type": "m5.large", "vCPU": 2, "pricing": {"us-east-1": {"linux": {"ondemand": "0.096"}, "mswin": {"ondemand": "0.188"}}}},
		{"instance_type": "t3.large", "vCPU": 2, "pricing": {"us-east-1": {"linux": {"ondemand": "0.0832"}, "mswin": {"ondemand": "0.1108"}}}},
		{"instance_type": "g5g.large", "vCPU": 2, "pricing": {"us-east-1": {"linux": {"ondemand": "0.4"}}}}]`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"-windows", "-prices", file}, &out); err != nil {
		t.Fatal(err)
	}
	if _, list, _ := strings.Cut(out.String(), "\n"); list != "t3.large 0.0276\n" {
		t.Errorf("licences are\n%s", out.String())
	}
}
