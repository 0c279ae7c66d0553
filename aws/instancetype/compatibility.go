package instancetype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
)

// ReasonNoImage is the reason for a type on which none of Settings.Images boots. Without this check, a claim for both architectures would
// be launched with the cheaper architecture, for which the class may have no image.
const ReasonNoImage = "no image of the node class boots on it"

// images says on which types the class's images boot. This depends on a few labels that most types share, so each combination of their
// values is checked only once.
type images struct {
	wants []requirements.Set
	keys  []string
	known map[string]bool
	text  []byte
}

func newImages(wants []requirements.Set) *images {
	m := &images{wants: wants, known: map[string]bool{}}
	for _, want := range wants {
		m.keys = append(m.keys, want.Keys()...)
	}
	slices.Sort(m.keys)
	m.keys = slices.Compact(m.keys)
	return m
}

// boot reports whether one of the images boots on instances with these labels. It returns true if the images are unknown. For each key,
// labels contain values, or require that the label is absent, or allow any value.
func (m *images) boot(labels requirements.Set) bool {
	if len(m.wants) == 0 {
		return true
	}
	m.text = m.text[:0]
	for _, key := range m.keys {
		r := labels.Get(key)
		if r.Complement() {
			m.text = append(m.text, '*') // marks a key whose values the labels do not restrict to a list
		}
		for _, value := range r.Values() {
			m.text = append(append(m.text, value...), ',')
		}
		m.text = append(m.text, ';')
	}
	boots, ok := m.known[string(m.text)]
	if !ok {
		boots = slices.ContainsFunc(m.wants, func(want requirements.Set) bool { return labels.Compatible(want, nil) == nil })
		m.known[string(m.text)] = boots
	}
	return boots
}

// Incompatible says in a sentence why instances of a type can't be launched with the settings; it is empty if they can. Resolve lists such
// a type with all its offerings unavailable. It checks only the facts of the type. The labels of the type decide whether an image boots on
// it: see ReasonNoImage.
func Incompatible(t *catalog.Type, s Settings) string {
	if t == nil {
		return "there is no type"
	}
	if why := networkIncompatible(t, s); why != "" {
		return why
	}
	if (s.AMIFamily == "" || s.AMIFamily == awsv1.AMIFamilyAL2023) && strings.HasPrefix(t.Name, "a1.") {
		return "AL2023 does not run on a1 types"
	}
	if s.NestedVirtualization && !slices.Contains(t.CPUFeatures, "nested-virtualization") {
		return "its processor does not offer nested virtualization"
	}
	if why := cpuIncompatible(t, &s); why != "" {
		return why
	}
	if w := string(s.BandwidthWeighting); w != "" && s.BandwidthWeighting != awsv1.BandwidthWeightingDefault && !slices.Contains(t.Network.BandwidthWeightings, w) {
		return fmt.Sprintf("it does not support bandwidth weighting %q", w)
	}
	if why := tenancyIncompatible(t, &s); why != "" {
		return why
	}
	if s.PlacementStrategy != "" && !slices.Contains(t.PlacementStrategies, s.PlacementStrategy) {
		return fmt.Sprintf("it cannot join a placement group of strategy %q", s.PlacementStrategy)
	}
	if s.ConnectionTracking && t.Hypervisor != "nitro" {
		return "connection tracking can be configured only under the nitro hypervisor"
	}
	return ""
}

// networkIncompatible says why the type can't have the interfaces that the class lists, or returns "" if it can.
func networkIncompatible(t *catalog.Type, s Settings) string {
	if len(s.NetworkInterfaces) == 0 {
		return ""
	}
	if t.Network.Cards == 0 {
		return "it has no network cards"
	}
	if t.Network.ENA == "unsupported" {
		return "it has no enhanced networking (ENA)"
	}
	efaOnly := int64(0)
	for _, n := range s.NetworkInterfaces {
		if int64(n.Card) >= t.Network.Cards {
			return fmt.Sprintf("it has %d network cards, card %d is asked for", t.Network.Cards, n.Card)
		}
		if have := t.Network.CardENIs(n.Card); int64(n.Device) >= have {
			return fmt.Sprintf("network card %d has %d interfaces, device %d is asked for", n.Card, have, n.Device)
		}
		if n.EFAOnly {
			efaOnly++
		}
	}
	if s.IPPrefixCount > 0 && 1+s.IPPrefixCount > t.Network.IPv4PerENI {
		return fmt.Sprintf("an interface has room for %d address prefixes, %d are asked for", max(0, t.Network.IPv4PerENI-1), s.IPPrefixCount)
	}
	if efaOnly > t.Network.EFA {
		return fmt.Sprintf("it has %d EFA interfaces, %d are asked for", t.Network.EFA, efaOnly)
	}
	return ""
}
