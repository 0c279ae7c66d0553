package certify

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Counted tries to improve the proof by counting whole pods. It returns a proof with a better bound, or pf itself if it finds no such
// proof.
func (t Certifying) Counted(ctx context.Context, pf *trial.Proof) *trial.Proof {
	q := *pf.P
	q.Planned = float64(newnodes.Of(t.Trial).NewCost())
	nodes := 0
	for _, rooms := range valuing.Of(t.Trial).PlannedRooms() {
		nodes += int(rooms.Nodes)
	}
	if t.Options.Effort == planning.EffortFast || !pf.V.WorthCounting(&q.Problem, nodes) {
		return pf
	}
	t.seedProof(&q)
	if found := pf.V.CountWhole(ctx, &q.Problem); found != nil {
		return &trial.Proof{P: &q, V: found}
	}
	return pf
}

// wholeCounts returns the certificate's entries for the resources that a type's proof counts in whole pods.
func wholeCounts(m *model.Model, w *pricing.WholeCount) []planning.CertificateCount {
	var out []planning.CertificateCount
	for i, unit := range w.Unit {
		if unit > 0 {
			name := m.Resources.Names[w.Dim[i]]
			out = append(out, planning.CertificateCount{Resource: name, Unit: resources.Quantity(name, unit)})
		}
	}
	return out
}
