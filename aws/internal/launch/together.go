package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Together is a launch of several similar claims, by as few CreateFleet calls as possible. LaunchTogether does not change it.
type Together struct {
	// NodeClaims to launch: at least two, of one NodePool and node class, with different UIDs.
	NodeClaims []*v1.NodeClaim
	// NodeClass, InstanceTypes, PlacementGroupID and Cost as in Request.
	NodeClass        *awsv1.EC2NodeClass
	InstanceTypes    []*cloudprovider.InstanceType
	PlacementGroupID string
	Cost             cloudprovider.LaunchCost
	// Whole means that EC2 launches all instances or none, all of one type in one zone. Otherwise EC2 launches as many instances as it can,
	// of different types and zones.
	Whole bool
	// WithoutReserved leaves reserved offerings out. If it is false, claims without Whole that suit a capacity reservation with room are
	// unsupported. Claims with Whole are launched into a reservation that has room for all of them, or into several that together have
	// room. If there are no such reservations, these claims are unsupported.
	WithoutReserved bool
	// Generation is the lowest generation to use. It must be higher than the generations of former batches of the same claims. See BatchID.
	Generation int
}

// mostWays limits the number of offerings that a launch with Whole tries, one after another.
const mostWays = 3

// LaunchTogether launches one instance for each of the claims and returns them at the indexes of their claims. Without Whole, some
// instances may be nil, because EC2 could not launch them. The error then says why, and is returned together with the other instances. An
// error for which errors.Is(err, errors.ErrUnsupported) holds means that these claims must be launched one by one.
func (l *Launcher) LaunchTogether(ctx context.Context, t Together) ([]*Instance, error) {
	instances, err := l.launchTogether(ctx, t)
	if err != nil {
		err = fmt.Errorf("launching %d nodeclaims with one fleet: %w", len(t.NodeClaims), err)
	}
	return instances, err
}

func (l *Launcher) launchTogether(ctx context.Context, t Together) ([]*Instance, error) {
	f, err := l.prepareTogether(t)
	if err != nil {
		return nil, err
	}
	generation, known := l.attempts.beginFrom(f.key(), nil, t.Generation)
	if known != nil {
		return f.inOrder(t.NodeClaims, known), nil
	}
	if err := l.quotas.exceeded(l.options.Now()); err != nil {
		return nil, err
	}
	f.wish.WithoutReserved = t.WithoutReserved
	choice, err := Choose(t.InstanceTypes, f.wish)
	if err != nil {
		return nil, err
	}
	if choice.CapacityType == v1.CapacityTypeReserved {
		if !t.Whole {
			return nil, cloudprovider.NewGroupUnsupportedError("claims that suit capacity reservations are launched one by one, unless the launch is all or nothing", nil)
		}
		if choice.Candidates = l.roomForAll(f, choice.Candidates); len(choice.Candidates) == 0 {
			parts := l.shares(f, choice)
			if parts == nil {
				return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("capacity reservations don't have room for all %d of them", f.count()), nil)
			}
			launched, err := l.launchShares(ctx, f, parts, generation)
			return f.inOrder(t.NodeClaims, launched), err
		}
	}
	ways := [][]cloudprovider.Candidate{choice.Candidates}
	if t.Whole {
		ways = nil
		for _, c := range choice.Candidates[:min(len(choice.Candidates), mostWays)] {
			ways = append(ways, []cloudprovider.Candidate{c})
		}
	}
	var launched []*Instance
	for _, way := range ways {
		f.choice = choice
		f.choice.Candidates = way
		launched, generation, err = l.tryWay(ctx, f, generation)
		if len(launched) > 0 || !cloudprovider.LaunchAbandoned(err) {
			break
		}
	}
	return f.inOrder(t.NodeClaims, launched), err
}

// tryWay makes CreateFleet calls until a call has a definite answer, but at most mostCalls calls.
func (l *Launcher) tryWay(ctx context.Context, f *flight, generation int) ([]*Instance, int, error) {
	for calls := 0; ; calls++ {
		launched, again, err := l.try(ctx, f, generation)
		if again == retryNo || calls+1 >= mostCalls {
			return launched, l.attempts.generation(f.key()), err
		}
		generation = l.attempts.fail(f.key())
	}
}

// prepareTogether checks that the claims can be launched by one request, and combines them into one launch.
func (l *Launcher) prepareTogether(t Together) (*flight, error) {
	if len(t.NodeClaims) < 2 || len(t.NodeClaims) > mostInFleet {
		return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("a fleet has 2 to %d instances, not %d", mostInFleet, len(t.NodeClaims)), nil)
	}
	claims := slices.Clone(t.NodeClaims)
	if slices.Contains(claims, nil) {
		return nil, cloudprovider.NewPermanentError(errors.New("a nodeclaim is nil"))
	}
	slices.SortFunc(claims, func(a, b *v1.NodeClaim) int { return cmp.Compare(a.UID, b.UID) })
	for n, claim := range claims[1:] {
		if claim.UID == claims[n].UID {
			return nil, cloudprovider.NewPermanentError(fmt.Errorf("nodeclaims %q and %q have the same UID", claims[n].Name, claim.Name))
		}
	}
	one, err := combined(claims)
	if err != nil {
		return nil, err
	}
	f, err := l.prepare(Request{NodeClaim: one, NodeClass: t.NodeClass, InstanceTypes: t.InstanceTypes, PlacementGroupID: t.PlacementGroupID, Cost: t.Cost})
	if err != nil {
		return nil, err
	}
	f.claims, f.whole = claims, t.Whole
	tags, err := l.batchTags(f, 0)
	if err != nil {
		return nil, cloudprovider.NewGroupUnsupportedError("their tags have no room", err)
	}
	if most := mostTags - laterTags; len(tags) > most {
		return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("their UIDs and the node class's tags take %d tags, and EC2 allows %d at launch", len(tags), most), nil)
	}
	if t.Whole && f.needsVariety() {
		return nil, cloudprovider.NewGroupUnsupportedError("spec.requirements: minValues asks for more than one value, and a launch of all or nothing uses one instance type in one zone", nil)
	}
	return f, nil
}

// combined returns a claim whose instance satisfies each of the claims. It returns an error if the claims need different instances.
func combined(claims []*v1.NodeClaim) (*v1.NodeClaim, error) {
	one := claims[0].DeepCopy()
	if v1.PoolOf(one.Labels).Generation == v1.GenerationV1Alpha5 {
		return nil, cloudprovider.NewGroupUnsupportedError("instances of Provisioners have the tags of that API version, which name one claim", nil)
	}
	for _, claim := range claims[1:] {
		if what := differs(one, claim); what != "" {
			return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("nodeclaims %q and %q differ in %s", one.Name, claim.Name, what), nil)
		}
		for _, r := range claim.Spec.Requirements {
			if !slices.ContainsFunc(one.Spec.Requirements, func(have v1.NodeSelectorRequirementWithMinValues) bool { return sameRequirement(have, r) }) {
				one.Spec.Requirements = append(one.Spec.Requirements, *r.DeepCopy())
			}
		}
		one.Spec.Resources.Requests = larger(one.Spec.Resources.Requests, claim.Spec.Resources.Requests)
	}
	return one, nil
}

// differs compares two claims by the properties that all instances of a fleet share. It returns the name of the first property in which
// they differ, or "" if they are equal.
func differs(a, b *v1.NodeClaim) string {
	switch {
	case a.Spec.NodeClassRef != b.Spec.NodeClassRef:
		return "spec.nodeClassRef"
	case !maps.Equal(a.Labels, b.Labels):
		return "metadata.labels"
	case !slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, sameTaint):
		return "spec.taints"
	case !slices.EqualFunc(a.Spec.StartupTaints, b.Spec.StartupTaints, sameTaint):
		return "spec.startupTaints"
	}
	for _, key := range []string{v1.NodeClaimMinValuesRelaxedAnnotationKey, v1.PriceOverlayAppliedAnnotationKey, v1.RequestedDRADriversAnnotationKey} {
		if a.Annotations[key] != b.Annotations[key] {
			return "the annotation " + key
		}
	}
	return ""
}

func sameTaint(a, b corev1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

func sameRequirement(a, b v1.NodeSelectorRequirementWithMinValues) bool {
	return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values) &&
		(a.MinValues == nil) == (b.MinValues == nil) && (a.MinValues == nil || *a.MinValues == *b.MinValues)
}

// larger returns the larger quantity of each resource.
func larger(a, b corev1.ResourceList) corev1.ResourceList {
	out := a.DeepCopy()
	for name, quantity := range b {
		if have, ok := out[name]; !ok || quantity.Cmp(have) > 0 {
			if out == nil {
				out = corev1.ResourceList{}
			}
			out[name] = quantity.DeepCopy()
		}
	}
	return out
}

// needsVariety reports whether minValues may require more than one type or zone.
func (f *flight) needsVariety() bool {
	for _, r := range f.NodeClaim.Spec.Requirements {
		if r.MinValues != nil && *r.MinValues > 1 && !relaxed(f.NodeClaim) {
			return true
		}
	}
	return false
}

// key returns the key under which the attempts of a launch are recorded.
func (f *flight) key() types.UID {
	if f.claims == nil {
		return f.NodeClaim.UID
	}
	return types.UID("batch/" + setHash(f.uids()))
}

// uids returns the UIDs of the claims of a batch, sorted.
func (f *flight) uids() []types.UID {
	uids := make([]types.UID, len(f.claims))
	for n, claim := range f.claims {
		uids[n] = claim.UID
	}
	return uids
}

// count returns the number of instances to launch.
func (f *flight) count() int { return max(1, len(f.claims)) }

// tags returns the tags of everything that the launch creates.
func (l *Launcher) tags(f *flight, generation int) (map[string]string, error) {
	if f.claims == nil {
		return Tags(l.options.Cluster, l.options.Tags, f.NodeClass, f.NodeClaim), nil
	}
	return l.batchTags(f, generation)
}

// batchTags returns the tags of all instances of a batch: see TagBatch.
func (l *Launcher) batchTags(f *flight, generation int) (map[string]string, error) {
	tags := Tags(l.options.Cluster, l.options.Tags, f.NodeClass, f.NodeClaim)
	delete(tags, awsv1.TagNodeClaim)
	values, err := uidTags(f.uids())
	if err != nil {
		return nil, err
	}
	tags[TagNodeClaimUID], tags[TagBatch] = Batched, BatchID(f.uids(), generation, f.whole)
	for n, value := range values {
		tags[TagBatchUIDs+strconv.Itoa(n)] = value
	}
	return tags, nil
}

// forMany changes the request for one instance into a request for all claims of the batch.
func (f *flight) forMany(in *ec2.CreateFleetInput) {
	count := aws.Int32(int32(f.count()))
	in.TargetCapacitySpecification.TotalTargetCapacity = count
	if !f.whole {
		return
	}
	single := aws.Bool(true)
	if spot := in.SpotOptions; spot != nil {
		spot.MinTargetCapacity, spot.SingleInstanceType, spot.SingleAvailabilityZone = count, single, single
	}
	if onDemand := in.OnDemandOptions; onDemand != nil {
		onDemand.MinTargetCapacity, onDemand.SingleInstanceType, onDemand.SingleAvailabilityZone = count, single, single
	}
}

// inOrder returns the instance of each claim, in the order of claims, or nil for a claim without an instance.
func (f *flight) inOrder(claims []*v1.NodeClaim, launched []*Instance) []*Instance {
	byUID := make(map[types.UID]*Instance, len(launched))
	for _, m := range launched {
		byUID[m.NodeClaimUID] = m
	}
	ordered := make([]*Instance, len(claims))
	for n, claim := range claims {
		ordered[n] = byUID[claim.UID]
	}
	return ordered
}

// assign sets the claim of each instance in an answer (the list launched), and returns the instances that got a claim. Surplus instances
// are left to garbage collection.
func (f *flight) assign(launched []*Instance) []*Instance {
	if f.claims == nil {
		return launched[:min(1, len(launched))]
	}
	ids, names := make([]string, len(launched)), make(map[types.UID]string, len(f.claims))
	for n, m := range launched {
		ids[n] = m.InstanceID
	}
	for _, claim := range f.claims {
		names[claim.UID] = claim.Name
	}
	assigned := Assign(ids, f.uids())
	var mine []*Instance
	for _, m := range launched {
		if uid, ok := assigned[m.InstanceID]; ok {
			m.NodeClaimUID, m.NodeClaim = uid, names[uid]
			mine = append(mine, m)
		}
	}
	return mine
}
