package runtimes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// mostRunSeconds is the maximum run time, a hundred years, so that adding times does not overflow.
const mostRunSeconds = 100 * 365 * 24 * 3600

// mostNamed is the maximum number of reservations that a reason names.
const mostNamed = 4

// Index contains the known run times of a model's pods and the ends of its reservations.
type Index struct {
	// runs has the known run times by the pod's index in the roster, only for pods that can't use all reservations.
	runs map[int]run
	// ends are the reservations that have an end, sorted by their end.
	ends []reservation
	now  time.Time
}

// run is a known run time. gang is the name of the gang that states it; it is empty if the pod itself states it.
type run struct {
	seconds int64
	gang    string
}

// Input contains the inputs of an index.
type Input struct {
	Snapshot *planning.Snapshot
	Roster   *likeness.Roster
}

// Read adds patterns to the roster for pods that run longer than some reservation lasts. Such a pattern keeps the pod off reservations that
// end too early. It returns nil if no pod has a known run time, or if no reservation has an end.
func Read(in Input) *Index {
	if !anyKnown(in) {
		return nil
	}
	market := readMarket(in.Snapshot)
	if len(market.ends) == 0 {
		return nil
	}
	known := runsOf(in)
	x := &Index{runs: map[int]run{}, ends: market.ends, now: in.Snapshot.Time}
	type variant struct {
		pattern int32
		short   int
	}
	variants, r := map[variant]int32{}, in.Roster
	for _, at := range slices.Sorted(maps.Keys(known)) {
		short := len(x.tooShort(known[at].seconds))
		if short == 0 {
			continue
		}
		x.runs[at] = known[at]
		key := variant{r.Like[at], short}
		n, ok := variants[key]
		if !ok {
			n = int32(len(r.Patterns))
			pattern := r.Patterns[r.Like[at]]
			pattern.RuledAs, pattern.First = pattern.Ruled(), with(pattern.First, market.without(x.ends[:short]))
			variants[key], r.Patterns = n, append(r.Patterns, pattern)
		}
		r.Like[at] = n
	}
	return x
}

// anyKnown reports whether the run time of some pod is known.
func anyKnown(in Input) bool {
	return slices.ContainsFunc(in.Roster.Marks, func(m likeness.Marks) bool { return m&likeness.HasRunTime != 0 }) ||
		slices.ContainsFunc(in.Snapshot.Gangs, func(g planning.Gang) bool { return g.RunSeconds > 0 })
}

// tooShort returns the reservations that would end before a pod that is placed now and runs for this time.
func (x *Index) tooShort(seconds int64) []reservation {
	done := x.now.Add(time.Duration(min(seconds, mostRunSeconds)) * time.Second)
	n, _ := slices.BinarySearchFunc(x.ends, done, func(r reservation, t time.Time) int { return r.ends.Compare(t) })
	return x.ends[:n]
}

// runsOf returns the known run times of pods, by the pod's index in the roster.
func runsOf(in Input) map[int]run {
	known := map[int]run{}
	const not = likeness.HasEnded | likeness.IsDeleted | likeness.OfDaemonSet | likeness.IsStatic
	for at, marks := range in.Roster.Marks {
		if marks&likeness.HasRunTime == 0 || marks&not != 0 {
			continue
		}
		if seconds := *in.Roster.Pods[at].Spec.ActiveDeadlineSeconds; seconds > 0 {
			known[at] = run{seconds: seconds}
		}
	}
	ofGang := map[planning.PodKey]run{}
	for i := range in.Snapshot.Gangs {
		g := &in.Snapshot.Gangs[i]
		if g.RunSeconds <= 0 {
			continue
		}
		for _, key := range g.Members {
			ofGang[key] = run{g.RunSeconds, g.Key().String()}
		}
	}
	if len(ofGang) == 0 {
		return known
	}
	for at, pod := range in.Roster.Pods {
		if r, ok := ofGang[planning.KeyOf(pod)]; ok && in.Roster.Marks[at]&not == 0 {
			known[at] = r
		}
	}
	return known
}

// Concerns reports whether the pod's run time matters in the snapshot: the pod has an activeDeadlineSeconds, and some reservation has an
// end.
func Concerns(s *planning.Snapshot, pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && len(readMarket(s).ends) > 0
}

// Why says which reservations the pending pod can't use, or "" if it can use all. at is the pod's index among the snapshot's pending pods.
func (x *Index) Why(at int) string {
	if x == nil {
		return ""
	}
	r, ok := x.runs[at]
	if !ok {
		return ""
	}
	source := "its activeDeadlineSeconds"
	if r.gang != "" {
		source = "runSeconds of gang " + r.gang
	}
	short := x.tooShort(r.seconds)
	var names []string
	for _, one := range short[:min(len(short), mostNamed)] {
		names = append(names, fmt.Sprintf("%s at %s", one.name, one.ends.UTC().Format(time.RFC3339)))
	}
	more := ""
	if n := len(short) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("it runs for up to %s (%s), and these reservations end before it would be done: %s%s",
		time.Duration(min(r.seconds, mostRunSeconds))*time.Second, source, strings.Join(names, ", "), more)
}
