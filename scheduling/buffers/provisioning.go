package buffers

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
)

// Places counts the placeholders of one buffer by where a plan put them.
type Places struct {
	// Existing is the number of placeholders that have room on nodes of the snapshot.
	Existing int
	// New is the number of placeholders that need nodes that the plan launches.
	New int
}

// Locate counts where the plan put the placeholders of each buffer, in the order of resolved. Placeholders that the plan could not place
// are not counted.
func Locate(resolved []Resolved, plan *scheduling.Plan) []Places {
	places := make([]Places, len(resolved))
	if plan == nil {
		return places
	}
	owner := make(map[scheduling.PodKey]int)
	for i := range resolved {
		for _, pod := range resolved[i].Pods {
			owner[keyOf(pod)] = i
		}
	}
	for i := range plan.Existing {
		for _, pod := range plan.Existing[i].Pods {
			if at, ok := owner[pod]; ok {
				places[at].Existing++
			}
		}
	}
	for i := range plan.NewNodes {
		for _, pod := range plan.NewNodes[i].Pods {
			if at, ok := owner[pod]; ok {
				places[at].New++
			}
		}
	}
	return places
}

// Hosts returns the names of the snapshot's nodes on which the plan has put placeholders, in the order of the plan. Disruption must not
// treat these nodes as empty, even if no pod runs on them.
func Hosts(placeholders []*corev1.Pod, plan *scheduling.Plan) []string {
	if plan == nil || len(placeholders) == 0 {
		return nil
	}
	own := make(map[scheduling.PodKey]bool, len(placeholders))
	for _, pod := range placeholders {
		own[keyOf(pod)] = true
	}
	var hosts []string
	for i := range plan.Existing {
		if slices.ContainsFunc(plan.Existing[i].Pods, func(pod scheduling.PodKey) bool { return own[pod] }) {
			hosts = append(hosts, plan.Existing[i].Name)
		}
	}
	return hosts
}

func keyOf(pod *corev1.Pod) scheduling.PodKey {
	if pod == nil {
		return scheduling.PodKey{}
	}
	return scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
}

// Provisioning is the condition Provisioning of a buffer after a pass.
type Provisioning struct {
	// Status is True if the existing nodes have room for the whole buffer, and False otherwise.
	Status metav1.ConditionStatus
	// Reason is one of the reasons of v1beta1.ConditionProvisioning.
	Reason string
	// Message is a sentence for people; empty when the status is True.
	Message string
}

// Provisioning returns the condition of a buffer after the pass that put its placeholders in these places.
func (r *Resolved) Provisioning(places Places) Provisioning {
	no := func(reason, message string) Provisioning {
		return Provisioning{Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	count := len(r.Pods)
	switch {
	case !r.Ready():
		return no(v1beta1.ReasonNotReadyForProvisioning, r.Reason+": "+r.Message)
	case count == 0:
		return no(v1beta1.ReasonBufferEmpty, "the buffer stands for no pods: its size is 0, or its limits hold none")
	case places.Existing < count:
		return no(v1beta1.ReasonRequiresNewCapacity, fmt.Sprintf("pods asked for: %d; with room on existing nodes: %d, on nodes to be launched: %d, nowhere: %d",
			count, places.Existing, places.New, max(count-places.Existing-places.New, 0)))
	}
	return Provisioning{Status: metav1.ConditionTrue, Reason: v1beta1.ReasonFitsExistingCapacity}
}

// Record writes the condition to b, which must not be shared, as of now. It reports whether b has changed.
func (p Provisioning) Record(b *v1beta1.CapacityBuffer, now time.Time) bool {
	if b == nil {
		return false
	}
	return b.SetCondition(v1beta1.ConditionProvisioning, p.Status, p.Reason, p.Message, now)
}
