package podgroups

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// The modes of NetworkTopology, from Volcano (volcano.sh/apis scheduling/v1beta1 NetworkTopologyMode).
const (
	modeHard = "hard"
	modeSoft = "soft"
)

// Tiers maps the number or the name of a Volcano network tier to the node label of the tier. The domains of a tier with a lower number are
// smaller.
type Tiers map[string]string

// topology converts a NetworkTopology to the topology constraints of a gang. In hard mode, all pods must be in one domain of the highest
// allowed tier, and should be in one domain of each lower tier. In soft mode, all tiers are only preferred. The second result is false if
// the highest tier that the NetworkTopology allows has no label in t.
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
		return nil, true // Volcano also ignores a hard constraint without a tier
	}
	label := t[highest]
	if limited && label == "" {
		return nil, false
	}
	for _, number := range slices.Backward(t.numbers()) {
		key := t[strconv.Itoa(number)]
		switch {
		case limited && len(out) == 0 && key != label: // the tier is higher than allowed
		case limited && len(out) == 0:
			out = append(out, planning.GangTopology{Key: key})
		default:
			out = append(out, planning.GangTopology{Key: key, Policy: planning.GangTopologyPreferred})
		}
	}
	if limited && len(out) == 0 { // the tier has a name but no number
		out = append(out, planning.GangTopology{Key: label})
	}
	return out[:min(len(out), mostTopology)], true
}

// numbers returns the numbers of the tiers in ascending order. It leaves out a tier if a tier with a lower number has the same label.
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

// KnowsTiers reports whether t has the label of the tier that the object requires for its pods. It returns true for objects that require no
// tier.
func (t Tiers) KnowsTiers(o *Object) bool {
	if o == nil || o.Kind != VolcanoPodGroup {
		return true
	}
	_, known := t.topology(o.Spec.NetworkTopology)
	return known
}
