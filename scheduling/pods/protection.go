package pods

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Protection is the content of a pod's do-not-disrupt annotation. The zero value means no protection.
type Protection struct {
	// Active says that the pod must not be disrupted now.
	Active bool
	// Until is when the protection ends or has ended. It is zero without protection, and if the end is not known: with the value "true",
	// or with a duration while the pod has not started.
	Until time.Time
	// Err is an *AnnotationError if the value of the annotation is invalid; the pod is then not protected.
	Err error
}

// AnnotationError is a do-not-disrupt annotation that is ignored because its value is invalid.
type AnnotationError struct {
	// Namespace and Name of the pod.
	Namespace, Name string
	// Err says what is wrong with the value.
	Err error
}

func (e *AnnotationError) Error() string {
	return fmt.Sprintf("pod %s/%s: %v", e.Namespace, e.Name, e.Err)
}

// Unwrap returns what is wrong with the value.
func (e *AnnotationError) Unwrap() error { return e.Err }

// ProtectionOf reads the pod's annotation karpenter.sh/do-not-disrupt: "true" protects the pod without end. A positive Go duration protects
// the pod until this time has passed since its start. A pod that has not started is also protected.
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

// Protected reports whether the pod's do-not-disrupt annotation protects it now.
func Protected(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return ProtectionOf(pod, now).Active
}

// Disruptable reports whether this pod allows disruption to choose its node: the pod is not active, or not protected. Protected pods of
// DaemonSets and protected static pods keep their node like other protected pods.
func Disruptable(pod *corev1.Pod, now time.Time) bool {
	if pod == nil {
		return false
	}
	return !Active(pod) || !Protected(pod, now)
}
