package podgroups

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// The modes of Volcano's network topology: volcano.sh/apis scheduling/v1beta1 NetworkTopologyMode.
const (
	modeHard = "hard"
	modeSoft = "soft"
)

// Tiers are the node labels of Volcano's network tiers, by the number or the name of a tier. A tier with a lower number is narrower.
type Tiers map[string]string

// topology returns the constraints that the network topology means. In hard mode all pods are in one domain of the highest tier, and in
// one of each lower tier if possible; in soft mode all tiers are only preferred. known is false if there is no label for the highest tier
// of a hard constraint.
func (t Tiers) topology(want *NetworkTopology) (out []planning.GangTopology, known bool) {
	if want == nil {
		return nil, true
	}
	highest, limited := "", want.Mode != modeSoft
	switch {
	case !limited:
	case want.HighestTierAllowed != nil:
		highest = strconv.FormatInt(*want.HighestTierAllowed, 10)
	case want.HighestTierName != "":
		highest = want.HighestTierName
	default:
		return nil, true // as for Volcano
	}
	label := t[highest]
	if limited && label == "" {
		return nil, false
	}
	for _, number := range slices.Backward(t.numbers()) {
		key := t[strconv.Itoa(number)]
		switch {
		case limited && len(out) == 0 && key != label: // a higher tier
		case limited && len(out) == 0:
			out = append(out, planning.GangTopology{Key: key})
		default:
			out = append(out, planning.GangTopology{Key: key, Policy: planning.GangTopologyPreferred})
		}
	}
	if limited && len(out) == 0 { // the tier has only a name
		out = append(out, planning.GangTopology{Key: label})
	}
	return out[:min(len(out), mostTopology)], true
}

// numbers lists the tiers that have a number and a label of their own, the narrowest first.
func (t Tiers) numbers() (out []int) {
	seen := map[string]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(t), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		number, err := strconv.Atoi(name)
		if key := t[name]; err == nil && number >= 0 && isLabelKey(key) && !seen[key] {
			seen[key], out = true, append(out, number)
		}
	}
	slices.Sort(out)
	return out
}

// KnowsTiers reports whether there is a label for the tier in which the object requires its pods to be. It is true for objects that require
// none.
func (t Tiers) KnowsTiers(o *Object) bool {
	if o == nil || o.Kind != VolcanoPodGroup {
		return true
	}
	_, known := t.topology(o.Spec.NetworkTopology)
	return known
}
