package pods

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Protection is what a pod's do-not-disrupt annotation says. The zero value protects from nothing.
type Protection struct {
	// Active says that the pod must not be disrupted now.
	Active bool
	// Until is when the protection ends or has ended; zero when there is none, and when it has no end that is known:
	// the value "true", or a duration whose start, the pod's, has yet to come.
	Until time.Time
	// Err is set when the annotation has a value that means nothing; the pod is then not protected. It is an
	// *AnnotationError.
	Err error
}

// AnnotationError is a do-not-disrupt annotation that is ignored because its value is none of those that have a
// meaning.
type AnnotationError struct {
	// Namespace and Name of the pod.
	Namespace, Name string
	// Err says what is wrong with the value.
	Err error
}

func (e *AnnotationError) Error() string {
	return fmt.Sprintf("pod %s/%s: %v", e.Namespace, e.Name, e.Err)
}

// Unwrap is what is wrong with the value.
func (e *AnnotationError) Unwrap() error { return e.Err }

// ProtectionOf reads the pod's annotation karpenter.sh/do-not-disrupt at the time now: "true" protects for good, a
// positive Go duration until that long after the pod's start, and for good while the pod has not started.
func ProtectionOf(pod *corev1.Pod, now time.Time) Protection {
	if pod == nil {
		return Protection{}
	}
	value, ok := pod.Annotations[v1.DoNotDisruptAnnotationKey]
	if !ok {
		return Protection{}
	}
	asks, err := v1.ParseDoNotDisrupt(value)
	if err != nil {
		return Protection{Err: &AnnotationError{Namespace: pod.Namespace, Name: pod.Name, Err: err}}
	}
	var start, until time.Time
	if pod.Status.StartTime != nil {
		start = pod.Status.StartTime.Time
	}
	if !asks.Always && !start.IsZero() {
		until = start.Add(asks.For)
	}
	return Protection{Active: asks.Protects(start, now), Until: until}
}

// Protected reports whether the pod's do-not-disrupt annotation holds at the time now.
func Protected(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return ProtectionOf(pod, now).Active
}

// Disruptable reports whether the pod lets its node be chosen for disruption: it is not active, or not protected.
// Protected pods of DaemonSets and static pods hold their node like any other.
func Disruptable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return !Active(pod) || !Protected(pod, now)
}
