package aws_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

// AWI-004, AWI-006: what keeps a provider from starting, and what does not.
func TestNew(t *testing.T) {
	seed, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fail   map[string]error
		seeded bool
		kind   cloudprovider.ErrorKind
		says   string
	}{
		"no permission": {map[string]error{"Probe": apiError("UnauthorizedOperation", "not authorized to perform: ec2:DescribeInstanceTypes")}, true,
			cloudprovider.Unauthorized, "ec2:DescribeInstanceTypes"},
		"credentials that nobody knows": {map[string]error{"Probe": apiError("AuthFailure", "not able to validate")}, true, cloudprovider.Unauthorized, "us-east-1"},
		"a region that does not exist": {map[string]error{"Probe": &smithy.OperationError{ServiceID: "EC2", OperationName: "Call",
			Err: &net.DNSError{Err: "no such host", Name: "ec2.us-east-1.amazonaws.com", IsNotFound: true}}}, true, cloudprovider.Permanent, "check the region"},
		"EC2 is down":           {map[string]error{"Probe": apiError("InternalError", "down")}, false, cloudprovider.Transient, "reached"},
		"EC2 is down, seeded":   {map[string]error{"Probe": apiError("InternalError", "down"), "DescribeInstanceTypes": apiError("InternalError", "down")}, true, "", ""},
		"EC2 throttles, seeded": {map[string]error{"Probe": apiError("RequestLimitExceeded", "slow"), "DescribeInstanceTypes": apiError("RequestLimitExceeded", "slow")}, true, "", ""},
		"no permission for zones, seeded": {map[string]error{"DescribeInstanceTypeOfferings": apiError("UnauthorizedOperation", "not authorized to perform: ec2:DescribeInstanceTypeOfferings")}, true,
			cloudprovider.Unauthorized, "ec2:DescribeInstanceTypeOfferings"},
		"types can't be read":     {map[string]error{"DescribeInstanceTypes": apiError("RequestLimitExceeded", "slow")}, false, cloudprovider.Throttled, "reading instance types"},
		"no types, no zones":      {nil, false, cloudprovider.Transient, "us-east-1"},
		"no types, zones, seeded": {nil, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			for call, err := range c.fail {
				a.fail[call] = err
			}
			o := aws.Options{NodeClasses: aws.NodeClasses{}, Cluster: aws.StaticCluster{}, Clients: clients{account: a}}
			if c.seeded {
				o.Types = seed
			}
			p, err := aws.New(t.Context(), aws.Config{ClusterName: "demo"}, o)
			if cloudprovider.KindOf(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) || (p == nil) != (err != nil) {
				t.Errorf("got %v of kind %s, want %s saying %q", err, cloudprovider.KindOf(err), c.kind, c.says)
			}
		})
	}
}

// AWN-314, AWI-217 to AWI-227: settings are refused all at once, with the field.
func TestConfigRefused(t *testing.T) {
	bad := math.NaN()
	every := func(d time.Duration) *time.Duration { return &d }
	_, err := aws.New(t.Context(), aws.Config{
		VMMemoryOverheadPercent: &bad, MinSpotDiscount: 1, UnavailableFor: every(2), UnavailableForAtMost: every(1), ReservedENIs: -1, TypesEvery: every(0), PricesEvery: every(-1), SpotPricesEvery: every(0), ImagesEvery: every(time.Second), SubnetsEvery: every(0), InterruptionQueue: "https://queue",
		Tags: map[string]string{"karpenter.sh/nodepool": "x"}, SDK: sdk.Config{Endpoint: "nowhere"},
	}, aws.Options{})
	if !cloudprovider.IsPermanent(err) {
		t.Fatalf("got %v", err)
	}
	for _, field := range []string{"clusterName", "vmMemoryOverheadPercent", "reservedENIs", "minSpotDiscount", "unavailableFor", "typesEvery", "pricesEvery", "spotPricesEvery", "imagesEvery", "subnetsEvery", "interruptionQueue", "tags", "endpoint", "NodeClasses", "Cluster"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

// AWN-311, CP-DESCRIBE-01, CP-DESCRIBE-02, CP-DESCRIBE-06, CP-REPAIR-02, AWI-141, AWI-150, DIS-268.
func TestDescribe(t *testing.T) {
	p := newProvider(t, newAccount(t))
	if err := p.Describe().Validate(); err != nil || p.Name() != "aws" {
		t.Errorf("%s: %v", p.Name(), err)
	}
	if diff := cmp.Diff(p.Describe(), p.Describe()); diff != "" {
		t.Error(diff)
	}
	policies := p.RepairPolicies()
	if err := cloudprovider.ValidateRepairPolicies(policies); err != nil || len(policies) != 7 {
		t.Errorf("%v, %v", policies, err)
	}
	tolerated := map[string]time.Duration{}
	for _, p := range policies {
		tolerated[string(p.ConditionType)+"="+string(p.ConditionStatus)] = p.Toleration
	}
	const half = 30 * time.Minute
	if diff := cmp.Diff(map[string]time.Duration{
		"Ready=False": half, "Ready=Unknown": half, "AcceleratedHardwareReady=False": 10 * time.Minute, "StorageReady=False": half,
		"NetworkingReady=False": half, "KernelReady=False": half, "ContainerRuntimeReady=False": half,
	}, tolerated); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	types, err := p.InstanceTypes(t.Context(), nodePool())
	if err != nil {
		t.Fatal(err)
	}
	if err := cloudprovider.ValidateCatalog(types, p.Describe()); err != nil {
		t.Error(err)
	}
}

// AWN-080, CP-CLASS-01, CP-CLASS-02, CP-CREATE-10, CP-CLASS-03, AWI-142, AWI-146, AWI-200: whether instances can be launched from a class.
func TestReadiness(t *testing.T) {
	now := metav1.Now()
	for name, c := range map[string]struct {
		change func(*awsv1.EC2NodeClass)
		status metav1.ConditionStatus
		reason string
		typed  bool // the class has instance types all the same
	}{
		"ready":             {func(*awsv1.EC2NodeClass) {}, metav1.ConditionTrue, "", true},
		"being deleted":     {func(c *awsv1.EC2NodeClass) { c.DeletionTimestamp = &now }, metav1.ConditionFalse, cloudprovider.NodeClassTerminating, false},
		"nobody has looked": {func(c *awsv1.EC2NodeClass) { c.Status.Conditions = nil }, metav1.ConditionUnknown, cloudprovider.NodeClassReadinessUnknown, true},
		"changed since":     {func(c *awsv1.EC2NodeClass) { c.Generation = 2 }, metav1.ConditionUnknown, cloudprovider.NodeClassReadinessUnknown, true},
		"not ready": {func(c *awsv1.EC2NodeClass) {
			c.Conditions().SetFalse(awsv1.ConditionAMIsReady, "AMINotFound", "no image", now.Time)
		}, metav1.ConditionFalse, "", true},
		"with reserved tags": {func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"karpenter.sh/nodeclaim": "x"} }, metav1.ConditionFalse, "TagsInvalid", true},
		"with cluster tags":  {func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"kubernetes.io/cluster/other": "x"} }, metav1.ConditionFalse, "TagsInvalid", true},
		"without subnets":    {func(c *awsv1.EC2NodeClass) { c.Status.Subnets = nil }, metav1.ConditionTrue, "", false},
		"with a bad kubelet": {func(c *awsv1.EC2NodeClass) {
			pods := intstr.FromString("cel")
			c.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: &pods}
		}, metav1.ConditionTrue, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			class := readyClass("default")
			c.change(class)
			a := newAccount(t)
			p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{"default": class} })
			r, err := p.NodeClassStatus(t.Context(), classRef("default"))
			if err != nil || r.Status != c.status || c.reason != "" && r.Reason != c.reason || r.Status != metav1.ConditionTrue && r.Message == "" {
				t.Errorf("%+v, %v", r, err)
			}
			types, err := p.InstanceTypes(t.Context(), nodePool())
			if c.typed != (err == nil && len(types) > 1000) || err != nil && !cloudprovider.IsNodeClassNotReady(err) {
				t.Errorf("%d types, %v", len(types), err)
			}
			_, err = p.Create(t.Context(), claim("a"))
			if launched := c.status == metav1.ConditionTrue && c.typed; launched != (err == nil) || err != nil && !cloudprovider.IsNodeClassNotReady(err) {
				t.Errorf("Create: %v", err)
			}
			if err != nil && a.count("CreateFleet") != 0 {
				t.Error("EC2 was asked")
			}
		})
	}
	p := newProvider(t, newAccount(t), func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{} })
	if r, err := p.NodeClassStatus(t.Context(), classRef("gone")); err != nil || r.Reason != cloudprovider.NodeClassNotFound || r.Message == "" {
		t.Errorf("missing: %+v, %v", r, err)
	}
	foreign := v1.NodeClassReference{Group: "other.example", Kind: "NodeClass", Name: "x"}
	if r, err := p.NodeClassStatus(t.Context(), foreign); err != nil || r.Status != metav1.ConditionFalse || r.Message == "" {
		t.Errorf("another kind: %+v, %v", r, err)
	}
	if _, err := p.InstanceTypes(t.Context(), nodePool()); !cloudprovider.IsNodeClassNotReady(err) {
		t.Errorf("types of a missing class: %v", err)
	}
	pool := nodePool()
	pool.Spec.Template.Spec.NodeClassRef = foreign
	if _, err := p.InstanceTypes(t.Context(), pool); !cloudprovider.IsNodeClassNotReady(err) {
		t.Errorf("types of another kind: %v", err)
	}
	for _, ref := range []v1.NodeClassReference{foreign, classRef("gone")} {
		c := claim("a")
		c.Spec.NodeClassRef = ref
		if _, err := p.Create(t.Context(), c); !cloudprovider.IsNodeClassNotReady(err) {
			t.Errorf("Create from %s: %v", ref.Name, err)
		}
	}
}

// brokenClasses fails for one class and knows another.
type brokenClasses struct{ good *awsv1.EC2NodeClass }

var errStore = errors.New("the store is down")

func (b brokenClasses) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	if name == b.good.Name {
		return b.good, nil
	}
	return nil, errStore
}

// OPP-04, AWI-144, CP-LIST-01: instances of a class that can't be read, has no subnets or is gone are listed all the same.
func TestListWithBadClasses(t *testing.T) {
	a := newAccount(t)
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = brokenClasses{readyClass("default")} })
	a.put("i-1", "m5.large", "default")
	a.put("i-2", "m5.large", "broken")
	a.put("i-3", "no.such-type", "default", func(i *ec2types.Instance) { i.State.Name = "shutting-down" })
	listed, err := p.List(t.Context())
	if err != nil || len(listed) != 3 {
		t.Fatalf("%d instances, %v", len(listed), err)
	}
	for n, c := range listed {
		id := fmt.Sprint("i-", n+1)
		if c.Name != "claim-"+id || string(c.UID) != "uid-"+id || c.Status.ProviderID != "aws:///us-east-1a/"+id || c.Labels[v1.NodePoolLabelKey] != "pool" ||
			c.Labels[corev1.LabelInstanceTypeStable] == "" || c.Labels[corev1.LabelTopologyZone] != "us-east-1a" {
			t.Errorf("%s: %+v", id, c)
		}
		if known := n == 0; known != (len(c.Status.Capacity) > 0) {
			t.Errorf("%s has capacity %v", id, c.Status.Capacity)
		}
		if ending := n == 2; ending != (c.DeletionTimestamp != nil) {
			t.Errorf("%s is ending: %v", id, c.DeletionTimestamp)
		}
	}
	a.fail["DescribeInstances"] = apiError("UnauthorizedOperation", "not authorized to perform: ec2:DescribeInstances")
	if listed, err = p.List(t.Context()); err == nil || listed != nil || !cloudprovider.IsUnauthorized(err) {
		t.Errorf("%v, %v", listed, err)
	}
}

// AWI-147, AWI-148: what a claim says of an instance.
func TestClaimOfInstance(t *testing.T) {
	reserved := func(i *ec2types.Instance) {
		i.CapacityReservationId = awssdk.String("cr-1")
		i.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: "capacity-reservations-only"}
	}
	for name, c := range map[string]struct {
		instanceType string
		change       func(*ec2types.Instance)
		config       func(*aws.Config, *aws.Options)
		labels       map[string]string
		absent       []string
		efa          bool
	}{
		"on-demand": {"m5.large", func(*ec2types.Instance) {}, nil, map[string]string{
			v1.CapacityTypeLabelKey: "on-demand", awsv1.LabelTopologyZoneID: "use1-az1", corev1.LabelArchStable: "amd64", awsv1.LabelInstanceTenancy: "default",
			awsv1.LabelInstanceFamily: "m5", awsv1.LabelInstanceCPU: "2",
		}, []string{awsv1.LabelCapacityReservationID, awsv1.LabelPlacementGroupID, awsv1.LabelInstanceGPUCount}, false},
		"spot, dedicated": {"m5.large", func(i *ec2types.Instance) {
			i.SpotInstanceRequestId, i.Placement.Tenancy = awssdk.String("sir"), "dedicated"
		}, nil, map[string]string{v1.CapacityTypeLabelKey: "spot", awsv1.LabelInstanceTenancy: "dedicated"}, nil, false},
		"reserved": {"m5.large", reserved, nil, map[string]string{
			v1.CapacityTypeLabelKey: "reserved", awsv1.LabelCapacityReservationID: "cr-1", awsv1.LabelCapacityReservationType: "default", awsv1.LabelCapacityReservationInterruptible: "false",
		}, nil, false},
		"AWI-121: reserved where reservations are not in use": {"m5.large", reserved, func(c *aws.Config, _ *aws.Options) { c.WithoutReservedCapacity = true },
			map[string]string{v1.CapacityTypeLabelKey: "on-demand"}, []string{awsv1.LabelCapacityReservationID}, false},
		"in a placement group": {"m5.large", func(i *ec2types.Instance) {
			i.Placement.GroupId, i.Placement.PartitionNumber = awssdk.String("pg-1"), awssdk.Int32(2)
		}, nil, map[string]string{awsv1.LabelPlacementGroupID: "pg-1", awsv1.LabelPlacementGroupPartition: "2"}, nil, false},
		"with EFA": {"p5.48xlarge", func(i *ec2types.Instance) {
			i.NetworkInterfaces = []ec2types.InstanceNetworkInterface{{InterfaceType: awssdk.String("efa")}}
		}, nil, nil, nil, true},
		"could have EFA": {"p5.48xlarge", func(*ec2types.Instance) {}, nil, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			var change []func(*aws.Config, *aws.Options)
			if c.config != nil {
				change = append(change, c.config)
			}
			p := newProvider(t, a, change...)
			id := a.put("i-1", c.instanceType, "default", c.change)
			got, err := p.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range c.labels {
				if got.Labels[key] != value {
					t.Errorf("%s is %q, want %q", key, got.Labels[key], value)
				}
			}
			for _, key := range c.absent {
				if value, ok := got.Labels[key]; ok {
					t.Errorf("%s is %q, want none", key, value)
				}
			}
			if _, has := got.Status.Capacity["vpc.amazonaws.com/efa"]; has != c.efa {
				t.Errorf("EFA in capacity: %v", has)
			}
			for name, quantity := range got.Status.Capacity {
				if quantity.IsZero() {
					t.Errorf("%s is listed with zero", name)
				}
			}
			if got.Spec.NodeClassRef != classRef("default") || !got.CreationTimestamp.Time.Equal(time.Unix(1.7e9, 0)) || got.Status.ImageID != "ami-amd64" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// CP-DELETE-01 to CP-DELETE-04, CP-GET-03, AWI-145, AWI-207.
func TestDelete(t *testing.T) {
	a := newAccount(t)
	p := newProvider(t, a)
	of := func(providerID string) *v1.NodeClaim {
		c := &v1.NodeClaim{}
		c.Status.ProviderID = providerID
		return c
	}
	for _, id := range []string{"", "nonsense", "gce://p/z/n", "aws:///us-east-1a/fargate-1"} {
		if err := p.Delete(t.Context(), of(id)); !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("Delete %q: %v", id, err)
		}
		if _, err := p.Get(t.Context(), id); !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("Get %q: %v", id, err)
		}
	}
	if len(a.calls) != 0 {
		t.Errorf("EC2 was asked about them: %q", a.calls)
	}
	there := a.put("i-1", "m5.large", "default")
	theirs := a.put("i-2", "m5.large", "default", func(i *ec2types.Instance) { i.Tags = nil })
	for range 3 { // the first ends it, the others find it ending
		if err := p.Delete(t.Context(), of(there)); err != nil {
			t.Error(err)
		}
	}
	if a.count("TerminateInstances") != 1 {
		t.Errorf("%q, want one termination", a.calls)
	}
	a.instances[0].State.Name = "terminated"
	for _, id := range []string{there, theirs} {
		if err := p.Delete(t.Context(), of(id)); !cloudprovider.IsNodeClaimNotFound(err) || a.count("TerminateInstances") != 1 {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := p.Delete(t.Context(), nil); !cloudprovider.IsPermanent(err) {
		t.Errorf("nil: %v", err)
	}
	broken := a.put("i-3", "m5.large", "default")
	a.fail["TerminateInstances"] = apiError("UnauthorizedOperation", "not authorized to perform: ec2:TerminateInstances")
	if err := p.Delete(t.Context(), of(broken)); !cloudprovider.IsUnauthorized(err) {
		t.Errorf("refused: %v", err)
	}
}

// AWI-129, AWI-145: a reserved instance that is gone makes room.
func TestDeleteMakesRoom(t *testing.T) {
	p := newProvider(t, newAccount(t))
	p.Reservations().Sync(time.Now(), reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: "cr-1"}, Available: 1, Total: 5})
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{awsv1.LabelCapacityReservationID: "cr-1"}}}
	c.Status.ProviderID = "aws:///us-east-1a/i-1"
	for range 3 { // the finalizer's controller asks again until it has seen the claim go
		if err := p.Delete(t.Context(), c); !cloudprovider.IsNodeClaimNotFound(err) || p.Reservations().Snapshot().Room("cr-1") != 2 {
			t.Errorf("%v, room for %d", err, p.Reservations().Snapshot().Room("cr-1"))
		}
	}
}

// grouped is a class in a placement group of three partitions.
func grouped(_ *aws.Config, o *aws.Options) {
	class := readyClass("default")
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: awssdk.String("group")}
	ec2build.Ready(time.Unix(1.7e9, 0))(class)
	o.NodeClasses = aws.NodeClasses{"default": class}
}

// AWI-139: a claim that restricts partitions gets the lowest, in labels and launch alike; another waits for EC2 to say which
// it got. CP-GATE-01 to CP-GATE-04.
func TestPartitions(t *testing.T) {
	a := newAccount(t)
	p := newProvider(t, a, grouped)
	created, err := p.Create(t.Context(), claim("a", in(awsv1.LabelPlacementGroupPartition, "3", "2")))
	if err != nil || created.Labels[awsv1.LabelPlacementGroupPartition] != "2" || created.Labels[awsv1.LabelPlacementGroupID] != "pg-1" {
		t.Fatalf("%+v, %v", created, err)
	}
	if gate, err := p.Registered(t.Context(), created); err != nil || !gate.Open {
		t.Errorf("%+v, %v", gate, err)
	}
	if _, err := p.Create(t.Context(), claim("b", in(awsv1.LabelPlacementGroupPartition, "9"))); !cloudprovider.IsInsufficientCapacity(err) {
		t.Errorf("a partition that is not there: %v", err)
	}
	free, err := p.Create(t.Context(), claim("c"))
	if err != nil || free.Labels[awsv1.LabelPlacementGroupPartition] != "" {
		t.Fatalf("%+v, %v", free, err)
	}
	gate, err := p.Registered(t.Context(), free)
	if err != nil || gate.Open || gate.Reason == "" || gate.RetryAfter <= 0 {
		t.Errorf("%+v, %v", gate, err)
	}
	a.instances[1].Placement.PartitionNumber = awssdk.Int32(1)
	if gate, err := p.Registered(t.Context(), free); err != nil || !gate.Open {
		t.Errorf("%+v, %v", gate, err)
	}
	if gate, err := p.Registered(t.Context(), claim("no group")); err != nil || !gate.Open {
		t.Errorf("%+v, %v", gate, err)
	}
	a.instances = nil
	free.Status.ProviderID = "aws:///us-east-1a/i-gone"
	if _, err := p.Registered(t.Context(), free); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("gone: %v", err)
	}
}

// AWI-201: only what is missing is tagged; the log says which instance has joined, by its host name.
func TestTagNode(t *testing.T) {
	a := newAccount(t)
	var logged strings.Builder
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
	c := claim("a")
	if err := p.TagNode(t.Context(), c); !cloudprovider.IsTransient(err) || len(a.calls) > 0 {
		t.Errorf("no node yet: %v, %q", err, a.calls)
	}
	if err := p.TagNode(t.Context(), nil); !cloudprovider.IsPermanent(err) {
		t.Errorf("no claim: %v", err)
	}
	const hostname = "ip-192-168-39-191.us-east-1.compute.internal"
	c.Status.NodeName = "node"
	c.Status.ProviderID = a.put("i-1", "m5.large", "default", func(i *ec2types.Instance) { i.PrivateDnsName = awssdk.String(hostname) })
	if err := p.TagNode(t.Context(), c); err != nil || a.count("CreateTags") != 1 {
		t.Errorf("%v, %q", err, a.calls)
	}
	if want := "instanceID=i-1 hostname=" + hostname + " instanceType=m5.large zone=us-east-1a capacityType=on-demand"; !strings.Contains(logged.String(), want) {
		t.Errorf("the log lacks %q: %s", want, logged.String())
	}
	c.Status.ProviderID = "aws:///us-east-1a/i-gone"
	if err := p.TagNode(t.Context(), c); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("gone: %v", err)
	}
}

// AWI-005, AWI-231: what EKS says is kept for five minutes, and longer while EKS does not answer.
func TestEKSCluster(t *testing.T) {
	api := mock.NewMockEKSAPI(gomock.NewController(t))
	now := time.Unix(1.7e9, 0)
	source := aws.NewEKSCluster(api, "demo", func() time.Time { return now })
	api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(nil, &ekstypes.ResourceNotFoundException{})
	if _, err := source.ClusterInfo(t.Context()); !cloudprovider.IsPermanent(err) || !strings.Contains(err.Error(), "demo") {
		t.Errorf("no such cluster: %v", err)
	}
	api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(&eks.DescribeClusterOutput{}, nil)
	if _, err := source.ClusterInfo(t.Context()); !cloudprovider.IsTransient(err) {
		t.Errorf("an empty answer: %v", err)
	}
	api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(&eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{
		Version: awssdk.String("1.35"), Endpoint: awssdk.String("https://x"), CertificateAuthority: &ekstypes.Certificate{Data: awssdk.String("Q0E=")},
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: awssdk.String("10.0.0.0/16"), ServiceIpv6Cidr: awssdk.String("fd00::/108"), IpFamily: "ipv6"},
	}}, nil)
	want := aws.ClusterInfo{Version: "1.35", Endpoint: "https://x", CABundle: "Q0E=", ServiceCIDR: "fd00::/108", IPFamily: launchtemplate.IPv6}
	for range 3 {
		if got, err := source.ClusterInfo(t.Context()); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	now = now.Add(5 * time.Minute)
	api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(nil, apiError("ServerException", "down"))
	if got, err := source.ClusterInfo(t.Context()); err != nil || got != want {
		t.Errorf("EKS is down: %+v, %v", got, err)
	}
}

// CP-CONCURRENCY-03, CP-ERROR-07: calls end with their context.
func TestContexts(t *testing.T) {
	p := newProvider(t, newAccount(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, typesErr := p.InstanceTypes(ctx, nodePool())
	_, createErr := p.Create(ctx, claim("a"))
	_, getErr := p.Get(ctx, "aws:///us-east-1a/i-1")
	_, listErr := p.List(ctx)
	for name, err := range map[string]error{"InstanceTypes": typesErr, "Create": createErr, "Get": getErr, "List": listErr, "Run": p.Run(ctx), "Lead": p.Lead(ctx)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.InstanceTypes(t.Context(), nil); !cloudprovider.IsPermanent(err) {
		t.Errorf("nil: %v", err)
	}
}

// AWI-007, AWI-231: what every replica does and what the leader alone does are loops of their own; they come back when something is due, and go on after failures.
func TestLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(t)
		p := newProvider(t, a, func(c *aws.Config, _ *aws.Options) { c.IsolatedVPC = true })
		a.fail["DescribeLaunchTemplates"] = apiError("InternalError", "down")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = p.Run(ctx) })
		wg.Go(func() { _ = p.Lead(ctx) })
		time.Sleep(time.Hour)
		cancel()
		wg.Wait()
		if n := a.count("DescribeSpotPriceHistory"); n < 3 || n > 50 {
			t.Errorf("spot prices were read %d times in an hour", n)
		}
		if n := a.count("DescribeLaunchTemplates"); n < 30 || n > 65 {
			t.Errorf("launch templates were looked for %d times in an hour, want once a minute until it succeeds", n)
		}
	})
}
