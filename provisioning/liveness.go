package provisioning

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// liveness gives a claim up that takes too long (PRV-061): to launch or to register, counted from its creation, or to
// be initialised, counted from its registration (OPP-34).
func (l *Lifecycle) liveness(claim *v1.NodeClaim, now time.Time) (Step, bool) {
	deadline, reason := l.deadline(claim)
	if deadline.IsZero() || now.Before(deadline) {
		return Step{}, false
	}
	return Step{Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: reason}}}, true
}

// deadline is when the claim will be given up unless it gets further, and why; zero is never.
func (l *Lifecycle) deadline(claim *v1.NodeClaim) (time.Time, DisruptedReason) {
	conditions := claim.DeepCopy().Conditions()
	created := claim.CreationTimestamp.Time
	switch {
	case !conditions.IsTrue(v1.ConditionLaunched):
		return created.Add(l.options.LaunchTimeout), ReasonLaunchTimeout
	case !conditions.IsTrue(v1.ConditionRegistered):
		return created.Add(l.options.RegistrationTimeout), ReasonRegistrationTimeout
	case !conditions.IsTrue(v1.ConditionInitialized) && l.options.InitializationTimeout > 0:
		return conditions.Get(v1.ConditionRegistered).LastTransitionTime.Add(l.options.InitializationTimeout), ReasonInitializationTimeout
	}
	return time.Time{}, ""
}

// left is how long the claim has until it is given up; 0 if it is not going to be.
func (l *Lifecycle) left(claim *v1.NodeClaim, now time.Time) time.Duration {
	deadline, _ := l.deadline(claim)
	if deadline.IsZero() {
		return 0
	}
	return max(deadline.Sub(now), time.Nanosecond)
}

func equalClaims(a, b *v1.NodeClaim) bool {
	return equality.Semantic.DeepEqual(a.ObjectMeta, b.ObjectMeta) && equality.Semantic.DeepEqual(a.Status, b.Status)
}
