package cluster

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is a change of one object. Make it with Upsert, Delete or Assume.
type Event struct {
	// Object in its present form; for a deleted one only kind, namespace, name and UID are read. State keeps the pointer, so do not change
	// the object afterwards; the same applies to objects of an informer's cache.
	Object metav1.Object
	// Deleted means that the object is gone.
	Deleted bool
	// Assumed means that the object is the API's answer to the caller's own write, before the watch shows it.
	Assumed bool
	// Time at which the event was seen, for NodeState.LastPodEvent. With the zero time, LastPodEvent does not change.
	Time time.Time
}

// Upsert returns the event that the object exists, new or changed, as a watch shows it. Two kinds of objects change nothing, so that a late
// event or answer brings nothing back: an object older than the known one (a smaller resourceVersion of the same UID), and an object with
// the UID of a recently deleted object.
func Upsert(object metav1.Object) Event { return Event{Object: object} }

// Delete returns the event that the object is gone. Only its kind, namespace, name and UID are read. With an empty UID, any object of that
// name is removed; otherwise only the object with that UID. Deleting an unknown object is no error.
func Delete(object metav1.Object) Event { return Event{Object: object, Deleted: true} }

// Assume returns the event for the API's answer to the caller's own write, such as a NodeClaim just created, so that the next snapshot
// contains it without waiting for the watch. Until the watch shows the object or its deletion, it is in View.Unconfirmed.
func Assume(object metav1.Object) Event { return Event{Object: object, Assumed: true} }

// At returns the event with the time at which it was seen.
func (e Event) At(seen time.Time) Event {
	e.Time = seen
	return e
}

func (e *Event) check(index int) error {
	switch {
	case KindOf(e.Object) == "":
		return &EventError{index, fmt.Sprintf("the object is a %T, which is not one of the kinds that State keeps: see the constants Kind…", e.Object)}
	case reflect.ValueOf(e.Object).IsNil():
		return &EventError{index, fmt.Sprintf("the object is a nil %s: pass an object with its name", KindOf(e.Object))}
	case e.Object.GetName() == "":
		return &EventError{index, fmt.Sprintf("the %s has no name: pass the object as the API returns it", KindOf(e.Object))}
	}
	return nil
}

// EventError is an event that State refuses. The cause is a bug in the code that made the event: no state of a cluster leads to such an
// event.
type EventError struct {
	// Index of the event among those of the call.
	Index int
	// Rule that the event breaks.
	Rule string
}

// Error names the rule and the event.
func (e *EventError) Error() string {
	return fmt.Sprintf("cluster event %d: %s", e.Index, e.Rule)
}
