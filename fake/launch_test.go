package fake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// reservedTypes are two types; the larger one can also be had from reservation r-1 in zone a, which has room for one.
func reservedTypes() []*cloudprovider.InstanceType {
	types := fake.GenericTypes(2)
	types[1].Offerings = append(types[1].Offerings, cloudprovider.Offering{
		Requirements: requirements.NewSet(
			zone("a"),
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved),
			requirements.In(fake.LabelReservationID, "r-1"),
		),
		Available: true, ReservationCapacity: 1,
	})
	return types
}

// CP-CREATE-01, CP-CREATE-03, PRV-170: which offering a claim gets.
func TestCreateChoosesTheOffering(t *testing.T) {
	tests := []struct {
		name     string
		claim    *v1.NodeClaim
		requests corev1.ResourceList
		want     string
	}{
		{"reserved first", claim("c"), nil, "m1.large/test-region-1a/reserved[fake.drawknife.test/reservation-id=r-1]"},
		{"spot before on-demand, the cheapest zone", claim("c", requirements.NotIn(v1.CapacityTypeLabelKey, "reserved")), nil, "m1.medium/test-region-1a/spot"},
		{"spot where the claim allows it", claim("c", zone("b", "c"), requirements.Exists(corev1.LabelArchStable)), nil, "m1.medium/test-region-1c/spot"},
		{"on-demand alone", claim("c", onDemand()), nil, "m1.medium/test-region-1a/on-demand"},
		{"a larger one for the requests", claim("c", onDemand()), build.Amounts("cpu", "1500m"), "m1.large/test-region-1a/on-demand"},
		{"by name", claim("c", ofType("m1.large"), zone("c"), onDemand()), nil, "m1.large/test-region-1c/on-demand"},
		{"custom labels are the claim's business", claim("c", requirements.In("team", "a"), onDemand()), nil, "m1.medium/test-region-1a/on-demand"},
		{"aliases are read", claim("c", requirements.In("topology.csi.fake.drawknife.test/zone", fake.GenericRegion+"c"), onDemand()), nil, "m1.medium/test-region-1c/on-demand"},
		{"bounds are read", claim("c", requirements.Gt(fake.LabelInstanceCPU, 1), onDemand()), nil, "m1.large/test-region-1a/on-demand"},
		{"a reservation excluded", claim("c", requirements.DoesNotExist(fake.LabelReservationID), ofType("m1.large")), nil, "m1.large/test-region-1b/spot"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cloud, _ := cloudOf(t, fake.Options{}, reservedTypes()...)
			tt.claim.Spec.Resources.Requests = tt.requests
			create(t, cloud, tt.claim)
			instances := cloud.Instances()
			if len(instances) != 1 {
				t.Fatalf("%d instances were launched", len(instances))
			}
			if got := instances[0].Offering.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// CP-CREATE-02: one live instance for a claim UID, for this process and the next; another only when that one goes.
func TestCreateIsIdempotentPerUID(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{LaunchLatency: time.Minute, ShutdownLatency: time.Minute})
	first := create(t, cloud, claim("a"))
	clock.Advance(time.Hour)
	renamed := claim("a", onDemand())
	renamed.Name = "b"
	for _, handle := range []*fake.Cloud{cloud, cloud.ForCluster(fake.DefaultCluster)} {
		if diff := cmp.Diff(first, create(t, handle, renamed)); diff != "" {
			t.Errorf("the second answer differs (-want +got):\n%s", diff)
		}
	}
	if err := cloud.Delete(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	second := create(t, cloud, claim("a"))
	if second.Status.ProviderID == first.Status.ProviderID {
		t.Error("an instance that is shutting down was handed out again")
	}
	third := create(t, cloud, claim("a"))
	if diff := cmp.Diff(second, third); diff != "" {
		t.Errorf("the answer after a replacement differs (-want +got):\n%s", diff)
	}
	clock.Advance(time.Hour)
	if got := list(t, cloud); len(got) != 1 || got[0].Status.ProviderID != second.Status.ProviderID {
		t.Errorf("left are %v", got)
	}
}

// CP-CREATE-02, CP-ERROR-01: claims that can never be launched.
func TestCreateRefusesClaims(t *testing.T) {
	noUID := claim("a")
	noUID.UID = ""
	foreign := claim("a")
	foreign.Spec.NodeClassRef.Kind = "EC2NodeClass"
	malformed := claim("a")
	malformed.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "k", Operator: "Near", Values: []string{"x"}}}
	for name, c := range map[string]*v1.NodeClaim{
		"metadata.uid": noUID, "EC2NodeClass": foreign, "spec.requirements": malformed, "nil": nil,
	} {
		cloud, _ := testCloud(t, fake.Options{})
		got, err := cloud.Create(context.Background(), c)
		if got != nil || !cloudprovider.IsPermanent(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		if instances := list(t, cloud); len(instances) != 0 {
			t.Errorf("%s: %d instances were launched", name, len(instances))
		}
	}
}

// CP-CREATE-04, PRV-170: the taints a node boots with; S2-009, S3-055: nodes of two kubelet versions.
func TestNodeAsItBoots(t *testing.T) {
	var nodes []*corev1.Node
	cloud, _ := testCloud(t, fake.Options{OnLaunch: func(i fake.Instance) { nodes = append(nodes, i.Node()) }})
	c := claim("a", onDemand())
	c.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	c.Spec.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
	created := create(t, cloud, c)
	cloud.SetKubeletVersion("v1.24.9-eks-49d8fe8")
	create(t, cloud, claim("b"))
	if len(nodes) != 2 {
		t.Fatalf("%d nodes", len(nodes))
	}
	node := nodes[0]
	wantTaints := []corev1.Taint{
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule},
		{Key: "cni", Effect: corev1.TaintEffectNoExecute},
	}
	if diff := cmp.Diff(wantTaints, node.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{
		corev1.LabelHostname: node.Name, "team": "a", corev1.LabelInstanceTypeStable: "m1.medium", v1.NodePoolLabelKey: "default",
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	if node.Spec.ProviderID != created.Status.ProviderID || node.Status.NodeInfo.Architecture != "amd64" {
		t.Errorf("node is %v", node)
	}
	if diff := cmp.Diff(created.Status.Allocatable, node.Status.Allocatable); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
	if a, b := node.Status.NodeInfo.KubeletVersion, nodes[1].Status.NodeInfo.KubeletVersion; a != fake.DefaultKubeletVersion || b != "v1.24.9-eks-49d8fe8" {
		t.Errorf("kubelet versions are %s and %s", a, b)
	}
}

// CP-CREATE-05, CP-CREATE-08, CP-GET-01, CP-LIST-04, PRV-052, PRV-172: create, get and list agree, and name the owner.
func TestCreateGetListAgree(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{LaunchLatency: time.Minute})
	created := create(t, cloud, claim("a", onDemand(), zone("b")))
	got, err := cloud.Get(context.Background(), created.Status.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("Get differs from Create (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]*v1.NodeClaim{created}, list(t, cloud)); diff != "" {
		t.Errorf("List differs from Create (-want +got):\n%s", diff)
	}
	it := fake.GenericTypes(1)[0]
	want := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", UID: "uid-a", CreationTimestamp: metav1.NewTime(start()),
			Labels: map[string]string{
				v1.NodePoolLabelKey:            "default",
				v1.CapacityTypeLabelKey:        "on-demand",
				corev1.LabelTopologyZone:       "test-region-1b",
				corev1.LabelTopologyRegion:     "test-region-1",
				corev1.LabelInstanceTypeStable: "m1.medium",
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
				fake.LabelInstanceFamily:       "m1",
				fake.LabelInstanceSize:         "medium",
				fake.LabelInstanceCPU:          "1",
				fake.LabelInstanceMemory:       "4096",
			},
		},
		Status: v1.NodeClaimStatus{
			ProviderID: "fake:///test-region-1b/i-00000001", ImageID: "fake-image-1",
			Capacity: it.Capacity, Allocatable: it.Allocatable(),
		},
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CP-CREATE-08, CP-LIST-04, API-220: an instance of a pool of the first generation says so by that generation's label, also to the
// next process, and one of no pool by none.
func TestOwnersOfBothGenerations(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	owners := map[string]v1.PoolKey{
		"a": v1.NewPoolKey("web"), "b": {Generation: v1.GenerationV1Alpha5, Name: "web"}, "c": {},
	}
	for name, pool := range owners {
		c := claim(name)
		delete(c.Labels, v1.NodePoolLabelKey)
		if !pool.IsZero() {
			c.Labels[pool.LabelKey()] = pool.Name
		}
		created := create(t, cloud, c)
		got, err := cloud.Get(context.Background(), created.Status.ProviderID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(created, got); diff != "" {
			t.Errorf("Get differs from Create (-want +got):\n%s", diff)
		}
	}
	all, err := cloud.ForCluster(fake.DefaultCluster).List(context.Background())
	if err != nil || len(all) != len(owners) {
		t.Fatalf("%d instances, %v", len(all), err)
	}
	for _, c := range all {
		if got := v1.PoolOf(c.Labels); got != owners[c.Name] {
			t.Errorf("the instance of claim %s says that its pool is %q, not %q", c.Name, got, owners[c.Name])
		}
		for _, key := range []string{v1.NodePoolLabelKey, v1alpha5.ProvisionerNameLabelKey} {
			if _, has := c.Labels[key]; has != (key == owners[c.Name].LabelKey() && !owners[c.Name].IsZero()) {
				t.Errorf("the instance of claim %s of pool %q bears the labels %v", c.Name, owners[c.Name], c.Labels)
			}
		}
	}
}

// CP-CREATE-05: an instance of several operating systems gets the one its claim asks for.
func TestCreateResolvesLabelsOfSeveralValues(t *testing.T) {
	capabilities := fake.GenericCapabilities()
	capabilities.LabelValues[corev1.LabelOSStable] = []string{"linux", "windows"}
	types := fake.GenericTypes(1)
	types[0].Requirements = types[0].Requirements.Without(corev1.LabelOSStable).With(requirements.In(corev1.LabelOSStable, "linux", "windows"))
	cloud, _ := cloudOf(t, fake.Options{Capabilities: &capabilities}, types...)
	for want, c := range map[string]*v1.NodeClaim{
		"windows": claim("a", requirements.NotIn(corev1.LabelOSStable, "linux")),
		"linux":   claim("b"),
	} {
		if got := create(t, cloud, c).Labels[corev1.LabelOSStable]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// CP-CREATE-06: nothing is shared with the claim, the answer, the catalogue or the hooks' instances.
func TestNothingIsShared(t *testing.T) {
	types := fake.GenericTypes(2)
	var seen fake.Instance
	cloud, _ := cloudOf(t, fake.Options{OnLaunch: func(i fake.Instance) { seen = i }}, types...)
	types[0].Capacity[corev1.ResourceCPU] = build.Amounts("x", "99")["x"]
	types[0].Offerings[0].Price = 99

	c := claim("a")
	c.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
	before := c.DeepCopy()
	created := create(t, cloud, c)
	if diff := cmp.Diff(before, c); diff != "" {
		t.Errorf("the claim was changed (-want +got):\n%s", diff)
	}
	want, wantInstances := created.DeepCopy(), cloud.Instances()
	if cpu := want.Status.Capacity.Cpu().String(); cpu != "1" {
		t.Errorf("the cloud sells the caller's types, not its own: %s cores", cpu)
	}

	for _, it := range instanceTypes(t, cloud) {
		delete(it.Capacity, corev1.ResourceMemory) // against the rules, but only the rule-breaker may suffer
		it.Offerings[0].Available = false
	}
	c.Labels["team"], c.Spec.Taints[0].Key = "changed", "changed"
	created.Labels[corev1.LabelTopologyZone] = "changed"
	delete(created.Status.Capacity, corev1.ResourceCPU)
	seen.Tags[fake.TagNodeClaim], seen.Labels["team"], seen.Taints[1].Key = "changed", "changed", "changed"
	delete(seen.Capacity, corev1.ResourceCPU)
	list(t, cloud)[0].Labels[corev1.LabelTopologyZone] = "changed"
	delete(cloud.Instances()[0].Allocatable, corev1.ResourceCPU)

	if diff := cmp.Diff([]*v1.NodeClaim{want}, list(t, cloud)); diff != "" {
		t.Errorf("the cloud's instance was changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantInstances, cloud.Instances()); diff != "" {
		t.Errorf("the cloud's instance was changed (-want +got):\n%s", diff)
	}
	if got := create(t, cloud, claim("b")); got.Status.Capacity.Memory().IsZero() {
		t.Error("a later instance has no memory: the published type was launched, not the cloud's own")
	}
}

// CP-CREATE-07, PRV-180, S1-092: who finds no room says where, and the next catalogue shows just that, for a while.
func TestStockOut(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{})
	spotOfMedium := func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == "m1.medium" && k.CapacityType == v1.CapacityTypeSpot
	}
	if n := cloud.SetStock(0, spotOfMedium); n != 3 {
		t.Fatalf("%d offerings match", n)
	}
	if got := unavailable(t, cloud); got != nil {
		t.Errorf("nobody has tried, yet unavailable are %v", got)
	}
	// The claim can be met by another offering: that is used, and what was found empty is remembered.
	created := create(t, cloud, claim("a", ofType("m1.medium"), zone("a", "b")))
	if got := created.Labels[v1.CapacityTypeLabelKey]; got != "on-demand" {
		t.Errorf("launched %s", got)
	}
	wantClosed := []string{"m1.medium/test-region-1a/spot", "m1.medium/test-region-1b/spot"}
	if diff := cmp.Diff(wantClosed, unavailable(t, cloud)); diff != "" {
		t.Errorf("unavailable after falling back (-want +got):\n%s", diff)
	}
	// The claim can't be met at all.
	clock.Advance(time.Minute)
	none, err := cloud.Create(context.Background(), claim("b", ofType("m1.medium"), requirements.In(v1.CapacityTypeLabelKey, "spot")))
	var exhausted *cloudprovider.InsufficientCapacityError
	if none != nil || !errors.As(err, &exhausted) || !cloudprovider.LaunchAbandoned(err) {
		t.Fatalf("got %v, %v", none, err)
	}
	var named []string
	for _, key := range exhausted.Offerings {
		named = append(named, key.String())
	}
	wantClosed = append(wantClosed, "m1.medium/test-region-1c/spot")
	if diff := cmp.Diff(wantClosed, named); diff != "" {
		t.Errorf("named in the error (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantClosed, unavailable(t, cloud)); diff != "" {
		t.Errorf("unavailable after the error (-want +got):\n%s", diff)
	}
	// What is believed passes, each at its time; what is not believed to be there is not tried.
	clock.Advance(fake.DefaultStockOutMemory - time.Minute)
	if diff := cmp.Diff(wantClosed[2:], unavailable(t, cloud)); diff != "" {
		t.Errorf("unavailable three minutes after the first attempt (-want +got):\n%s", diff)
	}
	clock.Advance(time.Minute)
	if got := unavailable(t, cloud); got != nil {
		t.Errorf("unavailable for ever: %v", got)
	}
	cloud.SetStock(1, spotOfMedium)
	create(t, cloud, claim("c", ofType("m1.medium"), zone("a"), requirements.In(v1.CapacityTypeLabelKey, "spot")))
	if _, err := cloud.Create(context.Background(), claim("d", ofType("m1.medium"), zone("a"), requirements.In(v1.CapacityTypeLabelKey, "spot"))); !cloudprovider.IsInsufficientCapacity(err) {
		t.Errorf("the second instance of a stock of one gives %v", err)
	}
}

// CP-ERROR-01: a claim that nothing on sale meets.
func TestNothingSuits(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	c := claim("a", requirements.In(corev1.LabelArchStable, "arm64"))
	c.Spec.Resources.Requests = build.Amounts("cpu", "64")
	_, err := cloud.Create(context.Background(), c)
	if !cloudprovider.IsInsufficientCapacity(err) || cloudprovider.ExhaustedOfferings(err) != nil {
		t.Fatalf("got %v", err)
	}
	want := `launching nodeclaim "a": insufficient capacity: no offering suits: the NodeClaim requires "kubernetes.io/arch In [arm64]" and room for [cpu=64]`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := unavailable(t, cloud); got != nil {
		t.Errorf("unavailable are %v", got)
	}
}

// CP-CREATE-07, SCH-160: a reservation lends no more instances than it has, and gets them back.
func TestReservation(t *testing.T) {
	types := reservedTypes()
	types[0].Offerings = append(types[0].Offerings, types[1].Offerings[6].DeepCopy())
	types[0].Offerings[6].ReservationCapacity = 5 // the same reservation; the smaller count is what is left
	cloud, _ := cloudOf(t, fake.Options{}, types...)
	reserved := requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)
	room := func() (rooms []int) {
		for _, it := range instanceTypes(t, cloud) {
			rooms = append(rooms, it.Offerings[6].ReservationCapacity)
		}
		return rooms
	}
	if diff := cmp.Diff([]int{1, 1}, room()); diff != "" {
		t.Errorf("room at first (-want +got):\n%s", diff)
	}
	first := create(t, cloud, claim("a", reserved))
	if first.Labels[fake.LabelReservationID] != "r-1" {
		t.Errorf("labels are %v", first.Labels)
	}
	_, err := cloud.Create(context.Background(), claim("b", reserved))
	if !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) != 2 {
		t.Errorf("got %v", err)
	}
	wantFull := []string{
		"m1.medium/test-region-1a/reserved[fake.drawknife.test/reservation-id=r-1]",
		"m1.large/test-region-1a/reserved[fake.drawknife.test/reservation-id=r-1]",
	}
	if diff := cmp.Diff(wantFull, unavailable(t, cloud)); diff != "" {
		t.Errorf("unavailable (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 0}, room()); diff != "" {
		t.Errorf("room while it is in use (-want +got):\n%s", diff)
	}
	if err := cloud.Delete(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 1}, room()); diff != "" {
		t.Errorf("room afterwards (-want +got):\n%s", diff)
	}
	create(t, cloud, claim("b", reserved))
}

// CP-CREATE-11: an offering's own capacity is what its instance has.
func TestCreateUsesTheOfferingsCapacity(t *testing.T) {
	types := fake.GenericTypes(1)
	types[0].Offerings[0].Capacity = build.Amounts("example.com/gpu", "1")
	cloud, _ := cloudOf(t, fake.Options{}, types...)
	c := claim("a")
	c.Spec.Resources.Requests = build.Amounts("example.com/gpu", "1")
	got := create(t, cloud, c)
	if gpu := got.Status.Allocatable["example.com/gpu"]; gpu.Value() != 1 || got.Labels[corev1.LabelTopologyZone] != "test-region-1a" {
		t.Errorf("got %v in %v", got.Status.Allocatable, got.Labels)
	}
}

// A reservation that ends is shown with its end, and is neither on sale nor launched into from then on.
func TestReservationsEnd(t *testing.T) {
	types := reservedTypes()
	_, began := cloudOf(t, fake.Options{}, types...)
	end := began.Now().Add(time.Hour)
	for _, it := range types {
		for i := range it.Offerings {
			if it.Offerings[i].Reserved() {
				it.Offerings[i].ReservationEnds = end
			}
		}
	}
	cloud, clock := cloudOf(t, fake.Options{}, types...) // its clock begins like the other's
	shown := func() cloudprovider.Offering {
		list, err := cloud.InstanceTypes(t.Context(), &v1.NodePool{})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range list {
			for _, o := range it.Offerings {
				if o.Reserved() {
					return o
				}
			}
		}
		return cloudprovider.Offering{}
	}
	if o := shown(); !o.Available || !o.ReservationEnds.Equal(end) {
		t.Errorf("before its end: %+v", o)
	}
	clock.Advance(time.Hour)
	if o := shown(); o.Available {
		t.Errorf("after its end: %+v", o)
	}
	create(t, cloud, claim("c"))
	if got := cloud.Instances()[0].Offering.CapacityType; got == v1.CapacityTypeReserved {
		t.Error("a reservation that is over was launched into")
	}
}

// Launches follow what nodes are expected to cost: an interruption that costs much makes another zone, or on-demand, the better choice.
func TestCreateByExpectedCost(t *testing.T) {
	interruptions := func(cost float64, zones string) func(v1.PoolKey) cloudprovider.LaunchCost {
		return func(pool v1.PoolKey) cloudprovider.LaunchCost {
			if pool.Name != "risky" {
				return nil
			}
			return func(_ *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
				if o.CapacityType() == v1.CapacityTypeSpot && strings.ContainsAny(o.Zone()[len(o.Zone())-1:], zones) {
					return o.Price + cost
				}
				return o.Price
			}
		}
	}
	for _, tt := range []struct {
		name, pool string
		cost       float64
		zones      string
		want       string
	}{
		{"by price", "other", 10, "abc", "m1.medium/test-region-1a/spot"},
		{"nothing is lost", "risky", 0, "abc", "m1.medium/test-region-1a/spot"},
		{"one zone is risky", "risky", 10, "a", "m1.medium/test-region-1c/spot"},
		{"all zones are risky", "risky", 10, "abc", "m1.medium/test-region-1a/on-demand"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cloud, _ := cloudOf(t, fake.Options{LaunchCost: interruptions(tt.cost, tt.zones)}, fake.GenericTypes(2)...)
			c := claim("c")
			c.Labels = map[string]string{v1.NodePoolLabelKey: tt.pool}
			create(t, cloud, c)
			if got := cloud.Instances()[0].Offering.String(); got != tt.want {
				t.Errorf("launched %s, want %s", got, tt.want)
			}
		})
	}
	// Spot remains the last resort.
	cloud, _ := cloudOf(t, fake.Options{LaunchCost: interruptions(10, "abc")}, fake.GenericTypes(1)...)
	c := claim("c", requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
	c.Labels = map[string]string{v1.NodePoolLabelKey: "risky"}
	create(t, cloud, c)
	if got := cloud.Instances()[0].Offering.CapacityType; got != v1.CapacityTypeSpot {
		t.Errorf("a claim that allows only spot got %s", got)
	}
}
