package provisioning

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Periods of a node's termination.
const (
	// shortestDrain is the minimum duration of a drain, so that it includes pods that were bound while the taint was added.
	shortestDrain = 5 * time.Second
	drainEvery    = time.Second
)

// NodeTermination is the observed state of a node that is being deleted. It is not changed.
type NodeTermination struct {
	// Node as stored.
	Node *corev1.Node
	// Claims lists the claims with the node's provider ID.
	Claims []*v1.NodeClaim
	// Pods are the pods bound to the node.
	Pods []*corev1.Pod
	// Attachments are the cluster's VolumeAttachments to the node.
	Attachments []*storagev1.VolumeAttachment
	// VolumesOf are the persistent volumes that a pod of the node uses, by the pod's UID.
	VolumesOf map[string][]string
	// Instance is the provider's latest answer to AskInstance or TerminateInstance.
	Instance InstanceState
	// DrainingSince is when the drain started, for a node without a claim that records it; zero if it has not started.
	DrainingSince time.Time
}

// TerminateNode returns the next step of a node that is being deleted. It also deletes the claim. It keeps new pods and traffic of load
// balancers away, drains the node, waits for its volumes to detach, terminates the instance, and then removes the finalizer. A node that is
// not ready, and whose instance the provider does not know, is removed at once, because its pods no longer run. A node without a claim, or
// with several, is drained without a deadline, and its instance is not terminated.
func TerminateNode(s NodeTermination, now time.Time) Step {
	if s.Node == nil || s.Node.DeletionTimestamp == nil || !slices.Contains(s.Node.Finalizers, v1.TerminationFinalizer) {
		return Step{}
	}
	var claim *v1.NodeClaim
	if len(s.Claims) == 1 {
		claim = s.Claims[0]
	}
	if claim != nil {
		if claim.DeletionTimestamp == nil {
			return Step{Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID}}}
		}
		if step, ok := setDeadline(claim); ok {
			return step
		}
	}
	if nodeCondition(s.Node, corev1.NodeReady) != corev1.ConditionTrue && (claim != nil || s.Node.Spec.ProviderID != "") {
		switch s.Instance {
		case InstanceUnasked:
			return Step{Effects: []Effect{askFor(s.Node, claim)}}
		case InstanceGone:
			return nodeDone(s.Node)
		}
	}
	if step, ok := closeNode(s.Node); ok {
		return step
	}
	deadline, events := nodeDeadline(claim)
	step, over := s.drain(claim, deadline, now)
	if over {
		step, over = s.detach(claim, deadline, now)
	}
	if over {
		step = s.end(claim, now)
	}
	step.Events = append(events, step.Events...)
	return step
}

// askFor returns the effect that requests the state of the node's instance from the provider. If claim is nil, because the node has no
// claim or several claims, the effect identifies the instance by the node's own provider ID.
func askFor(node *corev1.Node, claim *v1.NodeClaim) Effect {
	if claim != nil {
		return AskInstance{claim.DeepCopy()}
	}
	instance := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
	instance.Status.ProviderID = node.Spec.ProviderID
	return AskInstance{instance}
}

// markerOf returns the marker that shows that the node is disrupted: a taint or a cordon. It depends on the API version of the node's pool.
func markerOf(node *corev1.Node) v1.DisruptionMarker {
	return v1.MarkerOf(v1.PoolOf(node.Labels))
}

// closeNode keeps new pods and traffic of load balancers away from the node.
func closeNode(observed *corev1.Node) (Step, bool) {
	node := observed.DeepCopy()
	markerOf(node).Mark(node)
	node.Labels = merged(node.Labels, map[string]string{v1.ExcludeBalancersLabelKey: "karpenter"})
	put := putNode(observed, node)
	if put == nil {
		return Step{}, false
	}
	return Step{Effects: []Effect{put}}, true
}

func nodeDeadline(claim *v1.NodeClaim) (time.Time, []Event) {
	if claim == nil {
		return time.Time{}, nil
	}
	deadline, err := DeadlineOf(claim)
	if err != nil {
		return time.Time{}, []Event{claimEvent(claim, EventTerminationGracePeriodExpiring, err.Error())}
	}
	return deadline, nil
}

// drain evicts the node's pods. The result over is true if the drain has ended.
func (s NodeTermination) drain(claim *v1.NodeClaim, deadline, now time.Time) (step Step, over bool) {
	drain := DrainMarkedNode(markerOf(s.Node), s.Pods, deadline, now)
	drain.explain(EvictionReason(claim))
	since := s.DrainingSince
	if claim != nil {
		switch drained := claim.DeepCopy().Conditions().Get(v1.ConditionDrained); {
		case drained.Status == "True":
			return Step{}, true
		case drained.Reason == "Draining":
			since = drained.LastTransitionTime.Time
		default:
			out := claim.DeepCopy()
			out.Conditions().SetUnknown(v1.ConditionDrained, "Draining", "Draining", now)
			return Step{Effects: append([]Effect{PutClaim{Claim: out}}, drain.Effects...), Again: drainEvery}, false
		}
	}
	if drain.Waiting > 0 || since.IsZero() || now.Before(since.Add(shortestDrain)) {
		step = Step{Effects: drain.Effects, Again: untilDue(drain.Again, drainEvery)}
		if len(drain.Blocked) > 0 {
			step.Events = append(step.Events, nodeEvent(s.Node, EventFailedDraining, true,
				fmt.Sprintf("Failed to drain node, %d pods are waiting to be evicted, of which %d protect themselves, %s first", drain.Waiting, len(drain.Blocked), drain.Blocked[0])))
		}
		return step, false
	}
	if claim == nil {
		return Step{}, true
	}
	out := claim.DeepCopy()
	out.Conditions().SetTrue(v1.ConditionDrained, now)
	return Step{Effects: []Effect{PutClaim{Claim: out}}}, false
}

// detach waits until the volumes of drained pods are detached. The result over is true if the volumes are detached, or if the deadline has
// passed.
func (s NodeTermination) detach(claim *v1.NodeClaim, deadline, now time.Time) (step Step, over bool) {
	if claim != nil {
		detached := claim.DeepCopy().Conditions().Get(v1.ConditionVolumesDetached)
		if detached.Status == "True" || detached.Reason == "TerminationGracePeriodElapsed" {
			return Step{}, true
		}
	}
	waiting := s.attached(now)
	late := !deadline.IsZero() && now.After(deadline)
	if len(waiting) > 0 && !late {
		step = Step{Again: untilDue(drainEvery, deadline.Sub(now)), Events: []Event{nodeEvent(s.Node, EventAwaitingVolumeDetachment, false,
			fmt.Sprintf("Awaiting deletion of %d VolumeAttachments bound to node, %s first", len(waiting), waiting[0]))}}
		if claim != nil {
			out := claim.DeepCopy()
			out.Conditions().SetUnknown(v1.ConditionVolumesDetached, "AwaitingVolumeDetachment", "AwaitingVolumeDetachment", now)
			put := changed(claim, out, 0)
			step.Effects = put.Effects
		}
		return step, false
	}
	if claim == nil {
		return Step{}, true
	}
	out := claim.DeepCopy()
	if len(waiting) > 0 {
		out.Conditions().SetFalse(v1.ConditionVolumesDetached, "TerminationGracePeriodElapsed", fmt.Sprintf("%d volumes are still attached", len(waiting)), now)
	} else {
		out.Conditions().SetTrue(v1.ConditionVolumesDetached, now)
	}
	return Step{Effects: []Effect{PutClaim{Claim: out}}}, false
}

// attached returns the names of the VolumeAttachments whose removal the termination waits for. It leaves out volumes whose only users are
// pods that are not drained.
func (s NodeTermination) attached(now time.Time) []string {
	staying, going := map[string]bool{}, map[string]bool{}
	for _, pod := range s.Pods {
		users := staying
		if pods.DrainableFrom(markerOf(s.Node), pod, now) {
			users = going
		}
		for _, volume := range s.VolumesOf[string(pod.UID)] {
			users[volume] = true
		}
	}
	var names []string
	for _, a := range s.Attachments {
		volume := a.Spec.Source.PersistentVolumeName
		if volume == nil || a.Spec.NodeName != s.Node.Name || staying[*volume] && !going[*volume] {
			continue
		}
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// end terminates the instance, and then removes the node's finalizer.
func (s NodeTermination) end(claim *v1.NodeClaim, now time.Time) Step {
	if claim == nil || claim.Status.ProviderID == "" || s.Instance == InstanceGone {
		return nodeDone(s.Node)
	}
	return terminate(claim, s.Instance, now)
}

func nodeDone(observed *corev1.Node) Step {
	node := observed.DeepCopy()
	node.Finalizers = slices.DeleteFunc(node.Finalizers, func(f string) bool { return f == v1.TerminationFinalizer })
	return Step{Effects: []Effect{PutNode{node}}}
}

func nodeEvent(node *corev1.Node, reason EventReason, warning bool, message string) Event {
	return Event{Kind: "Node", Name: node.Name, UID: node.UID, Warning: warning, Reason: reason, Message: message}
}
