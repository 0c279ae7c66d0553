package cluster

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is something that happened to one object. Make it with Upsert, Delete or Assume.
type Event struct {
	// Object as it is now; of one that is deleted only kind, namespace, name and UID are read. State keeps the pointer:
	// the object must not be changed afterwards, as those of an informer's cache must not.
	Object metav1.Object
	// Deleted says that the object is gone.
	Deleted bool
	// Assumed says that the object is what the API answered to a write of the caller's own, before the watch shows it.
	Assumed bool
	// Time the event was seen, for Machine.LastPodEvent. The zero time leaves that as it is.
	Time time.Time
}

// Upsert says that the object is there, new or changed, as a watch shows it. An object older than the one that is known
// (a smaller resourceVersion of the same UID) changes nothing, nor does one with the UID of an object that was deleted
// lately: neither a late event nor a late answer brings back what has passed.
func Upsert(object metav1.Object) Event { return Event{Object: object} }

// Delete says that the object is gone. Only its kind, namespace, name and UID are read; with an empty UID any object of that name is
// removed, else only the object with that UID. Deleting what is not known is no error.
func Delete(object metav1.Object) Event { return Event{Object: object, Deleted: true} }

// Assume says what the API answered to a write of the caller's own, such as a NodeClaim just created, so that the next
// snapshot has it without waiting for the watch. Until the watch shows the object, or its deletion, it is in
// View.Unconfirmed.
func Assume(object metav1.Object) Event { return Event{Object: object, Assumed: true} }

// At is the event as seen at the time.
func (e Event) At(seen time.Time) Event {
	e.Time = seen
	return e
}

func (e *Event) check(index int) error {
	switch {
	case KindOf(e.Object) == "":
		return &EventError{index, fmt.Sprintf("the object is a %T, which is none of the kinds that are kept: see the constants Kind…", e.Object)}
	case reflect.ValueOf(e.Object).IsNil():
		return &EventError{index, fmt.Sprintf("the object is a nil %s: give one with its name", KindOf(e.Object))}
	case e.Object.GetName() == "":
		return &EventError{index, fmt.Sprintf("the %s has no name: give the object as the API has it", KindOf(e.Object))}
	}
	return nil
}

// EventError is an event that State can't take. It says what is wrong with the code that made it: no state of a cluster
// leads to one.
type EventError struct {
	// Index of the event among those of the call.
	Index int
	// Rule that it breaks.
	Rule string
}

// Error is the rule and where it was broken.
func (e *EventError) Error() string {
	return fmt.Sprintf("cluster event %d: %s", e.Index, e.Rule)
}
