package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// assembleClasses creates the reconciler of node classes.
func (p *Provider) assembleClasses() (err error) {
	clients, api := p.options.Clients, p.options.Clients.EC2(sdk.Normal)
	if p.images, err = amis.New(api, clients.SSM(sdk.Normal), amis.Options{Lifetime: option.Or(p.config.ImagesEvery, 0), Now: p.now}); err != nil {
		return err
	}
	o := nodeclass.Options{
		EC2: api, Network: nodeclass.NewFinder(api, nodeclass.FinderOptions{Counts: p.subnets.Tracker(), SubnetsEvery: option.Or(p.config.SubnetsEvery, 0), Now: p.now}), Images: p.images, Groups: p.groups, Templates: p.templates,
		Cluster: p.cluster, WithoutDryRuns: p.config.WithoutDryRuns, Features: p.config.Features, Extend: p.options.ExtendLaunchTemplate,
		InstanceTypes: func(ctx context.Context, class *awsv1.EC2NodeClass) ([]*cloudprovider.InstanceType, error) {
			types, _, err := p.types(ctx, class, "", "")
			return types, err
		},
		Now: p.now, Logger: p.options.Logger,
	}
	if !p.config.WithoutReservedCapacity {
		o.Reservations = reservations.NewFinder(api, p.reservations, p.now)
	}
	if !p.config.IsolatedVPC {
		p.profiles, err = instanceprofile.New(instanceprofile.Options{
			IAM: clients.IAM(sdk.Normal), Region: clients.Region(), ClusterName: p.config.ClusterName, Now: p.now, Logger: p.options.Logger,
		})
		if err != nil {
			return err
		}
		o.Profiles = p.profiles
	}
	p.classes, err = nodeclass.New(o)
	return err
}

// ReconcileNodeClass reconciles one node class. All other methods rely on its status. It resolves the selectors of the class, creates its
// instance profile, asks EC2 whether instances can be launched, updates the drift hash, and cleans up after a class that is being deleted.
// The first call for a class only adds its finalizer, calls no AWS API and leaves the status empty: write the result and call again after
// Result.RequeueAfter. It writes nothing to the cluster: the caller must write the result, even if there is an error. Calls for the same
// class must not overlap, and only the leader may call it.
func (p *Provider) ReconcileNodeClass(ctx context.Context, o ObservedNodeClass) (ReconciledNodeClass, error) {
	result, err := p.classes.Reconcile(ctx, nodeclass.Observed(o))
	return reconciled(result), err
}

// CollectInstanceProfiles deletes unused instance profiles of the cluster. inUse returns the names of all profiles in use: those in the
// status of any node class, and in the annotation karpenter.k8s.aws/instance-profile-name of any NodeClaim. It is called after the profiles
// were listed. It returns the names of the deleted profiles and when to call it again, or the zero time (never) if the provider creates no
// profiles.
func (p *Provider) CollectInstanceProfiles(ctx context.Context, inUse func(context.Context) ([]string, error)) (deleted []string, requeueAfter time.Duration, err error) {
	if p.profiles == nil {
		return nil, 0, nil
	}
	deleted, err = p.profiles.Collect(ctx, inUse)
	return deleted, instanceprofile.CollectEvery, err
}

// DeleteEverything deletes all launch templates and instance profiles of the cluster, before the cluster is deleted. Terminate its
// instances first.
func (p *Provider) DeleteEverything(ctx context.Context) error {
	errs := []error{p.templates.DeleteAll(ctx)}
	if p.profiles != nil {
		errs = append(errs, p.profiles.DeleteAll(ctx))
	}
	return errors.Join(errs...)
}

// NodeClassStatus returns whether a node class exists, whether its current version was reconciled, and whether instances can be launched
// from it (CP-CLASS).
func (p *Provider) NodeClassStatus(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
	if !p.capabilities.SupportsNodeClass(ref) {
		return cloudprovider.NodeClassReadiness{
			Status: metav1.ConditionFalse, Reason: "NodeClassUnsupported",
			Message: fmt.Sprintf("node classes of kind %s.%s cannot be used for launches: use %s.%s", ref.Kind, ref.Group, nodeClassKind, awsv1.Group),
		}, nil
	}
	class, err := p.options.NodeClasses.NodeClass(ctx, ref.Name)
	if err != nil {
		return cloudprovider.NodeClassReadiness{}, fmt.Errorf("reading node class %q: %w", ref.Name, err)
	}
	return readiness(ref.Name, class), nil
}

// readiness returns the readiness of a node class; nil means that it does not exist.
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
		r.Message = fmt.Sprintf("EC2NodeClass %q has changed and was not reconciled since: wait for its controller", name)
	case ready.Status == metav1.ConditionTrue:
	case ready.Status != metav1.ConditionFalse:
		r.Status, r.Reason = metav1.ConditionUnknown, cloudprovider.NodeClassReadinessUnknown
		if r.Message == "" {
			r.Message = fmt.Sprintf("EC2NodeClass %q was not reconciled yet: wait for its controller", name)
		}
	case r.Message == "":
		r.Message = fmt.Sprintf("EC2NodeClass %q is not ready: its conditions say why", name)
	}
	return r
}

// nodeClass reads a node class for a launch. If no instance can be launched from it, the error has kind NodeClassNotReady (CP-CREATE-10,
// CP-CLASS-03).
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
