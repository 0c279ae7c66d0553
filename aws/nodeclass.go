package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// NodeClassStatus says whether machines can be launched from a node class: whether it is there, has been looked at as it
// is now, and was found ready (CP-CLASS, AWI-142).
func (p *Provider) NodeClassStatus(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
	if !p.capabilities.SupportsNodeClass(ref) {
		return cloudprovider.NodeClassReadiness{
			Status: metav1.ConditionFalse, Reason: "NodeClassUnsupported",
			Message: fmt.Sprintf("node classes of kind %s.%s are not launched from: use %s.%s", ref.Kind, ref.Group, nodeClassKind, awsv1.Group),
		}, nil
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, ref.Name)
	if err != nil {
		return cloudprovider.NodeClassReadiness{}, fmt.Errorf("reading node class %q: %w", ref.Name, err)
	}
	return readiness(ref.Name, class), nil
}

// readiness judges a node class; nil is one that is not there.
func readiness(name string, class *awsv1.EC2NodeClass) cloudprovider.NodeClassReadiness {
	no := func(reason, message string) cloudprovider.NodeClassReadiness {
		r := cloudprovider.NodeClassReadiness{Status: metav1.ConditionFalse, Reason: reason, Message: message}
		if class != nil {
			r.ObservedGeneration = class.Generation
		}
		return r
	}
	switch {
	case class == nil:
		return no(cloudprovider.NodeClassNotFound, fmt.Sprintf("there is no EC2NodeClass %q: make it, or have the NodePool name another", name))
	case class.DeletionTimestamp != nil:
		return no(cloudprovider.NodeClassTerminating, fmt.Sprintf("EC2NodeClass %q is being deleted: have the NodePool name another", name))
	}
	for _, key := range slices.Sorted(maps.Keys(class.Spec.Tags)) {
		if reserved(key) {
			return no("TagsInvalid", fmt.Sprintf("spec.tags: %q is the provider's own: remove it", key))
		}
	}
	ready := class.Conditions().Ready()
	r := cloudprovider.NodeClassReadiness{Status: ready.Status, Reason: ready.Reason, Message: ready.Message, ObservedGeneration: ready.ObservedGeneration}
	switch {
	case ready.Status == metav1.ConditionTrue && ready.ObservedGeneration != class.Generation:
		r.Status, r.Reason = metav1.ConditionUnknown, cloudprovider.NodeClassReadinessUnknown
		r.Message = fmt.Sprintf("EC2NodeClass %q has changed and was not looked at since: wait for its controller", name)
	case ready.Status == metav1.ConditionTrue:
	case ready.Status != metav1.ConditionFalse:
		r.Status, r.Reason = metav1.ConditionUnknown, cloudprovider.NodeClassReadinessUnknown
		if r.Message == "" {
			r.Message = fmt.Sprintf("nobody has looked at EC2NodeClass %q yet: wait for its controller", name)
		}
	case r.Message == "":
		r.Message = fmt.Sprintf("EC2NodeClass %q is not ready: its conditions say why", name)
	}
	return r
}

// nodeClass reads a node class that machines can be launched from; the error is of kind NodeClassNotReady when they
// can't (CP-CREATE-10, CP-CLASS-03).
func (p *Provider) nodeClass(ctx context.Context, ref v1.NodeClassReference) (*awsv1.EC2NodeClass, error) {
	if !p.capabilities.SupportsNodeClass(ref) {
		return nil, cloudprovider.NewNodeClassNotReadyError(ref.Kind+" "+ref.Name,
			fmt.Sprintf("the kind is not %s.%s", nodeClassKind, awsv1.Group), nil)
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, ref.Name)
	if err != nil {
		return nil, fmt.Errorf("reading node class %q: %w", ref.Name, err)
	}
	if r := readiness(ref.Name, class); !r.Ready() {
		return nil, cloudprovider.NewNodeClassNotReadyError(nodeClassKind+" "+ref.Name, r.Message, nil)
	}
	return class, nil
}
