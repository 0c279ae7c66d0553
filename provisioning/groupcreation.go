package provisioning

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// The time in which the next claim of a launch group must appear is counted by one clock. The creation timestamps of claims are of the API
// server's clock, and those that another process wrote of that computer's: the difference between two clocks can be longer than the time that
// is counted. So each claim records in its condition Launched how many claims are there, since when, and by the clock of which process. A process
// counts from what it wrote itself, and begins again if another process wrote it, if the number has changed, or if the time is in its future.
// A process that dies at any effect costs the group the time that was counted, and nothing is launched until all claims are there.

// creating records how many claims of the group are there, if that is not recorded yet by this process.
func (l *Lifecycle) creating(g *launchGroup, observed *v1.NodeClaim, now time.Time, wait Step) Step {
	if since, ok := l.countedSince(g, observed, now); ok {
		wait.Again = untilDue(wait.Again, max(since.Add(groupCreation).Sub(now), time.Nanosecond))
		return wait
	}
	claim := observed.DeepCopy()
	before, after := l.creationText(g)
	claim.Conditions().SetUnknown(v1.ConditionLaunched, ReasonGroupCreating, before+now.UTC().Format(time.RFC3339Nano)+after, now)
	return changed(observed, claim, groupLook)
}

// overdue reports whether the next claim of the group has taken too long.
func (l *Lifecycle) overdue(g *launchGroup, claim *v1.NodeClaim, now time.Time) bool {
	since, ok := l.countedSince(g, claim, now)
	return ok && !now.Before(since.Add(groupCreation))
}

// countedSince returns when this process first saw as many claims of the group as there are now. It returns false if that is not recorded.
func (l *Lifecycle) countedSince(g *launchGroup, claim *v1.NodeClaim, now time.Time) (time.Time, bool) {
	launched := claim.DeepCopy().Conditions().Get(v1.ConditionLaunched)
	if launched.Reason != ReasonGroupCreating {
		return time.Time{}, false
	}
	before, after := l.creationText(g)
	text, counts := strings.CutPrefix(launched.Message, before)
	text, mine := strings.CutSuffix(text, after)
	since, err := time.Parse(time.RFC3339Nano, text)
	if !counts || !mine || err != nil || since.After(now) {
		return time.Time{}, false
	}
	return since, true
}

// creationText returns the record, before and after its time.
func (l *Lifecycle) creationText(g *launchGroup) (before, after string) {
	before = fmt.Sprintf("%d of %d claims of launch group %s are there since ", g.there, g.Claims, g.Name)
	if l.options.Process != "" {
		after = " by the clock of " + l.options.Process
	}
	return before, after
}
