package replay

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

const (
	// shownFamilies is the largest number of instance families, and of capacity types, that a result lists. All other families are added up
	// in one entry.
	shownFamilies = 8
	otherFamilies = "others"
	// mostEvents is the maximum number of events in a result.
	mostEvents = 5000
)

// Mix is the average number of nodes of a capacity type or of an instance family, with one number for each period of Result.Series.
type Mix struct {
	Name  string
	Nodes []float64
}

// Event is something that happened to nodes during the run.
type Event struct {
	At time.Duration
	// Kind is EventInterruption or EventCommand. Text names the nodes.
	Kind, Text string
}

// Kinds of events.
const (
	EventInterruption = "interruption"
	EventCommand      = "consolidation"
)

// mixRecord adds up the hours of nodes, by name of the family or capacity type, and by period.
type mixRecord struct {
	hours map[string][]float64
}

// count returns the present number of ready nodes by group. The function name returns the name of a node's group from the node's labels.
func count(instances map[string]*instance, name func(labels map[string]string) string) map[string]int {
	out := map[string]int{}
	for _, m := range instances {
		if m.ready {
			out[name(m.claim.Labels)]++
		}
	}
	return out
}

func capacityTypeOf(labels map[string]string) string {
	return cmp.Or(labels[v1.CapacityTypeLabelKey], v1.CapacityTypeOnDemand)
}

// familyOf returns the part of the instance type's name before the dot.
func familyOf(labels map[string]string) string {
	family, _, _ := strings.Cut(labels[corev1.LabelInstanceTypeStable], ".")
	return family
}

// add adds the hours of nodes in a period.
func (r *mixRecord) add(nodes map[string]int, period, periods int, hours float64) {
	if r.hours == nil {
		r.hours = map[string][]float64{}
	}
	for name, n := range nodes {
		if r.hours[name] == nil {
			r.hours[name] = make([]float64, periods)
		}
		r.hours[name][period] += float64(n) * hours
	}
}

// result returns the average number of nodes in each period, for each name of an instance family or capacity type. Names with the most
// hours come first. The parameter most limits the number of names. If there are more names, an additional entry is the sum of the remaining
// names.
func (r *mixRecord) result(lengths []float64, most int) []Mix {
	type named struct {
		name  string
		total float64
	}
	var names []named
	for name, hours := range r.hours {
		sum := 0.0
		for _, h := range hours {
			sum += h
		}
		names = append(names, named{name, sum})
	}
	slices.SortFunc(names, func(a, b named) int { return cmp.Or(cmp.Compare(b.total, a.total), strings.Compare(a.name, b.name)) })
	var out []Mix
	for i, n := range names {
		if i == most {
			out = append(out, Mix{Name: otherFamilies, Nodes: make([]float64, len(lengths))})
		}
		if i < most {
			out = append(out, Mix{Name: n.name, Nodes: make([]float64, len(lengths))})
		}
		to := out[len(out)-1].Nodes
		for k, h := range r.hours[n.name] {
			to[k] = math.Round((to[k]+h/lengths[k])*1e6) / 1e6
		}
	}
	return out
}

// happened records an event; events after the first mostEvents are left out.
func (r *record) happened(at time.Duration, kind, text string) {
	if len(r.events) < mostEvents {
		r.events = append(r.events, Event{at, kind, text})
	}
}
