package global

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// until returns the first time at which a plan of an unchanged fleet may differ. It is the earliest future time at which something that the
// plan depends on begins or ends: for example a block, the window of a budget, or a pause after failures. until returns zero if there is no
// such time. It ignores times at which only the result of the survey changes, because Sighting.Same detects such changes by comparing the
// surveys.
func (g *Options) until(s *searching.Search, plan *reference.Plan) time.Time {
	now, f := s.Fleet.Now, s.Fleet
	end := soonest(now, time.Time{}, plan.Again)
	note := func(t time.Time) { end = soonest(now, end, t) }
	block := func(why *decision.Block) {
		if why != nil {
			note(why.Until)
		}
	}
	for _, why := range f.Blocked {
		block(why)
	}
	for _, c := range s.Candidates {
		for _, why := range c.Refused {
			block(why)
		}
		block(c.Blocked)
		block(c.PodBlock)
		if due, expires := decision.ExpiryOf(c.State.Claim); expires && !c.Due {
			note(due.At.Add(-g.ExpireAhead))
		}
	}
	for i := range f.In.View.Nodes {
		m := &f.In.View.Nodes[i]
		note(m.NominatedUntil)
		for _, pod := range m.Pods {
			if _, has := pod.Annotations[v1.DoNotDisruptAnnotationKey]; has {
				note(pods.ProtectionOf(pod, now).Until)
			}
		}
	}
	s.Types.Budgets.Turning(note)
	for i := range f.In.History {
		note(f.In.History[i].Time)
	}
	for _, p := range f.In.BackOff.Remembered() {
		note(p.Until)
	}
	for _, r := range f.In.Refusals.Remembered() {
		note(r.Until)
	}
	return end
}

// soonest returns the earlier of the times a and b. It ignores b if b is not after now. A zero time means never.
func soonest(now, a, b time.Time) time.Time {
	if !b.After(now) || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}
