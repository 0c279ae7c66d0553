package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/subnets"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Options of a Launcher. EC2, Templates and Cluster are required.
type Options struct {
	// EC2 is the client for launches; only CreateFleet is called.
	EC2 sdk.EC2API
	// Templates creates missing launch templates.
	Templates LaunchTemplates
	// Cluster is the name of the instances' cluster.
	Cluster string
	// Subnets chooses the subnet of a zone. Nil means a new tracker without counts of free addresses.
	Subnets *subnets.Tracker
	// Unavailable remembers offerings that are out of stock. Nil means a new, empty memory.
	Unavailable *unavailable.Memory
	// Reservations counts the free instances in reservations, minus those that launches in progress hold. If it is nil, only the counts in
	// the offerings are used.
	Reservations *reservations.Tracker
	// Lookup resolves aliases of labels in requirements. Nil means no aliases.
	Lookup *requirements.Lookup
	// Tags are added to everything that is launched, unless the class has the same key; nil means no tags.
	Tags map[string]string
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Logger logs why types are left out, and advice about launches; nil discards the records.
	Logger *slog.Logger
	// Observe is called once for each error of an answer, for metrics; nil means no calls. It must be safe for concurrent use.
	Observe func(Failure)
}

// Failure is one error that EC2 returned for a launch.
type Failure struct {
	// Code is EC2's error code, for example "InsufficientInstanceCapacity".
	Code string
	// InstanceType, Zone, ZoneID and CapacityType of the request. ZoneID is empty if the class's subnet has no zone ID.
	InstanceType, Zone, ZoneID, CapacityType string
}

// Launcher launches instances for claims. It is safe for concurrent use, but launches for the same claim must not overlap. No lock
// is held across calls. Make one with New.
type Launcher struct {
	options  Options
	attempts *attempts
	quotas   accountQuotas
}

// New makes a launcher.
func New(o Options) (*Launcher, error) {
	var faults []error
	if o.EC2 == nil {
		faults = append(faults, errors.New("no EC2 client"))
	}
	if o.Templates == nil {
		faults = append(faults, errors.New("no launch templates"))
	}
	if o.Cluster == "" {
		faults = append(faults, errors.New("no cluster name: it distinguishes the instances from those of other clusters"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("making a launcher: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Subnets == nil {
		o.Subnets = subnets.New(subnets.Options{Now: o.Now})
	}
	if o.Unavailable == nil {
		o.Unavailable = unavailable.New(unavailable.Options{Now: o.Now})
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Launcher{options: o, attempts: newAttempts(o.Now)}, nil
}

// Request is an instance to launch. Launch does not change it.
type Request struct {
	// NodeClaim for which to launch. Its UID is required.
	NodeClaim *v1.NodeClaim
	// NodeClass of the claim, with its status.
	NodeClass *awsv1.EC2NodeClass
	// InstanceTypes of the class for the claim's NodePool.
	InstanceTypes []*cloudprovider.InstanceType
	// PlacementGroupID is the placement group that the class selects; empty for none.
	PlacementGroupID string
	// Cost contains the expected costs of offerings. Launch requests offerings in the order of these costs. Nil means that their prices are
	// used. It must return the same costs as long as the launch is repeated.
	Cost cloudprovider.LaunchCost
	// Dead are the ids of the claim's known instances that are shutting down or gone.
	Dead []string
}

// Instance is an instance that EC2 has just launched.
type Instance struct {
	// InstanceID is "i-…".
	InstanceID string
	// Type and Offering of the instance, from the request's instance types.
	Type     *cloudprovider.InstanceType
	Offering *cloudprovider.Offering
	// Zone, ZoneID and SubnetID of the instance. ZoneID is empty if the class's subnet has no zone ID.
	Zone, ZoneID, SubnetID string
	// ImageID of the image from which it boots.
	ImageID string
	// CapacityType and Tenancy of the request.
	CapacityType, Tenancy string
	// PlacementGroupID is its placement group; empty for none.
	PlacementGroupID string
	// EFAs is the number of its EFA interfaces.
	EFAs int
	// NodeClaimUID and NodeClaim are the UID and the name of its claim.
	NodeClaimUID types.UID
	NodeClaim    string
	// Tags it has.
	Tags map[string]string
	// LaunchedAt is when the CreateFleet call returned, by the launcher's clock.
	LaunchedAt time.Time
}

// mostCalls limits the CreateFleet calls of one launch: the first call, one after missing launch templates were created, and two if a token
// turns out to be used up or a reservation turns out to be full.
const mostCalls = 4

// Launch launches exactly one instance for the claim. If an earlier call for this UID launched an instance that EC2 does not show yet,
// Launch returns that instance. The error has a kind: see CP-CREATE.
func (l *Launcher) Launch(ctx context.Context, r Request) (*Instance, error) {
	instance, err := l.launch(ctx, r)
	if err != nil {
		name := ""
		if r.NodeClaim != nil {
			name = r.NodeClaim.Name
		}
		return nil, fmt.Errorf("launching nodeclaim %q: %w", name, err)
	}
	return instance, nil
}

func (l *Launcher) launch(ctx context.Context, r Request) (*Instance, error) {
	f, err := l.prepare(r)
	if err != nil {
		return nil, err
	}
	generation, known := l.attempts.begin(r.NodeClaim.UID, r.Dead)
	if known != nil {
		return known, nil
	}
	if err := l.quotas.exceeded(l.options.Now()); err != nil {
		return nil, err
	}
	choice, err := Choose(r.InstanceTypes, f.wish)
	for _, ruling := range choice.Ruled {
		l.options.Logger.Debug("excluded instance types", "nodeClaim", r.NodeClaim.Name, "reason", ruling.String())
	}
	if err != nil {
		return nil, err
	}
	if choice.Advice != "" {
		l.options.Logger.Warn("launching on-demand although spot is allowed", "nodeClaim", r.NodeClaim.Name, "advice", choice.Advice)
	}
	f.choice = choice
	for calls := 0; ; calls++ {
		launched, again, err := l.try(ctx, f, generation)
		if again == retryNo || calls+1 >= mostCalls {
			if len(launched) == 0 {
				return nil, err
			}
			return launched[0], err
		}
		generation = l.attempts.fail(r.NodeClaim.UID)
	}
}

// flight is a launch in progress.
type flight struct {
	Request
	wish      Wish
	choice    Choice
	place     *reservations.Hold // capacity that the call in progress holds in reservations; nil if Options.Reservations is nil
	retriedLT bool
	// outposts are the Outposts on which the node class launches, by zone.
	outposts map[string]string
	// claims are the claims of a batch, sorted by UID, and NodeClaim is their combination, from the function combined; claims is nil for a
	// launch of one claim. whole is Together.Whole.
	claims []*v1.NodeClaim
	whole  bool
}

func (l *Launcher) prepare(r Request) (*flight, error) {
	switch {
	case r.NodeClaim == nil || r.NodeClass == nil:
		return nil, cloudprovider.NewPermanentError(errors.New("a launch needs a nodeclaim and its node class"))
	case r.NodeClaim.UID == "":
		return nil, cloudprovider.NewPermanentError(errors.New("metadata.uid is empty: without it a repeated call would launch a second instance"))
	}
	want, err := l.parse(r.NodeClaim.Spec.Requirements)
	if err != nil {
		return nil, cloudprovider.NewPermanentError(fmt.Errorf("spec.requirements: %w", err))
	}
	return &flight{Request: r, outposts: outposts.In(r.NodeClass.Status.Subnets), wish: Wish{
		Requirements:     want,
		Requests:         r.NodeClaim.Spec.Resources.Requests,
		MinValuesRelaxed: relaxed(r.NodeClaim),
		Cost:             r.Cost,
	}}, nil
}

func relaxed(claim *v1.NodeClaim) bool {
	return claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] == "true"
}

func (l *Launcher) parse(entries []v1.NodeSelectorRequirementWithMinValues) (requirements.Set, error) {
	if l.options.Lookup != nil {
		return l.options.Lookup.ParseSet(entries)
	}
	return requirements.ParseSet(entries)
}

// retry says whether the launch may succeed by a further call with a new client token.
type retry bool

const (
	retryNo       retry = false
	retryNewToken retry = true
)

// try prepares and makes one CreateFleet call, and handles its answer.
func (l *Launcher) try(ctx context.Context, f *flight, generation int) ([]*Instance, retry, error) {
	l.reserve(f)
	defer f.settle("", 0, time.Time{})
	hold := l.options.Subnets.Hold(f.NodeClass.Status.Subnets, f.zones(), f.podsPerNode()*int64(f.count()))
	defer hold.Settle()
	zones := hold.Subnets()
	if len(zones) == 0 {
		return nil, retryNo, cloudprovider.NewCreateError("SubnetResolutionFailed",
			fmt.Sprintf("node class %q has no subnet in the zones that the claim may use: check its subnetSelectorTerms", f.NodeClass.Name), nil)
	}
	// If it is not known whether an offering is available again, only one launch at a time may try this offering.
	attempt := l.options.Unavailable.Begin(f.keys(zones)...)
	defer attempt.End()
	offers, err := l.offers(ctx, f, zones, attempt.Closed())
	if err != nil {
		return nil, retryNo, err
	}
	if len(offers) == 0 {
		// All candidates have become unavailable since they were chosen, so the caller must plan again.
		return nil, retryNo, cloudprovider.NewInsufficientCapacityError(
			errors.New("during the preparation of this launch, all compatible offerings went out of stock or were taken by other launches"), l.closed(f)...)
	}
	launched, again, err := l.createFleet(ctx, f, offers, generation)
	var used []string
	var keys []unavailable.Key
	for _, m := range launched {
		used = append(used, m.SubnetID)
		if key, ok := f.keyOf(cloudprovider.Candidate{Type: m.Type, Offering: m.Offering}); ok {
			keys = append(keys, key)
		}
	}
	if len(launched) > 0 {
		slices.Sort(used)
		hold.Settle(slices.Compact(used)...)
		attempt.End(keys...)
	}
	return launched, again, err
}

// zones returns the names of the candidates' zones.
func (f *flight) zones() []string {
	zones := []string{}
	for _, c := range f.choice.Candidates {
		zones = append(zones, c.Offering.Zone())
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// podsPerNode returns the smallest pod limit of the candidates' types, as the number of addresses that an instance's pods need.
func (f *flight) podsPerNode() int64 {
	var least int64 = -1
	for _, c := range f.choice.Candidates {
		pods := c.Type.Capacity[corev1.ResourcePods]
		if n := pods.Value(); least < 0 || n < least {
			least = n
		}
	}
	return max(least, 0)
}

// partition returns the partition of the placement group that the launch template names: the first partition, in text order, that the claim
// allows, or 0 if the claim names none.
func (f *flight) partition() int32 {
	allowed := f.wish.Requirements.Get(awsv1.LabelPlacementGroupPartition)
	if f.PlacementGroupID == "" || allowed.Complement() || len(allowed.Values()) == 0 {
		return 0
	}
	var n int32
	if _, err := fmt.Sscan(slices.Min(allowed.Values()), &n); err != nil {
		return 0
	}
	return n
}

// Tags returns the tags of everything that is launched for a claim: the tags of the options, then those of the class, then those that
// identify the owner (CP-CREATE-08). Later tags override earlier tags. If the pool was created as v1alpha5, the tags of pool and cluster
// are those of that generation, and the options and the class may override the name. The caller owns the map.
func Tags(cluster string, common map[string]string, class *awsv1.EC2NodeClass, claim *v1.NodeClaim) map[string]string {
	if class == nil || claim == nil {
		return nil
	}
	tags := make(map[string]string, len(common)+len(class.Spec.Tags)+7)
	pool := v1.PoolOf(claim.Labels)
	alpha := pool.Generation == v1.GenerationV1Alpha5
	if alpha {
		tags[awsv1.TagName] = awsv1.TagProvisioner + "/" + pool.Name
	}
	maps.Copy(tags, common)
	maps.Copy(tags, class.Spec.Tags)
	tags[awsv1.TagClusterPrefix+cluster] = "owned"
	if alpha {
		tags[awsv1.TagManagedBy], tags[awsv1.TagProvisioner] = cluster, pool.Name
	} else {
		tags[awsv1.TagClusterName], tags[awsv1.TagNodePool] = cluster, pool.Name
	}
	tags[awsv1.TagNodeClass] = class.Name
	tags[awsv1.TagNodeClaim] = claim.Name
	tags[TagNodeClaimUID] = string(claim.UID)
	return tags
}

// TagNodeClaimUID is the tag that holds the UID of the claim an instance was launched for.
const TagNodeClaimUID = "drawknife.dev/nodeclaim-uid"
