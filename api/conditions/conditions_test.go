package conditions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type object struct {
	metav1.ObjectMeta
	list []metav1.Condition
}

func created() time.Time { return time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC) }

func at(minutes int) time.Time { return created().Add(time.Duration(minutes) * time.Minute) }

func newObject() (*object, Conditions) {
	o := &object{ObjectMeta: metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(created())}}
	return o, Of(&o.ObjectMeta, &o.list, "A", "B")
}

// PRV-006, AWN-078: a condition nobody wrote is Unknown since the object was created, before and after the first write.
func TestConditionsBeginUnknownAtCreation(t *testing.T) {
	want := metav1.Condition{
		Type: "A", Status: metav1.ConditionUnknown, Reason: ReasonAwaitingReconciliation, ObservedGeneration: 1,
		LastTransitionTime: metav1.NewTime(created()),
	}
	o, c := newObject()
	if diff := cmp.Diff(want, c.Get("A")); diff != "" {
		t.Error(diff)
	}
	if c.Has("A") || c.IsTrue("A") {
		t.Error("a condition that was never written is there")
	}
	c.SetTrue("other", at(5))
	if diff := cmp.Diff(want, c.Get("A")); diff != "" {
		t.Errorf("after a write of another condition: %s", diff)
	}
	if !c.Has("A") || !c.Has("B") || len(o.list) != 4 {
		t.Errorf("the first write must make dependents visible: %v", o.list)
	}
}

// PRV-006, DIS-020.
func TestTransitionTimeMovesWithTheStatusAlone(t *testing.T) {
	_, c := newObject()
	steps := []struct {
		status      metav1.ConditionStatus
		reason      string
		minute      int
		changed     bool
		wantMinutes int
	}{
		{metav1.ConditionUnknown, "Trying", 1, true, 0},
		{metav1.ConditionFalse, "Failed", 2, true, 2},
		{metav1.ConditionFalse, "Failed", 3, false, 2},
		{metav1.ConditionFalse, "FailedAgain", 4, true, 2},
		{metav1.ConditionTrue, "Done", 5, true, 5},
		{metav1.ConditionTrue, "Done", 6, false, 5},
	}
	for i, s := range steps {
		if changed := c.Set("A", s.status, s.reason, "", at(s.minute)); changed != s.changed {
			t.Errorf("step %d: changed = %v, want %v", i, changed, s.changed)
		}
		if got := c.Get("A").LastTransitionTime; !got.Time.Equal(at(s.wantMinutes)) {
			t.Errorf("step %d: transition at %v, want %v", i, got, at(s.wantMinutes))
		}
	}
}

// AWN-078: True has its own type as reason and no message; each write stamps the generation.
func TestSetTrue(t *testing.T) {
	o, c := newObject()
	c.SetFalse("A", "Broken", "it is broken", at(1))
	o.Generation = 7
	c.SetTrue("A", at(2))
	want := metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: "A", ObservedGeneration: 7, LastTransitionTime: metav1.NewTime(at(2))}
	if diff := cmp.Diff(want, c.Get("A")); diff != "" {
		t.Error(diff)
	}
}

// AWN-079.
func TestReady(t *testing.T) {
	for _, tc := range []struct {
		name            string
		write           func(*object, Conditions)
		status          metav1.ConditionStatus
		reason, message string
		minute          int
	}{
		{"nothing known", func(*object, Conditions) {}, metav1.ConditionUnknown, ReasonReconcilingDependents, "A=Unknown, B=Unknown", 0},
		{"one known", func(_ *object, c Conditions) { c.SetTrue("A", at(1)) }, metav1.ConditionUnknown, ReasonReconcilingDependents, "B=Unknown", 0},
		{"all true", func(_ *object, c Conditions) { c.SetTrue("A", at(1)); c.SetTrue("B", at(2)) }, metav1.ConditionTrue, "Ready", "", 2},
		{"one false while another is unknown", func(_ *object, c Conditions) { c.SetFalse("A", "No", "", at(1)) },
			metav1.ConditionFalse, ReasonUnhealthyDependents, "A=False, B=Unknown", 1},
		{"the latest change is named first", func(_ *object, c Conditions) { c.SetFalse("A", "No", "", at(1)); c.SetFalse("B", "No", "", at(2)) },
			metav1.ConditionFalse, ReasonUnhealthyDependents, "B=False, A=False", 1},
		{"true of an older generation", func(o *object, c Conditions) {
			c.SetTrue("A", at(1))
			c.SetTrue("B", at(2))
			o.Generation = 2
			c.SetTrue("A", at(3))
		}, metav1.ConditionUnknown, ReasonReconcilingDependents, "B=Unknown", 3},
		{"false of an older generation", func(o *object, c Conditions) {
			c.SetFalse("A", "No", "", at(1))
			o.Generation = 2
			c.SetTrue("B", at(2))
		}, metav1.ConditionUnknown, ReasonReconcilingDependents, "A=Unknown", 2},
		{"another condition doesn't matter", func(_ *object, c Conditions) {
			c.SetTrue("A", at(1))
			c.SetTrue("B", at(1))
			c.SetFalse("other", "No", "", at(2))
		},
			metav1.ConditionTrue, "Ready", "", 1},
		{"Ready can't be set", func(_ *object, c Conditions) { c.SetTrue(TypeReady, at(1)) }, metav1.ConditionUnknown, ReasonReconcilingDependents, "A=Unknown, B=Unknown", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, c := newObject()
			tc.write(o, c)
			got := c.Ready()
			want := metav1.Condition{
				Type: TypeReady, Status: tc.status, Reason: tc.reason, Message: tc.message,
				ObservedGeneration: o.Generation, LastTransitionTime: metav1.NewTime(at(tc.minute)),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("computed: %s", diff)
			}
			if c.Has(TypeReady) {
				if diff := cmp.Diff(want, c.Get(TypeReady)); diff != "" {
					t.Errorf("stored: %s", diff)
				}
			}
		})
	}
}

// A list from a file may lack Ready, or hold a stale one.
func TestReadyIsComputedForAForeignList(t *testing.T) {
	o, c := newObject()
	o.list = []metav1.Condition{
		{Type: "A", Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(at(1))},
		{Type: "B", Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(at(4))},
		{Type: TypeReady, Status: metav1.ConditionFalse, Reason: "Stale", ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(at(2))},
	}
	got := c.Ready()
	if got.Status != metav1.ConditionTrue || got.Message != "" || !got.LastTransitionTime.Time.Equal(at(4)) {
		t.Errorf("Ready() = %+v", got)
	}
}

func TestClear(t *testing.T) {
	o, c := newObject()
	c.SetTrue("A", at(1))
	c.SetTrue("B", at(1))
	c.SetTrue("other", at(1))
	if !c.Clear("other", at(2)) || c.Has("other") {
		t.Error("other is still there")
	}
	if c.Clear("other", at(2)) {
		t.Error("cleared twice")
	}
	if c.Clear(TypeReady, at(2)) || !c.Has(TypeReady) {
		t.Error("Ready was cleared")
	}
	if !c.Clear("A", at(3)) {
		t.Error("A was not cleared")
	}
	if got := c.Get("A"); got.Status != metav1.ConditionUnknown || !got.LastTransitionTime.Time.Equal(at(3)) {
		t.Errorf("a dependent begins again: got %+v", got)
	}
	if got := c.Ready(); got.Status != metav1.ConditionUnknown {
		t.Errorf("Ready did not follow: %+v", got)
	}
	if len(o.list) != 3 {
		t.Errorf("left over: %v", o.list)
	}
}
