package scheduling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// The order of a plan gives each pod its devices as kube-scheduler would: those that can use others don't come first, whether they ask by
// claims or by an extended resource, and where rules between pods have a say in the order, too.
func TestDevicesInTheOrderOfThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		any    podOption
		change func(*scheduling.Snapshot)
	}{
		"claims":               {claims("any"), func(*scheduling.Snapshot) {}},
		"an extended resource": {requests("cpu=1", "example.com/gpu=1"), func(*scheduling.Snapshot) {}},
		"spread over zones": {claims("any"), func(s *scheduling.Snapshot) {
			for _, p := range s.Pods {
				p.Labels = map[string]string{"app": "x"}
				p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					TopologyKey: zoneKey, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
				}}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gpuCluster(node("n", nodeLabel(zoneKey, "a"), allocatable("cpu=64", "memory=256Gi")), pods("any", 2, requests("cpu=1"), c.any), pods("some", 2, requests("cpu=1"), claims("some")))
			s.NodePools = nil
			resource := "example.com/gpu"
			s.DeviceClasses[0].Spec.ExtendedResourceName = &resource
			template(s, "any", nil, gpuRequest("r", 1))
			template(s, "some", nil, gpuRequest("r", 1, "model=A100"))
			published(s, "n", append(gpus(2, "A100"), gpus(2, "H100")...))
			c.change(s)
			p := planDevices(t, s)
			if len(p.Unschedulable) > 0 {
				t.Fatalf("%v", p.Unschedulable)
			}
			seen := ""
			for _, key := range p.Order {
				seen += key.Name[:1]
			}
			if seen != "ssaa" {
				t.Errorf("the order is %v", p.Order)
			}
		})
	}
}

// A trial that is rolled back has its room for devices again, and places the same once more.
func TestDevicesAfterRollback(t *testing.T) {
	s := gpuCluster(node("n", allocatable("cpu=64", "memory=256Gi")), pods("any", 3, requests("cpu=1"), claims("any")), pods("some", 3, requests("cpu=1"), claims("some")))
	template(s, "any", []resourcev1.DeviceConstraint{sameAttribute("domain")}, gpuRequest("r", 2))
	template(s, "some", nil, firstOf("r", choice("x", 0, "model=A100"), choice("y", 1, "model=H100")))
	published(s, "n", append(gpus(2, "A100"), gpus(3, "H100")...))
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatal(err)
	}
	trial := m.Trial()
	var first string
	for i := range 3 {
		mark := trial.Mark()
		out, err := trial.Place(context.Background(), scheduling.PlaceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = fmt.Sprint(out)
		}
		if got := fmt.Sprint(out); got != first {
			t.Errorf("at first %s, then %s", first, got)
		}
		if err := trial.Rollback(mark); err != nil {
			t.Fatal(err)
		}
	}
}

// Claims that overlap in more ways than are counted are planned all the same: what counting lets through is found by allocating.
func TestDevicesOfKindsThatOverlapInManyWays(t *testing.T) {
	const kinds = 16
	var list []resourcev1.Device
	for i := range kinds - 1 {
		d := gpus(1, "A")[0]
		d.Name = fmt.Sprint("d", i)
		for _, of := range []int{i, i + 1} { // each device serves two kinds
			yes := "1"
			d.Attributes[resourcev1.QualifiedName(fmt.Sprint("k", of))] = resourcev1.DeviceAttribute{StringValue: &yes}
		}
		list = append(list, d)
	}
	s := cluster(publishes(typeOf("chain", 3, "cpu=64", "memory=256Gi"), list...))
	s.DeviceClasses = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
	for i := range kinds {
		name := fmt.Sprint("t", i)
		template(s, name, nil, gpuRequest("r", 1, fmt.Sprintf("k%d=1", i)))
		s.Pods = append(s.Pods, pod(fmt.Sprint("p", i), requests("cpu=1"), claims(name)))
	}
	if p := planDevices(t, s); len(p.Unschedulable) > 0 || len(p.NewNodes) != 2 {
		t.Errorf("%d nodes, without a place %v", len(p.NewNodes), p.Unschedulable)
	}
}

// Requests for devices that are too high are named by their classes, not by what the planner calls what it counts.
func TestDevicesMissNamesClasses(t *testing.T) {
	for of, want := range map[corev1.ResourceName]string{
		"devices of gpu.example.com":                     "would fit if it asked for 1 less devices of class gpu.example.com",
		"devices of gpu.example.com#2":                   "would fit if it asked for 1 less devices of class gpu.example.com",
		"devices of shares of gpu.example.com":           "would fit if it asked for less devices of class gpu.example.com",
		"devices of gpu.example.com+part.example.com#11": "would fit if it asked for 1 less devices of class gpu.example.com or part.example.com",
	} {
		miss := scheduling.NearestMiss{Code: scheduling.MissResources, Amounts: amounts(string(of) + "=1")}
		if got := miss.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	miss := scheduling.NearestMiss{Code: scheduling.MissResources, Amounts: amounts("devices of gpu=1", "devices of gpu#2=1")}
	if got, want := miss.String(), "would fit if it asked for 1 less devices of class gpu"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Where no device meets what is asked, fewer of them would not help: the nearest miss says what would, and that does help.
func TestCuresOfDevices(t *testing.T) {
	for name, c := range map[string]struct {
		request resourcev1.DeviceRequest
		want    string
		cured   resourcev1.DeviceRequest
	}{
		"a model that nobody has": {
			gpuRequest("r", 1, "model=B200"), "would fit if request r of claim gpus allowed devices of gpu.example.com that have model A100", gpuRequest("r", 1, "model=A100"),
		},
		"a selector without a value": {
			gpuRequest("r", 1, "error"), "would fit if the selector of request r of claim gpus could be evaluated: no such key", gpuRequest("r", 1),
		},
		"more of a model than a type has": {
			gpuRequest("r", 9, "model=H100"), "would fit if it asked for 1 less devices of class gpu", gpuRequest("r", 8, "model=H100"),
		},
	} {
		s := gpuCluster(pod("p", requests("cpu=1"), claims("t")))
		template(s, "t", nil, c.request)
		p := solveDevices(t, s)
		if len(p.Unschedulable) != 1 || p.Unschedulable[0].Reasons[0].NearestMiss == nil {
			t.Errorf("%s: %+v", name, p.Unschedulable)
			continue
		}
		if got := p.Unschedulable[0].Reasons[0].NearestMiss.String(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		s = gpuCluster(pod("p", requests("cpu=1"), claims("t")))
		template(s, "t", nil, c.cured)
		newNodeOf(t, solveDevices(t, s), "p")
	}
	// On a node there is, in a cluster that can launch no others.
	s := gpuCluster(node("n", allocatable("cpu=16", "memory=64Gi")), pod("p", requests("cpu=1"), claims("t")))
	s.NodePools, s.Catalogs = nil, nil
	published(s, "n", gpus(2, "A100"))
	template(s, "t", nil, gpuRequest("r", 1, "model=B200"))
	p := solveDevices(t, s)
	if got := p.Unschedulable[0].Reasons[0].NearestMiss; got == nil || got.Node != "n" || !strings.Contains(got.String(), "allowed devices of gpu.example.com that have model A100") {
		t.Errorf("on a node: %v", got)
	}
}

// Explaining why a pod has no devices takes none: the same model is asked again, by others at the same time too.
func TestExplainingTakesNoDevices(t *testing.T) {
	s := gpuCluster(node("n", allocatable("cpu=16", "memory=64Gi")), pods("p", 3, requests("cpu=1"), claims("t")))
	s.NodePools, s.Catalogs = nil, nil
	published(s, "n", gpus(2, "A100"))
	template(s, "t", nil, gpuRequest("r", 1))
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(modelIs{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Unschedulable) != 1 {
			t.Errorf("%d pods without a place, want 1", len(p.Unschedulable))
		}
	}
}
