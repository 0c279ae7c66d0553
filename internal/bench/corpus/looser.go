package main

import (
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/workload"
)

// settle copies figures between scenarios with the same pods and types but different rules. A packing for stricter rules is also valid for
// less strict rules. A bound for less strict rules is also valid for stricter rules, because these allow fewer packings.
func (r records) settle() {
	names := r.names()
	for _, strict := range names {
		for _, loose := range names {
			if strict == loose || !looser(loose, strict) {
				continue
			}
			if best := r[strict].Best; best > 0 {
				r[loose].found(best, r[strict].BestBy+", for "+strict)
			}
			r[strict].proved(r[loose].ProvenBound, r[loose].ProvenBy+", for "+loose)
		}
	}
}

// looser reports whether every packing of the scenario strict is also a packing of the scenario loose.
func looser(loose, strict string) bool {
	switch {
	case strict == "gap-6zones":
		return loose == "gap-norules"
	case strings.HasPrefix(strict, "f-"):
		return loose == "fa"+strings.TrimPrefix(strict, "f")
	}
	a, err := workload.ParseOrdinary(loose)
	if err != nil {
		return false
	}
	b, err := workload.ParseOrdinary(strict)
	if err != nil || !slices.Equal(a.Families, b.Families) || a.Seed != b.Seed || a.Pods != b.Pods {
		return false
	}
	has := func(o workload.Ordinary, rule string) bool { return o.Rules == rule || o.Rules == "both" }
	return (!has(a, "anti") || has(b, "anti")) && (!has(a, "spread") || has(b, "spread") && a.Zones == b.Zones)
}
