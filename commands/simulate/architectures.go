package simulate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// architectures are the architectures that instance types state, by name. Images must run on them, and planning does not look at images.
type architectures map[string]string

func indexArchitectures(snapshot *scheduling.Snapshot) architectures {
	of := architectures{}
	for _, catalog := range snapshot.Catalogs {
		for _, t := range catalog {
			if t == nil || !t.Requirements.Has(corev1.LabelArchStable) {
				continue
			}
			if values := t.Requirements.Get(corev1.LabelArchStable).Values(); len(values) == 1 {
				of[t.Name] = values[0]
			}
		}
	}
	return of
}
