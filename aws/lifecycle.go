package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Get describes one instance (CP-GET). If its node class is gone or can't be read, fields that depend on the class, such as
// capacity, are left out.
func (p *Provider) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	i, err := p.instance(ctx, providerID)
	if err != nil {
		return nil, err
	}
	claim, _ := p.describe(ctx, i, p.newResolver())
	return claim, nil
}

// instance reads the instance with a provider id.
func (p *Provider) instance(ctx context.Context, providerID string) (instances.Instance, error) {
	id, err := instances.ParseProviderID(providerID)
	if err != nil {
		return instances.Instance{}, err
	}
	i, err := p.instances.Get(ctx, id)
	if cloudprovider.IsNodeClaimNotFound(err) {
		return instances.Instance{}, cloudprovider.NewNodeClaimNotFoundError(providerID, err)
	}
	return i, err
}

// List describes every instance of the cluster, by provider id (CP-LIST). If a node class can't be read, the fields that depend on it are
// missing, but only from its own instances.
func (p *Provider) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	now := p.now()
	found, err := p.instances.List(ctx)
	if err != nil {
		return nil, err
	}
	p.machines.replace(found, now)
	r := p.newResolver()
	claims := make([]*v1.NodeClaim, len(found))
	for n, i := range found {
		claims[n], _ = p.describe(ctx, i, r)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(claims, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
	return claims, nil
}

// Delete terminates an instance. If it is gone, the error is of kind NodeClaimNotFound (CP-DELETE). Parallel Deletes share their EC2 calls;
// a single Delete makes two calls.
func (p *Provider) Delete(ctx context.Context, nodeClaim *v1.NodeClaim) error {
	if nodeClaim == nil {
		return cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	err := p.delete(ctx, nodeClaim.Status.ProviderID)
	if err == nil {
		return nil
	}
	if reservation := nodeClaim.Labels[awsv1.LabelCapacityReservationID]; reservation != "" && cloudprovider.IsNodeClaimNotFound(err) {
		p.reservations.Gone(reservation, nodeClaim.Status.ProviderID)
	}
	return fmt.Errorf("deleting nodeclaim %q: %w", nodeClaim.Name, err)
}

func (p *Provider) delete(ctx context.Context, providerID string) error {
	i, err := p.instance(ctx, providerID)
	if err != nil || i.Terminating() {
		return err
	}
	err = p.instances.Terminate(ctx, i)
	if cloudprovider.IsNodeClaimNotFound(err) {
		return cloudprovider.NewNodeClaimNotFoundError(providerID, err)
	}
	return err
}

// ClaimRef is the part of a NodeClaim that CollectOrphans needs.
type ClaimRef struct {
	// UID of the claim.
	UID types.UID
	// ProviderID of its instance; empty while it has none.
	ProviderID string
}

// CollectOrphans terminates the instances of the cluster that belong to no claim: those whose launch response was lost, whose claim could
// not be stored, or that EC2 launched in excess. claims is called after the instances were listed, and must return all NodeClaims. rounds
// is the number of calls that have succeeded so far. It returns the provider IDs of the terminated instances, whose Node objects can be
// deleted, and when to call it again.
func (p *Provider) CollectOrphans(ctx context.Context, claims func(context.Context) ([]ClaimRef, error), rounds int) (ended []string, requeueAfter time.Duration, err error) {
	found, err := p.instances.List(ctx)
	if err != nil {
		return nil, 0, err
	}
	refs, err := claims(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the nodeclaims of instances: %w", err)
	}
	known := make([]instances.ClaimRef, len(refs))
	for n, ref := range refs {
		known[n] = instances.ClaimRef(ref)
	}
	d := instances.Next(found, known, rounds, p.now())
	ended, err = p.instances.Collect(ctx, d)
	return ended, d.RequeueAfter, err
}

// tagNode sets the tags that an instance lacks. An instance of a batch lacks the tag with the claim's UID. A policy of an older release
// does not permit that tag: then the instance gets only the other tags.
func (p *Provider) tagNode(ctx context.Context, i instances.Instance, nodeClaim *v1.NodeClaim) error {
	missing := p.instances.MissingTags(i, nodeClaim.Name, nodeClaim.UID, nodeClaim.Status.NodeName)
	err := p.instances.Tag(ctx, i, missing)
	if _, batched := missing[launch.TagNodeClaimUID]; !batched || !errors.Is(err, cloudprovider.Unauthorized) {
		return err
	}
	p.log.Warn("cannot tag instance with the UID of its nodeclaim: update the IAM policy", "nodeClaim", nodeClaim.Name, "instanceID", i.ID, "tag", launch.TagNodeClaimUID)
	delete(missing, launch.TagNodeClaimUID)
	return p.instances.Tag(ctx, i, missing)
}

// TagNode adds the tags that were unknown at launch to an instance whose node has joined. Existing tags are not changed. If the instance is
// gone, the error is of kind NodeClaimNotFound. If the claim's node has not joined yet, it is of kind Transient.
func (p *Provider) TagNode(ctx context.Context, nodeClaim *v1.NodeClaim) error {
	switch {
	case nodeClaim == nil:
		return cloudprovider.NewPermanentError(errors.New("tagging a node: the nodeclaim is nil"))
	case nodeClaim.Status.NodeName == "":
		return cloudprovider.NewTransientError(fmt.Errorf("tagging the node of nodeclaim %q: status.nodeName is empty: call again after its node has joined", nodeClaim.Name))
	}
	i, err := p.instance(ctx, nodeClaim.Status.ProviderID)
	if err != nil {
		return err
	}
	if err := p.tagNode(ctx, i, nodeClaim); err != nil {
		return err
	}
	p.log.Info("tagged instance after its node joined", "nodeClaim", nodeClaim.Name, "node", nodeClaim.Status.NodeName, "instanceID", i.ID, "hostname", i.Hostname,
		"instanceType", i.Type, "zone", i.Zone, "capacityType", i.CapacityType)
	return nil
}
