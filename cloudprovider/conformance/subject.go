package conformance

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Factory makes a provider to be tested, on a cloud that has none of the kit's instances. It is called for every clause and, in
// properties, for every trial. A factory for a real cloud may return the same provider each time, because the kit uses only its own
// instances and terminates them. What the factory opens it closes with t.Cleanup; t.Fatal and t.Skip end the clause.
type Factory func(t testing.TB) Subject

// Subject is a provider under test, and what the kit may know of it and do to its cloud. Provider alone is required: a
// clause that needs a hook which is nil is skipped, and the report says which hook it was.
type Subject struct {
	// Provider under test.
	Provider cloudprovider.CloudProvider
	// NodePool that instance types are asked for and that claims are of; nil means one named "conformance" without requirements. With
	// one of v1alpha5 (v1.SetGenerationOf) the kit looks whether the provider serves those too: claims have the label of
	// that generation then, and instances have to.
	NodePool *v1.NodePool
	// NodeClass that claims are launched from; zero means one named "default" of the kind that the provider declares
	// first.
	NodeClass v1.NodeClassReference
	// Requirements are added to every claim, to keep a run on a real cloud to instances that cost little. Nil adds none.
	Requirements []v1.NodeSelectorRequirementWithMinValues
	// VolumeTopologyKeys are the zone labels that the cloud's CSI drivers put on volumes. Nil means that there are none of
	// their own.
	VolumeTopologyKeys []string

	Hooks
}

// Hooks let the kit act on the cloud behind the provider. Each may be nil.
type Hooks struct {
	// Advance moves the clock of the cloud and of the provider. Nil means that time is real: the kit then waits for what
	// takes time.
	Advance func(time.Duration)
	// Restart is what the next process would hold: another provider for the same cluster and cloud, which knows nothing
	// but what the cloud says.
	Restart func() cloudprovider.CloudProvider
	// OtherCluster is a provider for another cluster in the same cloud.
	OtherCluster func() cloudprovider.CloudProvider
	// Instances are those the cloud has, as its console shows them: all that are not gone, of this cluster at least.
	Instances func(context.Context) ([]Instance, error)
	// SellOut takes away the stock of the offerings that match, without telling the provider. The result puts it back.
	SellOut func(match func(cloudprovider.OfferingKey) bool) (restock func())
	// Inject makes calls of the provider meet trouble in the cloud until cleared. What this cloud can't have is
	// errors.ErrUnsupported.
	Inject func(Fault) (heal func(), err error)
	// Stall blocks the cloud's calls that the method needs until they are released. A call that hangs must get at least a second before
	// the kit gives up. What can't be stalled is errors.ErrUnsupported.
	Stall func(Method) (release func(), err error)
	// SetNodeClass makes a node class ready, missing and so on. A reference nobody spoke of before is a new node class.
	SetNodeClass func(v1.NodeClassReference, NodeClassState) error
	// MakeDrift makes the instance differ from what its node class asks for.
	MakeDrift func(providerID string) error
	// Interrupt has the cloud announce what it will do to an instance after the notice, and then do it.
	Interrupt func(providerID string, kind cloudprovider.InterruptionKind, notice time.Duration) error
	// WithoutRepair is a provider whose operator has turned repair off. Nil when providers know nothing of that, and their
	// callers leave the policies aside.
	WithoutRepair func() cloudprovider.CloudProvider
	// Noise puts messages into the source of interruptions that mean nothing to a cluster, or can't be parsed.
	Noise func() error
}

// NodeClassState is a state that a node class can be put into.
type NodeClassState string

// The states of node classes.
const (
	NodeClassReady       NodeClassState = "Ready"
	NodeClassUnready     NodeClassState = "Unready"
	NodeClassMissing     NodeClassState = "Missing"
	NodeClassTerminating NodeClassState = "Terminating"
)

// An Instance as the cloud knows it, not the provider.
type Instance struct {
	// ProviderID as the provider would call it.
	ProviderID string
	// ClaimUID it was launched for, as its tags say; empty without such a tag.
	ClaimUID string
	// Live is true while it boots or runs, false while it shuts down.
	Live bool
	// Taints that its node joins with; nil when the hook does not know.
	Taints []corev1.Taint
	// Observed is what its node has reported; nil until there is a node.
	Observed *Observed
}

// Observed is what a real node says of itself.
type Observed struct {
	// Allocatable of status.allocatable.
	Allocatable corev1.ResourceList
	// VolumeLimits of CSINode.spec.drivers[].allocatable.count; nil when not known.
	VolumeLimits map[string]int32
}

// Method names a call of a provider.
type Method string

// The methods that faults can be injected into.
const (
	MethodInstanceTypes        Method = "InstanceTypes"
	MethodCreate               Method = "Create"
	MethodDelete               Method = "Delete"
	MethodGet                  Method = "Get"
	MethodList                 Method = "List"
	MethodIsDrifted            Method = "IsDrifted"
	MethodReceiveInterruptions Method = "ReceiveInterruptions"
	MethodNodeClassStatus      Method = "NodeClassStatus"
	MethodRegistered           Method = "Registered"
)

// Fault is trouble in the cloud, in the words of what the provider should make of it.
type Fault struct {
	// Method of the provider that meets it.
	Method Method
	// Kind of error that the provider must come to. Empty is an error that the cloud explains in no way the provider
	// could know.
	Kind cloudprovider.ErrorKind
	// Also is a second failure in the same call, which the error must also report. Empty for none.
	Also cloudprovider.ErrorKind
	// RetryAfter is how long a throttling cloud asks to be left alone; zero when it does not say.
	RetryAfter time.Duration
	// Lost lets the cloud do what it was asked and loses its answer.
	Lost bool
}
