package nodepool_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

const dims = resources.Base

func instanceType(name, cpu string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	return build.InstanceType(name, build.CPU(cpu), build.Memory("8Gi"), build.Sold(offerings...), build.With(requirements.In("size", name)))
}

// pool sells large (4 CPU) and small (2 CPU) in two zones; it states what set does.
func pool(masks []daemonset.Mask, set ...requirements.Requirement) *nodepool.Pool {
	c := catalog()
	p := &nodepool.Pool{Key: v1.PoolKey{Name: "p"}, Template: requirements.NewSet(set...), Table: nodepool.NewTable(c, resources.NewTable(), masks, nil)}
	p.Variety = nodepool.VarietyOf(p.Template)
	p.Open()
	return p
}

func catalog() *market.Catalog {
	return market.NewCatalog("c", []*cloudprovider.InstanceType{
		instanceType("small", "2", build.Offering("a", "on-demand", 0.1), build.Offering("b", "on-demand", 0.12)),
		instanceType("large", "4", build.Offering("a", "on-demand", 0.2), build.Offering("b", "on-demand", 0.19)),
	})
}

func cpu(n int64) []int64 {
	need := make([]int64, dims)
	need[resources.CPU] = n * 1000
	return need
}

// names are the instance types of the rows.
func names(p *nodepool.Pool, rows interface{ Has(int) bool }) []string {
	var out []string
	for r := range p.Table.Rows {
		if rows.Has(r) {
			out = append(out, p.Table.Catalog.Types[p.Table.Catalog.Variants[p.Table.Rows[r].Variant].Type].Name)
		}
	}
	return out
}

// A demand is the rows and slots that meet it; equal ones are one profile, and one that nothing meets is none.
func TestProfiles(t *testing.T) {
	p := pool(nil, requirements.In("team", "x", "y"))
	small := p.ProfileOf(match.Needs{requirements.In("size", "small")})
	if small < 0 || !slices.Equal(names(p, p.Profiles[small].Rows), []string{"small"}) {
		t.Fatalf("profile %d", small)
	}
	if again := p.ProfileOf(match.Needs{requirements.NotIn("size", "large")}); again != small {
		t.Errorf("what sells the same is profile %d, not %d", again, small)
	}
	for _, r := range []requirements.Requirement{requirements.In("size", "huge"), requirements.In("team", "z"), requirements.Exists("gpu")} {
		if n := p.ProfileOf(match.Needs{r}); n >= 0 {
			t.Errorf("%s is profile %d", r, n)
		}
	}
	team := p.ProfileOf(match.Needs{requirements.In("team", "x")})
	if open := p.Profiles[team].Open; len(open) != 1 || open[0].Key() != "team" {
		t.Errorf("labels left open are %v", open)
	}
	if !p.Holds(small, cpu(2)) || p.Holds(small, cpu(3)) {
		t.Error("small holds 2 CPU and no more")
	}
}

// The cheapest purchase has room for the need and takes no more of the limits than is allowed.
func TestCheapest(t *testing.T) {
	p := pool(nil)
	all, slots := p.Rows, p.Slots
	for _, c := range []struct {
		need int64
		want string
		zone string
	}{{1, "small", "a"}, {2, "small", "a"}, {3, "large", "b"}} {
		row, slot, _ := p.CheapestWithin(cpu(c.need), all, slots, nil)
		got := names(p, only(row))
		if len(got) != 1 || got[0] != c.want || p.Table.Catalog.Slots[slot].Zone != c.zone {
			t.Errorf("for %d CPU: %v in slot %d, want %s in %s", c.need, got, slot, c.want, c.zone)
		}
	}
	if row, _, _ := p.CheapestWithin(cpu(5), all, slots, nil); row >= 0 {
		t.Errorf("row %d holds 5 CPU", row)
	}
	var err error
	if p.Limits, err = nodepool.NewLimits(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100")}); err != nil {
		t.Fatal(err)
	}
	if row, _, _ := p.CheapestWithin(cpu(3), all, slots, []int64{2000}); row >= 0 {
		t.Errorf("row %d takes 2 CPU of the limits and holds 3", row)
	}
}

type only int32

func (o only) Has(i int) bool { return int32(o) == int32(i) }

// What DaemonSets take is off what is left for pods, and a type has a row for each set of them.
func TestRowsByDaemonSets(t *testing.T) {
	set := daemonset.Set{Requests: cpu(1), Terms: []match.Needs{{requirements.In(corev1.LabelTopologyZone, "a")}}}
	p := pool(daemonset.Masks([]daemonset.Set{set}, requirements.Set{}, nil, catalog()))
	if len(p.Table.Rows) != 4 || !p.Table.Split {
		t.Fatalf("%d rows, split %t", len(p.Table.Rows), p.Table.Split)
	}
	for r := range p.Table.Rows {
		inA := false
		for s := range p.Table.Rows[r].Slots.Members {
			inA = inA || p.Table.Catalog.Slots[s].Zone == "a"
		}
		if left, all := p.Table.AllocOf(r, dims)[resources.CPU], p.Table.Taken[r*dims+resources.CPU]; (all == 1000) != inA || left+all != 4000 && left+all != 2000 {
			t.Errorf("row %d in a %t: %d left, %d taken", r, inA, left, all)
		}
	}
}

// Labels that the pool leaves open are decided in each way that some profile distinguishes, up to a bound.
func TestAssignments(t *testing.T) {
	p := pool(nil, requirements.In("team", "x", "y"))
	n := p.ProfileOf(match.Needs{requirements.In("team", "x")})
	got := p.Assignments([]int32{int32(n)}, nodepool.Domains{})
	if len(got) != 2 || !got[0].Allows(&p.Profiles[n]) || got[1].Allows(&p.Profiles[n]) {
		t.Errorf("assignments are %v", got)
	}
	if plain := p.Assignments(nil, nodepool.Domains{}); len(plain) != 1 || plain[0].Labels.Len() != 0 {
		t.Errorf("without profiles there are %v", plain)
	}
}

// Where a pool asks for variety, a label may be left open instead: the types that state a value which will do and those that state
// none do together, and a profile that some value left open doesn't suit waits for a decision.
func TestAssignmentsLeftOpen(t *testing.T) {
	two, without := instanceType("two", "2", build.Offering("a", "on-demand", 0.1)), instanceType("without", "2", build.Offering("a", "on-demand", 0.1))
	two.Requirements = two.Requirements.With(requirements.In("gen", "6", "7"))
	other := instanceType("other", "2", build.Offering("a", "on-demand", 0.1))
	other.Requirements = other.Requirements.With(requirements.In("gen", "7"))
	open := func(d nodepool.Domains, set ...requirements.Requirement) (*nodepool.Pool, []nodepool.Assignment) {
		p := &nodepool.Pool{Template: requirements.NewSet(set...)}
		p.Table = nodepool.NewTable(market.NewCatalog("c", []*cloudprovider.InstanceType{two, without, other}), resources.NewTable(), nil, nil)
		p.Variety = nodepool.VarietyOf(p.Template)
		p.Open()
		profiles := []int32{int32(p.ProfileOf(match.Needs{requirements.NotIn("gen", "7")}))}
		return p, p.LeftOpenFor(profiles, d, p.Assignments(profiles, d))
	}
	if _, list := open(nodepool.Domains{}); len(list) != 0 {
		t.Errorf("without minValues %v are left open", list)
	}
	varied := requirements.Exists("size").WithMinValues(2)
	if _, list := open(nodepool.Domains{Keys: []string{"gen"}, OnNodes: func(string) []string { return nil }}, varied); len(list) != 0 {
		t.Errorf("with gen for a topology key %v are left open", list)
	}
	p, list := open(nodepool.Domains{}, varied)
	if len(list) != 1 || !slices.Equal(names(p, list[0].Rows), []string{"two", "without"}) || !list[0].Decides(&p.Profiles[0]) || !list[0].Allows(&p.Profiles[0]) {
		t.Fatalf("%v are left open", list)
	}
	for r := range p.Table.Rows {
		want := map[string]string{"two": "6"}[names(p, only(int32(r)))[0]]
		if got := p.Label(r, 0, &list[0], "gen"); list[0].Fits(r) && got != want {
			t.Errorf("row %d has gen %q, want %q", r, got, want)
		}
	}
	if six := &p.Profiles[p.ProfileOf(match.Needs{requirements.In("gen", "6")})]; list[0].Decides(six) || list[0].Allows(six) {
		t.Error("nobody knows that gen is 6")
	}
}

// A label that one profile asks about stays open for another that doesn't, so that types which don't state it do for that one
// next to those that do.
func TestUnaskedLabelsLeftOpen(t *testing.T) {
	two, without := instanceType("two", "2", build.Offering("a", "on-demand", 0.1)), instanceType("without", "2", build.Offering("a", "on-demand", 0.1))
	two.Requirements = two.Requirements.With(requirements.In("gen", "6", "7"))
	p := &nodepool.Pool{Template: requirements.NewSet(requirements.Exists("size").WithMinValues(2))}
	p.Table = nodepool.NewTable(market.NewCatalog("c", []*cloudprovider.InstanceType{two, without}), resources.NewTable(), nil, nil)
	p.Variety = nodepool.VarietyOf(p.Template)
	p.Open()
	asks, plain := int32(p.ProfileOf(match.Needs{requirements.In("gen", "7")})), int32(p.ProfileOf(nil))
	left := func(d nodepool.Domains) []nodepool.Assignment {
		return p.LeftOpenFor([]int32{asks, plain}, d, p.Assignments([]int32{asks, plain}, d))
	}
	list := left(nodepool.Domains{})
	if len(list) != 1 || list[0].Labels.Len() != 0 || list[0].Rows != nil || !list[0].Allows(&p.Profiles[plain]) || list[0].Decides(&p.Profiles[asks]) {
		t.Errorf("%v are left open", list)
	}
	if list := left(nodepool.Domains{Keys: []string{"gen"}, OnNodes: func(string) []string { return nil }}); len(list) != 0 {
		t.Errorf("with gen for a topology key %v are left open", list)
	}
}

// minValues count the types that would do for what is on the node.
func TestVariety(t *testing.T) {
	p := pool(nil, requirements.Exists("size").WithMinValues(2))
	if !p.VariedFor(0, cpu(2), p.Rows, p.Slots) || p.VariedFor(0, cpu(3), p.Rows, p.Slots) {
		t.Error("two types hold 2 CPU, one holds 3")
	}
	if left := p.VarietyLeft(0, cpu(3), p.Rows, p.Slots); !slices.Equal(left, []int{1}) {
		t.Errorf("%v values are left", left)
	}
}
