package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// counted is the proof, or one with a better bound that counts pods whole.
func (t *Trial) counted(ctx context.Context, pf *proof) *proof {
	q := *pf.p
	q.Planned = float64(t.newCost())
	nodes := 0
	for _, rooms := range t.plannedRooms() {
		nodes += int(rooms.Nodes)
	}
	if t.options.Effort == EffortFast || !pf.v.WorthCounting(&q.Problem, nodes) {
		return pf
	}
	t.seedProof(&q)
	if found := pf.v.CountWhole(ctx, &q.Problem); found != nil {
		return &proof{&q, found}
	}
	return pf
}

// wholeCounts is what a certificate says of what a type's proof counts in whole pods.
func (m *Model) wholeCounts(w *pricing.WholeCount) []CertificateCount {
	var out []CertificateCount
	for i, unit := range w.Unit {
		if unit > 0 {
			name := m.c.Resources.Names[w.Dim[i]]
			out = append(out, CertificateCount{Resource: name, Unit: resources.Quantity(name, unit)})
		}
	}
	return out
}
