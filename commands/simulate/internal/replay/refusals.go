package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
)

// mostRefusals is the largest number of refusals in a Result.
const mostRefusals = 10

// Refusal is a set of reasons for which some pods have no place.
type Refusal struct {
	// Pods is the number of pods with these reasons. Pod is the first of them by name.
	Pods int    `json:"pods"`
	Pod  string `json:"pod"`
	// Reasons are sentences; Nearest is the smallest change that would give the pods a place; empty if it is not known.
	Reasons []string `json:"reasons"`
	Nearest string   `json:"nearest,omitempty"`
}

// refusedNow returns the pods that are still pending and had no place in the last plan.
func (e *engine) refusedNow() []*scheduling.Unschedulable {
	var out []*scheduling.Unschedulable
	for _, name := range sortedNames(e.record.refused) {
		if e.waiting[name] != nil {
			out = append(out, e.record.refused[name])
		}
	}
	return out
}

// refuse records the pods for which the last plan had no place.
func (r *record) refuse(list []scheduling.Unschedulable) {
	r.refused = make(map[string]*scheduling.Unschedulable, len(list))
	for i := range list {
		r.refused[list[i].Pod.String()] = &list[i]
	}
}

// refusalsOf groups pods by the reasons why they have no place.
func refusalsOf(list []*scheduling.Unschedulable) []Refusal {
	groups := map[string]*Refusal{}
	for _, pod := range list {
		r := Refusal{Pods: 1, Pod: pod.Pod.String()}
		for i := range pod.Reasons {
			reason := &pod.Reasons[i]
			r.Reasons = append(r.Reasons, reason.String())
			if near := reason.NearestMiss; near != nil && r.Nearest == "" {
				r.Nearest = near.String()
			}
		}
		text := strings.Join(r.Reasons, "\n")
		if known := groups[text]; known != nil {
			known.Pods++
			known.Pod = min(known.Pod, r.Pod)
			continue
		}
		groups[text] = &r
	}
	var out []Refusal
	for _, text := range sortedNames(groups) {
		out = append(out, *groups[text])
	}
	slices.SortStableFunc(out, func(a, b Refusal) int { return cmp.Compare(b.Pods, a.Pods) })
	return out[:min(len(out), mostRefusals)]
}
