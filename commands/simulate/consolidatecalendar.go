package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// calendarDocument says when a node may be removed. It does not matter whether the removal would save money.
type calendarDocument struct {
	// MayGo is the time from which the node may be removed; left out if it is unknown.
	MayGo *time.Time `json:"mayGo,omitempty"`
	// Gates are the reasons why the node must not be removed earlier.
	Gates []gateDocument `json:"gates"`
}

// gateDocument is one reason why a node must not be removed yet.
type gateDocument struct {
	// Kind is budget, podDisruptionBudget, annotation, consolidateAfter, coolDown, approval or state.
	Kind    string `json:"kind"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Until is left out if it is unknown.
	Until *time.Time `json:"until,omitempty"`
}

// gateKind returns the kind of gate for a block, or "" if the block means that removing the node would not save money or is not possible.
func gateKind(code disruption.BlockCode) string {
	switch code {
	case disruption.BlockBudget:
		return "budget"
	case disruption.BlockPodDisruptionBudget, disruption.BlockDrain:
		return "podDisruptionBudget"
	case disruption.BlockAnnotation, disruption.BlockPod:
		return "annotation"
	case disruption.BlockQuiet, disruption.BlockNever:
		return "consolidateAfter"
	case disruption.BlockCoolDown:
		return "coolDown"
	case disruption.BlockRefused:
		return "approval"
	case disruption.BlockInFlight, disruption.BlockUnmanaged, disruption.BlockNoNode, disruption.BlockNotInitialized, disruption.BlockLeaving, disruption.BlockNominated,
		disruption.BlockNoPool, disruption.BlockPoolUnknown, disruption.BlockNoInstanceTypes, disruption.BlockBackOff, disruption.BlockPolicy, disruption.BlockBuffer,
		disruption.BlockScalingDown, disruption.BlockLimit, disruption.BlockDependsOnUninitialized:
		return "state"
	}
	return ""
}

// calendarsOf returns the calendars of all nodes that have verdicts, by name. The plan's commands use up budgets.
func calendarsOf(fleet *disruption.Fleet, plan *disruption.Plan, verdicts []disruption.Verdict) (map[string]calendarDocument, error) {
	tracker, err := disruption.NewBudgetTracker(fleet)
	if err != nil {
		return nil, err
	}
	begins := map[string]time.Time{}
	for _, cmd := range plan.Commands {
		for i := range cmd.Members {
			begins[cmd.Members[i].Node] = cmd.NotBefore.UTC()
			if c := fleet.Candidate(cmd.Members[i].Node); c != nil {
				tracker.Take(c, cmd.Reason)
			}
		}
	}
	all := make(map[string]calendarDocument, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		if at, goes := begins[v.Node]; goes {
			all[v.Node] = calendarDocument{MayGo: &at, Gates: []gateDocument{}}
			continue
		}
		all[v.Node] = calendarOf(fleet, plan.Time.UTC(), tracker, v)
	}
	return all, nil
}

// calendarOf returns the calendar of a node that stays.
func calendarOf(fleet *disruption.Fleet, now time.Time, tracker *disruption.BudgetTracker, v *disruption.Verdict) calendarDocument {
	d := calendarDocument{MayGo: &now, Gates: []gateDocument{}}
	add := func(b *disruption.Block, until time.Time) {
		kind := gateKind(b.Code)
		message := b.String()
		if kind == "" || slices.ContainsFunc(d.Gates, func(g gateDocument) bool { return g.Message == message }) {
			return
		}
		g := gateDocument{Kind: kind, Code: string(b.Code), Message: message}
		if until = until.UTC(); until.IsZero() {
			d.MayGo = nil
		} else {
			g.Until = &until
			if d.MayGo != nil && until.After(*d.MayGo) {
				d.MayGo = &until
			}
		}
		d.Gates = append(d.Gates, g)
	}
	if why := fleet.Blocked[v.Node]; why != nil {
		add(why, why.Until)
	}
	if c := fleet.Candidate(v.Node); c != nil {
		if w := tracker.NextWindow(c, likelyReason(c)); w.Block != nil && w.Start.After(now) || w.Start.IsZero() && w.Block != nil {
			add(w.Block, w.Start)
		}
	}
	for _, b := range v.Blocks {
		if b.Block.Code != disruption.BlockBudget { // the tracker has already reported the budgets
			add(b.Block, b.Block.Until)
		}
	}
	return d
}

// likelyReason returns the reason for which a node would be removed.
func likelyReason(c *disruption.Candidate) disruption.Reason {
	for i := range c.State.Claim.Status.Conditions {
		if condition := &c.State.Claim.Status.Conditions[i]; condition.Type == v1.ConditionDrifted && condition.Status == "True" {
			return disruption.ReasonDrifted
		}
	}
	if len(c.Pods) == 0 {
		return disruption.ReasonEmpty
	}
	return disruption.ReasonUnderutilized
}

// The method when returns the calendar's time in words.
func (d calendarDocument) when(now time.Time) string {
	switch {
	case d.MayGo == nil:
		return "no time known"
	case !d.MayGo.After(now):
		return "now"
	}
	return d.MayGo.Format(time.RFC3339)
}

// writeCalendar prints when nodes may be removed, in the order of time; nodes with the same text are on the same line.
func (r consolidationText) writeCalendar(w io.Writer) {
	type entry struct {
		when  string
		gates []gateDocument
		names []string
	}
	var entries []*entry
	index := map[string]*entry{}
	for _, n := range r.document.Nodes {
		when := n.Calendar.when(r.plan.Time)
		key := when
		for _, g := range n.Calendar.Gates {
			key += "\x00" + g.Message
		}
		e := index[key]
		if e == nil {
			e = &entry{when: when, gates: n.Calendar.Gates}
			index[key], entries = e, append(entries, e)
		}
		e.names = append(e.names, n.Name)
	}
	rank := func(e *entry) string {
		switch e.when {
		case "now":
			return "0"
		case "no time known":
			return "2"
		}
		return "1" + e.when
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return strings.Compare(rank(a), rank(b)) })
	if len(entries) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, "When nodes may go, worth it or not"))
	left := 0
	for i, e := range entries {
		if !r.verbose && i >= shownStays {
			left += len(e.names)
			continue
		}
		room := r.width - 4
		if r.verbose {
			room = 1 << 30
		}
		line := fmt.Sprintf("%s: %s", e.when, counted(len(e.names), "node"))
		for k, g := range e.gates {
			sep := ", since "
			if k > 0 {
				sep = "; "
			}
			line += sep + g.Message
		}
		for _, part := range wrap(line, r.width-2) {
			fmt.Fprintf(w, "  %s\n", part)
		}
		fmt.Fprintf(w, "    %s\n", r.fit(e.names, ", ", room))
	}
	if left > 0 {
		fmt.Fprintf(w, "  %s and %s at other times (--verbose lists them)\n", r.ellipsis(), counted(left, "node"))
	}
}
