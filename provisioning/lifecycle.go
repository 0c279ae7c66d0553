package provisioning

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// LifecycleOptions are the times an instance has for coming up. They are a policy object: one for all pools, or one a
// pool. Start from DefaultLifecycleOptions.
type LifecycleOptions struct {
	// LaunchTimeout is how long after its creation a claim may be without an instance; more than 0. Providers say how long theirs take:
	// Capabilities.LaunchTimeoutOrDefault.
	LaunchTimeout time.Duration
	// RegistrationTimeout is how long after its creation a claim's instance may be without a registered node; more than 0.
	// It holds again for a claim that loses its node, which has five minutes at least to come back.
	RegistrationTimeout time.Duration
	// InitializationTimeout is how long after its registration a node may be without being initialised before it is
	// given up. 0 waits for ever, as the reference does.
	InitializationTimeout time.Duration
}

// DefaultRegistrationTimeout is how long a NodeClaim may be without a registered node by default.
const DefaultRegistrationTimeout = 15 * time.Minute

// DefaultLifecycleOptions are cloudprovider.DefaultLaunchTimeout and DefaultRegistrationTimeout; a node that is registered may take as long as it
// likes to be initialised.
func DefaultLifecycleOptions() LifecycleOptions {
	return LifecycleOptions{LaunchTimeout: cloudprovider.DefaultLaunchTimeout, RegistrationTimeout: DefaultRegistrationTimeout}
}

// Lifecycle brings a NodeClaim from its creation to a node that is ready for pods: finalizer, launch, registration,
// initialisation, and giving up when one of these takes too long. It is a pure function of what is
// observed; nothing is kept between calls, and it is safe for concurrent use.
type Lifecycle struct {
	options LifecycleOptions
}

// NewLifecycle makes a lifecycle. The error is an *option.Error.
func NewLifecycle(o LifecycleOptions) (*Lifecycle, error) {
	switch {
	case o.LaunchTimeout <= 0, o.RegistrationTimeout <= 0:
		return nil, &option.Error{
			Package: "provisioning", Option: "Lifecycle.LaunchTimeout, Lifecycle.RegistrationTimeout",
			Rule: fmt.Sprintf("are %s and %s: no instance comes up in no time; start from DefaultLifecycleOptions", o.LaunchTimeout, o.RegistrationTimeout),
		}
	case o.InitializationTimeout < 0:
		return nil, &option.Error{Package: "provisioning", Option: "Lifecycle.InitializationTimeout", Rule: "is negative: 0 waits for ever"}
	}
	return &Lifecycle{options: o}, nil
}

// ClaimState is what is observed of a claim. Nothing in it is changed.
type ClaimState struct {
	// Claim as stored.
	Claim *v1.NodeClaim
	// Nodes are those with the claim's provider ID; read once it has one. A claim that is registered and has none here
	// has lost its node: make sure that it is not a cache that lacks it.
	Nodes []*corev1.Node
	// Slices are the ResourceSlices that drivers published for the claim's node; others may be among them. They are read while the claim is not initialised
	// and waits for drivers. Nil: they are not known, and not waited for; make an empty list where there are none yet.
	Slices []*resourcev1.ResourceSlice
	// HasGates tells that there are registration gates to ask.
	HasGates bool
	// Gates are the answers of the registration gates, by name, if they were asked just now; nil if not.
	Gates map[string]GateAnswer
}

// GateAnswer is what a registration gate said.
type GateAnswer struct {
	cloudprovider.GateResult
	// Err is why the gate could not tell.
	Err error
}

// Next is what the claim needs at the time now. A claim that is being deleted needs nothing of Lifecycle: see
// Termination.
func (l *Lifecycle) Next(s ClaimState, now time.Time) Step {
	if s.Claim == nil || s.Claim.DeletionTimestamp != nil {
		return Step{}
	}
	// No launch before the finalizer is stored: a claim deleted meanwhile would leave its instance behind.
	if !slices.Contains(s.Claim.Finalizers, v1.TerminationFinalizer) {
		claim := s.Claim.DeepCopy()
		claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
		return Step{Effects: []Effect{PutClaim{Claim: claim}}}
	}
	if step, dead := l.liveness(s.Claim, now); dead {
		return step
	}
	conditions := s.Claim.DeepCopy().Conditions()
	switch {
	case !conditions.IsTrue(v1.ConditionLaunched):
		return l.launch(s.Claim, now)
	case !conditions.IsTrue(v1.ConditionRegistered):
		return l.register(s, now)
	case len(s.Nodes) == 0:
		return l.lost(s.Claim, now)
	case !conditions.IsTrue(v1.ConditionInitialized):
		return l.initialize(s, now)
	}
	return Step{}
}

// changed is the step that stores the claim, if it differs from the observed one.
func changed(before, after *v1.NodeClaim, again time.Duration) Step {
	step := Step{Again: again}
	if !equalClaims(before, after) {
		step.Effects = []Effect{PutClaim{Claim: after}}
	}
	return step
}

// untilDue is the shorter of two waits; 0 is for ever.
func untilDue(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return b
	case b <= 0:
		return a
	}
	return min(a, b)
}
