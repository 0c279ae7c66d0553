package simulate

import (
	"fmt"
	"io"
	"slices"

	"github.com/drawknife/drawknife/scheduling"
)

// wish is a relaxation with all pods that it concerns.
type wish struct {
	scheduling.Relaxation
	placeholders []scheduling.PodKey
}

func (w wish) concerned() int { return len(w.Pods) + len(w.placeholders) }

// String names the wish: "preferred pod affinity, weight 100: by kubernetes.io/hostname".
func (w wish) String() string {
	switch w.Code {
	case scheduling.RelaxedNodeAffinity:
		return "preferred node affinity, " + w.Detail
	case scheduling.RelaxedTaint:
		return "taint to be avoided, " + w.Detail
	case scheduling.RelaxedPodAffinity:
		return "preferred pod affinity, " + w.Detail
	case scheduling.RelaxedPodAntiAffinity:
		return "preferred pod anti-affinity, " + w.Detail
	case scheduling.RelaxedSpread:
		return "topology spread with ScheduleAnyway, " + w.Detail
	}
	return string(w.Code) + ", " + w.Detail
}

// writeWishes prints which preferences the plan does not keep; preferences of the most pods come first.
func (r textReport) writeWishes(w io.Writer) {
	wishes := make([]wish, 0, len(r.plan.Relaxations))
	for i, relaxation := range r.plan.Relaxations {
		wishes = append(wishes, wish{relaxation, r.held.relaxed[i]})
	}
	if len(wishes) == 0 {
		return
	}
	slices.SortStableFunc(wishes, func(a, b wish) int { return b.concerned() - a.concerned() })
	left := 0
	if !r.verbose && len(wishes) > shownWishes {
		left = len(wishes) - shownWishes
		wishes = wishes[:shownWishes]
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, "Wishes not kept"))
	for _, wish := range wishes {
		r.writeWrapped(w, "  ", wish.String())
		if items := r.workloadItems(wish.Pods); len(items) > 0 {
			lead := "    " + counted(len(wish.Pods), "pod") + ": "
			fmt.Fprintln(w, lead+r.fit(items, ", ", r.width-width(lead)))
		}
		if items := r.bufferItems(wish.placeholders); len(items) > 0 {
			fmt.Fprintln(w, "    "+headroomLead+r.fit(items, ", ", r.width-4-width(headroomLead)))
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "  %s and %d more (--verbose lists them)\n", r.ellipsis(), left)
	}
}
