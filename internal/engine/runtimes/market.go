package runtimes

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// reservation is a reservation with its end, which is the zero time if the reservation has no end. labels are the labels that its offerings
// state in addition to zone, region and capacity type.
type reservation struct {
	name   string
	labels map[string]string
	ends   time.Time
}

// market contains the available reservations.
type market struct {
	// ends are the reservations that have an end, sorted by their end. others are the reservations without an end.
	ends, others []reservation
}

// readMarket finds the reservations of all catalogs. If offerings state several ends for a reservation, the earliest end is used.
func readMarket(s *planning.Snapshot) market {
	known := map[string]reservation{}
	ending := false
	for _, types := range s.Catalogs {
		for _, t := range types {
			if t == nil {
				continue
			}
			for i := range t.Offerings {
				if o := &t.Offerings[i]; o.Reserved() {
					ending = note(known, o) || ending
				}
			}
		}
	}
	var m market
	if !ending {
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if r := known[name]; r.ends.IsZero() {
			m.others = append(m.others, r)
		} else {
			m.ends = append(m.ends, r)
		}
	}
	slices.SortStableFunc(m.ends, func(a, b reservation) int { return a.ends.Compare(b.ends) })
	return m
}

// note adds the offering's reservation to the map known, and reports whether the reservation has an end.
func note(known map[string]reservation, o *cloudprovider.Offering) bool {
	set := o.Requirements.Without(corev1.LabelTopologyZone, zoneIDLabel, corev1.LabelTopologyRegion, v1.CapacityTypeLabelKey)
	r, ok := known[set.String()]
	if !ok {
		r = reservation{name: set.String(), labels: map[string]string{}}
		for one := range set.All {
			if values := one.Values(); !one.Complement() && len(values) == 1 {
				r.labels[one.Key()] = values[0]
			}
		}
	}
	if !o.ReservationEnds.IsZero() && (r.ends.IsZero() || o.ReservationEnds.Before(r.ends)) {
		r.ends = o.ReservationEnds
	}
	known[r.name] = r
	return !r.ends.IsZero()
}

// zoneIDLabel is the label with the ID of a zone, which is the same in all accounts.
const zoneIDLabel = "topology.k8s.aws/zone-id"

// The method without returns the requirement that a node belongs to none of the reservations in the list short, which must be the first of
// m.ends. The requirement uses the label with the most values, usually the reservation's ID. If no label distinguishes these reservations
// from others, the requirement excludes all reserved nodes.
func (m market) without(short []reservation) corev1.NodeSelectorRequirement {
	rest := slices.Concat(m.ends[len(short):], m.others)
	all := slices.Concat(short, rest)
	best, most := "", 0
	for _, key := range slices.Sorted(maps.Keys(short[0].labels)) {
		excluded := valuesOf(short, key)
		separates := !slices.ContainsFunc(short, func(r reservation) bool { return r.labels[key] == "" }) &&
			!slices.ContainsFunc(rest, func(r reservation) bool { return slices.Contains(excluded, r.labels[key]) })
		if n := len(valuesOf(all, key)); separates && n > most {
			best, most = key, n
		}
	}
	if best == "" {
		return corev1.NodeSelectorRequirement{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpNotIn, Values: []string{v1.CapacityTypeReserved}}
	}
	return corev1.NodeSelectorRequirement{Key: best, Operator: corev1.NodeSelectorOpNotIn, Values: valuesOf(short, best)}
}

// valuesOf returns the distinct values of a label, sorted.
func valuesOf(list []reservation, key string) []string {
	var values []string
	for _, r := range list {
		if value := r.labels[key]; value != "" {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// The function with returns a copy of the pod that also has the node requirement r. The pod itself does not change.
func with(pod *corev1.Pod, r corev1.NodeSelectorRequirement) *corev1.Pod {
	out := *pod
	affinity, node := corev1.Affinity{}, corev1.NodeAffinity{}
	if pod.Spec.Affinity != nil {
		affinity = *pod.Spec.Affinity
	}
	if affinity.NodeAffinity != nil {
		node = *affinity.NodeAffinity
	}
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}
	if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms = nil
		for _, own := range required.NodeSelectorTerms {
			if len(own.MatchExpressions)+len(own.MatchFields) == 0 {
				continue // a term without expressions matches no node
			}
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: append(slices.Clone(own.MatchExpressions), r), MatchFields: own.MatchFields})
		}
	}
	node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	affinity.NodeAffinity = &node
	out.Spec.Affinity = &affinity
	return &out
}
