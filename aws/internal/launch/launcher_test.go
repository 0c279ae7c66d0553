package launch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/cloudprovider"
)

// AWI-162 to AWI-171, AWI-176, AWI-200, CP-CREATE-08: the whole request and what is made of the answer.
func TestLaunch(t *testing.T) {
	w := newWorld(t)
	w.expect(gives("i-1"))
	instance, err := w.launch(nodeClaim())
	if err != nil {
		t.Fatal(err)
	}
	tags := []ec2types.Tag{
		{Key: aws.String("drawknife.dev/nodeclaim-uid"), Value: aws.String("uid-1")},
		{Key: aws.String("eks:eks-cluster-name"), Value: aws.String("demo")},
		{Key: aws.String("env"), Value: aws.String("test")},
		{Key: aws.String("karpenter.k8s.aws/ec2nodeclass"), Value: aws.String("default")},
		{Key: aws.String("karpenter.sh/nodeclaim"), Value: aws.String("claim")},
		{Key: aws.String("karpenter.sh/nodepool"), Value: aws.String("pool")},
		{Key: aws.String("kubernetes.io/cluster/demo"), Value: aws.String("owned")},
		{Key: aws.String("team"), Value: aws.String("web")},
	}
	override := func(name, zone string, price float64) ec2types.FleetLaunchTemplateOverridesRequest {
		return ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SubnetId: aws.String("subnet-" + zone),
			ImageId: aws.String("ami-1"), Priority: aws.Float64(price / 3),
		}
	}
	want := &ec2.CreateFleetInput{
		Type:        ec2types.FleetTypeInstant,
		ClientToken: w.requests[0].ClientToken,
		Context:     aws.String("ctx"),
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: ec2types.DefaultTargetCapacityTypeSpot,
		},
		SpotOptions: &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String("lt"), Version: aws.String("$Latest")},
			Overrides: []ec2types.FleetLaunchTemplateOverridesRequest{
				override("m5.large", "a", 0.1), override("m5.large", "b", 0.1), override("m6.large", "a", 0.11), override("m6.large", "b", 0.11),
			},
		}},
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: "instance", Tags: tags}, {ResourceType: "volume", Tags: tags}, {ResourceType: "fleet", Tags: tags},
		},
	}
	if diff := cmp.Diff(want, w.requests[0], cmpopts.IgnoreUnexported(ec2.CreateFleetInput{}, ec2types.TargetCapacitySpecificationRequest{},
		ec2types.SpotOptionsRequest{}, ec2types.FleetLaunchTemplateConfigRequest{}, ec2types.FleetLaunchTemplateSpecificationRequest{},
		ec2types.FleetLaunchTemplateOverridesRequest{}, ec2types.TagSpecification{}, ec2types.Tag{}),
		cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if n := len(aws.ToString(w.requests[0].ClientToken)); n == 0 || n > 64 {
		t.Errorf("the client token has %d characters", n)
	}
	type summary struct {
		ID, Type, Zone, ZoneID, Subnet, Image, CapacityType, Tenancy string
		EFAs                                                         int
	}
	got := summary{instance.InstanceID, instance.Type.Name, instance.Zone, instance.ZoneID, instance.SubnetID, instance.ImageID, instance.CapacityType, instance.Tenancy, instance.EFAs}
	if diff := cmp.Diff(summary{"i-1", "m5.large", "a", "az1", "subnet-a", "ami-1", "spot", "default", 0}, got); diff != "" {
		t.Error(diff)
	}
	if instance.Tags["drawknife.dev/nodeclaim-uid"] != "uid-1" || !instance.LaunchedAt.Equal(w.now) {
		t.Errorf("instance %+v", instance)
	}
	// AWI-190: the subnet that was used stays charged, the other does not.
	if a, _ := w.tracker.Free("subnet-a"); a != 1000-58 {
		t.Errorf("subnet-a has %d free addresses, want 942", a)
	}
	if b, _ := w.tracker.Free("subnet-b"); b != 1000 {
		t.Errorf("subnet-b has %d free addresses, want 1000", b)
	}
}

// AWI-168, AWI-169, AWI-171: target capacity type, strategies, context.
func TestFleetOptions(t *testing.T) {
	reserved := func(kind string, interruptible bool) []*cloudprovider.InstanceType {
		return []*cloudprovider.InstanceType{instanceType("m5.large", offering("reserved", "a", 0.01, reservation("cr-1", kind, interruptible, 1)))}
	}
	spot := []*cloudprovider.InstanceType{instanceType("m5.large", offering("spot", "a", 1))}
	onDemand := []*cloudprovider.InstanceType{instanceType("m5.large", offering("on-demand", "a", 1))}
	for name, c := range map[string]struct {
		types       []*cloudprovider.InstanceType
		annotations map[string]string
		target      ec2types.DefaultTargetCapacityType
		strategy    string
		context     bool
	}{
		"spot":              {spot, nil, "spot", "price-capacity-optimized", true},
		"on-demand":         {onDemand, nil, "on-demand", "lowest-price", true},
		"overlaid spot":     {spot, map[string]string{v1.PriceOverlayAppliedAnnotationKey: ""}, "spot", "capacity-optimized-prioritized", true},
		"overlaid":          {onDemand, map[string]string{v1.PriceOverlayAppliedAnnotationKey: ""}, "on-demand", "prioritized", true},
		"reserved":          {reserved("default", false), nil, "on-demand", "lowest-price", true},
		"block":             {reserved("capacity-block", false), nil, "capacity-block", "", true},
		"interruptible":     {reserved("default", true), nil, "reserved-capacity", "interruptible-capacity-reservation", true},
		"relaxed minValues": {onDemand, map[string]string{v1.NodeClaimMinValuesRelaxedAnnotationKey: "true"}, "on-demand", "lowest-price", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reserve("cr-1", 1)
			w.expect(gives("i-1"))
			claim := nodeClaim()
			claim.Annotations = c.annotations
			if _, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: claim, NodeClass: nodeClass(), InstanceTypes: c.types}); err != nil {
				t.Fatal(err)
			}
			in := w.requests[0]
			strategy := ""
			switch {
			case in.SpotOptions != nil:
				strategy = string(in.SpotOptions.AllocationStrategy)
			case in.OnDemandOptions != nil:
				strategy = string(in.OnDemandOptions.AllocationStrategy)
			case in.ReservedCapacityOptions != nil:
				strategy = string(in.ReservedCapacityOptions.ReservationTypes[0])
			}
			if in.TargetCapacitySpecification.DefaultTargetCapacityType != c.target || strategy != c.strategy || (in.Context != nil) != c.context {
				t.Errorf("target %s, strategy %q, context %v", in.TargetCapacitySpecification.DefaultTargetCapacityType, strategy, in.Context)
			}
		})
	}
}

// CP-CREATE-02, CP-CREATE-09, OPP-18: a call whose answer is lost is repeated with the same token, word for word, so that
// EC2 gives the instance that is there.
func TestLostAnswer(t *testing.T) {
	w := newWorld(t)
	w.expect(breaks(errCut), gives("i-1"), gives("i-2"))
	if _, err := w.launch(nodeClaim()); !cloudprovider.IsTransient(err) || !errors.Is(err, errCut) {
		t.Fatalf("a lost answer gives %v", err)
	}
	if _, err := w.launch(nodeClaim()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.requests[0], w.requests[1], cmpopts.IgnoreUnexported(ec2.CreateFleetInput{}, ec2types.TargetCapacitySpecificationRequest{},
		ec2types.SpotOptionsRequest{}, ec2types.FleetLaunchTemplateConfigRequest{}, ec2types.FleetLaunchTemplateSpecificationRequest{},
		ec2types.FleetLaunchTemplateOverridesRequest{}, ec2types.TagSpecification{}, ec2types.Tag{})); diff != "" {
		t.Errorf("the repeated request differs (OPP-19): %s", diff)
	}
	// Not visible yet: no third call, the same instance.
	instance, err := w.launch(nodeClaim())
	if err != nil || instance.InstanceID != "i-1" || len(w.requests) != 2 {
		t.Errorf("got %+v, %v after %d calls", instance, err, len(w.requests))
	}
	// It has died: another may be launched, under another token.
	if instance, err = w.launch(nodeClaim(), "i-1"); err != nil || instance.InstanceID != "i-2" {
		t.Errorf("got %+v, %v", instance, err)
	}
	if *w.requests[2].ClientToken == *w.requests[1].ClientToken {
		t.Error("the second instance was asked for under the first one's token")
	}
}

// Tokens differ by claim and are the same in the next process.
func TestTokens(t *testing.T) {
	var tokens []string
	for _, uid := range []types.UID{"uid-1", "uid-1", "uid-2"} {
		w := newWorld(t)
		w.expect(gives("i-1"))
		claim := nodeClaim()
		claim.UID = uid
		if _, err := w.launch(claim); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, *w.requests[0].ClientToken)
	}
	if tokens[0] != tokens[1] || tokens[0] == tokens[2] {
		t.Errorf("tokens %q", tokens)
	}
}

// A process before this one launched for the claim with another request: nothing is launched until its instance must have
// become visible.
func TestTokenMismatch(t *testing.T) {
	w := newWorld(t)
	mismatch := fails("IdempotentParameterMismatch", "token was used")
	w.expect(mismatch, mismatch, mismatch, gives("i-1"))
	for range 2 {
		if _, err := w.launch(nodeClaim()); !cloudprovider.IsTransient(err) || !strings.Contains(err.Error(), "not visible yet") {
			t.Fatalf("got %v", err)
		}
		w.now = w.now.Add(launch.Visibility / 2)
	}
	if _, err := w.launch(nodeClaim()); err != nil {
		t.Fatal(err)
	}
	if *w.requests[2].ClientToken == *w.requests[3].ClientToken {
		t.Error("the disputed token was used again")
	}
}

// A process before this one launched, its instance died, and EC2 still answers the token with it.
func TestTokenOfTheDead(t *testing.T) {
	w := newWorld(t)
	w.expect(gives("i-dead2"), gives("i-1"))
	instance, err := w.launch(nodeClaim(), "i-dead1", "i-dead2")
	if err != nil || instance.InstanceID != "i-1" {
		t.Errorf("got %+v, %v", instance, err)
	}
	w = newWorld(t)
	w.expect(gives("i-dead"), gives("i-dead"), gives("i-dead"), gives("i-dead"))
	if _, err := w.launch(nodeClaim(), "i-dead"); !cloudprovider.IsTransient(err) {
		t.Errorf("EC2 insists on a dead instance: got %v after %d calls", err, len(w.requests))
	}
}

// AWI-101, AWI-102, AWI-172, AWI-174, AWI-175, AWI-241, CP-CREATE-07: no capacity anywhere is one error that names what is closed from now
// on; each error is told once.
func TestOutOfStock(t *testing.T) {
	w := newWorld(t)
	w.expect(refuses("InsufficientInstanceCapacity"))
	_, err := w.launch(nodeClaim())
	if !cloudprovider.IsInsufficientCapacity(err) || cloudprovider.KindOf(err) != cloudprovider.InsufficientCapacity {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "no InsufficientInstanceCapacity") {
		t.Errorf("%v does not keep EC2's words (CP-ERROR-06)", err)
	}
	var got []string
	for _, key := range cloudprovider.ExhaustedOfferings(err) {
		got = append(got, key.String())
	}
	if want := []string{"m5.large/a/spot", "m5.large/b/spot", "m6.large/a/spot", "m6.large/b/spot"}; !slices.Equal(got, want) {
		t.Errorf("exhausted are %q, want %q: on-demand was not tried", got, want)
	}
	if n := len(w.memory.Snapshot().Keys()); n != 4 {
		t.Errorf("%d offerings are marked, want 4", n)
	}
	if len(w.failures) != 4 || w.failures[0] != (launch.Failure{Code: "InsufficientInstanceCapacity", InstanceType: "m5.large", Zone: "a", ZoneID: "az1", CapacityType: "spot"}) {
		t.Errorf("told of %+v", w.failures)
	}
	for _, id := range []string{"subnet-a", "subnet-b"} {
		if free, _ := w.tracker.Free(id); free != 1000 {
			t.Errorf("%s has %d free addresses: a failed launch must give them back", id, free)
		}
	}
}

// AWI-102, CP-CREATE-07: offerings found empty on the way to a success are remembered too.
func TestPartialFailure(t *testing.T) {
	w := newWorld(t)
	w.expect(func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out, _ := gives("i-1")(in)
		out.Errors = []ec2types.CreateFleetError{{ErrorCode: aws.String("InsufficientInstanceCapacity"), LaunchTemplateAndOverrides: echo(in, 0, 3)}}
		return out, nil
	})
	if _, err := w.launch(nodeClaim()); err != nil {
		t.Fatal(err)
	}
	if got := w.memory.Snapshot().Keys(); len(got) != 1 || got[0].String() != "spot:m6.large:b" {
		t.Errorf("marked %v", got)
	}
}

// AWI-175: EC2 launches nothing and says nothing: everything that was asked for counts as out of stock, so that the next
// plan differs.
func TestEmptyAnswer(t *testing.T) {
	w := newWorld(t)
	w.expect(func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) { return &ec2.CreateFleetOutput{}, nil })
	_, err := w.launch(nodeClaim())
	if !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) != 4 {
		t.Errorf("got %v", err)
	}
	w.expect(func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) { return nil, nil })
	claim := nodeClaim(asks(v1.CapacityTypeLabelKey, "on-demand"))
	if _, err := w.launch(claim); !cloudprovider.IsTransient(err) {
		t.Errorf("no answer at all gives %v", err)
	}
}

// AWI-213, AWI-215: every failure has its kind.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		kind   cloudprovider.ErrorKind
		reason string
		also   cloudprovider.ErrorKind
	}{
		"quota alone":               {refuses("VcpuLimitExceeded"), cloudprovider.QuotaExceeded, "", ""},
		"spot quota":                {refuses("MaxSpotInstanceCountExceeded"), cloudprovider.QuotaExceeded, "", ""},
		"quota and stock":           {refuses("VcpuLimitExceeded", "InsufficientInstanceCapacity"), cloudprovider.InsufficientCapacity, "", ""},
		"no host":                   {refuses("InsufficientHostCapacity"), cloudprovider.InsufficientCapacity, "", ""},
		"no reserved instance":      {refuses("InsufficientReservedInstanceCapacity"), cloudprovider.InsufficientCapacity, "", ""},
		"no capacity of any kind":   {refuses("InsufficientCapacity"), cloudprovider.InsufficientCapacity, "", ""},
		"no room on the Outpost":    {refuses("InsufficientCapacityOnOutpost"), cloudprovider.InsufficientCapacity, "", ""},
		"no room for volumes":       {refuses("InsufficientVolumeCapacity"), cloudprovider.InsufficientCapacity, "", ""},
		"spot price above the cap":  {refuses("SpotMaxPriceTooLow"), cloudprovider.InsufficientCapacity, "", ""},
		"instances of the account":  {refuses("InstanceLimitExceeded"), cloudprovider.QuotaExceeded, "", ""},
		"volumes of the account":    {refuses("VolumeLimitExceeded"), cloudprovider.QuotaExceeded, "", ""},
		"operations of the account": {refuses("MaxIOPSLimitExceeded"), cloudprovider.QuotaExceeded, "", ""},
		"account being verified":    {refuses("PendingVerification"), cloudprovider.CreateFailed, "AccountPendingVerification", ""},
		"unsupported":               {refuses("Unsupported"), cloudprovider.InsufficientCapacity, "", ""},
		"no spot role":              {refuses("AuthFailure.ServiceLinkedRoleCreationNotPermitted"), cloudprovider.InsufficientCapacity, "", ""},
		"capacity and another":      {refuses("InsufficientInstanceCapacity", "InvalidParameterValue"), cloudprovider.CreateFailed, "LaunchFailed", ""},
		"refused in the answer":     {refuses("UnauthorizedOperation"), cloudprovider.CreateFailed, "Unauthorized", cloudprovider.Unauthorized},
		"throttled in the answer":   {refuses("RequestLimitExceeded"), cloudprovider.CreateFailed, "RequestLimitExceeded", cloudprovider.Throttled},
		"image gone":                {refuses("InvalidAMIID.NotFound"), cloudprovider.CreateFailed, "AMINotFound", ""},
		"call throttled":            {fails("RequestLimitExceeded", ""), cloudprovider.Throttled, "", ""},
		"call refused":              {fails("UnauthorizedOperation", "is not authorized to perform: ec2:RunInstances on x"), cloudprovider.CreateFailed, "Unauthorized", cloudprovider.Unauthorized},
		"call with a bad parameter": {fails("InvalidParameterValue", "bad"), cloudprovider.CreateFailed, "LaunchFailed", cloudprovider.Permanent},
		"user data too long":        {fails("InvalidUserData.Malformed", "User data is limited to 16384 bytes"), cloudprovider.CreateFailed, "UserDataSizeLimitExceeded", ""},
		"network":                   {breaks(errCut), cloudprovider.Transient, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.expect(c.answer)
			instance, err := w.launch(nodeClaim())
			if instance != nil || cloudprovider.KindOf(err) != c.kind || c.also != "" && !errors.Is(err, c.also) {
				t.Fatalf("got %v of kind %s, want %s (and %s)", err, cloudprovider.KindOf(err), c.kind, c.also)
			}
			var create *cloudprovider.CreateError
			if errors.As(err, &create) && create.Reason != c.reason {
				t.Errorf("reason %s, want %s", create.Reason, c.reason)
			}
			if !strings.HasPrefix(err.Error(), `launching nodeclaim "claim": `) {
				t.Errorf("%v does not name the claim", err)
			}
		})
	}
}

// A quota that every launch of the account runs into stops launches for a while: the second makes no call.
func TestAccountQuotaStopsLaunches(t *testing.T) {
	w := newWorld(t)
	w.expect(refuses("VolumeLimitExceeded"))
	for range 2 {
		if _, err := w.launch(nodeClaim()); cloudprovider.KindOf(err) != cloudprovider.QuotaExceeded {
			t.Errorf("%v", err)
		}
	}
}

// CP-CREATE-07, AWI-101, AWI-216: a missing spot role closes spot everywhere, and the error says what is missing.
func TestSpotRoleClosesSpot(t *testing.T) {
	w := newWorld(t)
	w.expect(refuses("AuthFailure.ServiceLinkedRoleCreationNotPermitted"))
	_, err := w.launch(nodeClaim())
	if got := len(cloudprovider.ExhaustedOfferings(err)); got != 4 {
		t.Errorf("%d offerings are named, want all four of spot: %v", got, err)
	}
	if !cloudprovider.IsInsufficientCapacity(err) || !strings.Contains(err.Error(), "iam:CreateServiceLinkedRole") {
		t.Errorf("%v does not say which permission is missing", err)
	}
}

// AWI-191: a subnet without addresses comes last from then on.
func TestSubnetFull(t *testing.T) {
	w := newWorld(t)
	w.expect(refuses("InsufficientFreeAddressesInSubnet"))
	_, _ = w.launch(nodeClaim())
	if free, known := w.tracker.Free("subnet-a"); free != 0 || !known {
		t.Errorf("subnet-a has %d free addresses (%v), want none", free, known)
	}
}

// AWI-173: launch templates that EC2 does not know are made again, and the launch is tried once more, not for ever.
func TestLaunchTemplateGone(t *testing.T) {
	gone := fails("InvalidLaunchTemplateName.NotFoundException", "gone")
	for name, first := range map[string]answer{"the call": gone, "in the answer": refuses("InvalidLaunchTemplateId.NotFound")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.expect(first, gives("i-1"))
			instance, err := w.launch(nodeClaim())
			if err != nil || instance.InstanceID != "i-1" || !slices.Equal(w.templates.forgotten, []string{"lt"}) || len(w.templates.requests) != 2 {
				t.Errorf("got %v, %v; forgotten %q, ensured %d times", instance, err, w.templates.forgotten, len(w.templates.requests))
			}
		})
	}
	w := newWorld(t)
	w.expect(gone, gone)
	var create *cloudprovider.CreateError
	if _, err := w.launch(nodeClaim()); !errors.As(err, &create) {
		t.Errorf("gone twice: %v", err)
	}
}

// AWI-163, AWI-164, OPP-11: what can go wrong before the call.
func TestBeforeTheCall(t *testing.T) {
	ready := cloudprovider.NewNodeClassNotReadyError("EC2NodeClass default", "no image", nil)
	for name, c := range map[string]struct {
		change func(*world, *launch.Request)
		kind   cloudprovider.ErrorKind
	}{
		"templates not ready": {func(w *world, _ *launch.Request) { w.templates.err = ready }, cloudprovider.NodeClassNotReady},
		"templates fail":      {func(w *world, _ *launch.Request) { w.templates.err = errCut }, cloudprovider.Transient},
		"no subnet":           {func(_ *world, r *launch.Request) { r.NodeClass.Status.Subnets = nil }, cloudprovider.CreateFailed},
		"no type":             {func(_ *world, r *launch.Request) { r.InstanceTypes = nil }, cloudprovider.InsufficientCapacity},
		"no UID":              {func(_ *world, r *launch.Request) { r.NodeClaim.UID = "" }, cloudprovider.Permanent},
		"no claim":            {func(_ *world, r *launch.Request) { r.NodeClaim = nil }, cloudprovider.Permanent},
		"no class":            {func(_ *world, r *launch.Request) { r.NodeClass = nil }, cloudprovider.Permanent},
		"bad requirement": {func(_ *world, r *launch.Request) {
			r.NodeClaim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "x", Operator: "Like"}}
		}, cloudprovider.Permanent},
		"closed meanwhile": {func(w *world, r *launch.Request) {
			for _, it := range r.InstanceTypes {
				for _, zone := range []string{"a", "b"} {
					w.markSpot(it.Name, zone)
				}
			}
		}, cloudprovider.InsufficientCapacity},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := launch.Request{NodeClaim: nodeClaim(), NodeClass: nodeClass(), InstanceTypes: market()}
			c.change(w, &r)
			if _, err := w.launcher.Launch(t.Context(), r); cloudprovider.KindOf(err) != c.kind {
				t.Errorf("got %v, want kind %s", err, c.kind)
			}
			for _, id := range []string{"subnet-a", "subnet-b"} {
				if free, _ := w.tracker.Free(id); free != 1000 {
					t.Errorf("%s stays charged", id)
				}
			}
		})
	}
}

// CP-ERROR-07: a context that ends is told as such.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	w.expect(breaks(fmt.Errorf("cut: %w", context.Canceled)))
	if _, err := w.launch(nodeClaim()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// reservedMarket is one type in two reservations of different zones.
func reservedMarket() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{instanceType("m5.large",
		offering("reserved", "a", 0.01, reservation("cr-1", "default", false, 1)), offering("reserved", "b", 0.01, reservation("cr-2", "default", false, 1)))}
}

// AWI-129, AWI-133: reservations learn of launches and of being full, and a launch that finds one full takes the next.
func TestReservations(t *testing.T) {
	w := newWorld(t)
	w.reserve("cr-1", 1)
	w.reserve("cr-2", 2)
	w.expect(func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		if w.room("cr-1") != 0 || w.room("cr-2") != 2 {
			t.Errorf("room for %d and %d during the call: a place in cr-1 is to be held", w.room("cr-1"), w.room("cr-2"))
		}
		return refuses("ReservationCapacityExceeded")(in)
	}, gives("i-1"))
	instance, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: nodeClaim(), NodeClass: nodeClass(), InstanceTypes: reservedMarket()})
	if err != nil || instance.Offering.Value(awsv1.LabelCapacityReservationID) != "cr-2" {
		t.Fatalf("%+v, %v", instance, err)
	}
	for i, in := range w.requests {
		if len(in.LaunchTemplateConfigs) != 1 || len(in.LaunchTemplateConfigs[0].Overrides) != 1 {
			t.Errorf("call %d names %d templates: want that of the reservation alone", i, len(in.LaunchTemplateConfigs))
		}
	}
	if *w.requests[0].ClientToken == *w.requests[1].ClientToken {
		t.Error("EC2 would answer the second call as the first")
	}
	if w.room("cr-1") != 0 || w.room("cr-2") != 1 {
		t.Errorf("room for %d and %d", w.room("cr-1"), w.room("cr-2"))
	}
	if n := len(w.memory.Snapshot().Keys()); n != 0 {
		t.Errorf("%d offerings are marked: a full reservation says nothing of others", n)
	}
}

// AWI-129: a launch that another has taken the last place from does not ask EC2, and says which offerings are closed. The
// place of one that fails is given back.
func TestReservationsTaken(t *testing.T) {
	w := newWorld(t)
	w.reserve("cr-1", 1)
	w.reserve("cr-2", 0)
	other := w.reserved.Hold(1, "cr-1")
	request := launch.Request{NodeClaim: nodeClaim(), NodeClass: nodeClass(), InstanceTypes: reservedMarket()}
	_, err := w.launcher.Launch(t.Context(), request)
	var none *cloudprovider.InsufficientCapacityError
	if !errors.As(err, &none) || len(none.Offerings) != 2 {
		t.Fatalf("got %v: want both offerings closed", err)
	}
	other.Settle("", w.now)
	w.expect(refuses("InsufficientFreeAddressesInSubnet"), gives("i-1"))
	if _, err = w.launcher.Launch(t.Context(), request); err == nil || w.room("cr-1") != 1 {
		t.Fatalf("got %v, room for %d: want the place given back", err, w.room("cr-1"))
	}
	if instance, err := w.launcher.Launch(t.Context(), request); err != nil || instance.InstanceID != "i-1" || w.room("cr-1") != 0 {
		t.Errorf("got %+v, %v, room for %d", instance, err, w.room("cr-1"))
	}
}

// A claim with minValues takes a place in each reservation, since EC2 is to have the choice; what is not used is given back.
func TestReservationsMinValues(t *testing.T) {
	w := newWorld(t)
	w.reserve("cr-1", 1)
	w.reserve("cr-2", 1)
	w.expect(func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		if len(in.LaunchTemplateConfigs) != 2 || len(in.LaunchTemplateConfigs[0].Overrides) != 1 {
			t.Errorf("a template for each reservation is wanted, with its own override alone: %d", len(in.LaunchTemplateConfigs))
		}
		if w.room("cr-1")+w.room("cr-2") != 0 {
			t.Error("not both places are held")
		}
		out, _ := gives("i-1")(in)
		out.Errors = []ec2types.CreateFleetError{{ErrorCode: aws.String("ReservationCapacityExceeded"), LaunchTemplateAndOverrides: echo(in, 1, 0)}}
		return out, nil
	})
	want := asks("topology.kubernetes.io/zone", "a", "b")
	want.MinValues = aws.Int(2)
	instance, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: nodeClaim(want), NodeClass: nodeClass(), InstanceTypes: reservedMarket()})
	if err != nil || instance.Offering.Value(awsv1.LabelCapacityReservationID) != "cr-1" || w.room("cr-1") != 0 || w.room("cr-2") != 0 {
		t.Errorf("%+v, %v, room for %d and %d", instance, err, w.room("cr-1"), w.room("cr-2"))
	}
}

// AWI-167, AWI-183: a template that pins its zone takes the overrides of that zone without a subnet.
func TestPinnedZone(t *testing.T) {
	w := newWorld(t)
	w.templates.zone = "b"
	w.expect(gives("i-1"))
	if _, err := w.launch(nodeClaim()); err != nil {
		t.Fatal(err)
	}
	for _, o := range w.requests[0].LaunchTemplateConfigs[0].Overrides {
		if *o.AvailabilityZone != "b" || o.SubnetId != nil {
			t.Errorf("override in zone %s, subnet %v", *o.AvailabilityZone, o.SubnetId)
		}
	}
}

// An instance type that was not asked for, in an answer: the instance is not lost, for its tags say whose it is, and the
// error says so.
func TestUnknownTypeInAnswer(t *testing.T) {
	w := newWorld(t)
	w.expect(func(*ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return &ec2.CreateFleetOutput{Instances: []ec2types.CreateFleetInstance{{InstanceIds: []string{"i-1"}, InstanceType: "z9.large"}}}, nil
	})
	_, err := w.launch(nodeClaim())
	if !cloudprovider.IsTransient(err) || !strings.Contains(err.Error(), "i-1") || !strings.Contains(err.Error(), "z9.large") {
		t.Errorf("got %v", err)
	}
}

// EC2 gives two instances for one: the first counts, the other has the same tags and will be collected.
func TestSurplus(t *testing.T) {
	w := newWorld(t)
	w.expect(func(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out, _ := gives("i-1")(in)
		out.Instances[0].InstanceIds = append(out.Instances[0].InstanceIds, "i-2")
		return out, nil
	})
	if instance, err := w.launch(nodeClaim()); err != nil || instance.InstanceID != "i-1" {
		t.Errorf("got %+v, %v", instance, err)
	}
}

// AWI-176: EFA interfaces are counted when pods ask for them.
func TestEFA(t *testing.T) {
	w := newWorld(t)
	w.expect(gives("i-1"))
	claim := nodeClaim()
	claim.Spec.Resources.Requests["vpc.amazonaws.com/efa"] = resource.MustParse("1")
	instance, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: claim, NodeClass: nodeClass(), InstanceTypes: []*cloudprovider.InstanceType{
		with(instanceType("p5.large", offering("on-demand", "a", 1)), "vpc.amazonaws.com/efa", "4"),
	}})
	if err != nil || instance.EFAs != 4 {
		t.Errorf("got %+v, %v", instance, err)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := launch.New(launch.Options{})
	for _, word := range []string{"EC2", "templates", "cluster"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
}

// A claim that is never launched again is forgotten; one that is launched now and then is not.
func TestVisibilityEnds(t *testing.T) {
	w := newWorld(t)
	w.expect(gives("i-1"), gives("i-2"))
	for _, want := range []string{"i-1", "i-1", "i-2"} {
		instance, err := w.launch(nodeClaim())
		if err != nil || instance.InstanceID != want {
			t.Fatalf("got %+v, %v, want %s", instance, err, want)
		}
		w.now = w.now.Add(launch.Visibility - time.Second)
	}
}

// A launch for dedicated hardware, or on a host, that finds no capacity closes no offering on shared hardware.
func TestOutOfStockByTenancy(t *testing.T) {
	for name, c := range map[string]struct {
		tenancy string
		host    *string
		want    unavailable.Hardware
	}{
		"shared":    {"", nil, unavailable.Hardware{}},
		"dedicated": {awsv1.TenancyDedicated, nil, unavailable.Hardware{Tenancy: "dedicated"}},
		"host":      {awsv1.TenancyHost, aws.String("h-1"), unavailable.Hardware{Tenancy: "host", Host: "h-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.expect(refuses("InsufficientInstanceCapacity"))
			class, m5 := nodeClass(), instanceType("m5.large", offering("on-demand", "a", 1))
			if c.host != nil {
				class.Spec.Placement = &awsv1.Placement{HostID: c.host}
			}
			if c.tenancy != "" {
				m5.Requirements = m5.Requirements.Without(awsv1.LabelInstanceTenancy).With(requirements.In(awsv1.LabelInstanceTenancy, c.tenancy))
			}
			_, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: nodeClaim(), NodeClass: class, InstanceTypes: []*cloudprovider.InstanceType{m5}})
			if !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) != 1 {
				t.Fatalf("got %v", err)
			}
			want := []unavailable.Key{{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "a", Hardware: c.want}}
			if diff := cmp.Diff(want, w.memory.Snapshot().Keys()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A claim that allows shared and dedicated hardware is launched on one of them: on the cheaper one that has capacity, and the launch template
// has its tenancy.
func TestOneTenancy(t *testing.T) {
	on := func(tenancy string, price float64) cloudprovider.Offering {
		return offering("on-demand", "a", price, func(o *cloudprovider.Offering) {
			o.Requirements = o.Requirements.With(requirements.In(awsv1.LabelInstanceTenancy, tenancy))
		})
	}
	m5 := instanceType("m5.large", on(awsv1.TenancyDefault, 1), on(awsv1.TenancyDedicated, 1.1))
	for _, want := range []string{awsv1.TenancyDefault, awsv1.TenancyDedicated} {
		w := newWorld(t)
		w.expect(gives("i-1"))
		instance, err := w.launcher.Launch(t.Context(), launch.Request{NodeClaim: nodeClaim(), NodeClass: nodeClass(), InstanceTypes: []*cloudprovider.InstanceType{m5}})
		if err != nil {
			t.Fatal(err)
		}
		asked := w.templates.requests[0].NodeClaim.Spec.Requirements
		if last := asked[len(asked)-1]; instance.Tenancy != want || last.Key != awsv1.LabelInstanceTenancy || !slices.Equal(last.Values, []string{want}) {
			t.Errorf("launched with tenancy %q, want %q; the template is for %v", instance.Tenancy, want, last)
		}
		if n := len(w.requests[0].LaunchTemplateConfigs[0].Overrides); n != 1 {
			t.Errorf("%d overrides", n)
		}
		m5.Offerings[0].Available = false // shared hardware is out of stock
	}
}
