package planvalidator

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// endOf says when the reservation of an offering ends.
type endOf struct {
	offering *cloudprovider.Offering
	ends     time.Time
}

// withRunTimes returns the snapshot, in which pods with a run time have additional requirements: they refuse reservations that end before
// the pod ends. For each changed copy of a pod, it adds an entry to the map itself, with the copy as the key and the given pod as the
// value.
func withRunTimes(s *scheduling.Snapshot, itself map[*corev1.Pod]*corev1.Pod) *scheduling.Snapshot {
	var all []endOf
	for _, types := range s.Catalogs {
		for _, it := range types {
			for i := range it.Offerings {
				if o := &it.Offerings[i]; o.CapacityType() == v1.CapacityTypeReserved {
					all = append(all, endOf{o, o.ReservationEnds})
				}
			}
		}
	}
	if !slices.ContainsFunc(all, func(e endOf) bool { return !e.ends.IsZero() }) {
		return s
	}
	ofGang := map[scheduling.PodKey]int64{}
	for i := range s.Gangs {
		for _, key := range s.Gangs[i].Members {
			ofGang[key] = s.Gangs[i].RunSeconds
		}
	}
	out := *s
	out.Pods = nil
	for _, pod := range s.Pods {
		seconds := ofGang[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]
		if own := pod.Spec.ActiveDeadlineSeconds; seconds == 0 && own != nil {
			seconds = *own
		}
		if term, refuses := refused(all, s.Time, seconds); refuses {
			copied := pod.DeepCopy()
			require(&copied.Spec, []corev1.NodeSelectorTerm{term})
			if before := itself[pod]; before != nil {
				itself[copied] = before
			} else {
				itself[copied] = pod
			}
			pod = copied
		}
		out.Pods = append(out.Pods, pod)
	}
	return &out
}

// refused returns the additional node selector term for a pod that runs for this many seconds from now on. For each reservation that ends
// too early, the term excludes some of the reservation's label values. These are the values that no reservation with a later end or without
// an end has. It does not exclude values of zone, region and capacity type.
func refused(all []endOf, now time.Time, seconds int64) (term corev1.NodeSelectorTerm, refuses bool) {
	if seconds <= 0 {
		return term, false
	}
	tooShort := func(e endOf) bool {
		return !e.ends.IsZero() && e.ends.Sub(now).Seconds() < float64(seconds)
	}
	for _, e := range all {
		if !tooShort(e) {
			continue
		}
		refuses = true
		for _, key := range e.offering.Requirements.Keys() {
			value := e.offering.Value(key)
			if key == v1.CapacityTypeLabelKey || value == "" || slices.ContainsFunc(all, func(other endOf) bool { return !tooShort(other) && other.offering.Value(key) == value }) {
				continue
			}
			if key == corev1.LabelTopologyZone || key == corev1.LabelTopologyRegion {
				continue
			}
			term.MatchExpressions = append(term.MatchExpressions, asked(key, corev1.NodeSelectorOpNotIn, value))
		}
	}
	return term, refuses
}
