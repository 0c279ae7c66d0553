package disruption_test

import (
	"testing"
	"time"
)

// Fleets that are two fifths full come to cost less than half as much.
func TestGlobalFleets(t *testing.T) {
	for _, spec := range []fleetSpec{{100, 0.4, false}, {500, 0.4, true}} {
		s := spec.snapshot()
		before := costOf(t, s)
		f := surveyed(t, s)
		start := time.Now()
		p, err := thrifty().Plan(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		saved, pods, members, bins := 0.0, 0, 0, 0
		for _, c := range p.Commands {
			saved += c.Savings
			pods += c.Pods()
			members += len(c.Members)
			bins += len(c.Replacements)
		}
		if saved < before/2 {
			t.Errorf("%s: saves %.2f of %.2f", spec, saved, before)
		}
		t.Logf("%s: %v; %d commands, %d nodes for %d, %d pods moved; %.2f -> %.2f", spec, time.Since(start), len(p.Commands), members, bins, pods, before, before-saved)
	}
}
