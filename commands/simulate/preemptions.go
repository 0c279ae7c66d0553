package simulate

import (
	"fmt"
	"io"

	"github.com/drawknife/drawknife/scheduling"
)

// preemption is a pending pod for which kube-scheduler preempts other pods.
type preemption struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node"`
	Victims []string `json:"victims"`
}

func newPreemptions(list []scheduling.Preemption) []preemption {
	var out []preemption
	for _, p := range list {
		out = append(out, preemption{Pod: p.Pod.String(), Node: p.Node, Victims: podNames(p.Victims)})
	}
	return out
}

// shownPreemptions is the number of preemptions that are listed, unless the user asks for all.
const shownPreemptions = 10

// writePreemptions lists the pods for which kube-scheduler preempts other pods. Unless --preemption expect was given, the plan still has
// places for these pods, because a new node may be ready before preemption has finished.
func (r textReport) writePreemptions(w io.Writer) {
	list := r.plan.Preemptions
	if len(list) == 0 {
		return
	}
	if r.preempted {
		fmt.Fprintf(w, "\nNo node is planned for %s, for which kube-scheduler preempts others:\n", counted(len(list), "pod"))
	} else {
		fmt.Fprintf(w, "\nkube-scheduler may preempt others for %s:\n", counted(len(list), "pod"))
	}
	shown := list
	if !r.verbose && len(shown) > shownPreemptions {
		shown = shown[:shownPreemptions]
	}
	for i := range shown {
		r.writeWrapped(w, "  ", shown[i].String())
	}
	if n := len(list) - len(shown); n > 0 {
		fmt.Fprintf(w, "  %s and %s (--verbose lists them)\n", r.ellipsis(), number(n)+" more")
	}
}
