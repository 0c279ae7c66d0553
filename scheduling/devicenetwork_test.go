package scheduling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// ofZone selects the nodes of a zone.
func ofZone(zone string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{in(zoneKey, zone)}}}}
}

// attached adds a slice with devices that all nodes can use, or those of a zone.
func attached(s *scheduling.Snapshot, pool, zone string, list []resourcev1.Device) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: pool}, Spec: resourcev1.ResourceSliceSpec{
		Driver: gpuDriver, Pool: resourcev1.ResourcePool{Name: pool, ResourceSliceCount: 1}, Devices: list,
	}}
	if zone == "" {
		all := true
		slice.Spec.AllNodes = &all
	} else {
		slice.Spec.NodeSelector = ofZone(zone)
	}
	s.ResourceSlices = append(s.ResourceSlices, slice)
	return slice
}

// perDevice has each device of the slice say which nodes can use it: those of the zones, by turns.
func perDevice(slice *resourcev1.ResourceSlice, zones ...string) {
	yes := true
	slice.Spec.AllNodes, slice.Spec.NodeSelector, slice.Spec.PerDeviceNodeSelection = nil, nil, &yes
	for i := range slice.Spec.Devices {
		slice.Spec.Devices[i].NodeSelector = ofZone(zones[i%len(zones)])
	}
}

func planAttached(t fataler, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	for _, f := range planvalidator.CheckDevices(s, p, modelIs{}) {
		t.Errorf("%v", f)
	}
	return p
}

// CheckDevices gives devices that several nodes can use out once, to nodes that can use them.
func TestCheckFindsAttachedDevicesGivenTwice(t *testing.T) {
	claiming := func(zones ...string) (*scheduling.Snapshot, *scheduling.Plan) {
		s := gpuCluster(pods("p", 2, requests("cpu=40"), claims("nic")))
		template(s, "nic", nil, gpuRequest("r", 1, "model=NIC"))
		for i, zone := range zones {
			attached(s, fmt.Sprint("net", i), zone, gpus(1, "NIC"))
		}
		return s, planAttached(t, s)
	}
	s, p := claiming("a", "b")
	if faults := planvalidator.CheckDevices(s, p, modelIs{}); len(p.NewNodes) != 2 || len(faults) > 0 {
		t.Fatalf("%d nodes, %v", len(p.NewNodes), faults)
	}
	for name, change := range map[string]func(){
		"both in one zone": func() { p.NewNodes[0].Requirements = p.NewNodes[1].Requirements },
		"in any zone":      func() { p.NewNodes[0].Requirements = p.NewNodes[0].Requirements.Without(zoneKey) },
		"one device is held": func() {
			allocatedOn(claimObject(s, "other", gpuRequest("r", 1)), "elsewhere", "nic-0")
			s.ResourceClaims[0].Status.Allocation.Devices.Results[0].Pool = "net0"
		},
	} {
		s, p = claiming("a", "b")
		change()
		if len(planvalidator.CheckDevices(s, p, modelIs{})) == 0 {
			t.Errorf("%s: no fault is found", name)
		}
	}
}

// Devices that several nodes can use are given out once for the cluster, whichever nodes take them.
func TestDevicesOfSeveralNodes(t *testing.T) {
	placed := func(p *scheduling.Plan, s *scheduling.Snapshot) string {
		var out []string
		for _, pod := range s.Pods {
			out = append(out, place(p, pod.Name))
		}
		return strings.Join(out, ", ")
	}
	none := "none of the devices that several nodes can use is free for it: request r of claim gpus wants 1; "
	for name, c := range map[string]struct {
		more func(*scheduling.Snapshot)
		want string
		// of a pod without a place
		why string
	}{
		"two for three pods": {func(s *scheduling.Snapshot) { attached(s, "net", "", gpus(2, "NIC")) },
			"new plain/a/spot, new plain/a/spot, nowhere", none + "0 of 2 matching devices of gpu.example.com are free"},
		"of one zone": {func(s *scheduling.Snapshot) { attached(s, "net", "b", gpus(3, "NIC")) },
			"new plain/b/spot, new plain/b/spot, new plain/b/spot", ""},
		"of a zone each": {func(s *scheduling.Snapshot) { perDevice(attached(s, "net", "b", gpus(3, "NIC")), "b", "a") },
			"new plain/b/spot, new plain/b/spot, new plain/a/spot", ""},
		"some are had already": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(3, "NIC"))
			allocatedOn(claimObject(s, "other", gpuRequest("r", 1)), "elsewhere", "nic-0", "nic-1")
			for i := range 2 {
				s.ResourceClaims[0].Status.Allocation.Devices.Results[i].Pool = "net"
			}
		}, "new plain/a/spot, nowhere, nowhere", none + "0 of 3 matching devices of gpu.example.com are free"},
		"by priority": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(1, "NIC"))
			priority(7)(s.Pods[2])
		}, "nowhere, nowhere, new plain/a/spot", ""},
		"on a node that is there": {func(s *scheduling.Snapshot) {
			s.Nodes = append(s.Nodes, node("n", nodeLabel(zoneKey, "b"), allocatable("cpu=2", "memory=8Gi")))
			attached(s, "net", "b", gpus(3, "NIC"))
		}, "on n, on n, new plain/b/spot", ""},
		"none where the pod may be": {func(s *scheduling.Snapshot) {
			attached(s, "net", "b", gpus(3, "NIC"))
			each(s.Pods, selector(zoneKey+"=a"))
		}, "nowhere, nowhere, nowhere", "it claims devices that several nodes can use, but its own rules allow none of these nodes"},
		"others could take them": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(3, "NIC"))
			template(s, "any", nil, gpuRequest("r", 1))
			s.Pods = append(s.Pods, pod("greedy", requests("cpu=1"), claims("any")))
		}, "nowhere, nowhere, nowhere, new h1/a/spot", "other pods' claims for devices of one node could match all of these devices"},
		"too few for the number asked": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(3, "NIC"))
			s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.Count = 2
		}, "new plain/a/spot, nowhere, nowhere", "too few of the devices that several nodes can use are free for it: request r of claim gpus wants 2; 1 of 3 matching devices of gpu.example.com are free"},
		"more than a claim can have": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(3, "NIC"))
			s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.Count = 50
		}, "nowhere, nowhere, nowhere", "it claims devices that several nodes can use, but one of its claims requests more devices than a claim can have: request r of claim gpus wants 50, with which the claim has more devices than the 32 it can have"},
		"two requests for more than a claim can have": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(40, "NIC"))
			requests := &s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests
			*requests = append(*requests, gpuRequest("more", 13, "model=NIC"))
			(*requests)[0].Exactly.Count = 20
		}, "nowhere, nowhere, nowhere", "it claims devices that several nodes can use, but one of its claims requests more devices than a claim can have: request more of claim gpus wants 13, with which the claim has more devices than the 32 it can have"},
		"in a slice of no node": {func(s *scheduling.Snapshot) { attached(s, "net", "", gpus(3, "NIC")).Spec.AllNodes = nil },
			"nowhere, nowhere, nowhere", "it claims devices of ResourceSlices that no node can use: the ResourceSlices and their devices set none of nodeName, nodeSelector and allNodes"},
		"next to one of the node": {func(s *scheduling.Snapshot) {
			attached(s, "net", "b", gpus(2, "NIC"))
			s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests = append(s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests, gpuRequest("gpu", 1, "model=A100"))
		}, "new a4/b/spot, new a4/b/spot, nowhere", ""},
		"tied to one of the node": {func(s *scheduling.Snapshot) {
			attached(s, "net", "b", gpus(2, "NIC"))
			spec := &s.ResourceClaimTemplates[0].Spec.Spec.Devices
			spec.Requests = append(spec.Requests, gpuRequest("gpu", 1, "model=A100"))
			spec.Constraints = append(spec.Constraints, sameAttribute("domain"))
		}, "nowhere, nowhere, nowhere", "claim gpus has a constraint on gpu.example.com/domain between devices of a node and such that several nodes can use"},
		"all of them": {func(s *scheduling.Snapshot) {
			attached(s, "net", "", gpus(2, "NIC"))
			s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
		}, "nowhere, nowhere, nowhere", "its claim gpus requests all matching devices, and several nodes can use some of them: request a number of devices"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(pods("p", 3, requests("cpu=1"), claims("nic")))
			template(s, "nic", nil, gpuRequest("r", 1, "model=NIC"))
			c.more(s)
			p := planAttached(t, s)
			if got := placed(p, s); got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, p.Unschedulable)
			}
			if len(p.Unschedulable) > 0 && c.why != "" {
				if got := fmt.Sprint(p.Unschedulable[0].Reasons); !strings.Contains(got, c.why) {
					t.Errorf("the reason is %s, want %s", got, c.why)
				}
			}
		})
	}
}

// A running pod keeps its devices when its node goes: it moves to where they can be used, and nobody else gets them.
func TestDevicesOfSeveralNodesWhenAPodMoves(t *testing.T) {
	running := pod("running", requests("cpu=1"), claims("nic"))
	name := "running-nic"
	running.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpus", ResourceClaimName: &name}}
	s := gpuCluster(node("n", nodeLabel(zoneKey, "b"), allocatable("cpu=2", "memory=8Gi"), bound(running)), pods("p", 2, requests("cpu=1"), claims("nic")))
	template(s, "nic", nil, gpuRequest("r", 1, "model=NIC"))
	attached(s, "net", "b", gpus(2, "NIC"))
	claim := claimObject(s, name, gpuRequest("r", 1, "model=NIC"))
	claim.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: ofZone("b"), Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: gpuDriver, Pool: "net", Device: "nic-0"}},
	}}
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatal(err)
	}
	trial := m.Trial()
	if _, err := trial.Hide("n"); err != nil {
		t.Fatal(err)
	}
	if _, err := trial.Place(t.Context(), scheduling.PlaceOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := trial.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantPlace(t, p, "running", "new plain/b/spot")
	wantPlace(t, p, "p-0", "new plain/b/spot")
	wantPlace(t, p, "p-1", "nowhere")
}

// Whatever devices there are, all pods of a plan get theirs, as kube-scheduler allocates them in the order of the plan; and none that all
// nodes can use is left over while a pod waits for one of its kind.
func TestDevicesOfSeveralNodesAreGivenOnce(t *testing.T) {
	got, not := 0, 0
	seeded.Times(t, 300, func(t *rapid.T) {
		models := []string{"NIC", "DISK"}
		s := gpuCluster(node("n", nodeLabel(zoneKey, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")), allocatable("cpu=2", "memory=8Gi")))
		for _, model := range models {
			zones := map[string]string{"NIC": rapid.SampledFrom([]string{"", "a"}).Draw(t, "of"), "DISK": "b"}
			attached(s, "of-"+model, zones[model], gpus(rapid.IntRange(1, 4).Draw(t, "devices"), model))
			template(s, model, nil, gpuRequest("r", int64(rapid.IntRange(1, 2).Draw(t, "count")), "model="+model))
		}
		template(s, "both", nil, gpuRequest("r", 1, "model=NIC"), gpuRequest("gpu", 1, "model=H100"))
		for i := range rapid.IntRange(1, 7).Draw(t, "pods") {
			s.Pods = append(s.Pods, pod(fmt.Sprint("p", i), requests("cpu=1"), claims(rapid.SampledFrom([]string{"NIC", "DISK", "both"}).Draw(t, "claim"))))
		}
		p := planAttached(t, s)
		left := networkLeft(t, s, p)
		for _, u := range p.Unschedulable {
			not++
			for _, pod := range s.Pods {
				if claim := *pod.Spec.ResourceClaims[0].ResourceClaimTemplateName; pod.Name == u.Pod.Name && left(claim) {
					t.Errorf("%s has no place, but there are devices for %s: %v", pod.Name, claim, u.Reasons)
				}
			}
		}
		got += len(p.Order)
	})
	if !t.Failed() && !testing.Short() && (got < 200 || not < 200) {
		t.Errorf("the draws are too much alike: %d have a place, %d don't", got, not)
	}
}

// networkLeft allocates the devices of the plan's pods in its order, each from where its node is. What it returns reports whether there are
// some left for a claim of the template on a new node of either zone.
func networkLeft(t fataler, s *scheduling.Snapshot, p *scheduling.Plan) func(template string) bool {
	t.Helper()
	inv := devices.NewInventory(s.ResourceSlices)
	usage, matches := devices.NewUsage(inv), devices.NewMatches(modelIs{})
	classes := map[string]*resourcev1.DeviceClass{"gpu": s.DeviceClasses[0]}
	claimOf := func(template string) *devices.Claim {
		for _, c := range s.ResourceClaimTemplates {
			if c.Name == template {
				spec := c.Spec.Spec.Devices.DeepCopy()
				spec.Requests = spec.Requests[:1] // what else there is is of the node
				claim, err := devices.NewClaim(template, spec, classes)
				if err != nil {
					t.Fatalf("%v", err)
				}
				return claim
			}
		}
		return nil
	}
	zoneOf := func(name string) string {
		switch at := strings.Split(place(p, name), "/"); {
		case len(at) > 1:
			return at[1]
		case at[0] == "on n":
			return s.Nodes[0].Object.Labels[zoneKey]
		}
		return ""
	}
	for _, key := range p.Order {
		for _, pod := range s.Pods {
			if pod.Name != key.Name {
				continue
			}
			at := devices.Source{Usage: usage, Reach: inv.Reach("x", map[string]string{zoneKey: zoneOf(pod.Name)})}
			if _, miss := devices.Allocate([]devices.Source{at}, []*devices.Claim{claimOf(*pod.Spec.ResourceClaims[0].ResourceClaimTemplateName)}, matches); miss != nil {
				t.Errorf("%s on %s: %s", pod.Name, place(p, pod.Name), miss)
			}
		}
	}
	return func(template string) bool {
		for _, zone := range []string{"a", "b"} {
			at := devices.Source{Usage: usage.Clone(), Reach: inv.Reach("x", map[string]string{zoneKey: zone})}
			if a, _ := devices.Allocate([]devices.Source{at}, []*devices.Claim{claimOf(template)}, matches); a != nil {
				return true
			}
		}
		return false
	}
}
