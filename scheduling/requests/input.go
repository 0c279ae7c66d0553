package requests

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	// DefaultBookFor is how long room is booked if Input.BookFor is nil; the Cluster Autoscaler has the same default.
	DefaultBookFor = 10 * time.Minute
	// DefaultMaxPods is how many pods requests may ask for together in one round if Input.MaxPods is nil.
	DefaultMaxPods = 50_000
)

// Input contains the inputs of the answers to requests. Lists may be in any order. The objects are not changed.
type Input struct {
	// Snapshot is the cluster. Its Time is the present time; without a Time, nothing expires.
	Snapshot *scheduling.Snapshot
	// Requests to answer. Requests of unknown classes, and requests that are being deleted, are ignored.
	Requests []*v1.ProvisioningRequest
	// PodTemplates that requests may refer to, including those of other namespaces.
	PodTemplates []*corev1.PodTemplate
	// Admit completes a pod like the cluster's admission of a new pod: defaults of LimitRanges, overhead of RuntimeClasses, the priority.
	// It is called once per PodSet, with a separate pod that it may change. With nil, pods stay unchanged.
	Admit func(pod *corev1.Pod)
	// Query is the query of the plans.
	Query scheduling.Query
	// DeviceMatcher is the matcher that the plans use. It may be nil.
	DeviceMatcher scheduling.DeviceMatcher
	// BookFor is how long room is booked, and how long the answer to a request of v1.ClassPlan is valid. Nil means DefaultBookFor.
	BookFor *time.Duration
	// MaxPods is the largest number of pods that all requests of one round may ask for together. Missing pods of the snapshot's gangs count
	// against it. A request for more than MaxPods fails. Other requests are handled oldest first, and a request that asks for more than the
	// remaining number waits for a later round. Nil means DefaultMaxPods; more than 100,000 counts as 100,000.
	MaxPods *int
}

// mostPods is the largest number of pods of gangs that planning accepts.
const mostPods = 100_000

func (in *Input) maxPods() int {
	return min(max(option.Or(in.MaxPods, DefaultMaxPods), 0), mostPods)
}

// Answer is the result for a request.
type Answer struct {
	// Given is the request as it was passed.
	Given *v1.ProvisioningRequest
	// Request is a copy of the given request, with the status that it should have.
	Request *v1.ProvisioningRequest
	// Changed reports whether the status differs from the given status.
	Changed bool
}

// mine returns the requests that this package must answer, with the oldest request first.
func (in *Input) mine() []*v1.ProvisioningRequest {
	var list []*v1.ProvisioningRequest
	for _, r := range in.Requests {
		if r != nil && v1.Answered(r.Spec.ProvisioningClassName) && r.DeletionTimestamp == nil {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *v1.ProvisioningRequest) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(list, func(a, b *v1.ProvisioningRequest) bool { return nameOf(a) == nameOf(b) })
}

func nameOf(r *v1.ProvisioningRequest) types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// over reports whether the given time has been reached.
func (in *Input) over(until time.Time) bool {
	return !in.Snapshot.Time.IsZero() && !in.Snapshot.Time.Before(until)
}
