package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/warm"
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

// List describes every instance of the cluster, by provider id (CP-LIST). If a node class can't be read, the fields that depend on the
// class are missing from its instances; other instances are complete.
func (p *Provider) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	now := p.now()
	found, err := p.instances.List(ctx)
	if err != nil {
		return nil, err
	}
	p.index.replace(found, now)
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

// Delete terminates an instance. If the instance is gone, the error is of kind NodeClaimNotFound (CP-DELETE). Parallel Deletes share their
// EC2 calls; a single Delete makes two calls.
func (p *Provider) Delete(ctx context.Context, nodeClaim *v1.NodeClaim) error {
	if nodeClaim == nil {
		return cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	err := p.delete(ctx, nodeClaim)
	if err == nil {
		return nil
	}
	if reservation := nodeClaim.Labels[awsv1.LabelCapacityReservationID]; reservation != "" && cloudprovider.IsNodeClaimNotFound(err) {
		p.reservations.Gone(reservation, nodeClaim.Status.ProviderID)
	}
	return fmt.Errorf("deleting nodeclaim %q: %w", nodeClaim.Name, err)
}

func (p *Provider) delete(ctx context.Context, nodeClaim *v1.NodeClaim) error {
	providerID := nodeClaim.Status.ProviderID
	i, err := p.instance(ctx, providerID)
	if err != nil || i.Terminating() || p.keepWarm(ctx, nodeClaim, i) {
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
	// ProviderID of its instance; empty while the claim has no instance.
	ProviderID string
}

// CollectOrphans terminates the instances of the cluster that belong to no claim: those whose launch response was lost, whose claim could
// not be stored, or that EC2 launched in excess. claims is called after the instances were listed, and must return all NodeClaims. rounds
// is the number of earlier calls of CollectOrphans that succeeded. It returns the provider IDs of the terminated instances, whose Node
// objects can be deleted, and the time until the next call.
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

// tagNode sets the tags that an instance lacks. An instance of a batch lacks the tag with the claim's UID. An IAM policy of an older
// release does not permit that tag: then the instance gets only the other tags.
func (p *Provider) tagNode(ctx context.Context, i instances.Instance, nodeClaim *v1.NodeClaim) error {
	missing := p.instances.MissingTags(i, nodeClaim.Name, nodeClaim.UID, nodeClaim.Status.NodeName)
	err := p.instances.Tag(ctx, i, missing)
	if _, batched := missing[launch.TagNodeClaimUID]; !batched || !errors.Is(err, cloudprovider.Unauthorized) {
		return err
	}
	p.log.Warn("cannot tag instance with the UID of its NodeClaim, setting only the other tags: update the IAM policy", "nodeClaim", nodeClaim.Name, "instanceID", i.ID, "tag", launch.TagNodeClaimUID)
	delete(missing, launch.TagNodeClaimUID)
	return p.instances.Tag(ctx, i, missing)
}

// TagNode adds the tags that were unknown at launch to an instance whose node has joined. Existing tags are not changed. If the instance is
// gone, the error is of kind NodeClaimNotFound. If the claim's node has not joined yet, the error is of kind Transient.
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
	p.log.Info("completed tags of instance after its node joined", "nodeClaim", nodeClaim.Name, "node", nodeClaim.Status.NodeName, "instanceID", i.ID, "hostname", i.Hostname,
		"instanceType", i.Type, "zone", i.Zone, "capacityType", i.CapacityType)
	return nil
}

// reviving holds the warm instances that launches of this process are taking, by id. The zero value is ready.
type reviving struct {
	mu    sync.Mutex
	taken map[string]bool
}

// classHash returns the drift hash of a node class, or "" if it can't be computed.
func (p *Provider) classHash(ctx context.Context, class *awsv1.EC2NodeClass) string {
	info, err := p.options.Cluster.ClusterInfo(ctx)
	if err != nil {
		return ""
	}
	return class.Hash(info.CABundle)
}

// keepWarm stops the instance of a claim for later claims, if the warm pool of its node class has room and the instance is suitable. It
// returns false if the instance must be terminated.
func (p *Provider) keepWarm(ctx context.Context, nodeClaim *v1.NodeClaim, i instances.Instance) bool {
	class, err := p.options.NodeClasses.NodeClass(ctx, nodeClaim.Spec.NodeClassRef.Name)
	if err != nil || class == nil {
		return false
	}
	size, err := warm.Size(class)
	if err != nil {
		p.log.Warn("cannot read size of warm pool, terminating instance instead of keeping it warm", "nodeClaim", nodeClaim.Name, "nodeClass", class.Name, "error", err)
	}
	if size == 0 {
		return false
	}
	why := warm.Refused(nodeClaim, i, class, p.now())
	hash := p.classHash(ctx, class)
	mark := warm.MarkOf(nodeClaim, hash, p.capabilities.Vocabulary)
	if why == "" && (mark == "" || nodeClaim.Annotations[awsv1.AnnotationHash] != hash) {
		why = "its configuration is not that of other claims"
	}
	if why != "" {
		p.log.Debug("terminating instance instead of keeping it warm", "nodeClaim", nodeClaim.Name, "instanceID", i.ID, "reason", why)
		return false
	}
	kept, err := p.instances.Warm(ctx, true)
	if n := slices.DeleteFunc(kept, func(k instances.Instance) bool { return k.NodeClass() != class.Name }); err == nil && len(n) >= size {
		return false
	}
	if err == nil {
		err = p.instances.Retire(ctx, i, mark)
	}
	if err != nil {
		p.log.Warn("cannot keep instance warm, terminating it", "nodeClaim", nodeClaim.Name, "instanceID", i.ID, "error", err)
		return false
	}
	p.dropWarm(i.ID)
	p.upkeep.mu.Lock()
	defer p.upkeep.mu.Unlock()
	p.upkeep.noWarm = false
	p.upkeep.kept++
	p.log.Info("stopped instance to keep it warm", "nodeClaim", nodeClaim.Name, "nodeClass", class.Name, "instanceID", i.ID, "instanceType", i.Type, "zone", i.Zone)
	return true
}

// resume starts the instance of a claim if an earlier process assigned the instance to the claim but did not start it.
func (p *Provider) resume(ctx context.Context, i *instances.Instance) error {
	if i.State != instances.StateStopped || !p.instances.CanStart() {
		return nil
	}
	if err := p.instances.Start(ctx, *i); err != nil {
		return err
	}
	i.State = instances.StatePending
	return nil
}

// revive starts a warm instance for a claim, and returns the claim's description, or nil if no warm instance suits or could be started.
func (p *Provider) revive(ctx context.Context, r launchRequest) *v1.NodeClaim {
	p.upkeep.mu.Lock()
	none := p.upkeep.noWarm
	p.upkeep.mu.Unlock()
	if size, err := warm.Size(r.class); err != nil || size == 0 || none || !p.instances.CanStart() {
		return nil
	}
	want, err := p.lookup.ParseSet(r.NodeClaim.Spec.Requirements)
	if err != nil {
		return nil // the launch of a new instance reports this error
	}
	kept, err := p.instances.Warm(ctx, false)
	if err != nil {
		p.log.Warn("cannot list warm instances, launching a new instance", "nodeClaim", r.NodeClaim.Name, "error", err)
		return nil
	}
	order := cloudprovider.LaunchOrderBy(r.InstanceTypes, want, r.NodeClaim.Spec.Resources.Requests, r.Cost)
	wish := warm.Wish{
		Mark:     warm.MarkOf(r.NodeClaim, p.classHash(ctx, r.class), p.capabilities.Vocabulary),
		NodePool: v1.PoolOf(r.NodeClaim.Labels), Class: r.class, Cost: r.Cost, Taken: func(id string) bool { return p.reviving.taken[id] },
	}
	for {
		i, of, ok := p.takeWarm(order, kept, wish)
		if !ok {
			return nil
		}
		if err := p.instances.Revive(ctx, i, r.NodeClaim.Name, r.NodeClaim.UID); err != nil {
			p.log.Warn("cannot start warm instance, trying another one or launching a new instance", "nodeClaim", r.NodeClaim.Name, "instanceID", i.ID, "error", err)
			p.dropWarm(i.ID)
			if !cloudprovider.IsInsufficientCapacity(err) {
				return nil
			}
			kept = slices.DeleteFunc(kept, func(k instances.Instance) bool { return k.ID == i.ID })
			continue
		}
		return p.revived(ctx, r, i, of)
	}
}

// takeWarm chooses a warm instance that no other launch takes.
func (p *Provider) takeWarm(order []cloudprovider.Candidate, kept []instances.Instance, wish warm.Wish) (instances.Instance, cloudprovider.Candidate, bool) {
	p.reviving.mu.Lock()
	defer p.reviving.mu.Unlock()
	i, of, ok := warm.Choose(order, kept, wish)
	if ok {
		if p.reviving.taken == nil {
			p.reviving.taken = map[string]bool{}
		}
		p.reviving.taken[i.ID] = true
	}
	return i, of, ok
}

// dropWarm lets other launches take an instance again.
func (p *Provider) dropWarm(id string) {
	p.reviving.mu.Lock()
	defer p.reviving.mu.Unlock()
	delete(p.reviving.taken, id)
}

// revived remembers a warm instance that is starting for a claim, and describes it.
func (p *Provider) revived(ctx context.Context, r launchRequest, i instances.Instance, of cloudprovider.Candidate) *v1.NodeClaim {
	i.State, i.LaunchTime, i.Tags = instances.StatePending, p.now(), maps.Clone(i.Tags)
	i.Tags[launch.TagNodeClaimUID], i.Tags[awsv1.TagNodeClaim] = string(r.NodeClaim.UID), r.NodeClaim.Name
	p.instances.Remember(i)
	p.index.add(i)
	p.log.Info("started warm instance", "nodeClaim", r.NodeClaim.Name, "instanceID", i.ID, "instanceType", i.Type, "zone", i.Zone)
	created := p.claimOf(i, r.class, of.Type, of.Offering)
	p.annotate(ctx, created, r.class)
	return created
}

// tendWarm stops warm instances whose stop was interrupted, and terminates those that no claim can use any more. If the cluster has no warm
// instances, EC2 is not asked again until an instance is kept.
func (p *Provider) tendWarm(ctx context.Context) error {
	p.upkeep.mu.Lock()
	skip, before := p.upkeep.noWarm, p.upkeep.kept
	p.upkeep.mu.Unlock()
	if skip {
		return nil
	}
	kept, err := p.instances.Warm(ctx, true)
	if err != nil {
		return err
	}
	p.upkeep.mu.Lock()
	p.upkeep.noWarm = len(kept) == 0 && p.upkeep.kept == before
	p.upkeep.mu.Unlock()
	duties := warm.Tend(kept, func(name string) (*awsv1.EC2NodeClass, string, bool) {
		class, err := p.options.NodeClasses.NodeClass(ctx, name)
		if err != nil || class == nil {
			return nil, "", err == nil
		}
		hash := p.classHash(ctx, class)
		return class, hash, hash != ""
	}, p.now())
	var errs []error
	for _, i := range duties.Stop {
		mark, _ := i.Mark()
		errs = append(errs, p.instances.Retire(ctx, i, mark))
	}
	for _, i := range duties.Terminate {
		p.log.Info("terminating surplus, outdated or old warm instance", "instanceID", i.ID, "nodeClass", i.NodeClass(), "instanceType", i.Type)
		errs = append(errs, cloudprovider.IgnoreNodeClaimNotFound(p.instances.Terminate(ctx, i)))
	}
	return errors.Join(errs...)
}
