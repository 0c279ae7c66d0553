package podgroups

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// A hard network topology of Volcano requires the tier and prefers those below it; a soft one prefers all.
func TestTiers(t *testing.T) {
	tiers := Tiers{"1": "leaf", "2": "spine", "10": "core", "volcano.sh/spine": "spine", "superpod": "pod"}
	needs := func(key string) planning.GangTopology { return planning.GangTopology{Key: key} }
	prefers := func(key string) planning.GangTopology {
		return planning.GangTopology{Key: key, Policy: planning.GangTopologyPreferred}
	}
	for name, tt := range map[string]struct {
		topology map[string]any
		want     []planning.GangTopology
		unknown  bool
	}{
		"none":              {nil, nil, false},
		"hard":              {map[string]any{"mode": "hard", "highestTierAllowed": int64(2)}, []planning.GangTopology{needs("spine"), prefers("leaf")}, false},
		"hard by default":   {map[string]any{"highestTierAllowed": int64(1)}, []planning.GangTopology{needs("leaf")}, false},
		"the highest":       {map[string]any{"highestTierAllowed": int64(10)}, []planning.GangTopology{needs("core"), prefers("spine"), prefers("leaf")}, false},
		"by name":           {map[string]any{"highestTierName": "volcano.sh/spine"}, []planning.GangTopology{needs("spine"), prefers("leaf")}, false},
		"a name alone":      {map[string]any{"highestTierName": "superpod"}, []planning.GangTopology{needs("pod")}, false},
		"hard without tier": {map[string]any{"mode": "hard"}, nil, false},
		"soft":              {map[string]any{"mode": "soft"}, []planning.GangTopology{prefers("core"), prefers("spine"), prefers("leaf")}, false},
		"an unknown tier":   {map[string]any{"highestTierAllowed": int64(3)}, nil, true},
		"an unknown name":   {map[string]any{"highestTierName": "rack"}, nil, true},
	} {
		spec := map[string]any{"minMember": int64(2)}
		if tt.topology != nil {
			spec["networkTopology"] = tt.topology
		}
		object, err := Read(VolcanoPodGroup, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "g"}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		key := Key{VolcanoPodGroup, "ns", "g"}
		part, ok := (&Named{Group: key, Object: key, tiers: tiers}).Part(object, []Member{{PodKey: planning.PodKey{Namespace: "ns", Name: "p"}}})
		if !ok || !slices.Equal(part.gang.Topology, tt.want) || tiers.KnowsTiers(object) == tt.unknown {
			t.Errorf("%s: %v, known %v; want %v", name, part.gang.Topology, tiers.KnowsTiers(object), tt.want)
		}
	}
	for field, topology := range map[string]map[string]any{
		"spec.networkTopology.mode": {"mode": "harder"}, "spec.networkTopology.highestTierAllowed": {"highestTierAllowed": int64(-1)},
	} {
		_, err := Read(VolcanoPodGroup, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "g"}, "spec": map[string]any{"networkTopology": topology}})
		if invalid, ok := err.(*InvalidError); !ok || invalid.Field != field {
			t.Errorf("%v: %v, want an error for %s", topology, err, field)
		}
	}
}
