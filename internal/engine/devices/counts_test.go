package devices_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/seeded"
)

// counted is one node's room for claims and what each claim needs, by the name of the resource.
type counted struct {
	counts *devices.Counts
	room   []int64
	// most is the node's ceiling.
	most    []int64
	needs   [][]int64
	claims  []*devices.Claim
	sources []devices.Source
	matches *devices.Matches
}

func count(t fataler, list []*resourcev1.ResourceSlice, specs ...*resourcev1.DeviceClaim) (*counted, error) {
	t.Helper()
	return countWithOther(t, list, nil, specs...)
}

// countWithOther counts in a cluster that has another node, too.
func countWithOther(t fataler, list, other []*resourcev1.ResourceSlice, specs ...*resourcev1.DeviceClaim) (*counted, error) {
	t.Helper()
	inv := devices.NewInventory(list)
	c := &counted{matches: devices.NewMatches(&words{}), sources: []devices.Source{{Usage: devices.NewUsage(inv)}}}
	kinds := devices.NewKinds()
	var needs []devices.Needs
	for _, spec := range specs {
		claim := newClaim(t, spec, classes())
		n, err := kinds.Needs([]*devices.Claim{claim})
		if err != nil {
			return nil, err
		}
		needs, c.claims = append(needs, n), append(c.claims, claim)
	}
	units := kinds.Units(c.sources[0].Usage, nil, c.matches)
	others := kinds.Units(devices.NewUsage(devices.NewInventory(other)), nil, c.matches)
	counts := devices.NewCounts(kinds, []devices.Units{units, others})
	ceiling := kinds.Ceiling(c.sources[0].Usage, nil, c.matches)
	c.counts, c.room, c.most = counts, counts.Room(units, nil), counts.Most(&ceiling, nil)
	for _, n := range needs {
		c.needs = append(c.needs, counts.Of(n))
	}
	return c, nil
}

func mustCount(t fataler, list []*resourcev1.ResourceSlice, specs ...*resourcev1.DeviceClaim) *counted {
	t.Helper()
	c, err := count(t, list, specs...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fits reports whether all claims fit by counting, mayFit whether they fit by the node's ceiling.
func (c *counted) fits() bool { return c.within(c.room) }

func (c *counted) mayFit() bool { return c.within(c.most) }

func (c *counted) within(room []int64) bool {
	for i := range room {
		sum := int64(0)
		for _, n := range c.needs {
			sum += n[i]
		}
		if sum > room[i] {
			return false
		}
	}
	return true
}

func (c *counted) String() string {
	var b strings.Builder
	for i, name := range c.counts.Names() {
		fmt.Fprintf(&b, "%s: %d", name, c.room[i])
		for _, n := range c.needs {
			fmt.Fprintf(&b, " -%d", n[i])
		}
		b.WriteString("; ")
	}
	return strings.TrimSpace(b.String())
}

func TestCounts(t *testing.T) {
	two := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("m", "A")), device("b", attribute("m", "B")), device("c", attribute("m", "B")))}
	mig := counters(slice("n", device("w", attribute("m", "whole"), consumes("s", "x", "4")), device("p", attribute("m", "part"), consumes("s", "x", "1")),
		device("q", attribute("m", "part"), consumes("s", "x", "1"))), "s", "x", "4")
	domains := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("d", "1")), device("b", attribute("d", "2")), device("c", attribute("d", "2")), device("e"))}
	for name, c := range map[string]struct {
		list  []*resourcev1.ResourceSlice
		specs []*resourcev1.DeviceClaim
		want  string
	}{
		"one kind":                       {gpus(3), []*resourcev1.DeviceClaim{claimOf(exactly("r", 2)), claimOf(exactly("other", 1))}, "gpu: 3 -2 -1;"},
		"apart":                          {two, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, where("m=A"))), claimOf(exactly("r", 1, where("m=B")))}, "gpu: 1 -1 -0; gpu#2: 2 -0 -1;"},
		"a special case":                 {two, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, where("m=B"))), claimOf(exactly("r", 2))}, "gpu: 2 -1 -0; gpu#2: 3 -1 -2;"},
		"nowhere":                        {two, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, where("m=C")))}, "gpu: 0 -1;"},
		"partitions of one size":         {[]*resourcev1.ResourceSlice{mig}, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, where("m=part")))}, "gpu: 2 -1;"},
		"wholes and partitions":          {[]*resourcev1.ResourceSlice{mig}, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, where("m=part"))), claimOf(exactly("r", 1, where("m=whole")))}, "gpu: 2 -1 -0; gpu#2: 1 -0 -1; shares of gpu: 2 -1 -2;"},
		"of one domain":                  {domains, []*resourcev1.DeviceClaim{constrained(claimOf(exactly("r", 2)), match(driver+"/d"))}, "gpu: 2 -2;"},
		"of different domains":           {domains, []*resourcev1.DeviceClaim{constrained(claimOf(exactly("r", 2)), distinct(driver+"/d"))}, "gpu: 2 -2;"},
		"for administration":             {gpus(2), []*resourcev1.DeviceClaim{claimOf(all("r", admin)), claimOf(exactly("r", 3, admin))}, "gpu for administration: 2147483647 -1 -0; gpu for administration#2: 0 -0 -1;"},
		"the first alternative there is": {two, []*resourcev1.DeviceClaim{claimOf(firstOf("r", exactly("x", 2, where("m=A")), exactly("y", 1, where("m=B"))))}, "gpu: 2 -1;"},
		"two of one, or one of another":  {two, []*resourcev1.DeviceClaim{claimOf(firstOf("r", exactly("x", 2, where("m=B")), exactly("y", 1, where("m=A"))))}, "gpu: 2 -2;"},
		"one of either":                  {two, []*resourcev1.DeviceClaim{claimOf(firstOf("r", exactly("x", 1, where("m=B")), exactly("y", 1, where("m=A"))))}, "gpu: 3 -1;"},
		"all":                            {two, []*resourcev1.DeviceClaim{claimOf(all("r")), claimOf(all("r", where("m=B")))}, "gpu: 3 -3 -0; gpu#2: 2 -0 -2; gpu#3: 3 -3 -2;"},
		"all of a model, others of any":  {two, []*resourcev1.DeviceClaim{claimOf(all("r", where("m=B"))), claimOf(exactly("r", 1))}, "gpu: 2 -2 -0; gpu#2: 3 -0 -1; gpu#3: 3 -2 -1;"},
		"all of what is not there":       {two, []*resourcev1.DeviceClaim{claimOf(all("r", where("m=C")))}, "gpu: 0 -1;"},
		"all of two domains":             {domains, []*resourcev1.DeviceClaim{constrained(claimOf(all("r", where("d=2"))), match(driver+"/d")), constrained(claimOf(all("r")), match(driver+"/d"))}, "gpu: 2 -2 -0; gpu#2: 0 -0 -1;"},
		"shared": {[]*resourcev1.ResourceSlice{slice("n", device("a", shared, capacity("memory", "16Gi")))},
			[]*resourcev1.DeviceClaim{claimOf(exactly("r", 1, asks("memory", "5Gi")))}, "gpu: 3 -1;"},
		"tainted": {gpus(2, taint("sick", resourcev1.DeviceTaintEffectNoSchedule)), []*resourcev1.DeviceClaim{claimOf(exactly("r", 1)), claimOf(exactly("r", 1, tolerates("sick")))}, "gpu: 0 -1 -0; gpu#2: 2 -0 -1;"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mustCount(t, c.list, c.specs...).String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where counting parts devices between claims that compete for them, the ceiling has the most that each of them alone could have.
func TestCeiling(t *testing.T) {
	mig := func(gpus int) []*resourcev1.ResourceSlice {
		s := slice("n")
		for g := range gpus {
			set := fmt.Sprint("s", g)
			counters(s, set, "x", "7")
			s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("whole", g), attribute("m", "whole"), consumes(set, "x", "7")))
			for i := range 7 {
				s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("part", g, "-", i), attribute("m", "part"), consumes(set, "x", "1")))
			}
		}
		return []*resourcev1.ResourceSlice{s}
	}
	domains := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("d", "1")), device("b", attribute("d", "1")), device("c", attribute("d", "2")),
		device("d", attribute("d", "2")), device("e", attribute("d", "3")), device("f"))}
	shares := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("m", "A"), shared, capacity("memory", "16Gi")))}
	whole, part, any := claimOf(exactly("r", 1, where("m=whole"))), claimOf(exactly("r", 1, where("m=part"))), claimOf(exactly("r", 1))
	for name, c := range map[string]struct {
		list  []*resourcev1.ResourceSlice
		specs []*resourcev1.DeviceClaim
		want  string
	}{
		"a GPU or its partitions":          {mig(1), []*resourcev1.DeviceClaim{whole, part}, "counted [1 7 7] most [1 7 7]"},
		"two GPUs or their partitions":     {mig(2), []*resourcev1.DeviceClaim{whole, part}, "counted [2 14 14] most [2 14 14]"},
		"partitions or any":                {mig(1), []*resourcev1.DeviceClaim{part, any}, "counted [7 7] most [7 7]"},
		"wholes or any":                    {mig(1), []*resourcev1.DeviceClaim{whole, any}, "counted [1 7 7] most [1 7 7]"},
		"two of a domain, several times":   {domains, []*resourcev1.DeviceClaim{constrained(claimOf(exactly("r", 2)), match(driver+"/d"))}, "counted [4] most [4]"},
		"of two domains, several times":    {domains, []*resourcev1.DeviceClaim{constrained(claimOf(exactly("r", 2)), distinct(driver+"/d"))}, "counted [3] most [5]"},
		"large and small shares of a GPU":  {shares, []*resourcev1.DeviceClaim{claimOf(exactly("r", 1, asks("memory", "5Gi"))), claimOf(exactly("r", 1, asks("memory", "2Gi")))}, "counted [3 8 9 16] most [3 8 9 16]"},
		"a request for two, one of either": {mig(1), []*resourcev1.DeviceClaim{claimOf(exactly("r", 2, where("m=whole"))), whole}, "counted [1] most [1]"},
		"two parts or a whole":             {mig(1), []*resourcev1.DeviceClaim{claimOf(firstOf("r", exactly("x", 2, where("m=part")), exactly("y", 1, where("m=whole"))))}, "counted [6] most [14]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := mustCount(t, c.list, c.specs...)
			if diff := cmp.Diff(c.want, fmt.Sprint("counted ", got.room, " most ", got.most)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Extended resources are had of devices or of a device plugin.
func TestExtendedResourcesAreCounted(t *testing.T) {
	inv, matches, kinds := devices.NewInventory(gpus(3)), devices.NewMatches(&words{}), devices.NewKinds()
	asks, err := kinds.Extended("example.com/gpu", "gpu", classes(), 2)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := kinds.Needs([]*devices.Claim{newClaim(t, claimOf(exactly("r", 2)), classes())})
	if err != nil {
		t.Fatal(err)
	}
	units := kinds.Units(devices.NewUsage(inv), nil, matches)
	counts := devices.NewCounts(kinds, []devices.Units{units})
	none := kinds.Units(devices.NewUsage(devices.NewInventory(nil)), nil, matches)
	got := fmt.Sprint(counts.Names(), counts.Of(asks), counts.Of(claim), counts.Room(units, nil), counts.Room(none, map[string]int64{"example.com/gpu": 4}),
		counts.Room(units, map[string]int64{"example.com/gpu": 1}), counts.Serves(units, "example.com/gpu"), counts.Serves(units, "example.com/other"))
	if want := "[gpu gpu#2] [0 1] [2 2] [3 3] [0 4] [3 4] 3 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	claim.Add(asks)
	if got := fmt.Sprint(counts.Of(claim)); got != "[2 3]" {
		t.Errorf("together %s", got)
	}
	if _, err := kinds.Extended("example.com/gpu", "none", classes(), 1); err == nil {
		t.Error("there is no such class")
	}
}

func TestWhatCannotBeCounted(t *testing.T) {
	many := slice("n")
	var each []*resourcev1.DeviceClaim
	for i := range 257 {
		many.Spec.Devices = append(many.Spec.Devices, device(fmt.Sprint("d", i)))
		each = append(each, claimOf(exactly("r", 1, where(fmt.Sprintf("m=%d", i)))))
	}
	for want, specs := range map[string][]*resourcev1.DeviceClaim{
		"request s of claim c asks for more devices than the 32 that a claim can have":                                                                                  {claimOf(exactly("r", 20), exactly("s", 13))},
		"request r of claim c is one of more than 256 kinds of requests in the cluster: have more of them ask alike, with the same selectors, tolerations and capacity": each,
	} {
		if _, err := count(t, []*resourcev1.ResourceSlice{many}, specs...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Claims that fit by counting can be allocated, whatever other nodes there are; where counting is exact, others can't.
func TestCountsAgreeWithAllocation(t *testing.T) {
	fit, exact := 0, 0
	seeded.Times(t, 3000, func(t *rapid.T) {
		s := drawSlice(t)
		var specs []*resourcev1.DeviceClaim
		plain := true
		for range rapid.IntRange(1, 4).Draw(t, "claims") {
			spec := drawClaim(t)
			if rapid.Bool().Draw(t, "plain") {
				spec = claimOf(drawRequest(t, "r", true))
			}
			for i := range spec.Requests {
				r := &spec.Requests[i]
				plain = plain && r.Exactly != nil
				plain = plain && r.Exactly != nil
			}
			plain = plain && len(spec.Constraints) == 0
			specs = append(specs, spec)
		}
		for i := range s.Spec.Devices {
			plain = plain && !slices.ContainsFunc(s.Spec.Devices[i].ConsumesCounters, func(resourcev1.DeviceCounterConsumption) bool { return true }) && s.Spec.Devices[i].AllowMultipleAllocations == nil
		}
		c, err := countWithOther(t, []*resourcev1.ResourceSlice{s}, []*resourcev1.ResourceSlice{drawSlice(t)}, specs...)
		if err != nil {
			t.Fatal(err)
		}
		// Every claim is of another pod: constraints hold within each.
		a, miss := devices.Allocate(c.sources, c.claims, c.matches)
		if a != nil && !c.mayFit() {
			t.Fatalf("%s, but at most %v: %v", c, c.most, a.Results)
		}
		if plain && c.fits() != c.mayFit() {
			t.Fatalf("%s, but at most %v, where counting is exact", c, c.most)
		}
		switch fits := c.fits(); {
		case fits && miss != nil && miss.Code == devices.MissAllConstraint:
			// The scheduler gives up for the first order that it tries, in which claims that want all come too late.
		case fits && a == nil:
			t.Fatalf("%s: counted, but %s", c, miss)
		case !fits && a != nil && plain:
			t.Fatalf("%s: not counted, but %v", c, a.Results)
		case fits:
			fit++
		}
		if plain {
			exact++
		}
	})
	if !t.Failed() && !testing.Short() && (fit < 200 || exact < 200) {
		t.Errorf("the draws are too much alike: %d fit, %d exact", fit, exact)
	}
}
