package launch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
)

// uuid is a UID as Kubernetes makes them.
func uuid(n int) types.UID {
	return types.UID(fmt.Sprintf("%08x-1111-4222-8333-%012x", n*7919%4096, n))
}

// booked is a type that is sold in a capacity reservation with so much room.
func booked(room int) []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{instanceType("m5.large", offering("reserved", "a", 0.01, reservation("cr-1", "default", false, room)))}
}

// several are claims that are alike.
func several(n int, more ...build.ClaimOption) []*v1.NodeClaim {
	claims := make([]*v1.NodeClaim, n)
	for i := range claims {
		claims[i] = nodeClaim(more...)
		claims[i].Name, claims[i].UID = fmt.Sprintf("claim-%d", i), uuid(i)
	}
	return claims
}

// givesMany launches at most that many of the instances that are asked for, by the first override.
func givesMany(most int, more ...ec2types.CreateFleetError) answer {
	return func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		e := echo(in, 0, 0)
		var ids []string
		for n := range min(most, int(*in.TargetCapacitySpecification.TotalTargetCapacity)) {
			ids = append(ids, fmt.Sprintf("i-%02d", most-n))
		}
		return &ec2.CreateFleetOutput{Errors: more, Instances: []ec2types.CreateFleetInstance{{
			InstanceIds: ids, InstanceType: e.Overrides.InstanceType, LaunchTemplateAndOverrides: e,
		}}}, nil
	}
}

func (w *world) together(claims []*v1.NodeClaim, whole bool) ([]*launch.Instance, error) {
	return w.launcher.LaunchTogether(w.t.Context(), launch.Together{NodeClaims: claims, NodeClass: nodeClass(), InstanceTypes: market(), Whole: whole})
}

func idsOf(launched []*launch.Instance) string {
	var ids []string
	for _, m := range launched {
		if m == nil {
			ids = append(ids, "-")
		} else {
			ids = append(ids, m.InstanceID)
		}
	}
	return strings.Join(ids, " ")
}

// CP-GROUP-01, CP-GROUP-03: one request of all or nothing, of one type in one zone, whose instances are assigned by the order of the UIDs, and
// whose tags name the batch and no claim.
func TestLaunchWhole(t *testing.T) {
	w := newWorld(t)
	w.expect(givesMany(3))
	claims := several(3)
	claims[0].Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
	launched, err := w.together(claims, true)
	if err != nil {
		t.Fatal(err)
	}
	in := w.requests[0]
	spot := in.SpotOptions
	if *in.TargetCapacitySpecification.TotalTargetCapacity != 3 || *spot.MinTargetCapacity != 3 || !*spot.SingleInstanceType || !*spot.SingleAvailabilityZone {
		t.Errorf("the request is %+v, %+v", in.TargetCapacitySpecification, spot)
	}
	if n := len(in.LaunchTemplateConfigs); n != 1 || len(in.LaunchTemplateConfigs[0].Overrides) != 1 {
		t.Errorf("%d configs, %+v", n, in.LaunchTemplateConfigs[0])
	}
	tags := map[string]string{}
	for _, tag := range in.TagSpecifications[0].Tags {
		tags[*tag.Key] = *tag.Value
	}
	batch, ok := launch.BatchOf(tags)
	if !ok || len(batch.UIDs) != 3 || batch.Generation() != 0 || !batch.Whole() || tags[launch.TagNodeClaimUID] != launch.Batched || tags["karpenter.sh/nodeclaim"] != "" {
		t.Errorf("tags %v", tags)
	}
	assigned := launch.Assign([]string{"i-01", "i-02", "i-03"}, []types.UID{claims[0].UID, claims[1].UID, claims[2].UID})
	for n, m := range launched {
		if m.NodeClaimUID != claims[n].UID || m.NodeClaim != claims[n].Name || assigned[m.InstanceID] != claims[n].UID {
			t.Errorf("claim %d got %s, which was assigned to %s", n, m.InstanceID, assigned[m.InstanceID])
		}
	}
	// Not visible yet: the same instances, in whatever order the claims are.
	slices.Reverse(claims)
	again, err := w.together(claims, true)
	slices.Reverse(again)
	if err != nil || idsOf(again) != idsOf(launched) || len(w.requests) != 1 {
		t.Errorf("%s, then %s, %v after %d calls", idsOf(launched), idsOf(again), err, len(w.requests))
	}
}

// CP-GROUP-02: what is out of stock is marked, and the next cheapest is tried; after three ways the error names what is short.
func TestLaunchWholeNextCheapest(t *testing.T) {
	w := newWorld(t)
	w.expect(refuses("InsufficientInstanceCapacity"), givesMany(2))
	launched, err := w.together(several(2), true)
	if err != nil || len(launched) != 2 {
		t.Fatalf("%v, %v", launched, err)
	}
	first, second := w.requests[0].LaunchTemplateConfigs[0].Overrides[0], w.requests[1].LaunchTemplateConfigs[0].Overrides[0]
	if first.InstanceType == second.InstanceType && *first.AvailabilityZone == *second.AvailabilityZone {
		t.Errorf("%s in %s was tried twice", first.InstanceType, *first.AvailabilityZone)
	}
	if *w.requests[0].ClientToken == *w.requests[1].ClientToken {
		t.Error("the second way has the first one's token")
	}
	w = newWorld(t)
	w.expect(refuses("InsufficientInstanceCapacity"), refuses("InsufficientInstanceCapacity"), refuses("InsufficientInstanceCapacity"))
	if _, err := w.together(several(2), true); !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) != 3 {
		t.Errorf("three ways without stock: %v, which names %v", err, cloudprovider.ExhaustedOfferings(err))
	}
}

// CP-GROUP-04: a call whose answer is lost is repeated with the same token; a set that has shrunk is another batch.
func TestLaunchTogetherLostAnswer(t *testing.T) {
	w := newWorld(t)
	w.expect(breaks(errCut), givesMany(3), givesMany(2))
	claims := several(3)
	if _, err := w.together(claims, true); !cloudprovider.IsTransient(err) {
		t.Fatalf("a lost answer gives %v", err)
	}
	if launched, err := w.together(claims, true); err != nil || len(launched) != 3 {
		t.Fatalf("%v, %v", launched, err)
	}
	if *w.requests[0].ClientToken != *w.requests[1].ClientToken {
		t.Error("the repeated request has another token")
	}
	if _, err := w.together(claims[:2], true); err != nil {
		t.Fatal(err)
	}
	if *w.requests[1].ClientToken == *w.requests[2].ClientToken {
		t.Error("fewer claims were asked for under the token of all")
	}
}

// A launch that may be partial takes what there is, of any type and zone, and gives the reasons for the rest.
func TestLaunchPart(t *testing.T) {
	short := ec2types.CreateFleetError{ErrorCode: aws.String("InsufficientInstanceCapacity"), ErrorMessage: aws.String("no more")}
	w := newWorld(t)
	w.expect(givesMany(2, short))
	claims := several(3)
	launched, err := w.together(claims, false)
	if !cloudprovider.IsInsufficientCapacity(err) || len(launched) != 3 {
		t.Fatalf("%v, %v", launched, err)
	}
	if got := strings.Count(idsOf(launched), "-"); got != 3 { // two of i-01 and i-02, one of the claim without
		t.Errorf("launched %s", idsOf(launched))
	}
	in := w.requests[0]
	if in.SpotOptions.MinTargetCapacity != nil || len(in.LaunchTemplateConfigs[0].Overrides) < 2 {
		t.Errorf("the request is %+v", in)
	}
	w = newWorld(t)
	w.expect(givesMany(2))
	if _, err := w.together(several(3), false); !cloudprovider.IsTransient(err) {
		t.Errorf("a part without a reason: %v", err)
	}
}

// What no single request serves is unsupported, and nothing is asked of EC2.
func TestLaunchTogetherUnsupported(t *testing.T) {
	two, one := 2, 1
	minValues := func(n *int) build.RequirementOption {
		return build.RequirementOption{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: n}
	}
	change := func(f func(*v1.NodeClaim)) []*v1.NodeClaim {
		claims := several(2)
		f(claims[1])
		return claims
	}
	many := nodeClass()
	many.Spec.Tags = map[string]string{}
	for n := range 38 {
		many.Spec.Tags[fmt.Sprintf("tag-%d", n)] = "x"
	}
	alpha := several(2)
	for _, c := range alpha {
		c.Labels = map[string]string{"karpenter.sh/provisioner-name": "default"}
	}
	for name, c := range map[string]struct {
		together launch.Together
		fine     bool
	}{
		"one claim":           {together: launch.Together{NodeClaims: several(1)}},
		"too many claims":     {together: launch.Together{NodeClaims: several(1001)}},
		"minValues":           {together: launch.Together{NodeClaims: several(2, minValues(&two)), Whole: true}},
		"minValues of one":    {together: launch.Together{NodeClaims: several(2, minValues(&one)), Whole: true}, fine: true},
		"minValues of a part": {together: launch.Together{NodeClaims: several(2, minValues(&two))}, fine: true},
		"other labels":        {together: launch.Together{NodeClaims: change(func(c *v1.NodeClaim) { c.Labels = map[string]string{v1.NodePoolLabelKey: "other"} })}},
		"other taints": {together: launch.Together{NodeClaims: change(func(c *v1.NodeClaim) {
			c.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
		})}},
		"Provisioners":                    {together: launch.Together{NodeClaims: alpha}},
		"more tags than EC2 takes":        {together: launch.Together{NodeClaims: several(30), NodeClass: many}},
		"tags with room":                  {together: launch.Together{NodeClaims: several(2), NodeClass: many}, fine: true},
		"reserved, in part":               {together: launch.Together{NodeClaims: several(2), InstanceTypes: booked(5)}},
		"reserved":                        {together: launch.Together{NodeClaims: several(2), InstanceTypes: booked(2), Whole: true}, fine: true},
		"reserved, and too small for all": {together: launch.Together{NodeClaims: several(6), InstanceTypes: booked(5), Whole: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.together.NodeClass == nil {
				c.together.NodeClass = nodeClass()
			}
			if c.together.InstanceTypes == nil {
				c.together.InstanceTypes = market()
			}
			if c.fine {
				w.expect(givesMany(2))
				w.reserved.Sync(w.now, reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: "cr-1"}, Available: 2, Total: 5})
			}
			_, err := w.launcher.LaunchTogether(t.Context(), c.together)
			if c.fine && err != nil || !c.fine && !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
		})
	}
	w := newWorld(t)
	same := several(2)
	same[1].UID = same[0].UID
	if _, err := w.together(same, true); !errors.Is(err, cloudprovider.Permanent) {
		t.Errorf("two claims of one UID: %v", err)
	}
}

// Tags hold any UIDs, eleven of Kubernetes' own in one, and what is read from them is what was written.
func TestBatchTags(t *testing.T) {
	w := newWorld(t)
	w.expect(givesMany(23))
	if _, err := w.together(several(23), true); err != nil {
		t.Fatal(err)
	}
	values := 0
	for _, tag := range w.requests[0].TagSpecifications[0].Tags {
		if strings.HasPrefix(*tag.Key, launch.TagBatchUIDs) {
			values++
		}
		if len(*tag.Value) > 256 {
			t.Errorf("tag %s has %d characters", *tag.Key, len(*tag.Value))
		}
	}
	if values != 3 {
		t.Errorf("23 UIDs take %d tags, want 3", values)
	}
	seeded.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		claims := several(rapid.IntRange(2, 40).Draw(r, "claims"))
		for n, c := range claims {
			if rapid.Bool().Draw(r, "of another format") {
				c.UID = types.UID(fmt.Sprintf("%s-%d", rapid.StringMatching(`[A-Za-z0-9._-]{1,40}`).Draw(r, "uid"), n))
			}
		}
		w.expect(givesMany(len(claims)))
		if _, err := w.together(claims, true); err != nil {
			r.Fatal(err)
		}
		tags := map[string]string{}
		for _, tag := range w.requests[0].TagSpecifications[0].Tags {
			tags[*tag.Key] = *tag.Value
		}
		batch, ok := launch.BatchOf(tags)
		var want []types.UID
		for _, c := range claims {
			want = append(want, c.UID)
		}
		slices.Sort(want)
		if !ok || !slices.Equal(batch.UIDs, want) || batch.ID != launch.BatchID(want, 0, true) || len(batch.ID) > 64 {
			r.Fatalf("%v, want %v", batch, want)
		}
	})
}

// Dealing does not depend on any order, gives no claim two instances, and what one claim gets does not depend on instances after it.
func TestDeal(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`i-[0-9a-f]{4}`), 0, 12, rapid.ID[string]).Draw(r, "instances")
		var uids []types.UID
		for n := range rapid.IntRange(0, 12).Draw(r, "claims") {
			uids = append(uids, uuid(n))
		}
		assigned := launch.Assign(ids, uids)
		if len(assigned) != min(len(ids), len(uids)) {
			r.Fatalf("%d instances and %d claims: %v", len(ids), len(uids), assigned)
		}
		shuffled := launch.Assign(rapid.Permutation(ids).Draw(r, "shuffled"), rapid.Permutation(uids).Draw(r, "shuffled claims"))
		seen := map[types.UID]bool{}
		for id, uid := range assigned {
			if shuffled[id] != uid || seen[uid] {
				r.Fatalf("%s: %s and %s", id, uid, shuffled[id])
			}
			seen[uid] = true
		}
	})
}
