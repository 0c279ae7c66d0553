package instancetype_test

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// allocatable is [cpuMilli, memoryMiB, pods], memory rounded to whole MiB.
func allocatable(it *cloudprovider.InstanceType) [3]int64 {
	left := it.Allocatable()
	return [3]int64{left.Cpu().MilliValue(), (left.Memory().Value() + 1<<19) >> 20, left.Pods().Value()}
}

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func resolve(t testing.TB, c *catalog.Catalog, s instancetype.Settings) map[string]*cloudprovider.InstanceType {
	t.Helper()
	types, err := instancetype.ResolveSettings(c, s)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*cloudprovider.InstanceType, len(types))
	for _, it := range types {
		byName[it.Name] = it
	}
	return byName
}

// AWI-085, AWI-244: every row of the reference's resource table.
func TestAllocatableOfAllTypes(t *testing.T) {
	folder := os.Getenv("DRAWKNIFE_DATA")
	if folder == "" {
		t.Skip("set DRAWKNIFE_DATA to the folder of ec2-catalog.json and ec2-golden-allocatable.json")
	}
	text, err := os.ReadFile(filepath.Join(folder, "ec2-golden-allocatable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Types map[string][3]int64 `json:"types"`
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
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
	types := resolve(t, c, instancetype.Settings{})
	if len(golden.Types) == 0 || len(types) != len(golden.Types) {
		t.Fatalf("resolved %d types, want the %d of the golden table", len(types), len(golden.Types))
	}
	for name, want := range golden.Types {
		it, ok := types[name]
		if !ok {
			t.Errorf("%s is not resolved", name)
			continue
		}
		if got := allocatable(it); got != want {
			t.Errorf("%s: allocatable is %v, want %v", name, got, want)
		}
	}
}

// sampled picks the types of the committed table: the smallest and largest of families old and new, and odd ones.
func sampled(name string) bool {
	for _, n := range strings.Fields(`a1.medium a1.metal t1.micro t2.nano t2.2xlarge t3.large t3a.xlarge t4g.small m1.small m3.medium
		m4.16xlarge m5.large m5.24xlarge m5dn.metal m6a.48xlarge m6g.medium m6i.32xlarge m7a.medium m7g.16xlarge m7i-flex.large
		m7i.2xlarge m8g.48xlarge c1.medium c3.8xlarge c4.8xlarge c5.xlarge c5.18xlarge c5n.9xlarge c6a.large c6gn.16xlarge c7i.metal-48xl
		c8g.24xlarge r3.large r4.16xlarge r5.metal r6idn.32xlarge r7iz.32xlarge r8g.16xlarge x1.32xlarge x1e.xlarge x2gd.metal x2iedn.xlarge
		u-3tb1.56xlarge u7in-32tb.224xlarge z1d.metal hpc7g.4xlarge d2.8xlarge d3en.12xlarge h1.2xlarge i3.16xlarge i3en.metal i4g.large
		im4gn.large is4gen.medium i7ie.48xlarge f1.2xlarge f2.48xlarge g3s.xlarge g4ad.xlarge g4dn.metal g5.48xlarge g5g.metal g6.12xlarge
		g6e.24xlarge g6f.large gr6f.4xlarge p3.2xlarge p3dn.24xlarge p4d.24xlarge p5.48xlarge p5en.48xlarge p6-b200.48xlarge inf1.xlarge
		inf2.48xlarge trn1.32xlarge trn2.48xlarge vt1.3xlarge`) {
		if n == name {
			return true
		}
	}
	return false
}

// AWI-085: a table of our own, so that the formulas are held without the full data.
func TestAllocatableOfSample(t *testing.T) {
	path := filepath.Join("testdata", "allocatable.csv")
	types, err := instancetype.Resolve(embedded(t), nil, instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var b strings.Builder
		fmt.Fprintln(&b, "type,cpuMilli,memoryMiB,pods")
		for _, it := range types {
			if sampled(it.Name) {
				a := allocatable(it)
				fmt.Fprintf(&b, "%s,%d,%d,%d\n", it.Name, a[0], a[1], a[2])
			}
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][3]int64{}
	for _, row := range rows[1:] {
		var a [3]int64
		for i := range a {
			if a[i], err = strconv.ParseInt(row[i+1], 10, 64); err != nil {
				t.Fatalf("%s: %v", row[0], err)
			}
		}
		want[row[0]] = a
	}
	if len(want) < 60 {
		t.Fatalf("the table has %d types, at least 60 are wanted", len(want))
	}
	found := 0
	for _, it := range types {
		if row, ok := want[it.Name]; ok {
			found++
			if got := allocatable(it); got != row {
				t.Errorf("%s: allocatable is %v, want %v", it.Name, got, row)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d types of the table are in the catalogue, want all %d", found, len(want))
	}
}

func BenchmarkResolve(b *testing.B) {
	c := embedded(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := instancetype.Resolve(c, nil, instancetype.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
