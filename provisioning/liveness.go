package provisioning

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ReasonNodeLost is the reason of a claim's condition Registered with status Unknown: its registered node is gone, although the
// claim is not being deleted.
const ReasonNodeLost = "NodeLost"

// lostNodeGrace is how long a lost node has at least to join again, independent of the claim's age: a kubelet creates its Node
// again when it restarts.
const lostNodeGrace = 5 * time.Minute

// NodeLost reports whether the claim had a registered node and has lost it. Its instance may run, but may never take pods again, so
// no pods are planned for the claim until a node of the instance is registered again.
func NodeLost(claim *v1.NodeClaim) bool {
	if claim == nil {
		return false
	}
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionRegistered {
			return c.Status == metav1.ConditionUnknown && c.Reason == ReasonNodeLost
		}
	}
	return false
}

// lost records that the claim's node is gone: the registration timeout starts now. The next node must be initialized again.
func (l *Lifecycle) lost(observed *v1.NodeClaim, now time.Time) Step {
	claim := observed.DeepCopy()
	claim.Conditions().SetUnknown(v1.ConditionRegistered, ReasonNodeLost, fmt.Sprintf("node %s was registered and is gone", observed.Status.NodeName), now)
	claim.Conditions().SetUnknown(v1.ConditionInitialized, "NodeNotFound", "0 nodes have the provider ID "+observed.Status.ProviderID, now)
	claim.Status.NodeName = ""
	return changed(observed, claim, l.left(claim, now))
}

// liveness deletes a claim that takes too long to launch or to register, counted from its creation, or to initialize, counted from
// its registration.
func (l *Lifecycle) liveness(claim *v1.NodeClaim, now time.Time) (Step, bool) {
	deadline, reason := l.deadline(claim)
	if deadline.IsZero() || now.Before(deadline) {
		return Step{}, false
	}
	return Step{Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: reason}}}, true
}

// deadline returns when the claim will be deleted unless it makes progress, and why; zero means never.
func (l *Lifecycle) deadline(claim *v1.NodeClaim) (time.Time, DisruptedReason) {
	conditions := claim.DeepCopy().Conditions()
	created := claim.CreationTimestamp.Time
	switch {
	case !conditions.IsTrue(v1.ConditionLaunched):
		return created.Add(l.options.LaunchTimeout), ReasonLaunchTimeout
	case !conditions.IsTrue(v1.ConditionRegistered):
		timeout := l.options.RegistrationTimeout
		if l.options.RegistrationTimeoutOf != nil {
			if own := l.options.RegistrationTimeoutOf(claim, timeout); own > 0 {
				timeout = own
			}
		}
		deadline := created.Add(timeout)
		if NodeLost(claim) {
			grace := conditions.Get(v1.ConditionRegistered).LastTransitionTime.Add(min(lostNodeGrace, timeout))
			deadline = latest(deadline, grace)
		}
		return deadline, ReasonRegistrationTimeout
	case !conditions.IsTrue(v1.ConditionInitialized) && l.options.InitializationTimeout > 0:
		return conditions.Get(v1.ConditionRegistered).LastTransitionTime.Add(l.options.InitializationTimeout), ReasonInitializationTimeout
	}
	return time.Time{}, ""
}

// left returns the time until the claim will be deleted, or 0 if it has no deadline.
func (l *Lifecycle) left(claim *v1.NodeClaim, now time.Time) time.Duration {
	deadline, _ := l.deadline(claim)
	if deadline.IsZero() {
		return 0
	}
	return max(deadline.Sub(now), time.Nanosecond)
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func equalClaims(a, b *v1.NodeClaim) bool {
	return equality.Semantic.DeepEqual(a.ObjectMeta, b.ObjectMeta) && equality.Semantic.DeepEqual(a.Status, b.Status)
}
