package layout_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

const zone = corev1.LabelTopologyZone

// pool sells one type in zones a and b.
func pool() *nodepool.Pool {
	offering := func(z string) cloudprovider.Offering {
		return cloudprovider.Offering{
			Requirements: requirements.NewSet(requirements.In(zone, z), requirements.In(v1.CapacityTypeLabelKey, "on-demand")), Price: 1, Available: true,
		}
	}
	c := market.NewCatalog("c", []*cloudprovider.InstanceType{{
		Name: "x", Offerings: []cloudprovider.Offering{offering("a"), offering("b")}, Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
	}})
	t := &nodepool.Table{Catalog: c, Rows: []nodepool.Row{{Slots: c.AllSlots}}}
	p := &nodepool.Pool{Key: v1.PoolKey{Name: "p"}, Table: t}
	p.Open()
	return p
}

// cluster has pods under a rule that spreads them over zones, two of which run on a node in zone c; new ones may come to b alone.
func cluster() *layout.Cluster {
	p := pool()
	n := p.ProfileOf(match.Needs{requirements.In(zone, "b")})
	groups := &topology.Groups{Owns: []int32{0}, In: []int32{0}}
	in := func(z string) existing.Group {
		return existing.Group{Labels: requirements.NewSet(requirements.In(zone, z))}
	}
	return &layout.Cluster{
		Rules: []topology.Group{{Kind: topology.Spread, Hard: true, At: 0, Key: zone, Labels: []string{zone}, MaxSkew: 1}},
		Keys:  []string{zone}, Pools: []*nodepool.Pool{p},
		Classes: []*podclass.Class{{Topology: groups}, {}},
		Shapes:  []*podclass.Shape{{Demands: []podclass.Stage{{Uses: []podclass.Use{{Pool: 0, Profile: int32(n)}}}}}},
		Nodes: []existing.Node{
			{Name: "m", Group: 1, Source: &planning.Node{}},
			{Name: "n", Group: 0, Source: &planning.Node{}, Bound: []existing.Pod{{Class: 0}, {Class: 0}, {Class: 1}, {Class: 0, Terminating: true}}},
		},
		Groups: []existing.Group{in("c"), in("d")},
	}
}

// Bound pods that rules notice are counted where they are; those that are terminating don't count for spreads.
func TestCount(t *testing.T) {
	l := cluster()
	s := l.Count(func(int32, int) []int32 { return nil })
	for z, want := range map[string]int32{"c": 2, "d": 0} {
		if got := topology.CountAt(s.Members[0], s.Domains[0][z]); got != want {
			t.Errorf("%d pods in zone %s, want %d", got, z, want)
		}
	}
	if got := l.ValuesOnNodes(zone); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("nodes are in zones %v", got)
	}
}

// Pods can reach the domains of all nodes that their demands allow, and no others.
func TestReach(t *testing.T) {
	l := cluster()
	s := l.Count(func(int32, int) []int32 { return nil })
	got := l.Reach(s, nil)
	if b := s.Domains[0]["b"]; len(got) != 1 || !slices.Equal(got[0][0], []int32{b}) {
		t.Errorf("reached are %v, want zone b, which is %d", got, b)
	}
	known := [][]int32{{7}}
	if again := l.Reach(s, func(int32) [][]int32 { return known }); !slices.Equal(again[0][0], known[0]) {
		t.Errorf("what is known is found again: %v", again)
	}
}

// Nodes with the same domains are in one cell, whether they are there or new.
func TestCells(t *testing.T) {
	l := cluster()
	s := l.Count(func(int32, int) []int32 { return nil })
	c := layout.NewCells(l.Pools, l.Keys, s)
	if c.KnownHost(0) >= 0 || c.OfHost(0) == c.OfHost(1) || c.KnownHost(0) != c.OfHost(0) {
		t.Error("nodes in two zones are in two cells")
	}
	none := &nodepool.Assignment{}
	a, b := c.OfNew(0, 0, 0, none), c.OfNew(0, 0, 1, none)
	if a == b || a != c.OfNew(0, 0, 0, none) || len(c.List) != 4 {
		t.Errorf("new nodes are in cells %d and %d of %d", a, b, len(c.List))
	}
	if layout.TypeDecides(l.Keys, l.Pools[0].Table.Catalog) {
		t.Error("no type states a zone")
	}
}
