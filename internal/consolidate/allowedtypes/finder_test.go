package allowedtypes_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/fleettest"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// finder finds types in a fleet without nodes that is sold these types; spot nodes may be replaced by spot.
func finder(t *testing.T, f *fleettest.Fleet, oneZone bool) *allowedtypes.Finder {
	t.Helper()
	return allowedtypes.New(fleettest.Pass(t, f.Survey(t), reference.Options{SpotToSpot: true, SpotToSpotTypes: 2}), oneZone)
}

// planned is a new node that may have the types, "name price", on demand in zone a.
func planned(capacityType string, options ...string) planning.NewNode {
	n := planning.NewNode{Pool: fleettest.Default()}
	for _, text := range options {
		o := planning.InstanceTypeOption{Zone: "a", CapacityType: capacityType}
		if _, err := fmt.Sscanf(text, "%s %g", &o.Name, &o.Price); err != nil {
			panic(err)
		}
		n.InstanceTypes = append(n.InstanceTypes, o)
	}
	return n
}

func onDemand(options ...string) planning.NewNode {
	return planned(v1.CapacityTypeOnDemand, options...)
}

// of are the types' names for each node.
func of(nodes []planning.NewNode) string {
	var out [][]string
	for i := range nodes {
		var names []string
		for k := range nodes[i].InstanceTypes {
			names = append(names, nodes[i].InstanceTypes[k].Name)
		}
		out = append(out, names)
	}
	return fmt.Sprint(out)
}

func usd(spent, most float64) allowedtypes.Money {
	return allowedtypes.Money{Spent: money.NanoUSD(spent), Most: money.NanoUSD(most)}
}

// Of each new node those types remain that cost less than its share of what may be spent.
func TestNarrow(t *testing.T) {
	all := []string{"c2 0.1", "c4 0.2", "c8 0.4", "c16 0.8"}
	one := allowedtypes.Group{Method: decision.MethodSingleNode, One: true}
	for _, c := range []struct {
		name  string
		group allowedtypes.Group
		nodes []planning.NewNode
		spend allowedtypes.Money
		limit int
		want  string
		code  decision.BlockCode
	}{
		{"cheaper ones", one, []planning.NewNode{onDemand(all...)}, usd(0.8, 0.8), 60, "[[c2 c4 c8]]", ""},
		{"less may be spent", one, []planning.NewNode{onDemand(all...)}, usd(0.8, 0.4), 60, "[[c2 c4]]", ""},
		{"lists are cut", one, []planning.NewNode{onDemand(all...)}, usd(0.8, 0.8), 2, "[[c2 c4]]", ""},
		{"none is cheaper", one, []planning.NewNode{onDemand(all[2:]...)}, usd(0.4, 0.4), 60, "", decision.BlockNotCheaper},
		{"what drifted is replaced by anything", allowedtypes.Group{Method: decision.MethodDrift}, []planning.NewNode{onDemand(all...)}, usd(0.1, 0.1), 2, "[[c2 c4 c8 c16]]", ""},
		{"so is what has to go, but lists are cut", allowedtypes.Group{Method: decision.MethodSingleNode, Due: true}, []planning.NewNode{onDemand(all...)}, usd(0.1, 0.1), 3, "[[c2 c4 c8]]", ""},
		{"two share by their prices", allowedtypes.Group{Method: decision.MethodMultiNode}, []planning.NewNode{onDemand(all...), onDemand(all[1:]...)}, usd(0.8, 0.9), 60, "[[c2 c4] [c4 c8]]", ""},
		{"a type that is gone does not count", one, []planning.NewNode{onDemand("c1 0.05", "c2 0.1")}, usd(0.8, 0.8), 60, "[[c2]]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := finder(t, fleettest.New(), false).Narrow(c.group, c.nodes, c.spend, c.limit, false)
			if code := codeOf(why); code != c.code || why == nil && of(got) != c.want {
				t.Errorf("%s, blocked by %q; want %s, %q", of(got), code, c.want, c.code)
			}
			if why != nil && (why.Price != money.USD(c.spend.Spent) || why.Floor != c.nodes[0].InstanceTypes[0].Price) {
				t.Errorf("the block names %g and %g", why.Price, why.Floor)
			}
		})
	}
}

func codeOf(why *decision.Block) decision.BlockCode {
	if why == nil {
		return ""
	}
	return why.Code
}

// A node has what the first type that remains has.
func TestNarrowSaysWhatTheNodeHas(t *testing.T) {
	node := onDemand("odd 0.1", "even 0.1")
	node.Allocatable = build.Amounts("cpu", "4")
	got, why := finder(t, uneven(), false).Narrow(allowedtypes.Group{One: true}, []planning.NewNode{node}, usd(0.8, 0.2), 60, false)
	if why != nil || of(got) != "[[even]]" || got[0].Allocatable.Cpu().Value() != 2 {
		t.Errorf("%v %v", got, why)
	}
	if node.Allocatable.Cpu().Value() != 4 || len(node.InstanceTypes) != 2 {
		t.Errorf("the planned node was changed: %v", node)
	}
}

// uneven sells odd with four cores, which costs more in zone b, and even with two.
func uneven() *fleettest.Fleet {
	return fleettest.New().Sell(
		build.InstanceType("even", build.CPU("2"), build.OnDemand("a", 0.1), build.OnDemand("b", 0.1)),
		build.InstanceType("odd", build.CPU("4"), build.OnDemand("a", 0.1), build.OnDemand("b", 0.3)),
	)
}

// zonal sells c2 and c4 at twice the price in zone b.
func zonal() *fleettest.Fleet {
	return fleettest.New().Sell(
		build.InstanceType("c2", build.CPU("2"), build.OnDemand("a", 0.1), build.OnDemand("b", 0.2)),
		build.InstanceType("c4", build.CPU("4"), build.OnDemand("a", 0.2), build.OnDemand("b", 0.4)),
	)
}

// zoneOf are the zones that the first node is kept to; none for any.
func zoneOf(nodes []planning.NewNode) []string {
	r := nodes[0].Requirements.Get(corev1.LabelTopologyZone)
	return r.Values()
}

// A type counts with its price in the dearest zone that it may be launched in. Where that leaves none, new nodes may be kept to one zone.
func TestNarrowToOneZone(t *testing.T) {
	one, node := allowedtypes.Group{One: true}, []planning.NewNode{onDemand("c2 0.1", "c4 0.2")}
	if got, why := finder(t, zonal(), true).Narrow(one, node, usd(0.3, 0.3), 60, false); why != nil || of(got) != "[[c2]]" || len(zoneOf(got)) != 0 {
		t.Errorf("with room for the dearest zone: %s in %v, %v", of(got), got[0].Requirements, why)
	}
	if _, why := finder(t, zonal(), false).Narrow(one, node, usd(0.15, 0.15), 60, false); codeOf(why) != decision.BlockNotCheaper {
		t.Errorf("in any zone: %v", why)
	}
	got, why := finder(t, zonal(), true).Narrow(one, node, usd(0.15, 0.15), 60, false)
	if why != nil || of(got) != "[[c2]]" || !slices.Equal(zoneOf(got), []string{"a"}) {
		t.Errorf("in one zone: %v, %v", got, why)
	}
}

// A node whose share leaves it no type gets what it needs, and the others divide the rest, unless shares are strict.
func TestNarrowGivesWhatIsNeeded(t *testing.T) {
	f := uneven()
	group, nodes := allowedtypes.Group{Method: decision.MethodMultiNode}, []planning.NewNode{onDemand("even 0.1"), onDemand("odd 0.1")}
	if _, why := finder(t, f, false).Narrow(group, nodes, usd(0.8, 0.5), 60, true); codeOf(why) != decision.BlockNotCheaper {
		t.Errorf("strictly: %v", why)
	}
	if got, why := finder(t, f, false).Narrow(group, nodes, usd(0.8, 0.5), 60, false); why != nil || of(got) != "[[even] [odd]]" {
		t.Errorf("%s, %v", of(got), why)
	}
	if _, why := finder(t, f, false).Narrow(group, nodes, usd(0.8, 0.35), 60, false); codeOf(why) != decision.BlockNotCheaper {
		t.Errorf("with too little for both: %v", why)
	}
}

// spot sells three types as spot, and on demand at three times the price.
func spot() *fleettest.Fleet {
	return fleettest.New().Sell(
		build.InstanceType("s2", build.CPU("2"), build.Spot("a", 0.1), build.OnDemand("a", 0.3)),
		build.InstanceType("s4", build.CPU("4"), build.Spot("a", 0.2), build.OnDemand("a", 0.6)),
		build.InstanceType("s8", build.CPU("8"), build.Spot("a", 0.4), build.OnDemand("a", 1.2)),
	)
}

// Spot is replaced by spot if that is allowed and there are enough cheaper types, of which as many remain. A node that could be either is
// kept to spot if that is cheaper, and else to on demand.
func TestNarrowCapacityTypes(t *testing.T) {
	all := planned(v1.CapacityTypeSpot, "s2 0.1", "s4 0.2", "s8 0.4")
	bought := []planning.NewNode{onDemand("s2 0.3")}
	bought[0].Requirements = requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	for _, c := range []struct {
		name  string
		group allowedtypes.Group
		nodes []planning.NewNode
		spend allowedtypes.Money
		types int
		want  string
		kept  string
		code  decision.BlockCode
	}{
		{"spot by spot, as many types as it takes", allowedtypes.Group{Spot: true, One: true}, []planning.NewNode{all}, usd(0.5, 0.5), 2, "[[s2 s4]]", v1.CapacityTypeSpot, ""},
		{"too few", allowedtypes.Group{Spot: true, One: true}, []planning.NewNode{all}, usd(0.2, 0.2), 2, "", "", decision.BlockFewTypes},
		{"for several nodes one will do", allowedtypes.Group{Spot: true}, []planning.NewNode{all}, usd(0.2, 0.2), 2, "[[s2]]", v1.CapacityTypeSpot, ""},
		{"not allowed", allowedtypes.Group{Spot: true, One: true}, []planning.NewNode{all}, usd(0.5, 0.5), 0, "", "", decision.BlockSpotToSpot},
		{"on demand by spot", allowedtypes.Group{One: true}, []planning.NewNode{all}, usd(0.5, 0.5), 0, "[[s2 s4 s8]]", v1.CapacityTypeSpot, ""},
		{"spot by on demand, where only that is wanted", allowedtypes.Group{Spot: true, One: true}, bought, usd(0.5, 0.5), 0, "[[s2]]", v1.CapacityTypeOnDemand, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := reference.Options{SpotToSpot: c.types > 0, SpotToSpotTypes: c.types}
			got, why := allowedtypes.New(fleettest.Pass(t, spot().Survey(t), options), false).Narrow(c.group, c.nodes, c.spend, 60, false)
			if code := codeOf(why); code != c.code || why == nil && of(got) != c.want {
				t.Fatalf("%s, blocked by %q; want %s, %q", of(got), code, c.want, c.code)
			}
			if why != nil {
				return
			}
			kept := got[0].Requirements.Get(v1.CapacityTypeLabelKey)
			if values := kept.Values(); !slices.Equal(values, []string{c.kept}) {
				t.Errorf("kept to %v, want %s", values, c.kept)
			}
		})
	}
}

// A pool that asks for variety gets whole lists, and no node whose types are less varied.
func TestNarrowKeepsVariety(t *testing.T) {
	f, least := fleettest.New(), 3
	f.Pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &least}}
	node := []planning.NewNode{onDemand("c2 0.1", "c4 0.2", "c8 0.4", "c16 0.8")}
	if got, why := finder(t, f, false).Narrow(allowedtypes.Group{One: true}, node, usd(0.8, 0.8), 1, false); why != nil || of(got) != "[[c2 c4 c8]]" {
		t.Errorf("%s, %v", of(got), why)
	}
	if _, why := finder(t, f, false).Narrow(allowedtypes.Group{One: true}, node, usd(0.8, 0.4), 60, false); codeOf(why) != decision.BlockMinValues {
		t.Errorf("with two types: %v", why)
	}
}

// Finders for other goroutines, and a finder asked again, find the same.
func TestFindersAgree(t *testing.T) {
	first := finder(t, zonal(), true)
	for i, f := range []*allowedtypes.Finder{first, first, first.Apart()} {
		got, why := f.Narrow(allowedtypes.Group{One: true}, []planning.NewNode{onDemand("c2 0.1", "c4 0.2")}, usd(0.5, 0.5), 60, false)
		if why != nil || of(got) != "[[c2 c4]]" {
			t.Errorf("time %d: %s, %v", i, of(got), why)
		}
	}
	if first.ToTry() >= first.ToList() {
		t.Errorf("a search looks at %d types, a command lists %d", first.ToTry(), first.ToList())
	}
}
