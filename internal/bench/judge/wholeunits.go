package judge

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// wholeUnits are the resources of which a certificate counts whole units. Like the certificate's values, this list is only a hint. If the
// requests of pods and the room of a node are rounded down to whole units, pods that fit on the node together still fit. So the proof may
// use whole units as additional resources.
type wholeUnits []wholeUnit

type wholeUnit struct {
	rule     string
	resource int
	unit     int64
}

func (j *Judge) wholeUnits(hint *scheduling.Certificate) wholeUnits {
	var out wholeUnits
	for i := range hint.Rules {
		r := &hint.Rules[i]
		at := slices.Index(j.resources, r.Resource)
		if at < 0 {
			continue
		}
		unit := r.Unit.Value()
		if r.Resource == corev1.ResourceCPU {
			unit = r.Unit.MilliValue()
		}
		if unit > 0 {
			out = append(out, wholeUnit{r.Name, at, unit})
		}
	}
	return out
}

// counted returns a copy of the given amounts. To this copy it appends, for each wholeUnit, the number of whole units in the amount of the
// unit's resource.
func (w wholeUnits) counted(a amounts) amounts {
	out := make(amounts, len(a), len(a)+len(w))
	copy(out, a)
	for _, u := range w {
		out = append(out, max(a[u.resource], 0)/u.unit)
	}
	return out
}
