package provisioning

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// LifecycleOptions are the timeouts for launch, registration and initialization. Use the same options for all pools, or different options
// per pool. Start from DefaultLifecycleOptions.
type LifecycleOptions struct {
	// LaunchTimeout is how long after its creation a claim may be without an instance; more than 0. The provider's value is
	// Capabilities.LaunchTimeoutOrDefault.
	LaunchTimeout time.Duration
	// RegistrationTimeout is how long after its creation a claim's instance may be without a registered node; more than 0. It also
	// applies to a claim that loses its node, which then has at least five minutes to return.
	RegistrationTimeout time.Duration
	// RegistrationTimeoutOf replaces RegistrationTimeout: it is called with that timeout and returns the timeout of a claim, more than 0.
	// nodefacts.Book.Timeout of package scheduling/nodefacts computes it from earlier nodes of the type. It must return quickly, and be
	// safe for concurrent use. Nil means RegistrationTimeout for all claims.
	RegistrationTimeoutOf func(claim *v1.NodeClaim, otherwise time.Duration) time.Duration
	// InitializationTimeout is how long after its registration a node may take to initialize before its claim is deleted. 0 means without
	// limit, as in Karpenter.
	InitializationTimeout time.Duration
	// GroupTimeout is how long a launch group (v1.LaunchGroup) may take until all of its nodes have joined; after this time, the group is
	// given up. The time counts from the first launch of its claims, and before that from the creation of the first claim. 0 means that
	// only the timeouts of each claim apply.
	GroupTimeout time.Duration
	// Process is the name of the process whose clock is used for Lifecycle.Next. It must differ from the names of all other processes:
	// times that another process recorded on a claim of an incomplete launch group are ignored, because its clock may differ. At most 253
	// bytes. If it is empty, times of any process are used.
	Process string
}

// mostProcessName is the maximum length of a process's name. It is the same as for a pod's name.
const mostProcessName = 253

// DefaultRegistrationTimeout is how long a NodeClaim may be without a registered node by default.
const DefaultRegistrationTimeout = 15 * time.Minute

// DefaultLifecycleOptions returns cloudprovider.DefaultLaunchTimeout, DefaultRegistrationTimeout and DefaultGroupTimeout; initialization
// has no timeout.
func DefaultLifecycleOptions() LifecycleOptions {
	return LifecycleOptions{
		LaunchTimeout: cloudprovider.DefaultLaunchTimeout, RegistrationTimeout: DefaultRegistrationTimeout, GroupTimeout: DefaultGroupTimeout,
	}
}

// Lifecycle leads a NodeClaim from its creation to a node that is ready for pods: finalizer, launch, registration, initialization,
// and deletion if one of these takes too long. It is a pure function of the observed state: it keeps nothing between calls and is
// safe for concurrent use.
type Lifecycle struct {
	options LifecycleOptions
}

// NewLifecycle returns a Lifecycle. The error is an *option.Error.
func NewLifecycle(o LifecycleOptions) (*Lifecycle, error) {
	switch {
	case o.LaunchTimeout <= 0, o.RegistrationTimeout <= 0:
		return nil, &option.Error{
			Package: "provisioning", Option: "Lifecycle.LaunchTimeout, Lifecycle.RegistrationTimeout",
			Rule: fmt.Sprintf("are %s and %s: both must be more than 0; start from DefaultLifecycleOptions", o.LaunchTimeout, o.RegistrationTimeout),
		}
	case o.InitializationTimeout < 0:
		return nil, &option.Error{Package: "provisioning", Option: "Lifecycle.InitializationTimeout", Rule: "is negative: 0 waits forever"}
	case o.GroupTimeout < 0:
		return nil, &option.Error{Package: "provisioning", Option: "Lifecycle.GroupTimeout", Rule: "is negative: 0 applies only the timeouts of each claim"}
	case len(o.Process) > mostProcessName:
		return nil, &option.Error{Package: "provisioning", Option: "Lifecycle.Process", Rule: fmt.Sprintf("has %d bytes, but may have at most %d: it is part of messages", len(o.Process), mostProcessName)}
	}
	return &Lifecycle{options: o}, nil
}

// ClaimState is the observed state of a claim. It is not changed.
type ClaimState struct {
	// Claim as stored.
	Claim *v1.NodeClaim
	// Nodes lists the nodes with the claim's provider ID, if the claim has one. A registered claim without a node here has lost its node:
	// make sure that it is not merely missing in a cache.
	Nodes []*corev1.Node
	// Slices are the ResourceSlices that drivers published for the claim's node; the list may also contain slices of other nodes. They are
	// read while the claim is not initialised and waits for drivers. nil means that they are not known; then the claim does not wait for
	// them. Pass an empty list if no slices were published yet.
	Slices []*resourcev1.ResourceSlice
	// Group contains the claims of the same launch group (v1.LaunchGroupOf), including those that are being deleted. The list may also
	// contain claims of other groups. It is read until the claim is registered. nil means that the group is not known; then the claim does
	// not wait for it.
	Group []*v1.NodeClaim
	// HasGates says that there are registration gates to ask.
	HasGates bool
	// Gates are the answers of the registration gates, by name, if AskGates was just carried out; else nil.
	Gates map[string]GateAnswer
}

// GateAnswer is the answer of a registration gate.
type GateAnswer struct {
	cloudprovider.GateResult
	// Err is why the gate could not answer.
	Err error
}

// Next returns the claim's next step. The step is empty for a claim that is being deleted: see TerminateClaim.
func (l *Lifecycle) Next(s ClaimState, now time.Time) Step {
	if s.Claim == nil || s.Claim.DeletionTimestamp != nil {
		return Step{}
	}
	// Don't launch before the finalizer is stored. Without the finalizer, a claim that is deleted between the launch and the next step
	// would leave its instance behind.
	if !slices.Contains(s.Claim.Finalizers, v1.TerminationFinalizer) {
		claim := s.Claim.DeepCopy()
		claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
		return Step{Effects: []Effect{PutClaim{Claim: claim}}}
	}
	if step, dead := l.liveness(s.Claim, now); dead {
		return step
	}
	if step, waits := l.group(s, now); waits {
		return step
	}
	conditions := s.Claim.DeepCopy().Conditions()
	switch {
	case !conditions.IsTrue(v1.ConditionLaunched):
		return l.launch(s, now)
	case !conditions.IsTrue(v1.ConditionRegistered):
		return l.register(s, now)
	case len(s.Nodes) == 0:
		return l.lost(s.Claim, now)
	case !conditions.IsTrue(v1.ConditionInitialized):
		return l.initialize(s, now)
	}
	return Step{}
}

// changed returns a step that stores the claim after if it differs from the claim before.
func changed(before, after *v1.NodeClaim, again time.Duration) Step {
	step := Step{Again: again}
	if !equalClaims(before, after) {
		step.Effects = []Effect{PutClaim{Claim: after}}
	}
	return step
}

// untilDue returns the shorter of two waits; 0 means never.
func untilDue(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return b
	case b <= 0:
		return a
	}
	return min(a, b)
}

// ReasonNodeLost is the reason of a claim's condition Registered with status Unknown: its registered node is gone, although the
// claim is not being deleted.
const ReasonNodeLost = "NodeLost"

// lostNodeGrace is the shortest time that a lost node has to join again, even if the claim is old. When a kubelet restarts, it creates its
// Node again.
const lostNodeGrace = 5 * time.Minute

// NodeLost reports whether the claim had a registered node and has lost it. Its instance may run but never take pods again. So no pods are
// planned for the claim until a node of the instance is registered again.
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

// lost records that the claim's node is gone. From this time on, the registration timeout runs again. The next node of the claim must be
// initialized again.
func (l *Lifecycle) lost(observed *v1.NodeClaim, now time.Time) Step {
	claim := observed.DeepCopy()
	claim.Conditions().SetUnknown(v1.ConditionRegistered, ReasonNodeLost, fmt.Sprintf("node %s was registered and is gone", observed.Status.NodeName), now)
	claim.Conditions().SetUnknown(v1.ConditionInitialized, "NodeNotFound", "0 nodes have the provider ID "+observed.Status.ProviderID, now)
	claim.Status.NodeName = ""
	return changed(observed, claim, l.left(claim, now))
}

// liveness deletes a claim that has passed its deadline. It returns false if the deadline has not passed.
func (l *Lifecycle) liveness(claim *v1.NodeClaim, now time.Time) (Step, bool) {
	deadline, reason := l.deadline(claim)
	if deadline.IsZero() || now.Before(deadline) {
		return Step{}, false
	}
	return Step{Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: reason}}}, true
}

// deadline returns the time at which the claim will be deleted if it makes no progress, and the reason for the deletion. A zero time means
// never.
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

// left returns the time until the claim's deadline, or 0 if the claim has no deadline.
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
