package scheduling_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

const gpuResource = "example.com/gpu"

// backedCluster has the types of gpuTypes, one with a device plugin that has four, and a class that stands behind the resource.
func backedCluster(parts ...any) *scheduling.Snapshot {
	s := gpuCluster(parts...)
	s.Catalogs["types"] = append(s.Catalogs["types"], typeOf("plugged", 20, "cpu=64", "memory=256Gi", gpuResource+"=4"))
	name := gpuResource
	s.DeviceClasses[0].Spec.ExtendedResourceName = &name
	return s
}

func planDevices(t *testing.T, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range planvalidator.CheckDevices(s, p, modelIs{}) {
		t.Errorf("%v", f)
	}
	return p
}

// Pods that ask for an extended resource go where a device plugin has it or devices of its class are, whichever costs less.
func TestExtendedResourcesOfDevices(t *testing.T) {
	for name, c := range map[string]struct {
		parts  []any
		change func(*scheduling.Snapshot)
		want   string
	}{
		"devices cost less":       {[]any{pods("p", 8, requests("cpu=1", gpuResource+"=1"))}, nil, "a4×4 a4×4"},
		"several each":            {[]any{pods("p", 2, requests("cpu=1", gpuResource+"=2"))}, nil, "a4×2"},
		"by the class's own name": {[]any{pods("p", 4, requests("cpu=1", "deviceclass.resource.kubernetes.io/gpu=1"))}, nil, "a4×4"},
		"the plugin costs less": {[]any{pods("p", 4, requests("cpu=1", gpuResource+"=1"))}, func(s *scheduling.Snapshot) {
			s.Catalogs["types"][4].Offerings[0].Price = 3
		}, "plugged×4"},
		"no class":          {[]any{pods("p", 4, requests("cpu=1", gpuResource+"=1"))}, func(s *scheduling.Snapshot) { s.DeviceClasses = nil }, "plugged×4"},
		"of another class":  {[]any{pods("p", 4, requests("cpu=1", gpuResource+"=1"))}, func(s *scheduling.Snapshot) { s.DeviceClasses[0].Spec.ExtendedResourceName = nil }, "plugged×4"},
		"of what is picked": {[]any{pods("p", 3, requests("cpu=1", gpuResource+"=1"))}, selectH100, "h1×1 h1×1 h1×1"},
		"the newer class": {[]any{pods("p", 1, requests("cpu=1", gpuResource+"=1"))}, func(s *scheduling.Snapshot) {
			newer := s.DeviceClasses[0].DeepCopy()
			newer.Name, newer.CreationTimestamp = "newer", metav1.NewTime(time.Unix(9, 0))
			s.DeviceClasses = append(s.DeviceClasses, newer)
			newer.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "model=H100"}}}
		}, "h1×1"},
		"with claims of the same devices": {[]any{pods("p", 4, requests("cpu=1", gpuResource+"=1")), pods("q", 4, requests("cpu=1"), claims("t"))}, func(s *scheduling.Snapshot) {
			template(s, "t", nil, gpuRequest("r", 1))
		}, "a4×4 a4×4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := backedCluster(c.parts...)
			if c.change != nil {
				c.change(s)
			}
			p := planDevices(t, s)
			if got := typesOf(p); got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
			for _, n := range p.NewNodes {
				_, asks := n.Requests[gpuResource]
				if plugged := !slices.ContainsFunc(n.InstanceTypes, func(o scheduling.InstanceTypeOption) bool { return o.Name != "plugged" }); asks != plugged && !strings.Contains(name, "own name") {
					t.Errorf("%s: the NodeClaim asks for %v", n.InstanceTypes[0].Name, n.Requests)
				}
			}
		})
	}
}

func selectH100(s *scheduling.Snapshot) {
	s.DeviceClasses[0].Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "model=H100"}}}
}

// On nodes that exist the plugin's amount counts where there is one, else devices that are free.
func TestExtendedResourcesOfExistingNodes(t *testing.T) {
	holder := bound(pod("b", requests("cpu=1", gpuResource+"=1")))
	s := backedCluster(pods("p", 9, requests("cpu=1", gpuResource+"=1")),
		node("plugin", allocatable("cpu=64", "memory=256Gi", gpuResource+"=3"), holder),
		node("driver", allocatable("cpu=64", "memory=256Gi"), bound(pod("c", requests("cpu=1", gpuResource+"=2")))),
		node("both", allocatable("cpu=64", "memory=256Gi", gpuResource+"=1")))
	published(s, "driver", gpus(6, "A100"), "a100-0", "a100-1")
	published(s, "both", gpus(6, "A100"))
	p := planDevices(t, s)
	got := map[string]int{}
	for _, e := range p.Existing {
		got[e.Name] = len(e.Pods)
	}
	if got["plugin"] != 2 || got["driver"] != 4 || got["both"] != 1 || typesOf(p) != "a4×2" {
		t.Errorf("existing %v, new %s", got, typesOf(p))
	}
}

// Without a matcher classes with selectors don't stand behind anything; device plugins serve as ever.
func TestExtendedResourcesWithoutMatcher(t *testing.T) {
	s := backedCluster(pod("p", requests("cpu=1", gpuResource+"=1")))
	selectH100(s)
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if q := p.NewNodes[0].Requests[gpuResource]; typesOf(p) != "plugged×1" || q.Value() != 1 {
		t.Errorf("got %s, which asks for %v", typesOf(p), p.NewNodes[0].Requests)
	}
}

// firstOf asks for one of the alternatives, the first that there is.
func firstOf(name string, alternatives ...resourcev1.DeviceSubRequest) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, FirstAvailable: alternatives}
}

func choice(name string, count int64, selectors ...string) resourcev1.DeviceSubRequest {
	e := gpuRequest("", count, selectors...).Exactly
	s := resourcev1.DeviceSubRequest{Name: name, DeviceClassName: "gpu", Count: count, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Selectors: e.Selectors}
	if count == 0 {
		s.AllocationMode = resourcev1.DeviceAllocationModeAll
	}
	return s
}

// Alternatives are priced, and all devices of a node can be had.
func TestChoicesOfDevices(t *testing.T) {
	all := gpuRequest("r", 0)
	all.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	allOf := gpuRequest("r", 0, "model=A100")
	allOf.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	for name, c := range map[string]struct {
		n     int
		parts []any
		r     resourcev1.DeviceRequest
		want  string
	}{
		"the second choice costs less":       {n: 4, r: firstOf("r", choice("x", 1, "model=H100"), choice("y", 1, "model=A100")), want: "a4×4"},
		"the first choice costs less":        {n: 1, r: firstOf("r", choice("x", 1, "model=H100"), choice("y", 1, "model=A100")), want: "h1×1"},
		"one of these or two of those":       {n: 2, r: firstOf("r", choice("x", 1, "model=H100"), choice("y", 2, "model=A100")), want: "a4×2"},
		"one of these or four of those":      {n: 2, r: firstOf("r", choice("x", 1, "model=H100"), choice("y", 4, "model=A100")), want: "h1×1 h1×1"},
		"two of these or three of those":     {n: 4, r: firstOf("r", choice("x", 2, "model=H100"), choice("y", 3, "model=A100")), want: "h8×4"},
		"all of a node":                      {n: 1, r: all, want: "h1×1"},
		"all of two nodes":                   {n: 2, r: all, want: "h1×1 h1×1"},
		"all of a model":                     {n: 2, r: allOf, want: "a4×1 a4×1"},
		"all of a model, or one of another":  {n: 2, r: firstOf("r", choice("x", 0, "model=A100"), choice("y", 1, "model=H100")), want: "h1×1 h1×1"},
		"with pods that ask for any":         {n: 1, parts: []any{pods("q", 2, requests("cpu=1"), claims("any"))}, r: allOf, want: "a4×1 a4×2"},
		"with pods that ask for the dearest": {n: 1, parts: []any{pods("q", 1, requests("cpu=1"), claims("eight"))}, r: firstOf("r", choice("x", 1, "model=H100"), choice("y", 1, "model=A100")), want: "h8×1 h1×1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(append(c.parts, pods("p", c.n, requests("cpu=1"), claims("t")))...)
			template(s, "t", nil, c.r)
			template(s, "any", nil, gpuRequest("r", 1))
			template(s, "eight", nil, gpuRequest("r", 8))
			p := solveDevices(t, s)
			if got := typesOf(p); got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
		})
	}
}

// A plan says which alternatives it takes, and why.
func TestChoicesAreExplained(t *testing.T) {
	s := gpuCluster(pods("p", 4, requests("cpu=1"), claims("t")), pods("q", 1, requests("cpu=1"), claims("u")))
	template(s, "t", nil, firstOf("r", choice("x", 1, "model=H100"), choice("y", 1, "model=A100")))
	template(s, "u", nil, firstOf("r", choice("x", 1, "model=B200"), choice("y", 8, "model=H100")))
	p := solveDevices(t, s)
	got := ""
	for _, n := range p.Notes {
		got += n.Object + ": " + n.Message + "\n"
	}
	want := "Pod default/q-0: request r of claim gpus is met by alternative r/y, number 2 of 2, on new nodes of type h8: no instance type has an earlier one\n" +
		"Pod default/p-0: request r of claim gpus, of this pod and 3 like it, is met by alternative r/y, number 2 of 2, on new nodes of type a4: what has an earlier one costs more, or is not to be had\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}

// All devices of a node can be had only while nobody has one of them.
func TestAllDevicesOfExistingNodes(t *testing.T) {
	all := gpuRequest("r", 0)
	all.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	s := gpuCluster(node("busy", allocatable("cpu=64", "memory=256Gi")), node("free", allocatable("cpu=64", "memory=256Gi")),
		node("none", allocatable("cpu=64", "memory=256Gi")), pods("p", 2, requests("cpu=1"), claims("t")))
	template(s, "t", nil, all)
	published(s, "busy", gpus(3, "A100"), "a100-1")
	published(s, "free", gpus(5, "A100"))
	p := solveDevices(t, s)
	if len(p.Existing) != 1 || p.Existing[0].Name != "free" || len(p.Existing[0].Pods) != 1 || !strings.HasPrefix(typesOf(p), "h1×1") {
		t.Errorf("existing %v, new %s", p.Existing, typesOf(p))
	}
}

// New nodes keep devices for pods of DaemonSets that claim some, where they have them; nodes that exist do until these have come.
func TestDevicesOfDaemonSets(t *testing.T) {
	set := daemonSet("set", []string{"cpu=1"}, claims("t"))
	set.Namespace = "default"
	for name, c := range map[string]struct {
		daemons []*corev1.Pod
		want    string
	}{
		"to come": {nil, "n×1 a4×3 a4×1"},
		"come":    {[]*corev1.Pod{pod("d", requests("cpu=1"), claims("t"), ownedBy(set))}, "n×1 a4×3 a4×1"},
	} {
		t.Run(name, func(t *testing.T) {
			n := node("n", allocatable("cpu=64", "memory=256Gi"), bound(c.daemons...))
			s := gpuCluster(n, pods("p", 5, requests("cpu=1"), claims("t")), set)
			template(s, "t", nil, gpuRequest("r", 1))
			if len(c.daemons) > 0 {
				published(s, "n", gpus(2, "A100"), "a100-0")
			} else {
				published(s, "n", gpus(2, "A100"))
			}
			p := planDevices(t, s)
			got := typesOf(p)
			for _, e := range p.Existing {
				got = fmt.Sprintf("%s×%d %s", e.Name, len(e.Pods), got)
			}
			if got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, p.Unschedulable)
			}
		})
	}
	// Types without devices can be launched: the DaemonSet's pods wait there.
	s := gpuCluster(pod("plain", requests("cpu=60")), set)
	template(s, "t", nil, gpuRequest("r", 1))
	if got := typesOf(planDevices(t, s)); got != "plain×1" {
		t.Errorf("got %s", got)
	}
}
