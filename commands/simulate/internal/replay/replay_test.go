package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/commands/simulate/internal/replay"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// snapshot is a pool of the generic cloud, spot or on demand.
func snapshot() *scheduling.Snapshot {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "pool"}}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
	pool.Default()
	return &scheduling.Snapshot{
		Time: time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC), Vocabulary: fake.GenericCapabilities().Vocabulary,
		Catalogs:  map[string][]*cloudprovider.InstanceType{"generic": fake.GenericTypes(60)},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: pool, Catalog: "generic"}},
	}
}

// trace is so many pods, one a minute, that stay for two hours.
func trace(n int) []replay.Arrival {
	var out []replay.Arrival
	for i := range n {
		at := time.Duration(i) * time.Minute
		out = append(out, replay.Arrival{Name: fmt.Sprint("pod-", i), At: at, Until: at + 2*time.Hour, MilliCPU: int64(500 + i%7*250), Memory: 1 << 30})
	}
	return out
}

func run(t *testing.T, o replay.Options) *replay.Result {
	t.Helper()
	r, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The cost says what it rests on: what each source gave adds up to it, on demand it is dearer, and a range holds it.
func TestPrices(t *testing.T) {
	s := snapshot()
	for _, it := range s.Catalogs["generic"] {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			o.PriceBasis = &cloudprovider.PriceBasis{Date: "2026-05-04", Region: "test", Confidence: cloudprovider.PriceDated}
			if o.CapacityType() == v1.CapacityTypeSpot {
				o.PriceBasis.Low, o.PriceBasis.High = o.Price/2, o.Price*2
			}
		}
	}
	r := run(t, replay.Options{Snapshot: s, Trace: trace(60), Length: 6 * time.Hour, Seed: 1})
	cost, launches := 0.0, 0
	for _, from := range r.Prices.From {
		cost, launches = cost+from.Cost, launches+from.Launches
		if from.Source != "generic" || from.Date != "2026-05-04" || from.Region != "test" || from.Confidence != cloudprovider.PriceDated {
			t.Errorf("from %+v", from)
		}
	}
	near := func(a, b float64) bool { return a-b < 1e-5 && b-a < 1e-5 }
	if launches != r.Launches || !near(cost, r.Cost) {
		t.Errorf("%d launches cost %v by source, %d cost %v", launches, cost, r.Launches, r.Cost)
	}
	if p := r.Prices; p.OnDemandCost <= r.Cost || !near(p.Low, r.Cost/2) || !near(p.High, r.Cost*2) {
		t.Errorf("%v; on demand %v, from %v to %v", r.Cost, p.OnDemandCost, p.Low, p.High)
	}
	var b bytes.Buffer
	if err := r.WritePage(&b, "prices"); err != nil {
		t.Fatal(err)
	}
	for _, yes := range []string{"generic (test, dated)", "cost with all nodes on demand", "cost at the lowest and highest prices"} {
		if !strings.Contains(b.String(), yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
}

// A day: every pod gets a node soon after a node could be there, the fleet follows the pods, and the books balance.
func TestDay(t *testing.T) {
	r := run(t, replay.Options{Snapshot: snapshot(), Trace: trace(240), Length: 24 * time.Hour, Seed: 1, Consolidate: 15 * time.Minute})
	if r.Pods != 240 || r.Unplaced != 0 || r.Never != 0 || len(r.Waits) != 240 {
		t.Errorf("%d pods, %d unplaced, %d never, %d waits", r.Pods, r.Unplaced, r.Never, len(r.Waits))
	}
	if longest := r.Pending(1); longest > replay.DefaultBoot+15*time.Second {
		t.Errorf("a pod waited %s", longest)
	}
	cost, nodes := 0.0, 0.0
	for _, p := range r.Series {
		cost += p.CostPerHour * r.Length.Hours() / float64(len(r.Series))
		nodes = max(nodes, p.Nodes)
		if p.CPU < 0 || p.CPU > 1 || p.Memory < 0 || p.Memory > 1 {
			t.Errorf("at %s pods ask for %v of the CPU and %v of the memory", p.At, p.CPU, p.Memory)
		}
	}
	if diff := cost/r.Cost - 1; diff < -1e-3 || diff > 1e-3 {
		t.Errorf("the series costs %v, all of it %v", cost, r.Cost)
	}
	if last := r.Series[len(r.Series)-1]; nodes == 0 || last.Nodes != 0 || last.CostPerHour != 0 {
		t.Errorf("%v nodes at most, and at the end, without pods, %+v", nodes, last)
	}
	for _, n := range r.Packing {
		cpu, memory := 0.0, 0.0
		for _, p := range n.Pods {
			cpu, memory = cpu+p.CPU, memory+p.Memory
		}
		if cpu > 1+1e-9 || memory > 1+1e-9 {
			t.Errorf("%s holds %v of its CPU, %v of its memory", n.Name, cpu, memory)
		}
	}
	if len(r.Packing) == 0 {
		t.Error("no packing")
	}
}

// The same seed gives the same result, another one other interruptions; without consolidation it is dearer.
// The thresholds of consolidation are the caller's: with one that nothing meets no pod is evicted.
func TestThresholds(t *testing.T) {
	o := replay.Options{Snapshot: snapshot(), Trace: trace(300), Length: 12 * time.Hour, Seed: 1}
	usual := run(t, o)
	o.Disruption.MinSaving = 1e6
	if kept := run(t, o); usual.Evictions() == 0 || kept.Evictions() != 0 || kept.Cost <= usual.Cost {
		t.Errorf("%d evictions at %.3f USD, with a threshold that nothing meets %d at %.3f", usual.Evictions(), usual.Cost, kept.Evictions(), kept.Cost)
	}
}

func TestSeed(t *testing.T) {
	o := replay.Options{Snapshot: snapshot(), Trace: trace(120), Length: 12 * time.Hour, Seed: 7, Interruptions: 500, Consolidate: 15 * time.Minute}
	first, again := run(t, o), run(t, o)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("a second time:\n%s", diff)
	}
	if first.Interruptions == 0 || first.EvictionsBySpot == 0 || first.Unplaced+first.Never != 0 {
		t.Errorf("%d interruptions, %d evictions, %d pods lost", first.Interruptions, first.EvictionsBySpot, first.Unplaced+first.Never)
	}
	o.Seed = 8
	if other := run(t, o); cmp.Equal(first, other) {
		t.Error("another seed changes nothing")
	}
	o.Interruptions = 0
	with := run(t, o)
	o.Consolidate = -1
	if without := run(t, o); without.Cost <= with.Cost || without.Evictions() != 0 || with.Commands == 0 {
		t.Errorf("$%v with consolidation by %d commands, $%v without", with.Cost, with.Commands, without.Cost)
	}
}

func TestRefused(t *testing.T) {
	for says, o := range map[string]replay.Options{
		"no NodePool":   {Snapshot: &scheduling.Snapshot{}, Length: time.Hour},
		"length":        {Snapshot: snapshot()},
		"interruptions": {Snapshot: snapshot(), Length: time.Hour, Interruptions: -1},
		"negative":      {Snapshot: snapshot(), Length: time.Hour, Boot: -1},
	} {
		if _, err := replay.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Run(ctx, replay.Options{Snapshot: snapshot(), Trace: trace(1), Length: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run says %v", err)
	}
}

func TestReadTrace(t *testing.T) {
	got, err := replay.ReadTrace(strings.NewReader("name,arrival,departure,cpu,memory,gpu\nb,90m,2h,500m,1Gi,1\na_1,60,,2,512Mi,\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []replay.Arrival{
		{Name: "a-1", At: time.Minute, MilliCPU: 2000, Memory: 512 << 20},
		{Name: "b", At: 90 * time.Minute, Until: 2 * time.Hour, MilliCPU: 500, Memory: 1 << 30, GPU: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	claims, err := replay.ReadTrace(strings.NewReader("name,arrival,departure,cpu,memory,resourceclaims,resourceclaimtemplates\n" +
		"a,0,,1,1Gi,team/all,team/one team/two\nb,0,,1,1Gi,,one\nc,0,,1,1Gi,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]replay.Arrival{
		{Name: "a", MilliCPU: 1000, Memory: 1 << 30, Namespace: "team", Claims: []string{"all"}, ClaimTemplates: []string{"one", "two"}},
		{Name: "b", MilliCPU: 1000, Memory: 1 << 30, Namespace: "default", ClaimTemplates: []string{"one"}},
		{Name: "c", MilliCPU: 1000, Memory: 1 << 30},
	}, claims); diff != "" {
		t.Errorf("trace with claims (-want +got):\n%s", diff)
	}
	openb, err := replay.ReadTrace(strings.NewReader("name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\np,12000,16384,1,0,86400\n"))
	if err != nil || openb[0].MilliCPU != 12000 || openb[0].Memory != 16<<30 || openb[0].Until != 24*time.Hour {
		t.Errorf("openb: %+v, %v", openb, err)
	}
	const head, claimHead = "name,arrival,departure,cpu,memory\n", "name,arrival,departure,cpu,memory,resourceclaims\n"
	for says, text := range map[string]string{
		"empty":            "",
		`column "cpu"`:     "name,arrival,departure,memory\n",
		"line 2: arriv":    head + "a,x,,1,1\n",
		"before it":        head + "a,9,8,1,1\n",
		`cpu "-1"`:         head + "a,0,,-1,1\n",
		"memory":           head + "a,0,,1,1e99\n",
		"twice":            head + "a,0,,1,1\na,0,,1,1\n",
		"not a valid name": head + "!,0,,1,1\n",
		"between 0":        head + "a,-1,,1,1\n",
		"all claims of a pod must be in its namespace": claimHead + "a,0,,1,1,b/x c/x\n",
		`claims "B/x"`:    claimHead + "a,0,,1,1,B/x\n",
		"claim \"a\" occ": claimHead + "a,0,,1,1,a b a\n",
		"more than 8":     claimHead + "a,0,,1,1,a b c d e f g h i\n",
	} {
		if _, err := replay.ReadTrace(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is read makes sense, and no text makes the reader fail.
func FuzzReadTrace(f *testing.F) {
	f.Add("name,arrival,departure,cpu,memory\na,0,1h,1,1Gi\n")
	f.Add("name,arrival,departure,cpu,memory,gpu,resourceclaims,resourceclaimtemplates\na,0,1h,1,1Gi,1,ml/a ml/b,ml/c\n")
	f.Add("name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\np,12000,16384,1,0,86400\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := replay.ReadTrace(strings.NewReader(text))
		if err != nil {
			return
		}
		for i, a := range list {
			if a.Name == "" || a.At < 0 || a.Until != 0 && a.Until < a.At || a.MilliCPU < 0 || a.Memory < 0 || a.GPU < 0 || i > 0 && a.At < list[i-1].At || (a.Namespace == "") != (len(a.Claims)+len(a.ClaimTemplates) == 0) {
				t.Errorf("%+v", a)
			}
		}
	})
}

func TestWindow(t *testing.T) {
	list := []replay.Arrival{
		{Name: "gone", At: 0, Until: time.Hour}, {Name: "there", At: time.Hour, Until: 4 * time.Hour}, {Name: "comes", At: 3 * time.Hour}, {Name: "late", At: 9 * time.Hour},
	}
	want := []replay.Arrival{{Name: "there", Until: 2 * time.Hour}, {Name: "comes", At: time.Hour}}
	if diff := cmp.Diff(want, replay.Window(list, 2*time.Hour, 3*time.Hour)); diff != "" {
		t.Errorf("window (-want +got):\n%s", diff)
	}
}

// The page has the charts of the run, and its events. Package report tests how it is drawn.
func TestPage(t *testing.T) {
	r := run(t, replay.Options{Snapshot: snapshot(), Trace: trace(240), Length: 24 * time.Hour, Seed: 1, Consolidate: 15 * time.Minute, Interruptions: 60})
	if r.Interruptions == 0 || r.Commands == 0 || len(r.Events) != r.Interruptions+r.Commands {
		t.Fatalf("%d events of %d interruptions and %d commands", len(r.Events), r.Interruptions, r.Commands)
	}
	var b bytes.Buffer
	if err := r.WritePage(&b, "a <b>trace</b> & more"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, yes := range []string{
		"a &lt;b&gt;trace", "Cost, USD per hour", "Nodes by capacity type", "Nodes by instance family", "Utilization", "Pods without a node", "when there were most",
		"interruption (below the chart)", "consolidation (below the chart)", `class="block f0"`,
	} {
		if !strings.Contains(page, yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
}

// The nodes by capacity type and by family add up to all nodes in each period.
func TestMix(t *testing.T) {
	r := run(t, replay.Options{Snapshot: snapshot(), Trace: trace(240), Length: 24 * time.Hour, Seed: 1, Consolidate: 15 * time.Minute})
	for name, mixes := range map[string][]replay.Mix{"capacity types": r.CapacityTypes, "families": r.Families} {
		if len(mixes) == 0 {
			t.Errorf("there are no %s", name)
		}
		for i, p := range r.Series {
			sum := 0.0
			for _, m := range mixes {
				sum += m.Nodes[i]
			}
			if diff := sum - p.Nodes; diff > 1e-4 || diff < -1e-4 {
				t.Fatalf("%s: period %d has %v nodes, want %v", name, i, sum, p.Nodes)
			}
		}
	}
}
