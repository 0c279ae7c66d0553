package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drawknife/drawknife/aws/catalog"
)

func records(t testing.TB) [][]byte {
	t.Helper()
	var answer struct{ InstanceTypes []json.RawMessage }
	if err := json.Unmarshal(testdata(t, "describe-instance-types.json"), &answer); err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, record := range answer.InstanceTypes {
		out = append(out, record)
	}
	return out
}

// AWI-012, AWI-013, OPP-07: EC2's answers give the facts of the embedded catalogue, with zones and without prices.
func TestFromDescription(t *testing.T) {
	builtIn := embedded(t)
	d := catalog.Description{
		Region: "us-east-1", Source: "EC2", Records: append(records(t), records(t)[0]),
		Zones:   map[string][]string{"t3.large": {"us-east-1c", "us-east-1a", "us-east-1c"}, "other.large": {"us-east-1b"}},
		ZoneIDs: map[string]string{"us-east-1a": "use1-az2"},
	}
	c, skipped, err := catalog.FromDescription(d, builtIn)
	if err != nil || len(skipped) != 0 || len(c.Types) != 15 {
		t.Fatalf("%d types, skipped %v, %v", len(c.Types), skipped, err)
	}
	wantZones := []catalog.Zone{{Name: "us-east-1a", ID: "use1-az2"}, {Name: "us-east-1b"}, {Name: "us-east-1c"}}
	if diff := cmp.Diff(wantZones, c.Zones); diff != "" {
		t.Error(diff)
	}
	t3, ok := c.Lookup("t3.large")
	if !ok || !cmp.Equal(t3.Zones, []int{0, 2}) || t3.OnDemandUSD != 0 {
		t.Errorf("t3.large is %+v", t3)
	}
	market := cmpopts.IgnoreFields(catalog.Type{}, "Zones", "OnDemandUSD", "OnDemandFrom", "OnDemandTenancy", "SpotUSD", "SpotFrom", "SpotInterruption")
	for i := range c.Types {
		want, _ := builtIn.Lookup(c.Types[i].Name)
		if diff := cmp.Diff(want, &c.Types[i], market, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	// Limits of branch interfaces come from a table of their own, which knows types of every region.
	if without, _, err := catalog.FromDescription(d, nil); err != nil || without.Types[0].BranchENIs == nil {
		t.Errorf("without a built-in catalogue: %v", err)
	}
}

// A type that EC2 describes in a way nobody knows is left out; the others stay.
func TestFromDescriptionSkips(t *testing.T) {
	bad := [][]byte{
		[]byte(`{"InstanceType": "x9.large", "VCpuInfo": {"DefaultVCpus": "many"}}`),
		[]byte(`{"InstanceType": "x9.xlarge", "MemoryInfo": {"SizeInMiB": -1}}`),
		[]byte(`{}`), []byte(`nonsense`),
	}
	c, skipped, err := catalog.FromDescription(catalog.Description{Region: "us-east-1", Records: append(bad, records(t)...)}, nil)
	if err != nil || len(c.Types) != 15 || len(skipped) != 4 {
		t.Fatalf("%d types, skipped %v, %v", len(c.Types), skipped, err)
	}
	var wrong *catalog.FieldError
	if !errors.As(skipped[0], &wrong) || wrong.Type != "x9.large" {
		t.Errorf("skipped %v", skipped[0])
	}
	if _, _, err := catalog.FromDescription(catalog.Description{Records: records(t)}, nil); err == nil {
		t.Error("a catalogue of no region is made")
	}
}

// OPP-16: what is written is read back as it was.
func TestWriteAndLoad(t *testing.T) {
	c := embedded(t)
	var first, second bytes.Buffer
	if err := catalog.Write(&first, c); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(first.String(), "\n"); lines != len(c.Types)+2 {
		t.Errorf("has %d lines", lines)
	}
	text := bytes.Clone(first.Bytes())
	again, err := catalog.Load(&first)
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.Write(&second, again); err != nil || !bytes.Equal(text, second.Bytes()) {
		t.Errorf("what was read is written differently: %v", err)
	}
	if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if err := catalog.Write(failingWriter{}, c); err == nil {
		t.Error("a full disk is no error")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A prices file can be read by itself, strictly.
func TestLoadPrices(t *testing.T) {
	p, err := catalog.LoadPrices(bytes.NewReader(testdata(t, "prices.json")))
	if err != nil || p.Region == "" || len(p.Types) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{`{}`, `{"schema": "drawknife-ec2-prices/1", "more": 1}`, ``} {
		if _, err := catalog.LoadPrices(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if _, err := catalog.LoadPrices(nil); err == nil {
		t.Error("nothing is read")
	}
}
