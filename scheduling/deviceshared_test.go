package scheduling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// claimObject adds a ResourceClaim.
func claimObject(s *scheduling.Snapshot, name string, list ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: list}}}
	s.ResourceClaims = append(s.ResourceClaims, c)
	return c
}

// allocatedOn has the claim hold devices of the node.
func allocatedOn(c *resourcev1.ResourceClaim, node string, list ...string) {
	a := &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
	for _, d := range list {
		a.Devices.Results = append(a.Devices.Results, resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: gpuDriver, Pool: node, Device: d})
	}
	c.Status.Allocation = a
}

// Pods that share a claim run on one node, all of them or none, and its devices are had once.
func TestPodsThatShareAClaim(t *testing.T) {
	for name, c := range map[string]struct {
		cpu  string
		n    int
		r    resourcev1.DeviceRequest
		more func(*scheduling.Snapshot)
		want string
	}{
		"one device for all":            {cpu: "1", n: 3, r: gpuRequest("r", 1, "model=H100"), want: "h1×3"},
		"all devices for all":           {cpu: "1", n: 4, r: gpuRequest("r", 8), want: "h8×4"},
		"as large as all of them":       {cpu: "30", n: 3, r: gpuRequest("r", 1), want: "h8×3"},
		"too large together":            {cpu: "30", n: 5, r: gpuRequest("r", 1), want: ""},
		"next to others":                {cpu: "1", n: 2, r: gpuRequest("r", 2), more: func(s *scheduling.Snapshot) { s.Pods = append(s.Pods, pods("o", 2, requests("cpu=1"), claims("t"))...) }, want: "a4×4"},
		"with claims that are not":      {cpu: "1", n: 3, r: gpuRequest("r", 1), more: func(s *scheduling.Snapshot) { each(s.Pods, claims("t")) }, want: "a4×3"},
		"of two claims in a chain":      {cpu: "1", n: 3, r: gpuRequest("r", 2), more: chain, want: "a4×4"},
		"one that is not the leader's":  {cpu: "1", n: 2, r: gpuRequest("r", 1), more: func(s *scheduling.Snapshot) { claimsNamed("d")(s.Pods[1]); claimObject(s, "d", gpuRequest("r", 3)) }, want: "a4×2"},
		"some of them prefer no other":  {cpu: "1", n: 2, r: gpuRequest("r", 1), more: func(s *scheduling.Snapshot) { s.Pods[1].Spec.NodeSelector = map[string]string{typeKey: "h8"} }, want: "h8×2"},
		"devices that are nowhere":      {cpu: "1", n: 2, r: gpuRequest("r", 9), want: ""},
		"a claim that there is not":     {cpu: "1", n: 2, r: gpuRequest("r", 1), more: func(s *scheduling.Snapshot) { s.ResourceClaims = nil }, want: ""},
		"a claim that is being deleted": {cpu: "1", n: 2, r: gpuRequest("r", 1), more: func(s *scheduling.Snapshot) { s.ResourceClaims[0].DeletionTimestamp = &metav1.Time{Time: s.Time} }, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(pods("p", c.n, requests("cpu="+c.cpu), claimsNamed("c")))
			claimObject(s, "c", c.r)
			template(s, "t", nil, gpuRequest("r", 1))
			if c.more != nil {
				c.more(s)
			}
			p := planDevices(t, s)
			if got := typesOf(p); got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
			if c.want == "" && len(p.Unschedulable) != c.n {
				t.Errorf("%d of %d have no place", len(p.Unschedulable), c.n)
			}
			for _, n := range p.NewNodes {
				if q := n.Requests[corev1.ResourceCPU]; fmt.Sprint(q.Value()) != fmt.Sprint(len(n.Pods)*int(atoi(c.cpu))) {
					t.Errorf("%d pods request %s", len(n.Pods), q.String())
				}
			}
		})
	}
}

// Pods that share a claim are placed together or not at all: what keeps one of them off the node keeps all off, and nothing is paid for.
func TestPodsThatShareAClaimAndCannotMeet(t *testing.T) {
	alone := "it shares the devices of claim default/c with default/p-1: all of them have to run on one node, and there is none for all"
	for name, c := range map[string]struct {
		change func(*scheduling.Snapshot)
		want   string
		why    string
	}{
		"in zones of their own": {func(s *scheduling.Snapshot) {
			selector(zoneKey + "=a")(s.Pods[0])
			selector(zoneKey + "=b")(s.Pods[1])
		}, "nowhere, nowhere", "the pod can't be planned: its node selector excludes all nodes where"},
		"one of them in a zone": {func(s *scheduling.Snapshot) { selector(zoneKey + "=b")(s.Pods[1]) }, "new h1/b/spot, new h1/b/spot", ""},
		"one by affinity":       {func(s *scheduling.Snapshot) { required(in(zoneKey, "b", "c"))(s.Pods[1]) }, "new h1/b/spot, new h1/b/spot", ""},
		"a taint that one does not tolerate": {func(s *scheduling.Snapshot) {
			s.NodePools = []scheduling.NodePool{nodePool("default", poolTaints("x=y:NoSchedule"))}
			tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})(s.Pods[0])
		}, "nowhere, nowhere", `incompatible with nodepool "default", a pod that shares claims with it did not tolerate x=y:NoSchedule`},
		"a taint of one pool that one does not tolerate": {func(s *scheduling.Snapshot) {
			dear := catalogOf("dear")
			s.Catalogs["dear"] = []*cloudprovider.InstanceType{publishes(typeOf("dear", 50, "cpu=16", "memory=64Gi"), gpus(1, "H100")...)}
			s.NodePools = []scheduling.NodePool{nodePool("tainted", poolTaints("x=y:NoSchedule")), nodePool("plain", dear)}
			tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})(s.Pods[0])
		}, "new dear/a/spot, new dear/a/spot", ""},
		"a taint that both tolerate in their own way": {func(s *scheduling.Snapshot) {
			s.NodePools = []scheduling.NodePool{nodePool("default", poolTaints("x=y:NoSchedule"))}
			tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists})(s.Pods[0])
			tolerates(corev1.Toleration{Key: "x", Value: "y", Effect: corev1.TaintEffectNoSchedule})(s.Pods[1])
		}, "new h1/a/spot, new h1/a/spot", ""},
		"one of another node's name": {func(s *scheduling.Snapshot) {
			s.Nodes = append(s.Nodes, node("n", allocatable("cpu=4", "memory=16Gi")))
			requiredFields(corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}})(s.Pods[1])
		}, "nowhere, nowhere", ""},
		"pods that keep apart": {func(s *scheduling.Snapshot) {
			for _, p := range s.Pods {
				p.Labels = map[string]string{"app": "x"}
				p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
				}}}}
			}
		}, "nowhere, nowhere", alone},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(pods("p", 2, requests("cpu=1"), claimsNamed("c")))
			claimObject(s, "c", gpuRequest("r", 1))
			c.change(s)
			p := planDevices(t, s)
			if got := place(p, "p-0") + ", " + place(p, "p-1"); got != c.want || c.want == "nowhere, nowhere" && len(p.NewNodes) > 0 {
				t.Errorf("got %s on %s, want %s; %v", got, typesOf(p), c.want, p.Unschedulable)
			}
			if c.why != "" && !strings.Contains(fmt.Sprint(reasonsOf(t, p, "p-0")), c.why) {
				t.Errorf("the reason is %v", reasonsOf(t, p, "p-0"))
			}
		})
	}
}

func atoi(s string) (n int64) { _, _ = fmt.Sscan(s, &n); return n }

func each(list []*corev1.Pod, change podOption) {
	for _, p := range list {
		change(p)
	}
}

// chain has the last pod share another claim with one more.
func chain(s *scheduling.Snapshot) {
	claimObject(s, "d", gpuRequest("r", 2))
	claimsNamed("d")(s.Pods[2])
	s.Pods = append(s.Pods, pod("q", requests("cpu=1"), claimsNamed("d")))
}

// A pod whose claim is allocated goes where the devices are, or nowhere.
func TestPodsWhoseClaimsAreAllocated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scheduling.Snapshot)
		want   string
	}{
		"on a node": {nil, "on n"},
		"on a node that is full": {func(s *scheduling.Snapshot) {
			s.Nodes[0].Object.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("500m")
		}, "nowhere"},
		"anywhere": {func(s *scheduling.Snapshot) {
			s.ResourceClaims[0].Status.Allocation.NodeSelector = nil
			s.Nodes[0].Object.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("500m")
		}, "on m"},
		"in a zone": {func(s *scheduling.Snapshot) {
			s.ResourceClaims[0].Status.Allocation.NodeSelector.NodeSelectorTerms = []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}}
		}, "new"},
		"of a template": {func(s *scheduling.Snapshot) {
			name := "c"
			s.Pods[0].Spec.ResourceClaims, s.Pods[0].Status.ResourceClaimStatuses = nil, []corev1.PodResourceClaimStatus{{Name: "gpus", ResourceClaimName: &name}}
			claims("t")(s.Pods[0])
		}, "on n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(node("n", allocatable("cpu=4", "memory=16Gi"), nodeLabel(corev1.LabelTopologyZone, "a")), node("m", allocatable("cpu=64", "memory=256Gi"), nodeLabel(corev1.LabelTopologyZone, "a")),
				pod("p", requests("cpu=1"), claimsNamed("c")), pod("other", requests("cpu=1")))
			published(s, "n", gpus(2, "H100"))
			allocatedOn(claimObject(s, "c", gpuRequest("r", 2)), "n", "h100-0", "h100-1")
			template(s, "t", nil, gpuRequest("r", 2))
			if c.change != nil {
				c.change(s)
			}
			p := planDevices(t, s)
			if got := place(p, "p"); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
		})
	}
}

// Pods of a node that share a claim move together, to devices for all of them.
func TestPodsThatShareAClaimMoveTogether(t *testing.T) {
	for room, want := range map[string]int{"3": 0, "2": 3} {
		s := gpuCluster(node("n", allocatable("cpu=64", "memory=256Gi"), bound(pods("p", 3, requests("cpu=1"), claimsNamed("c"))...)), node("m", allocatable("cpu="+room, "memory=256Gi")))
		s.NodePools = nil
		published(s, "n", gpus(2, "H100"))
		published(s, "m", gpus(2, "H100"))
		allocatedOn(claimObject(s, "c", gpuRequest("r", 2)), "n", "h100-0", "h100-1")
		m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
		if err != nil {
			t.Fatal(err)
		}
		trial := m.Trial()
		if _, err := trial.Hide("n"); err != nil {
			t.Fatal(err)
		}
		if out, err := trial.Place(context.Background(), scheduling.PlaceOptions{}); err != nil || out.Unplaced != want {
			t.Errorf("with room for %s: %+v, %v", room, out, err)
		}
	}
}

// Whether a device's taint is tolerated is decided by the request of the shared claim, for all its pods: their own tolerations are about nodes.
func TestTaintedDevicesOfASharedClaim(t *testing.T) {
	for name, c := range map[string]struct {
		claim, pods bool
		want        string
	}{
		"the claim tolerates it":         {claim: true, want: "new h1/a/spot, new h1/a/spot"},
		"the pods do, and the claim not": {pods: true, want: "nowhere, nowhere"},
		"neither":                        {want: "nowhere, nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			sick := gpus(1, "H100")
			sick[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			s := gpuCluster(pods("p", 2, requests("cpu=1"), claimsNamed("c")))
			s.Catalogs["types"] = []*cloudprovider.InstanceType{publishes(typeOf("h1", 5, "cpu=16", "memory=64Gi"), sick...)}
			r := gpuRequest("r", 1)
			if c.claim {
				r.Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists}}
			}
			if c.pods {
				tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})(s.Pods[0])
			}
			claimObject(s, "c", r)
			p := planDevices(t, s)
			if got := place(p, "p-0") + ", " + place(p, "p-1"); got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
		})
	}
}
