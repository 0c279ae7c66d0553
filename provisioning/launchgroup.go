package provisioning

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// A launch group (v1.LaunchGroup) consists of the claims whose pods are useful only together. A group has four phases. Its claims record
// the present phase:
//
//  1. created: no claim launches until all of them exist
//  2. launching: each claim records that it has seen all other claims of the group, and then all claims launch
//  3. joined: a node that has joined stays unregistered, so that no pod is bound to it, until the nodes of all claims have joined
//  4. registered: as soon as one node is registered, each claim continues on its own
//
// The whole group is given up if a claim fails before the fourth phase (no capacity, no quota, a timeout), or if the group takes too long.
// Then its other claims are deleted, and its pods are planned again, without the offerings that just failed.

// Reasons of conditions of claims that wait for others of their group.
const (
	// ReasonGroupCreating, for the condition Launched: not all claims of the group were seen yet. The message says how many claims were
	// seen, since when, and the process whose clock was used.
	ReasonGroupCreating = "LaunchGroupCreating"
	// ReasonGroupCreated, for the condition Launched: all claims of the group were seen.
	ReasonGroupCreated = "LaunchGroupCreated"
	// ReasonGroupJoining, for the condition Registered: the claim's node has joined, but some other nodes of the group have not.
	ReasonGroupJoining = "LaunchGroupJoining"
)

const (
	// groupLook is how often a waiting claim checks the other claims of its group. A change to one of these claims should trigger the check
	// earlier.
	groupLook = 2 * time.Second
	// groupCreation is the longest time until the next claim of a group must appear, because the claims of a large group are not created
	// all at once. The time is measured by one clock: see countedSince.
	groupCreation = 30 * time.Second
)

// DefaultGroupTimeout is how long the nodes of a launch group may take to join by default.
const DefaultGroupTimeout = 10 * time.Minute

// launchGroup is the group of a claim, and the group's present state.
type launchGroup struct {
	v1.LaunchGroup
	// These fields count claims that are not being deleted. there is the number of all such claims, and kept is the number of such claims
	// that are Kept. begun is the number of claims that have seen all other claims, and joined is the number of claims whose nodes have
	// joined. gone means that some claim is being deleted.
	there, kept, begun, joined int
	gone                       bool
	// registered means that the node of at least one claim is or was registered, so that the group is complete.
	registered bool
	// launched is when the first claim that is not being deleted was launched, by the clock of the process that recorded it; it is zero if
	// no claim was launched. created is when the first claim that is not being deleted was created, by the API server's clock.
	launched, created time.Time
}

// groupOf returns the state of the claim's group. It returns false if the claim has no group or no longer waits for its group (Kept), if
// the group is complete, or if s.Group is unknown.
func groupOf(s ClaimState) (launchGroup, bool) {
	group, ok := v1.LaunchGroupOf(s.Claim)
	if !ok || group.Kept || s.Group == nil {
		return launchGroup{}, false
	}
	g := launchGroup{LaunchGroup: group, created: s.Claim.CreationTimestamp.Time}
	seen := false
	for _, claim := range s.Group {
		if claim.UID == s.Claim.UID {
			claim, seen = s.Claim, true
		}
		g.add(claim)
	}
	if !seen {
		g.add(s.Claim)
	}
	return g, !g.registered
}

func (g *launchGroup) add(claim *v1.NodeClaim) {
	of, ok := v1.LaunchGroupOf(claim)
	if !ok || of.Name != g.Name {
		return
	}
	has := claim.DeepCopy().Conditions()
	registered := has.Get(v1.ConditionRegistered)
	isRegistered := registered.Status == metav1.ConditionTrue || NodeLost(claim)
	g.registered = g.registered || isRegistered && !of.Kept
	if claim.DeletionTimestamp != nil {
		g.gone = true
		return
	}
	g.there++
	if of.Kept {
		g.kept++
	}
	launched := has.Get(v1.ConditionLaunched)
	if of.Kept || !awaitsGroup(launched) {
		g.begun++
	}
	if at := launched.LastTransitionTime.Time; launched.Status == metav1.ConditionTrue && (g.launched.IsZero() || at.Before(g.launched)) {
		g.launched = at
	}
	if isRegistered || hasJoined(registered) {
		g.joined++
	}
	if created := claim.CreationTimestamp.Time; created.Before(g.created) {
		g.created = created
	}
}

// awaitsGroup reports whether the claim has not seen all other claims of its group yet. The parameter launched is the claim's condition
// Launched.
func awaitsGroup(launched metav1.Condition) bool {
	return launched.Reason == "" || launched.Reason == conditions.ReasonAwaitingReconciliation || launched.Reason == ReasonGroupCreating
}

// hasJoined reports whether a claim's node has joined. The parameter registered is the claim's condition Registered.
func hasJoined(registered metav1.Condition) bool {
	return registered.Status == metav1.ConditionTrue || registered.Reason == ReasonGroupJoining || registered.Reason == reasonGatesClosed
}

// group makes the claim wait while other claims of its group have not reached the same phase, or gives up the whole group. The result waits
// is false if the claim may continue.
func (l *Lifecycle) group(s ClaimState, now time.Time) (step Step, waits bool) {
	g, ok := groupOf(s)
	if !ok {
		return Step{}, false
	}
	if why, reason := l.failed(&g, s.Claim, now); why != "" {
		return Step{
			Effects: []Effect{DeleteClaim{Name: s.Claim.Name, UID: s.Claim.UID, Reason: reason}},
			Events:  []Event{claimEvent(s.Claim, EventGroupGivenUp, fmt.Sprintf("launch group %s is given up: %s", g.Name, why))},
		}, true
	}
	wait := Step{Again: untilDue(groupLook, l.left(s.Claim, now))}
	has := s.Claim.DeepCopy().Conditions()
	switch launched := has.Get(v1.ConditionLaunched); {
	case launched.Status == metav1.ConditionTrue:
		return Step{}, false
	case g.there < g.Claims:
		return l.creating(&g, s.Claim, now, wait), true
	case awaitsGroup(launched):
		claim := s.Claim.DeepCopy()
		claim.Conditions().SetUnknown(v1.ConditionLaunched, ReasonGroupCreated, fmt.Sprintf("all %d claims of launch group %s exist", g.Claims, g.Name), now)
		return changed(s.Claim, claim, groupLook), true
	}
	return wait, g.begun < g.Claims
}

// failed returns why the group must be given up, and the reason for deleting this claim. The reason is a timeout if this claim has taken
// too long. Both results are empty if the group continues.
func (l *Lifecycle) failed(g *launchGroup, claim *v1.NodeClaim, now time.Time) (why string, reason DisruptedReason) {
	missing := g.Claims - g.there
	switch {
	case g.gone, missing > 0 && g.begun > g.kept:
		return fmt.Sprintf("%d of its %d claims are gone or could not be launched", max(missing, 1), g.Claims), ReasonGroupIncomplete
	case missing > 0 && l.overdue(g, claim, now):
		return fmt.Sprintf("%d of its %d claims were not created within %s after the others", missing, g.Claims, groupCreation), ReasonGroupIncomplete
	case l.options.GroupTimeout > 0 && !now.Before(g.begins().Add(l.options.GroupTimeout)):
		reason = ReasonGroupIncomplete
		switch has := claim.DeepCopy().Conditions(); {
		case !has.IsTrue(v1.ConditionLaunched):
			reason = ReasonLaunchTimeout
		case !hasJoined(has.Get(v1.ConditionRegistered)):
			reason = ReasonRegistrationTimeout
		}
		return fmt.Sprintf("%d of its %d nodes have not joined within %s", g.Claims-g.joined, g.Claims, l.options.GroupTimeout), reason
	}
	return "", ""
}

// begins returns when the time of GroupTimeout begins: at the first launch, because costs begin with it. Before the first launch, it begins
// when the first claim is created. If the clocks of the API server and the process differ, the group can lose time before the first launch,
// but no money.
func (g *launchGroup) begins() time.Time {
	if g.launched.IsZero() {
		return g.created
	}
	return g.launched
}

// joining keeps a node that has joined unregistered until all other nodes of its group have joined.
func (l *Lifecycle) joining(s ClaimState, now time.Time) (step Step, waits bool) {
	g, ok := groupOf(s)
	if !ok {
		return Step{}, false
	}
	claim := s.Claim.DeepCopy()
	switch reason := claim.Conditions().Get(v1.ConditionRegistered).Reason; {
	case reason == reasonGatesClosed || reason == ReasonGroupJoining && g.joined == g.Claims:
		return Step{}, false
	case reason == ReasonGroupJoining:
		return Step{Again: untilDue(groupLook, l.left(s.Claim, now))}, true
	}
	claim.Conditions().SetUnknown(v1.ConditionRegistered, ReasonGroupJoining, fmt.Sprintf("the nodes of launch group %s are registered when all %d have joined", g.Name, g.Claims), now)
	return changed(s.Claim, claim, groupLook), true
}

// A single clock measures the time until the next claim of a launch group must appear. The API server's clock sets the creation timestamps
// of claims, and each process writes the times of its own computer. The difference between two clocks can be longer than the time that must
// be measured. So each claim records three things in its condition Launched: how many claims of its group exist, since when, and which
// process's clock measured this time. A process uses only times that it wrote itself. It starts to measure again if another process wrote
// the time, if the number of claims has changed, or if the time is in the future by its own clock. If the process ends, only the time
// measured so far is lost. Nothing is launched until all claims exist.

// creating records how many claims of the group exist, unless this process has recorded that number already.
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

// overdue reports whether the next claim of the group has not appeared within groupCreation.
func (l *Lifecycle) overdue(g *launchGroup, claim *v1.NodeClaim, now time.Time) bool {
	since, ok := l.countedSince(g, claim, now)
	return ok && !now.Before(since.Add(groupCreation))
}

// countedSince returns the time since which this process has seen the present number of claims of the group. It returns false if this
// process has not recorded that number, or has recorded a future time.
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

// creationText returns the parts of the recorded text before and after the time.
func (l *Lifecycle) creationText(g *launchGroup) (before, after string) {
	before = fmt.Sprintf("%d of %d claims of launch group %s are there since ", g.there, g.Claims, g.Name)
	if l.options.Process != "" {
		after = " by the clock of " + l.options.Process
	}
	return before, after
}
