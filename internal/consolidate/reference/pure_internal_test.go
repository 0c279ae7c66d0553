package reference

import (
	"math"
	"slices"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A score is the share of the cost that is saved, by the share of the disruption that it causes.
func TestScore(t *testing.T) {
	of := poolTotals{cost: 1000, disruption: 10}
	for _, c := range []struct {
		name       string
		totals     poolTotals
		savings    int64
		disruption float64
		want       float64
	}{
		{"all for all", of, 1000, 10, 1},
		{"half for a tenth", of, 500, 1, 5},
		{"a tenth for half", of, 100, 5, 0.2},
		{"nothing saved", of, 0, 5, 0},
		{"a loss", of, -100, 5, 0},
		{"no disruption", of, 100, 0, 0},
		{"a pool without cost", poolTotals{0, 10}, 100, 5, 0},
		{"a pool without disruption", poolTotals{1000, 0}, 100, 5, 0},
	} {
		if got := c.totals.score(c.savings, c.disruption); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func candidateOf(name, pool string) *decision.Candidate {
	return &decision.Candidate{Name: name, Pool: &planning.NodePool{Key: v1.NewPoolKey(pool)}}
}

func namesOf(list []*decision.Candidate) (out []string) {
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

// Pools take turns by name; those that were not reached last time come first, and each keeps the order of its own nodes.
func TestTakeTurns(t *testing.T) {
	list := []*decision.Candidate{
		candidateOf("c1", "c"), candidateOf("a1", "a"), candidateOf("a2", "a"), candidateOf("b1", "b"), candidateOf("a3", "a"), candidateOf("c2", "c"),
	}
	p := &Pass{Fleet: &survey.Fleet{}}
	if got, want := namesOf(p.takeTurns(list)), []string{"a1", "b1", "c1", "a2", "c2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	p.Fleet.In.Unreached = []v1.PoolKey{v1.NewPoolKey("c")}
	if got, want := namesOf(p.takeTurns(list)), []string{"c1", "a1", "b1", "c2", "a2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("%v after c was not reached, want %v", got, want)
	}
}

// Pools are unreached if none of their nodes was tried; each is named once.
func TestPoolsBeyond(t *testing.T) {
	turns := []*decision.Candidate{
		candidateOf("a1", "a"), candidateOf("c1", "c"), candidateOf("a2", "a"), candidateOf("d1", "d"), candidateOf("b1", "b"), candidateOf("d2", "d"),
	}
	if got, want := poolsBeyond(turns, 2), []v1.PoolKey{v1.NewPoolKey("d"), v1.NewPoolKey("b")}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := poolsBeyond(turns, 6); got != nil {
		t.Errorf("%v although all were tried", got)
	}
}

// Several nodes are not replaced by one that costs as much as one of them, if that is of a type that the replacement could have.
func TestOtherTypes(t *testing.T) {
	priced := func(name string, nano int64) Priced {
		return Priced{Option: planning.InstanceTypeOption{Name: name}, Worst: nano}
	}
	node := func(instanceType string, usd float64) *decision.Candidate {
		return &decision.Candidate{InstanceType: &cloudprovider.InstanceType{Name: instanceType}, Price: usd}
	}
	list := []Priced{priced("small", 1e8), priced("medium", 2e8), priced("large", 4e8)}
	for _, c := range []struct {
		name  string
		batch []*decision.Candidate
		whole []Priced
		want  int
	}{
		{"no type in common", []*decision.Candidate{node("other", 0.1), node("other", 0.1)}, list, 3},
		{"one in common", []*decision.Candidate{node("other", 0.05), node("medium", 0.2)}, list, 1},
		{"the cheapest counts", []*decision.Candidate{node("large", 0.4), node("medium", 0.2)}, list, 1},
		{"even the cheapest is in use", []*decision.Candidate{node("small", 0.1), node("large", 0.4)}, list, 0},
		{"a type that another capacity type took off the list", []*decision.Candidate{node("spare", 0.15)}, append(slices.Clone(list), priced("spare", 9e8)), 1},
	} {
		if got := otherTypes(c.batch, c.whole, list); len(got) != c.want || len(got) > 0 && got[0].Option.Name != "small" {
			t.Errorf("%s: %v, want the first %d", c.name, got, c.want)
		}
	}
	if len(list) != 3 || list[2].Option.Name != "large" {
		t.Errorf("the list was changed: %v", list)
	}
}

// A planned replacement stands if the new one may be of all its types.
func TestAmongTypes(t *testing.T) {
	node := func(names ...string) *planning.NewNode {
		n := &planning.NewNode{}
		for _, name := range names {
			n.InstanceTypes = append(n.InstanceTypes, planning.InstanceTypeOption{Name: name})
		}
		return n
	}
	if !amongTypes(node("a", "b"), node("c", "b", "a")) {
		t.Error("both types are there")
	}
	if amongTypes(node("a", "b"), node("a", "c")) {
		t.Error("b is missing")
	}
}

// A command that shrinks keeps its remaining members, and saves what they cost; the command itself is not changed.
func TestShrunk(t *testing.T) {
	cmd := &decision.Command{ID: "x", Savings: 0.6, Members: []decision.Member{{Node: "a", Price: 0.1}, {Node: "b", Price: 0.2}, {Node: "c", Price: 0.3}}}
	all := []*decision.Candidate{candidateOf("a", "p"), candidateOf("b", "p"), candidateOf("c", "p")}
	if Shrunk(cmd, all) != cmd {
		t.Error("a command with all its members is another one")
	}
	got := Shrunk(cmd, []*decision.Candidate{all[2], all[0]})
	if got.ID != "x" || len(got.Members) != 2 || got.Members[0].Node != "a" || got.Members[1].Node != "c" || math.Abs(got.Savings-0.4) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if len(cmd.Members) != 3 || cmd.Savings != 0.6 {
		t.Errorf("the command was changed: %+v", cmd)
	}
}

// IDs differ with the method, the time, the nodes and their NodeClaims, and with nothing else.
func TestIdentify(t *testing.T) {
	base := func() *decision.Command {
		return &decision.Command{Method: decision.MethodDrift, Members: []decision.Member{{Node: "a", UID: "1"}, {Node: "b", UID: "2"}}}
	}
	id := func(change func(*decision.Command)) string {
		c := base()
		change(c)
		Identify(c)
		return c.ID
	}
	plain := id(func(*decision.Command) {})
	if len(plain) != 16 || plain != id(func(c *decision.Command) { c.Savings, c.ID = 3, "before" }) {
		t.Errorf("the ID %q depends on more", plain)
	}
	for name, change := range map[string]func(*decision.Command){
		"method":  func(c *decision.Command) { c.Method = decision.MethodEmptiness },
		"time":    func(c *decision.Command) { c.Planned = c.Planned.Add(1) },
		"node":    func(c *decision.Command) { c.Members[1].Node = "c" },
		"claim":   func(c *decision.Command) { c.Members[0].UID = "3" },
		"borders": func(c *decision.Command) { c.Members[0].Node, c.Members[0].UID = "a1", "" },
	} {
		if id(change) == plain {
			t.Errorf("another %s has the same ID", name)
		}
	}
}
