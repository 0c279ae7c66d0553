package spotshares

import (
	"fmt"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Why returns the limits that apply to a pending pod, or "" if no limits apply. at is the pod's index in the snapshot.
func (x *Index) Why(at int) string {
	if x == nil || at >= len(x.of) || x.of[at] < 0 {
		return ""
	}
	w := &x.List[x.of[at]]
	if x.parts[at] == NotOnSpot {
		return fmt.Sprintf("its workload, %s, has %s: %s, and it is not one of these", w.Workload, w.Limits, w.bounds())
	}
	if w.Division.Parts[x.parts[at]] == nil {
		return ""
	}
	return fmt.Sprintf("its workload, %s, has %s: %s, so that only %d spot pools are open to it", w.Workload, w.Limits, w.bounds(), len(w.Division.Parts[x.parts[at]]))
}

// bounds describes how many pods of the workload may be on spot nodes. For example, it returns "of 10 pods, at most 7 may be on spot nodes,
// and at most 3 on one instance type in one zone".
func (w *Workload) bounds() string {
	text := fmt.Sprintf("of %d pods, at most %d may be on spot nodes", len(w.Pods), w.Division.Most)
	if w.Limits.MaxPoolShare != nil {
		text += fmt.Sprintf(", and at most %d on one instance type in one zone", w.Division.MostOnPool)
	}
	return text
}

// waiting returns the number of pending pods of the workload.
func (w *Workload) waiting() int {
	n := len(w.waitOff)
	for _, list := range w.waits {
		n += len(list)
	}
	return n
}

// Notes returns remarks for plans: one for each workload whose limits concern pending pods.
func (x *Index) Notes() []planning.Note {
	if x == nil {
		return nil
	}
	var out []planning.Note
	for i := range x.List {
		w := &x.List[i]
		if w.waiting() == 0 || w.Division.Free() {
			continue
		}
		text := w.bounds()
		if n := len(w.waitOff); n > 0 {
			text += fmt.Sprintf(": %d of the %d that wait may not", n, w.waiting())
		}
		out = append(out, planning.Note{Code: planning.NoteSpotLimits, Object: w.Workload.String(), Message: text + " (" + w.Limits.String() + ")"})
	}
	return out
}

// Splits describes how plans keep the limits of workloads with pending pods.
func (x *Index) Splits() []planning.SpotSplit {
	if x == nil {
		return nil
	}
	var out []planning.SpotSplit
	for i := range x.List {
		w := &x.List[i]
		if w.waiting() == 0 || w.Division.Free() {
			continue
		}
		split := planning.SpotSplit{
			Workload: w.Workload.String(), Limits: w.Limits.String(), Pods: len(w.Pods), MostOnSpot: w.Division.Most, OffSpot: slices.Clone(w.waitOff),
			MostOnPool: w.Division.MostOnPool,
		}
		for part, pods := range w.waits {
			if len(pods) > 0 {
				pools := w.Division.Parts[part]
				split.Parts = append(split.Parts, planning.SpotPart{Pods: slices.Clone(pods), Pools: byZone(pools), Any: pools == nil})
			}
		}
		out = append(out, split)
	}
	return out
}

// byZone groups the pools by zone.
func byZone(pools []Pool) []planning.SpotPools {
	types := map[string][]string{}
	for _, p := range pools {
		types[p.Zone] = append(types[p.Zone], p.InstanceType)
	}
	var out []planning.SpotPools
	for _, zone := range slices.Sorted(maps.Keys(types)) {
		out = append(out, planning.SpotPools{Zone: zone, InstanceTypes: types[zone]})
	}
	return out
}
