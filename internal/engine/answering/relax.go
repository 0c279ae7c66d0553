package answering

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// writeRelaxations records which preferences of placed pods the plan does not keep. It checks the preferences after all pods have been
// placed.
func (t *Answering) writeRelaxations(out *planning.Plan) {
	type wishKey struct {
		code   planning.RelaxationCode
		detail string
	}
	at := map[wishKey]int{}
	type run struct{ wish, from, to int }
	var runs []run // of out.Order
	var counts []int
	from := 0
	for _, b := range t.S.Placed.All {
		first := from
		from += int(b.Count)
		newnodes.Of(t.Trial).BrokenWishes(b, func(code planning.RelaxationCode, detail string) {
			k := wishKey{code, detail}
			i, ok := at[k]
			if !ok {
				i = len(out.Relaxations)
				at[k] = i
				out.Relaxations, counts = append(out.Relaxations, planning.Relaxation{Code: code, Detail: detail}), append(counts, 0)
			}
			runs = append(runs, run{i, first, from})
			counts[i] += from - first
		})
	}
	for _, r := range runs {
		pods := &out.Relaxations[r.wish].Pods
		if *pods == nil && r.to > r.from {
			*pods = make([]planning.PodKey, 0, counts[r.wish])
		}
		*pods = append(*pods, out.Order[r.from:r.to]...)
	}
	slices.SortFunc(out.Relaxations, func(a, b planning.Relaxation) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
}
