package topology_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/seeded"
)

// state has nodes in zones, and a group of each kind by zone and by node; the groupss state or count them.
func state(zones []string) (*topology.State, map[string]*topology.Groups) {
	groups := []topology.Group{
		{Kind: topology.Spread, Key: "zone", Hard: true, MaxSkew: 1, MinDomains: 1},
		{Kind: topology.Anti, Key: "zone", Hard: true},
		{Kind: topology.Affinity, Key: "zone", Hard: true},
		{Kind: topology.Spread, Key: "kubernetes.io/hostname", Hard: true, MaxSkew: 2, MinDomains: 1},
		{Kind: topology.Anti, Key: "kubernetes.io/hostname", Hard: true},
		{Kind: topology.Exclusive, Key: "TCP/80/0.0.0.0", Hard: true},
	}
	keys, _ := topology.PlaceKeys(groups)
	s := topology.NewState(groups, keys, func(int32, int) []int32 { return nil }, len(zones))
	for _, zone := range zones {
		s.AddHost(func(string) string { return zone }, requirements.NewSet(requirements.In("zone", zone)), nil)
	}
	return s, map[string]*topology.Groups{
		"spread by zone": {Owns: []int32{0}, In: []int32{0}}, "alone in a zone": {Owns: []int32{1}, In: []int32{1}},
		"with others": {Owns: []int32{2}}, "an other": {In: []int32{2}}, "two a node": {Owns: []int32{3}, In: []int32{3}},
		"alone on a node": {Owns: []int32{4}, In: []int32{4}}, "a port": {In: []int32{5}}, "kept away": {In: []int32{1, 4}},
	}
}

// Each kind of rule admits pods where it should, as pods are placed.
func TestStateAdmits(t *testing.T) {
	type step struct {
		pod  string
		host int32
		want bool
	}
	for name, steps := range map[string][]step{
		"SCH-115 a spread by zone":         {{"spread by zone", 0, true}, {"spread by zone", 1, false}, {"spread by zone", 2, true}, {"spread by zone", 1, true}},
		"anti-affinity by zone":            {{"alone in a zone", 0, true}, {"alone in a zone", 1, false}, {"alone in a zone", 2, true}},
		"anti-affinity keeps others away":  {{"alone in a zone", 0, true}, {"kept away", 1, false}, {"kept away", 2, true}, {"alone in a zone", 2, false}},
		"affinity follows":                 {{"with others", 0, false}, {"an other", 2, true}, {"with others", 0, false}, {"with others", 2, true}},
		"a spread by node":                 {{"two a node", 0, true}, {"two a node", 0, true}, {"two a node", 0, false}, {"two a node", 1, true}},
		"anti-affinity by node":            {{"alone on a node", 0, true}, {"alone on a node", 0, false}, {"alone on a node", 1, true}},
		"a host port":                      {{"a port", 0, true}, {"a port", 0, false}, {"a port", 1, true}},
		"what is not ruled goes anywhere":  {{"an other", 0, true}, {"an other", 0, true}},
		"rules about other pods are apart": {{"a port", 0, true}, {"alone on a node", 0, true}, {"spread by zone", 0, true}},
	} {
		t.Run(name, func(t *testing.T) {
			s, ruled := state([]string{"a", "a", "b"})
			for i, step := range steps {
				o := ruled[step.pod]
				if got := s.Admits(o, 0, step.host); got != step.want {
					t.Fatalf("step %d: %q on node %d: %v, want %v", i, step.pod, step.host, got, step.want)
				}
				if step.want {
					s.Place(o, step.host, 1)
				}
			}
		})
	}
}

// Placing and taking back leaves nothing, a copy doesn't see it, and HostCounter counts as Place does.
func TestStateIsUndone(t *testing.T) {
	names := []string{"spread by zone", "alone in a zone", "with others", "an other", "two a node", "alone on a node", "a port", "kept away"}
	type placing struct {
		pod  string
		host int32
	}
	answers := func(s *topology.State, ruled map[string]*topology.Groups) []bool {
		var out []bool
		for _, name := range names {
			for host := range int32(3) {
				out = append(out, s.Admits(ruled[name], 0, host))
			}
		}
		return out
	}
	seeded.Check(t, func(t *rapid.T) {
		zones := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 3, 3).Draw(t, "zones")
		s, ruled := state(zones)
		counted, _ := state(zones)
		before := answers(s, ruled)
		var placed []placing
		for range rapid.IntRange(1, 8).Draw(t, "pods") {
			placed = append(placed, placing{rapid.SampledFrom(names).Draw(t, "ruled"), rapid.Int32Range(0, 2).Draw(t, "host")})
		}
		copied := s.Clone()
		for _, p := range placed {
			s.Place(ruled[p.pod], p.host, 1)
		}
		if got := answers(copied, ruled); !reflect.DeepEqual(got, before) {
			t.Fatalf("a copy answers %v, want %v", got, before)
		}
		c := topology.NewHostCounter(counted)
		for host := range int32(3) {
			c.Begin(host)
			for _, p := range placed {
				if p.host == host {
					c.Add(ruled[p.pod])
				}
			}
			c.End()
		}
		if got, want := answers(counted, ruled), answers(s, ruled); !reflect.DeepEqual(got, want) {
			t.Fatalf("counted by node: %v, want %v", got, want)
		}
		for _, p := range placed {
			s.Place(ruled[p.pod], p.host, -1)
		}
		if got := answers(s, ruled); !reflect.DeepEqual(got, before) {
			t.Fatalf("taken back: %v, want %v", got, before)
		}
	})
}
