// Package conditions reads and writes the list of conditions in an object's status. It keeps the summary, Ready, consistent with the
// conditions that Ready depends on.
//
//	c := conditions.Of(&claim.ObjectMeta, &claim.Status.Conditions, "Launched", "Registered", "Initialized")
//	c.SetTrue("Launched", now)
//	ready := c.Ready()
//
// Stability: stable.
package conditions

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// TypeReady is the condition that summarises the conditions on which an object depends.
	TypeReady = "Ready"

	// ReasonAwaitingReconciliation is the reason of a condition that nobody has written yet.
	ReasonAwaitingReconciliation = "AwaitingReconciliation"
	// ReasonUnhealthyDependents is the reason of Ready if a condition that it depends on is False.
	ReasonUnhealthyDependents = "UnhealthyDependents"
	// ReasonReconcilingDependents is the reason of Ready if a condition that it depends on is not known for the object's current
	// generation.
	ReasonReconcilingDependents = "ReconcilingDependents"
)

// Conditions is a view of one object's conditions: changes are written to the object. Like the object itself, it is not safe for
// concurrent use. The zero value belongs to no object: all conditions are Unknown, and writing does nothing.
type Conditions struct {
	list       *[]metav1.Condition
	meta       *metav1.ObjectMeta
	dependents []string
}

// Of returns a view of *list, which is a list in the object whose metadata is *meta. Ready depends on the conditions in dependents.
func Of(meta *metav1.ObjectMeta, list *[]metav1.Condition, dependents ...string) Conditions {
	return Conditions{list: list, meta: meta, dependents: dependents}
}

// Has reports whether the condition was written, and not cleared since then.
func (c Conditions) Has(conditionType string) bool { return c.find(conditionType) != nil }

// Get returns the condition. A condition that was never written is Unknown, with the creation of the object as its transition time.
func (c Conditions) Get(conditionType string) metav1.Condition {
	if found := c.find(conditionType); found != nil {
		return *found
	}
	return c.initial(conditionType)
}

// IsTrue reports whether all of the conditions are True.
func (c Conditions) IsTrue(conditionTypes ...string) bool {
	for _, t := range conditionTypes {
		if c.Get(t).Status != metav1.ConditionTrue {
			return false
		}
	}
	return true
}

// Ready returns the condition Ready. It is computed from the conditions on which it depends. It is not read from the object, because
// another program may have written a wrong status.
func (c Conditions) Ready() metav1.Condition {
	ready := c.Get(TypeReady)
	status, reason, message := c.rollUp()
	if ready.Status != status {
		ready.LastTransitionTime = c.lastDependentChange()
	}
	ready.Status, ready.Reason, ready.Message, ready.ObservedGeneration = status, reason, message, c.generation()
	return ready
}

// Set writes a condition with the current time and reports whether that changed anything. The transition time changes only if the status
// changes. The observed generation becomes that of the object. Ready is updated automatically and can't be set.
func (c Conditions) Set(conditionType string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	if conditionType == TypeReady || c.list == nil {
		return false
	}
	changed := c.initialise()
	changed = c.write(conditionType, status, reason, message, now) || changed
	return c.writeReady(now) || changed
}

// SetTrue sets a condition to True. Its reason is its type, and it has no message.
func (c Conditions) SetTrue(conditionType string, now time.Time) bool {
	return c.Set(conditionType, metav1.ConditionTrue, conditionType, "", now)
}

// SetFalse sets a condition to False.
func (c Conditions) SetFalse(conditionType, reason, message string, now time.Time) bool {
	return c.Set(conditionType, metav1.ConditionFalse, reason, message, now)
}

// SetUnknown sets a condition to Unknown.
func (c Conditions) SetUnknown(conditionType, reason, message string, now time.Time) bool {
	return c.Set(conditionType, metav1.ConditionUnknown, reason, message, now)
}

// Clear removes a condition and reports whether it existed. A condition on which Ready depends starts again as Unknown. Ready itself can't
// be cleared.
func (c Conditions) Clear(conditionType string, now time.Time) bool {
	if conditionType == TypeReady || !c.Has(conditionType) {
		return false
	}
	*c.list = slices.DeleteFunc(*c.list, func(have metav1.Condition) bool { return have.Type == conditionType })
	if slices.Contains(c.dependents, conditionType) {
		restarted := c.initial(conditionType)
		restarted.LastTransitionTime = metav1.NewTime(now)
		*c.list = append(*c.list, restarted)
	}
	c.writeReady(now)
	return true
}

func (c Conditions) find(conditionType string) *metav1.Condition {
	if c.list == nil {
		return nil
	}
	for i := range *c.list {
		if (*c.list)[i].Type == conditionType {
			return &(*c.list)[i]
		}
	}
	return nil
}

// initial returns the condition of a type that nobody has written yet. The condition's transition time is the object's creation time,
// because the timeouts of launch and registration start at the creation.
func (c Conditions) initial(conditionType string) metav1.Condition {
	return metav1.Condition{
		Type:               conditionType,
		Status:             metav1.ConditionUnknown,
		Reason:             ReasonAwaitingReconciliation,
		LastTransitionTime: c.created(),
		ObservedGeneration: c.generation(),
	}
}

func (c Conditions) generation() int64 {
	if c.meta == nil {
		return 0
	}
	return c.meta.Generation
}

func (c Conditions) created() metav1.Time {
	if c.meta == nil {
		return metav1.Time{}
	}
	return c.meta.CreationTimestamp
}

// initialise adds the conditions that Ready depends on, with status Unknown. Set calls it before the first condition is written.
func (c Conditions) initialise() (changed bool) {
	for _, t := range c.dependents {
		if !c.Has(t) {
			*c.list = append(*c.list, c.initial(t))
			changed = true
		}
	}
	return changed
}

func (c Conditions) write(conditionType string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	next := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation(),
		LastTransitionTime: metav1.NewTime(now),
	}
	have := c.find(conditionType)
	if have == nil {
		*c.list = append(*c.list, next)
		return true
	}
	if have.Status == status {
		next.LastTransitionTime = have.LastTransitionTime
	}
	if *have == next {
		return false
	}
	*have = next
	return true
}

func (c Conditions) writeReady(now time.Time) bool {
	if !c.Has(TypeReady) {
		*c.list = append(*c.list, c.initial(TypeReady))
	}
	status, reason, message := c.rollUp()
	return c.write(TypeReady, status, reason, message, now)
}

// effective returns the condition's status for the object's current generation: the status of an older generation counts as Unknown.
func (c Conditions) effective(conditionType string) metav1.ConditionStatus {
	condition := c.Get(conditionType)
	if condition.ObservedGeneration != c.meta.Generation {
		return metav1.ConditionUnknown
	}
	return condition.Status
}

// rollUp computes Ready: False if one dependent is False, True if all are True, otherwise Unknown. The message names the dependents that
// are not True; the dependent that changed last comes first.
func (c Conditions) rollUp() (status metav1.ConditionStatus, reason, message string) {
	type offender struct {
		text string
		time metav1.Time
	}
	var offenders []offender
	status, reason = metav1.ConditionTrue, TypeReady
	for _, t := range c.dependents {
		have := c.effective(t)
		if have == metav1.ConditionTrue {
			continue
		}
		offenders = append(offenders, offender{t + "=" + string(have), c.Get(t).LastTransitionTime})
		if have == metav1.ConditionFalse {
			status, reason = metav1.ConditionFalse, ReasonUnhealthyDependents
		} else if status == metav1.ConditionTrue {
			status, reason = metav1.ConditionUnknown, ReasonReconcilingDependents
		}
	}
	slices.SortStableFunc(offenders, func(a, b offender) int { return b.time.Compare(a.time.Time) })
	texts := make([]string, len(offenders))
	for i, o := range offenders {
		texts[i] = o.text
	}
	return status, reason, strings.Join(texts, ", ")
}

func (c Conditions) lastDependentChange() metav1.Time {
	last := c.created()
	for _, t := range c.dependents {
		if changed := c.Get(t).LastTransitionTime; changed.After(last.Time) {
			last = changed
		}
	}
	return last
}
