package judge

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// wholeUnits are the resources that a certificate counts in whole units. This is only a hint, like the certificate's values. Round the
// requests of pods and the room of a node down to whole units: pods that fit on the node together then also fit in these units. So the
// proof may use whole units as additional resources.
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

// counted returns the amounts, followed by the numbers of whole units in them.
func (w wholeUnits) counted(a amounts) amounts {
	out := make(amounts, len(a), len(a)+len(w))
	copy(out, a)
	for _, u := range w {
		out = append(out, max(a[u.resource], 0)/u.unit)
	}
	return out
}
