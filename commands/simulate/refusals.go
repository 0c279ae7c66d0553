package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
)

// refusal is a set of reasons with the pods that have no place for these reasons.
type refusal struct {
	reasons []scheduling.Reason
	pods    []scheduling.PodKey
}

// groupRefusals groups the pods that have no place for the same reasons, the largest group first.
func groupRefusals(pods []scheduling.Unschedulable) []refusal {
	index := make(map[string]int)
	var refusals []refusal
	for _, pod := range pods {
		var key strings.Builder
		for _, reason := range pod.Reasons {
			key.WriteString(reason.String() + "\n" + nearest(reason) + "\n")
		}
		i, ok := index[key.String()]
		if !ok {
			i = len(refusals)
			index[key.String()] = i
			refusals = append(refusals, refusal{reasons: pod.Reasons})
		}
		refusals[i].pods = append(refusals[i].pods, pod.Pod)
	}
	slices.SortStableFunc(refusals, func(a, b refusal) int { return len(b.pods) - len(a.pods) })
	return refusals
}

func (r textReport) writeUnschedulable(w io.Writer) {
	if len(r.plan.Unschedulable) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(red, "Not placed: "+counted(len(r.plan.Unschedulable), "pod")))
	for _, refusal := range groupRefusals(r.plan.Unschedulable) {
		for _, c := range r.workloads.counts(refusal.pods) {
			fmt.Fprintf(w, "  %s%s\n", c, r.examples(refusal.pods, c))
		}
		r.writeReasons(w, refusal.reasons)
	}
}

// writeReasons writes each reason as an item of a list.
func (r textReport) writeReasons(w io.Writer, reasons []scheduling.Reason) {
	for _, reason := range reasons {
		r.writeWrapped(w, "    - ", reason.String())
		if nearest := nearest(reason); nearest != "" {
			r.writeWrapped(w, "      ", "nearest: "+nearest)
		}
	}
}

// nearest returns the single change that would give the pod a place, or "" if no single change would.
func nearest(reason scheduling.Reason) string {
	if reason.NearestMiss == nil {
		return ""
	}
	return reason.NearestMiss.String()
}

// writeWrapped writes text in lines that fit the canvas: lead precedes the first line, and the other lines are indented by its width.
func (r textReport) writeWrapped(w io.Writer, lead, text string) {
	for _, line := range wrap(text, r.width-width(lead)) {
		fmt.Fprintln(w, lead+line)
		lead = strings.Repeat(" ", width(lead))
	}
}

// examples returns names of pods of a workload: as many as fit on the line, or all with --verbose.
func (r textReport) examples(pods []scheduling.PodKey, of workloadCount) string {
	var names []string
	for _, pod := range pods {
		if r.workloads[pod] == of.workload {
			names = append(names, pod.Name)
		}
	}
	if r.verbose {
		return ": " + strings.Join(names, ", ")
	}
	used := width(of.String()) + len("  : ")
	return ": " + r.fit(names, ", ", max(r.width-used, 0))
}
