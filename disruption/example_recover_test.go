package disruption_test

import (
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// A process begins and finds a command that its predecessor was carrying out: one node is being replaced by another, which
// is still coming up. It goes on with it, and nothing is launched a second time.
func ExampleRecover() {
	w := newWorld()
	w.node("old", "c16", holding(pods("p", 1, "1")...), recorded(memberOf("0a1b", 0, 1)))
	w.node("new", "c2", coming(registered), recorded(replacementOf("0a1b", 0, 1)))
	view := disruption.ViewOf(w.snapshot) // in a cluster: cluster.State's

	found := disruption.Recover(view)
	var queue disruption.Queue
	for _, c := range found.Commands {
		if err := queue.Adopt(c.Execution); err != nil {
			fmt.Println(err)
		}
		fmt.Println(c.Execution.Command().ID, c.Execution.State(), "replacement", c.Replacements[0].Name)
	}
	for _, effect := range found.Effects {
		fmt.Println(effect)
	}

	e := queue.Executions()[0]
	old, replacement := &w.snapshot.Nodes[0], &w.snapshot.Nodes[1]
	observed := disruption.Observed{
		Members:      map[string]disruption.MemberState{"old": {Node: old.Object, Claim: old.Claim}},
		Replacements: []disruption.ReplacementState{{Claim: replacement.Claim.Name, Stored: replacement.Claim, Known: true}},
	}
	for _, effect := range e.Next(observed, now()).Effects {
		fmt.Println(effect)
	}
	v1.MarkerTaint.Mark(old.Object)
	old.Claim.Conditions().Set(v1.ConditionDisruptionReason, "True", string(disruption.ReasonUnderutilized), "", now())
	for _, effect := range e.Next(observed, now()).Effects {
		fmt.Println(effect)
	}
	// Output:
	// 0a1b Tainting replacement claim-new
	// taint node old
	// set reason of nodeclaim claim-old (Underutilized)
	// mark node old
}
