package conformance

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Factory makes a provider to test, on a cloud without any instances of the kit. It is called for every clause. In clauses with random
// inputs, it is called for every trial. A factory for a real cloud may return the same provider each time, because the kit uses only its
// own instances and terminates them. The factory must use t.Cleanup to close its resources; t.Fatal and t.Skip end the clause.
type Factory func(t testing.TB) Subject

// Subject is a provider under test, with facts about it and hooks for its cloud. Only Provider is required: a clause that needs a missing
// hook is skipped, and the report names the hook.
type Subject struct {
	// Provider under test.
	Provider cloudprovider.CloudProvider
	// NodePool is the pool whose instance types are requested and to which claims belong. nil means a pool named "conformance" without
	// requirements. If it is a v1alpha5 pool (v1.SetGenerationOf), the kit checks that the provider supports that generation: claims then
	// have its label, and instances must have it.
	NodePool *v1.NodePool
	// NodeClass is the node class from which claims are launched. The zero value means a node class named "default", of the first kind that
	// the provider declares.
	NodeClass v1.NodeClassReference
	// Requirements are added to every claim, to limit a run on a real cloud to cheap instances. Nil adds none.
	Requirements []v1.NodeSelectorRequirementWithMinValues
	// VolumeTopologyKeys are the zone labels that the cloud's CSI drivers set on volumes. Nil means that the drivers use no labels of their
	// own.
	VolumeTopologyKeys []string

	Hooks
}

// Hooks let the kit act on the cloud behind the provider. Each hook may be nil.
type Hooks struct {
	// Advance moves the clock of the cloud and of the provider. Nil means that the kit waits in real time.
	Advance func(time.Duration)
	// Restart returns the provider of a restarted process, for the same cluster and cloud. This provider knows only facts that the cloud
	// reports.
	Restart func() cloudprovider.CloudProvider
	// OtherCluster returns a provider for another cluster in the same cloud.
	OtherCluster func() cloudprovider.CloudProvider
	// Instances returns the instances that exist in the cloud, as its console shows them. The result must contain at least those of this
	// cluster.
	Instances func(context.Context) ([]Instance, error)
	// SellOut removes the stock of the matching offerings, without informing the provider. restock restores the stock.
	SellOut func(match func(cloudprovider.OfferingKey) bool) (restock func())
	// Inject makes calls of the provider fail in the cloud until heal is called. It returns errors.ErrUnsupported for a fault that this
	// cloud can't produce.
	Inject func(Fault) (heal func(), err error)
	// Stall blocks the cloud's calls that the method needs until release is called. A stalled call must not time out within the first
	// second. It returns errors.ErrUnsupported for a method that can't be stalled.
	Stall func(Method) (release func(), err error)
	// SetNodeClass puts a node class into the given state. For an unknown reference it creates a node class.
	SetNodeClass func(v1.NodeClassReference, NodeClassState) error
	// MakeDrift changes the instance so that it differs from its node class.
	MakeDrift func(providerID string) error
	// Interrupt makes the cloud announce an interruption of an instance, and carry it out when the notice period has passed.
	Interrupt func(providerID string, kind cloudprovider.InterruptionKind, notice time.Duration) error
	// WithoutRepair returns a provider for which the operator has turned repair off. It is nil if providers have no such setting because
	// callers ignore the policies instead.
	WithoutRepair func() cloudprovider.CloudProvider
	// Noise puts messages into the source of interruptions that do not concern a cluster, or can't be parsed.
	Noise func() error
}

// NodeClassState is a state of a node class that SetNodeClass can set.
type NodeClassState string

// The states of node classes.
const (
	NodeClassReady       NodeClassState = "Ready"
	NodeClassUnready     NodeClassState = "Unready"
	NodeClassMissing     NodeClassState = "Missing"
	NodeClassTerminating NodeClassState = "Terminating"
)

// An Instance is an instance as the cloud describes it, independently of the provider.
type Instance struct {
	// ProviderID in the provider's format.
	ProviderID string
	// ClaimUID is the UID of the claim in the instance's tags; empty without such a tag.
	ClaimUID string
	// Live is true while the instance boots or runs, and false while it shuts down.
	Live bool
	// Taints are the taints with which the instance's node joins; nil if the hook does not know them.
	Taints []corev1.Taint
	// Observed has the values that the instance's node has reported; nil until the node exists.
	Observed *Observed
}

// Observed has the values that a real node reports about itself.
type Observed struct {
	// Allocatable of status.allocatable.
	Allocatable corev1.ResourceList
	// VolumeLimits are the values of CSINode.spec.drivers[].allocatable.count; nil if not known.
	VolumeLimits map[string]int32
}

// Method names a call of a provider.
type Method string

// The methods that faults can be injected into.
const (
	MethodInstanceTypes        Method = "InstanceTypes"
	MethodCreate               Method = "Create"
	MethodCreateGroup          Method = "CreateGroup"
	MethodDelete               Method = "Delete"
	MethodGet                  Method = "Get"
	MethodList                 Method = "List"
	MethodIsDrifted            Method = "IsDrifted"
	MethodReceiveInterruptions Method = "ReceiveInterruptions"
	MethodNodeClassStatus      Method = "NodeClassStatus"
	MethodRegistered           Method = "Registered"
)

// Fault is a failure in the cloud, described by the error that the provider should return.
type Fault struct {
	// Method of the provider that the fault affects.
	Method Method
	// Kind of error that the provider must return. Empty means an error that the provider can't interpret.
	Kind cloudprovider.ErrorKind
	// Also is the kind of a second failure in the same call, which the error must report as well. Empty means that there is no second
	// failure.
	Also cloudprovider.ErrorKind
	// RetryAfter is the delay that a throttling cloud requests; zero if it requests none.
	RetryAfter time.Duration
	// Lost makes the cloud carry out the request but lose its answer.
	Lost bool
}
