package snapshots

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// Label keys of the snapshots.
const (
	zoneKey     = corev1.LabelTopologyZone
	hostnameKey = corev1.LabelHostname
	capacityKey = "karpenter.sh/capacity-type"
	// familyKey and coresKey are well-known: every instance type states them.
	familyKey = "example.com/family"
	coresKey  = "example.com/cores"
	// tierKey and teamKey are stated only by pools and nodes.
	tierKey = "example.com/tier"
	teamKey = "example.com/team"
	// reservationKey is well-known: reserved offerings state it.
	reservationKey = "example.com/reservation"
)

const gpuName = corev1.ResourceName("example.com/gpu")

// Of makes snapshots with at most the given features.
func Of(features []Feature) *rapid.Generator[*scheduling.Snapshot] {
	return rapid.Custom(func(t *rapid.T) *scheduling.Snapshot {
		m := &maker{t: t, features: features, serial: map[string]int{}, s: &scheduling.Snapshot{
			Time:       time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Vocabulary: requirements.CoreVocabulary().Merge(requirements.Vocabulary{WellKnown: []string{familyKey, coresKey, reservationKey}}),
		}}
		m.zones = []string{"zone-a", "zone-b", "zone-c"}[:m.number("zones", 2, 3)]
		m.catalog()
		m.pools()
		m.overlays()
		m.namespaces()
		m.storage()
		m.workloads()
		m.defaultSpread()
		m.daemons()
		m.nodes()
		m.pods()
		m.buffers()
		m.attachments()
		m.forgetClaimNames()
		return m.s
	})
}

// maker draws one snapshot.
type maker struct {
	t        *rapid.T
	features []Feature
	s        *scheduling.Snapshot
	zones    []string
	// fleet is true if most nodes must be initialized and have pods.
	fleet bool
	// templates are the templates of the workloads. Bound and pending pods are made from these.
	templates []*template
	// serial counts the objects with each prefix, to number their names.
	serial map[string]int
}

func (m *maker) has(f Feature) bool { return slices.Contains(m.features, f) }

// number draws a number from low to high. It shrinks to low.
func (m *maker) number(label string, low, high int) int {
	return rapid.IntRange(low, high).Draw(m.t, label)
}

// chance returns true in about the given percentage of all cases. It shrinks to false.
func (m *maker) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(m.t, label) >= 100-percent
}

// with is like chance, but returns false if the snapshot must not have the feature.
func (m *maker) with(f Feature, label string, percent int) bool {
	return m.has(f) && m.chance(label, percent)
}

// choose draws an element of the list. It shrinks to the first element.
func choose[T any](m *maker, label string, list ...T) T {
	return list[m.number(label, 0, len(list)-1)]
}

// some draws a non-empty part of the list. It shrinks to the first element of the list.
func some[T any](m *maker, label string, list []T) []T {
	out := []T{choose(m, label, list...)}
	if m.chance(label+" more", 40) {
		out = append(out, choose(m, label+" second", list...))
	}
	return out
}

// list draws between low and high elements independently, so that shrinking can remove any of them.
func list[T any](m *maker, label string, low, high int, element func() T) []T {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) T {
		outer := m.t
		m.t = t
		defer func() { m.t = outer }()
		rapid.Bool().Draw(t, "element") // without this, an element may draw nothing, and rapid would report this as a mistake
		return element()
	}), low, high).Draw(m.t, label)
}

// distinct returns the list without repetitions.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// name returns the prefix with the next number, starting with 0.
func (m *maker) name(prefix string) string {
	n := m.serial[prefix]
	m.serial[prefix]++
	return fmt.Sprintf("%s-%d", prefix, n)
}

func amount(text string) resource.Quantity { return resource.MustParse(text) }

func amounts(pairs map[corev1.ResourceName]string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, text := range pairs {
		if text != "" && text != "0" {
			out[name] = amount(text)
		}
	}
	return out
}

// namespaces makes the namespaces, with the label that the API server sets on each.
func (m *maker) namespaces() {
	names := []string{"default"}
	if m.has(Namespaces) {
		names = append(names, "team-a", "team-b")
	}
	for _, name := range names {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
		if name != "default" {
			ns.Labels["team"] = "yes"
		}
		m.s.Namespaces = append(m.s.Namespaces, ns)
	}
}
