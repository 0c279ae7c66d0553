package scheduling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

const gpuDriver = "gpu.example.com"

// modelIs stands in for CEL: an expression "model=X" is true of devices of that model.
type modelIs struct{}

func (modelIs) Matches(expression, _ string, d *resourcev1.Device) (bool, error) {
	name, want, ok := strings.Cut(expression, "=")
	if !ok {
		return false, fmt.Errorf("no such key")
	}
	a, ok := d.Attributes[resourcev1.QualifiedName(name)]
	return ok && *a.StringValue == want, nil
}

// gpus are n devices of a model, in two domains by turns.
func gpus(n int, model string) []resourcev1.Device {
	var out []resourcev1.Device
	for i := range n {
		domain := fmt.Sprint(i % 2)
		out = append(out, resourcev1.Device{
			Name:       fmt.Sprintf("%s-%d", strings.ToLower(model), i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}, "domain": {StringValue: &domain}},
			Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return out
}

// publishes makes the type one whose nodes publish the devices.
func publishes(it *cloudprovider.InstanceType, list ...resourcev1.Device) *cloudprovider.InstanceType {
	it.Devices = []cloudprovider.DevicePool{{Driver: gpuDriver, Devices: list}}
	return it
}

// gpuTypes are a type with one H100, a larger one with eight, cheaper a device, one with four A100, and one without any.
func gpuTypes() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{
		publishes(typeOf("h1", 5, "cpu=16", "memory=64Gi"), gpus(1, "H100")...),
		publishes(typeOf("h8", 32, "cpu=128", "memory=512Gi"), gpus(8, "H100")...),
		publishes(typeOf("a4", 8, "cpu=64", "memory=256Gi"), gpus(4, "A100")...),
		typeOf("plain", 1, "cpu=64", "memory=256Gi"),
	}
}

// gpuCluster is a cluster of these types with the class gpu.
func gpuCluster(parts ...any) *scheduling.Snapshot {
	s := cluster(append([]any{gpuTypes()}, parts...)...)
	s.DeviceClasses = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
	return s
}

func gpuRequest(name string, count int64, selectors ...string) resourcev1.DeviceRequest {
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	for _, s := range selectors {
		e.Selectors = append(e.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: s}})
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: e}
}

// template adds a ResourceClaimTemplate.
func template(s *scheduling.Snapshot, name string, constraints []resourcev1.DeviceConstraint, list ...resourcev1.DeviceRequest) {
	s.ResourceClaimTemplates = append(s.ResourceClaimTemplates, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: list, Constraints: constraints}}},
	})
}

// claims gives the pod a claim made of the template.
func claims(template string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "gpus", ResourceClaimTemplateName: &template})
	}
}

// claimsNamed gives the pod the claim of that name.
func claimsNamed(name string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: &name})
	}
}

// published adds a slice of the node with the devices, those named of which are allocated.
func published(s *scheduling.Snapshot, node string, list []resourcev1.Device, taken ...string) {
	s.ResourceSlices = append(s.ResourceSlices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: gpuDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1}, Devices: list,
	}})
	for _, name := range taken {
		s.ResourceClaims = append(s.ResourceClaims, &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: node + "-" + name},
			Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{gpuRequest("r", 1)}}},
			Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: gpuDriver, Pool: node, Device: name}},
			}}},
		})
	}
}

// solveDevices plans with selectors. What of the plan has to do with devices is checked by allocating them.
func solveDevices(t fataler, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	for _, f := range planvalidator.Check(s, p) {
		// Check reads everything but devices, which are not in the way of a pod without a place.
		if text := fmt.Sprint(f); !strings.Contains(text, "has no place, but ") {
			t.Errorf("%v", f)
		}
	}
	for _, f := range planvalidator.CheckDevices(s, p, modelIs{}) {
		t.Errorf("%v", f)
	}
	checkDevices(t, s, p)
	return p
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// checkDevices allocates what the pods of each node claim: on every type that the plan leaves a new node, and on what is free of a node
// that exists.
func checkDevices(t fataler, s *scheduling.Snapshot, p *scheduling.Plan) {
	t.Helper()
	classes := map[string]*resourcev1.DeviceClass{}
	for _, c := range s.DeviceClasses {
		classes[c.Name] = c
	}
	specs := map[string]*resourcev1.DeviceClaim{}
	for _, c := range s.ResourceClaimTemplates {
		specs["template "+c.Name] = &c.Spec.Spec.Devices
	}
	for _, c := range s.ResourceClaims {
		specs["claim "+c.Name] = &c.Spec.Devices
	}
	byName := map[string]*corev1.Pod{}
	for _, pod := range s.Pods {
		byName[pod.Name] = pod
	}
	allocate := func(where string, list []*resourcev1.ResourceSlice, keys []scheduling.PodKey) {
		u := devices.NewUsage(devices.NewInventory(list))
		for _, c := range s.ResourceClaims {
			if c.Status.Allocation != nil {
				for i := range c.Status.Allocation.Devices.Results {
					u.Hold(&c.Status.Allocation.Devices.Results[i])
				}
			}
		}
		var all []*devices.Claim
		for _, key := range keys {
			for _, c := range byName[key.Name].Spec.ResourceClaims {
				name := ""
				if c.ResourceClaimTemplateName != nil {
					name = "template " + *c.ResourceClaimTemplateName
				} else {
					name = "claim " + *c.ResourceClaimName
				}
				claim, err := devices.NewClaim(key.Name, specs[name], classes)
				if err != nil {
					t.Fatalf("%v", err)
				}
				all = append(all, claim)
			}
		}
		if _, miss := devices.Allocate([]devices.Source{{Usage: u}}, all, devices.NewMatches(modelIs{})); miss != nil {
			t.Errorf("%s with %v: %s", where, keys, miss)
		}
	}
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		for _, option := range n.InstanceTypes {
			for _, it := range s.Catalogs["types"] {
				if it.Name == option.Name {
					allocate("a new "+it.Name, slicesOf(boughtAs(it, &option)), n.Pods)
				}
			}
		}
	}
	for i := range p.Existing {
		var list []*resourcev1.ResourceSlice
		for _, slice := range s.ResourceSlices {
			if *slice.Spec.NodeName == p.Existing[i].Name {
				list = append(list, slice)
			}
		}
		allocate(p.Existing[i].Name, list, p.Existing[i].Pods)
	}
}

// boughtAs is the type with what its devices say where it is bought by the option.
func boughtAs(it *cloudprovider.InstanceType, option *scheduling.InstanceTypeOption) *cloudprovider.InstanceType {
	out := *it
	for i := range it.Offerings {
		if cloudprovider.KeyOf(it, &it.Offerings[i]) == option.Offering() {
			out.Devices = it.DevicesOf(&it.Offerings[i])
		}
	}
	return &out
}

// slicesOf are what a new node of the type publishes.
func slicesOf(it *cloudprovider.InstanceType) []*resourcev1.ResourceSlice {
	everywhere := true
	var list []*resourcev1.ResourceSlice
	for _, pool := range it.Devices {
		list = append(list, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
			Driver: pool.Driver, Pool: resourcev1.ResourcePool{Name: "new", ResourceSliceCount: 1}, AllNodes: &everywhere, Devices: pool.Devices, SharedCounters: pool.SharedCounters,
		}})
	}
	return list
}

// checkUnplaced fails if a pod has no place although a new node would have the devices that it claims.
func checkUnplaced(t fataler, s *scheduling.Snapshot, p *scheduling.Plan) {
	t.Helper()
	for _, u := range p.Unschedulable {
		name, _, _ := strings.Cut(u.Pod.Name, "-")
		for _, c := range s.ResourceClaimTemplates {
			if c.Name != name {
				continue
			}
			claim, err := devices.NewClaim(name, &c.Spec.Spec.Devices, map[string]*resourcev1.DeviceClass{"gpu": s.DeviceClasses[0]})
			if err != nil {
				t.Fatalf("%v", err)
			}
			for _, it := range s.Catalogs["types"] {
				usage := devices.NewUsage(devices.NewInventory(slicesOf(it)))
				if a, _ := devices.Allocate([]devices.Source{{Usage: usage}}, []*devices.Claim{claim}, devices.NewMatches(modelIs{})); a != nil {
					t.Errorf("%s has no place, but a new %s has %v", u.Pod, it.Name, a.Results)
				}
			}
		}
	}
}

// typesOf are the types of the plan's new nodes.
func typesOf(p *scheduling.Plan) string {
	var out []string
	for i := range p.NewNodes {
		out = append(out, fmt.Sprintf("%s×%d", p.NewNodes[i].InstanceTypes[0].Name, len(p.NewNodes[i].Pods)))
	}
	return strings.Join(out, " ")
}

// SCH-190: pods whose claims need devices go on nodes that have them, as many as there are devices, and the cheapest such.
func TestDevicesArePlanned(t *testing.T) {
	for name, c := range map[string]struct {
		n        int
		requests []resourcev1.DeviceRequest
		same     []resourcev1.DeviceConstraint
		want     string
	}{
		"one device":                 {n: 1, requests: []resourcev1.DeviceRequest{gpuRequest("r", 1, "model=H100")}, want: "h1×1"},
		"eight of one":               {n: 8, requests: []resourcev1.DeviceRequest{gpuRequest("r", 1, "model=H100")}, want: "h8×8"},
		"nine of one":                {n: 9, requests: []resourcev1.DeviceRequest{gpuRequest("r", 1, "model=H100")}, want: "h8×8 h1×1"},
		"of any model":               {n: 8, requests: []resourcev1.DeviceRequest{gpuRequest("r", 1)}, want: "a4×4 a4×4"},
		"four together":              {n: 2, requests: []resourcev1.DeviceRequest{gpuRequest("r", 4, "model=H100")}, want: "h8×2"},
		"two requests of one claim":  {n: 1, requests: []resourcev1.DeviceRequest{gpuRequest("r", 1, "model=A100"), gpuRequest("s", 3)}, want: "a4×1"},
		"of one domain of four each": {n: 1, requests: []resourcev1.DeviceRequest{gpuRequest("r", 4)}, same: []resourcev1.DeviceConstraint{sameAttribute("domain")}, want: "h8×1"},
		"the first that there is": {n: 4, want: "a4×4", requests: []resourcev1.DeviceRequest{{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{
			{Name: "x", DeviceClassName: "gpu", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Selectors: gpuRequest("", 1, "model=B200").Exactly.Selectors},
			{Name: "y", DeviceClassName: "gpu", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Selectors: gpuRequest("", 1, "model=A100").Exactly.Selectors},
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(pods("p", c.n, requests("cpu=1"), claims("t")))
			template(s, "t", c.same, c.requests...)
			p := solveDevices(t, s)
			if got := typesOf(p); got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
			for _, n := range p.NewNodes {
				for resource := range n.Requests {
					if strings.Contains(string(resource), "gpu") || strings.Contains(string(resource), "devices") {
						t.Errorf("the NodeClaim would ask for %s", resource)
					}
				}
			}
		})
	}
}

func sameAttribute(id string) resourcev1.DeviceConstraint {
	name := resourcev1.FullyQualifiedName(gpuDriver + "/" + id)
	return resourcev1.DeviceConstraint{MatchAttribute: &name}
}

// SCH-191: devices that nodes publish are used before new nodes are bought, but for those that claims have.
func TestDevicesOfExistingNodes(t *testing.T) {
	s := gpuCluster(node("n", allocatable("cpu=64", "memory=256Gi")), pods("p", 3, requests("cpu=1"), claims("t")))
	template(s, "t", nil, gpuRequest("r", 1, "model=H100"))
	published(s, "n", gpus(4, "H100"), "h100-0", "h100-2")
	p := solveDevices(t, s)
	if len(p.Existing) != 1 || len(p.Existing[0].Pods) != 2 || typesOf(p) != "h1×1" {
		t.Errorf("existing %+v, new %s", p.Existing, typesOf(p))
	}
	// A node on its way, or one that has just come up, has what its type will publish; one that is up has what it publishes.
	now := cluster().Time
	for name, c := range map[string]struct {
		change func(*corev1.Node)
		want   string
	}{
		"on its way":     {func(n *corev1.Node) { delete(n.Labels, "karpenter.sh/initialized") }, "on n"},
		"new":            {func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(now.Add(-5 * time.Minute)) }, "on n"},
		"old":            {func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(now.Add(-15 * time.Minute)) }, "new h1/a/spot"},
		"of unknown age": {func(*corev1.Node) {}, "new h1/a/spot"},
	} {
		n := node("n", allocatable("cpu=64", "memory=256Gi"), nodeLabel(typeKey, "h8"), ofPool("default"))
		c.change(n.Object)
		s := gpuCluster(n, pod("p", requests("cpu=1"), claims("t")))
		template(s, "t", nil, gpuRequest("r", 1, "model=H100"))
		m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if got := place(p, "p"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A pod that leaves a node leaves its devices there to others.
func TestDevicesOfPodsThatMove(t *testing.T) {
	s := gpuCluster(node("n", allocatable("cpu=64", "memory=256Gi"), bound(pod("b", requests("cpu=1"), claims("t")))), node("m", allocatable("cpu=64", "memory=256Gi")))
	template(s, "t", nil, gpuRequest("r", 2, "model=H100"))
	published(s, "n", gpus(2, "H100"), "h100-0", "h100-1")
	published(s, "m", gpus(2, "H100"))
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatal(err)
	}
	trial := m.Trial()
	if _, err := trial.Hide("n"); err != nil {
		t.Fatal(err)
	}
	if out, err := trial.Place(context.Background(), scheduling.PlaceOptions{}); err != nil || out.Unplaced > 0 || out.NewNodes > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// SCH-192, SCH-193: what is not planned is refused with the reason and what to do.
func TestDevicesThatAreNotPlanned(t *testing.T) {
	other := gpuRequest("r", 1)
	other.Exactly.DeviceClassName = "other"
	for name, c := range map[string]struct {
		claim   podOption
		request resourcev1.DeviceRequest
		more    []*corev1.Pod
		want    string
	}{
		"no such template": {claims("none"), gpuRequest("r", 1), nil, "its claim gpus of devices is made of the ResourceClaimTemplate default/none, which does not exist"},
		"no such claim":    {claimsNamed("none"), gpuRequest("r", 1), nil, "its claim gpus of devices is the ResourceClaim default/none, which does not exist"},
		"no such class":    {claims("t"), other, nil, `request r of claim gpus asks for the DeviceClass "other", which does not exist`},
		"shared by many":   {claimsNamed("n-x"), gpuRequest("r", 1), pods("q", 256, claimsNamed("n-x")), "its claim gpus of devices is the ResourceClaim default/n-x, which 257 pods share: it can serve 256, give some of them another one"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(pod("p", requests("cpu=1"), c.claim), c.more, pod("plain", requests("cpu=1")))
			template(s, "t", nil, c.request)
			published(s, "n", nil, "x")
			m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Solve(context.Background(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			wantReason(t, p, "p", "the pod can't be planned: "+c.want)
			newNodeOf(t, p, "plain")
		})
	}
	s := gpuCluster(pod("p", requests("cpu=1"), claims("t")))
	template(s, "t", nil, gpuRequest("r", 1, "model=H100"))
	wantReason(t, solve(t, s), "p", "the pod can't be planned: its device claims or their device classes have selectors, but Compile has no matcher to evaluate them: "+
		"give Compile the option WithDeviceMatcher, with scheduling/dra.New()")
}

// The plan says what is missing.
func TestWhyThereAreNoDevices(t *testing.T) {
	s := gpuCluster(pod("p", requests("cpu=1"), claims("t")), pod("q", requests("cpu=1"), claims("u")))
	template(s, "t", nil, gpuRequest("r", 1, "model=B200"))
	template(s, "u", nil, gpuRequest("r", 16, "model=H100"))
	p := solveDevices(t, s)
	const refused = `incompatible with nodepool "default", no instance type fits: of 4, 4 are too small for cpu 1 and the devices that it claims; `
	wantReason(t, p, "p", refused+"on a4 request r of claim gpus wants 1; 0 of 4 devices of gpu.example.com meet model=B200; they have model A100")
	wantReason(t, p, "q", refused+"on h8 request r of claim gpus wants 16; 8 of 8 devices of gpu.example.com meet model=H100")
	// Of types that the pod may have it names one, and of those the one that meets more of the selectors.
	onH1 := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "h1"} }
	s = gpuCluster(pod("p", requests("cpu=1"), claims("t"), onH1), pod("q", requests("cpu=1"), claims("u")))
	template(s, "t", nil, gpuRequest("r", 1, "model=A100"))
	template(s, "u", nil, gpuRequest("r", 8, "model=H100", "model=B200"))
	p = solveDevices(t, s)
	wantReason(t, p, "p", `incompatible with nodepool "default", no instance type fits: of 4, 3 don't meet the requirements, 1 are too small for cpu 1 and the devices that it claims; `+
		"on h1 request r of claim gpus wants 1; 0 of 1 devices of gpu.example.com meet model=A100; they have model H100")
	wantReason(t, p, "q", refused+"on h8 request r of claim gpus wants 8; 0 of 8 devices of gpu.example.com meet model=B200; they have model H100")
	// With too few processors devices are not what is missing.
	s = gpuCluster(pod("p", requests("cpu=200"), claims("t")))
	template(s, "t", nil, gpuRequest("r", 1, "model=H100"))
	wantReason(t, solveDevices(t, s), "p", `incompatible with nodepool "default", no instance type fits: of 4, 4 are too small for cpu 200`)
}

// Whatever pods claim, the order of the input plays no part, and Update makes of a snapshot what Compile does.
func TestDevicesProperty(t *testing.T) {
	seeded.Times(t, 150, func(t *rapid.T) {
		s := gpuCluster(node("n", allocatable("cpu=16", "memory=64Gi")))
		s.Catalogs["types"][2].Devices[0].Devices = append(s.Catalogs["types"][2].Devices[0].Devices, gpus(rapid.IntRange(0, 2).Draw(t, "more"), "H100")...)
		for i := range rapid.IntRange(0, 2).Draw(t, "shared") {
			yes := true
			s.Catalogs["types"][0].Devices[0].Devices = append(s.Catalogs["types"][0].Devices[0].Devices, gpus(3, "A100")[i])
			s.Catalogs["types"][0].Devices[0].Devices[i+1].AllowMultipleAllocations = &yes
		}
		var taken []string
		for i := range rapid.IntRange(0, 2).Draw(t, "taken") {
			taken = append(taken, fmt.Sprintf("a100-%d", i))
		}
		published(s, "n", gpus(3, "A100"), taken...)
		for i := range rapid.IntRange(1, 3).Draw(t, "templates") {
			selectors := [][]string{nil, {"model=H100"}, {"model=A100"}, {"domain=1"}}[rapid.IntRange(0, 3).Draw(t, "selector")]
			var same []resourcev1.DeviceConstraint
			if rapid.Bool().Draw(t, "constrained") {
				same = append(same, sameAttribute("domain"))
			}
			list := []resourcev1.DeviceRequest{gpuRequest("r", int64(rapid.IntRange(1, 3).Draw(t, "count")), selectors...)}
			if rapid.Bool().Draw(t, "two") {
				list = append(list, gpuRequest("s", 1))
			}
			if rapid.IntRange(0, 2).Draw(t, "either") == 0 {
				list = append(list, firstOf("e", choice("x", 2, "model=A100"), choice("y", 1, "domain=0")))
			}
			name := fmt.Sprint("t", i)
			template(s, name, same, list...)
			s.Pods = append(s.Pods, pods(name, rapid.IntRange(1, 5).Draw(t, "pods"), requests("cpu=2"), claims(name))...)
		}
		s.Pods = append(s.Pods, pods("plain", rapid.IntRange(0, 3).Draw(t, "plain"), requests("cpu=3"))...)
		p := solveDevices(t, s)
		checkUnplaced(t, s, p)
		other := *s
		other.Pods = rapid.Permutation(s.Pods).Draw(t, "order")
		if q := solveDevices(t, &other); fmt.Sprintf("%+v", p.NewNodes) != fmt.Sprintf("%+v", q.NewNodes) {
			t.Fatalf("the order of pods makes a difference: %s, %s", typesOf(p), typesOf(q))
		}
		first, err := scheduling.Compile(gpuCluster(), scheduling.WithDeviceMatcher(modelIs{}))
		if err != nil {
			t.Fatal(err)
		}
		updated, err := first.Update(s)
		if err != nil {
			t.Fatal(err)
		}
		q, err := updated.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", p.NewNodes) != fmt.Sprintf("%+v", q.NewNodes) {
			t.Fatalf("Update: %s, Compile: %s", typesOf(q), typesOf(p))
		}
	})
}
