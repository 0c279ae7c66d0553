package planvalidator_test

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

func pod(name, cpu string) *corev1.Pod { return build.Pod(name, build.CPU(cpu), build.Memory("1Gi")) }

func instanceType(name, cpu string, price float64) *cloudprovider.InstanceType {
	return build.InstanceType(name, build.CPU(cpu), build.Memory("32Gi"), build.MaxPods(10), build.Spot("a", price), build.Spot("b", price))
}

// snapshot has a node with room for one of the pods, a leaving node, a limited pool, a DaemonSet and a pod that fits
// nowhere.
func snapshot() *scheduling.Snapshot {
	s := &scheduling.Snapshot{Catalogs: map[string][]*cloudprovider.InstanceType{"c": {instanceType("small", "2", 1), instanceType("large", "8", 3)}}}
	np := &v1.NodePool{}
	np.Name = "pool"
	np.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("3")}
	s.NodePools = []scheduling.NodePool{{Key: v1.NewPoolKey("pool"), Object: np, Catalog: "c"}}
	for _, name := range []string{"here", "gone"} {
		n := &corev1.Node{}
		n.Name, n.Labels = name, map[string]string{corev1.LabelTopologyZone: "a", "disk": "ssd"}
		n.Status.Allocatable = build.Amounts("cpu", "2", "memory", "8Gi", "pods", "10")
		s.Nodes = append(s.Nodes, scheduling.Node{Name: name, Object: n, Leaving: name == "gone"})
	}
	onDisk := pod("disk", "1500m")
	onDisk.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	inZone := pod("zone", "1500m")
	inZone.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"}
	s.Pods = []*corev1.Pod{onDisk, inZone, pod("any", "1500m"), pod("huge", "64")}
	set := &appsv1.DaemonSet{}
	set.Namespace, set.Name = "kube-system", "agent"
	set.Spec.Template.Spec = pod("agent", "100m").Spec
	s.DaemonSets = []*appsv1.DaemonSet{set}
	return s
}

func planned(t *testing.T, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestValidPlanPasses(t *testing.T) {
	s := snapshot()
	p := planned(t, s)
	if len(p.NewNodes) != 2 || len(p.Existing) != 1 || len(p.Unschedulable) != 1 {
		t.Fatalf("the plan is not the one that is broken below: %d new, %d existing, %d unschedulable", len(p.NewNodes), len(p.Existing), len(p.Unschedulable))
	}
	for _, fault := range planvalidator.Check(s, p) {
		t.Error(fault)
	}
}

// Each way to break a valid plan, or the facts under it, is noticed.
func TestBrokenPlansAreNoticed(t *testing.T) {
	key := func(name string) scheduling.PodKey { return scheduling.PodKey{Namespace: "default", Name: name} }
	in := func(p *scheduling.Plan, name string) *scheduling.NewNode {
		for i := range p.NewNodes {
			if p.NewNodes[i].Pods[0].Name == name {
				return &p.NewNodes[i]
			}
		}
		t.Fatalf("no node for %s", name)
		return nil
	}
	find := func(s *scheduling.Snapshot, name string) *corev1.Pod {
		for _, pod := range s.Pods {
			if pod.Name == name {
				return pod
			}
		}
		t.Fatalf("no pod %s", name)
		return nil
	}
	type part = func(*scheduling.Snapshot, *scheduling.Plan)
	for _, c := range []struct {
		name   string
		change part
		want   string
	}{
		{"a pod forgotten", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Unschedulable = nil }, "default/huge: is forgotten"},
		{"a pod twice", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			in(p, "any").Pods = append(in(p, "any").Pods, key("zone"))
		}, "default/zone: stands 2 times"},
		{"a pod that does not wait", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			p.Existing[0].Pods = append(p.Existing[0].Pods, key("stranger"))
		}, "default/stranger: is planned, but does not wait"},
		{"a node for no pod", func(_ *scheduling.Snapshot, p *scheduling.Plan) { in(p, "any").Pods = nil }, "is launched for no pod"},
		{"two nodes of one name", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.NewNodes[1].Name = p.NewNodes[0].Name }, "is the name of two nodes"},
		{"an unknown pool", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.NewNodes[0].Pool.Name = "x" }, "is of pool x"},
		{"a pool that is not ready", func(s *scheduling.Snapshot, _ *scheduling.Plan) { s.NodePools[0].NotReady = "no" }, "can't launch a small"},
		{"an unknown type", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.NewNodes[0].InstanceTypes[0].Name = "x" }, "can't launch a x"},
		{"no type", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.NewNodes[0].InstanceTypes = nil }, "has no instance type"},
		{"types out of order", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			types := p.NewNodes[0].InstanceTypes
			types[0], types[1] = types[1], types[0]
		}, "is listed after a more expensive one"},
		{"a wrong price", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.NewNodes[0].InstanceTypes[0].Price = 0.5 }, "its cheapest offering costs 1"},
		{"an offering that is gone", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Catalogs["c"][0].Offerings[0].Available, s.Catalogs["c"][0].Offerings[1].Available = false, false
		}, "no available offering of small"},
		{"a claim that leaves the wrong zone open", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			n := in(p, "zone")
			n.Requirements = n.Requirements.Without(corev1.LabelTopologyZone)
		}, "as small/a/spot: does not meet what pod default/zone asks for"},
		{"a taint on the pool", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.NodePools[0].Object.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoExecute}}
		}, "does not tolerate x:NoExecute"},
		{"pods too large for a new node", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			find(s, "any").Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1901m")
		},
			"pods and DaemonSets don't fit: cpu: needs 2001m, has 2"},
		{"a DaemonSet that leaves no room", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.DaemonSets[0].Spec.Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("600m")
		}, "pods and DaemonSets don't fit"},
		{"overhead that leaves no room", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Catalogs["c"][0].Overhead.SystemReserved = corev1.ResourceList{"cpu": resource.MustParse("500m")}
		}, "pods and DaemonSets don't fit"},
		{"requests that lack the DaemonSet", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			p.NewNodes[0].Requests["cpu"] = resource.MustParse("1500m")
		}, "requests of cpu are 1500m"},
		{"a false allocatable", func(_ *scheduling.Snapshot, p *scheduling.Plan) {
			p.NewNodes[0].Allocatable["cpu"] = resource.MustParse("3")
		}, "allocatable cpu is 3, should be 2"},
		{"a type that attaches too few volumes", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			find(s, "any").Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{
				GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}}}
			s.Catalogs["c"][1].VolumeLimits = map[string]int32{"pd.csi.storage.gke.io": 0}
		}, "as large/a/spot: does not attach all volumes of the pods"},
		{"an unknown node", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Existing[0].Name = "x" }, "x: is no node of the snapshot"},
		{"a leaving node", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Existing[0].Name = "gone" }, "is leaving"},
		{"a node twice", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Existing = append(p.Existing, p.Existing[0]) }, "stands twice"},
		{"a node of the wrong label", func(s *scheduling.Snapshot, _ *scheduling.Plan) { s.Nodes[0].Object.Labels["disk"] = "hdd" }, "does not meet what pod default/disk asks for"},
		{"a node with a taint", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Nodes[0].Object.Spec.Taints = []corev1.Taint{{Key: "y", Effect: corev1.TaintEffectNoSchedule}}
		}, "does not tolerate y:NoSchedule"},
		{"a DaemonSet that comes to a node in distress", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Nodes[0].Object.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule}}
			for _, pod := range s.Pods {
				pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			}
			s.DaemonSets[0].Spec.Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("600m")
		}, "here: pods don't fit: cpu"},
		{"a node that is full", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Nodes[0].Pods = []*corev1.Pod{pod("bound", "500m")}
		}, "pods don't fit: cpu"},
		{"a limit that is exceeded", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.NodePools[0].Object.Spec.Limits["nodes"] = resource.MustParse("1")
		}, "nodepool pool: its nodes may count for 2 of nodes"},
		{"a limit that the largest listed type exceeds", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.NodePools[0].Object.Spec.Limits["cpu"] = resource.MustParse("15")
		}, "its nodes may count for 16 of cpu"},
		{"no reason", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Unschedulable[0].Reasons = nil }, "has neither a place nor a reason"},
		{"an empty reason", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Unschedulable[0].Reasons[0].Code = "" }, "has an empty reason"},
		{"a pool without a reason", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey("other"), Object: &v1.NodePool{}})
		}, "pool other gives no reason"},
		{"a pod that a new node could hold", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			find(s, "huge").Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("7")
		},
			"could launch a large/a/spot for it"},
		{"a pod that a node has room for", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Nodes[0].Object.Status.Allocatable = build.Amounts("cpu", "99", "memory", "99Gi", "pods", "10")
		}, "node here has room for it"},
		{"a pod with a disk of its own that a node has room for", func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Nodes[0].Object.Status.Allocatable = build.Amounts("cpu", "99", "memory", "99Gi", "pods", "10")
			find(s, "huge").Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{
				GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}}}
		}, "node here has room for it"},
		{"a false cost", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.HourlyCost++ }, "the nodes cost 2"},
		{"a bound above the cost", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.LowerBound = 2.5 }, "is above the cost"},
		{"no certificate", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Certificate = nil }, "the bound has no certificate"},
		{"a certificate of other pods", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Certificate.Classes[0].Count++ }, "missing or too many"},
		{"a certificate that adds up to something else", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Certificate.Classes[0].Value /= 2 }, "adds up to"},
		{"a negative multiplier", func(_ *scheduling.Snapshot, p *scheduling.Plan) { p.Certificate.Types[0].Multipliers["pods"] = -1 }, "multiplier of pods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot()
			p := planned(t, s)
			c.change(s, p)
			faults := planvalidator.Check(s, p)
			for _, fault := range faults {
				if strings.Contains(fault.Error(), c.want) {
					return
				}
			}
			t.Errorf("faults %v, want one with %q", faults, c.want)
		})
	}
}

// The proof itself is repeated where all pods may use all nodes: values that a node could hold more of than it
// costs are noticed.
func TestFalseProofIsNoticed(t *testing.T) {
	s := snapshot()
	s.Pods = []*corev1.Pod{pod("a", "1500m"), pod("b", "1500m"), pod("c", "1500m")}
	s.Nodes = nil
	for _, c := range []struct {
		name   string
		change func(*scheduling.Plan)
		want   string
	}{
		{"none", func(*scheduling.Plan) {}, ""},
		{"a value too high", func(p *scheduling.Plan) {
			p.LowerBound += 0.1 * float64(p.Certificate.Classes[0].Count)
			p.Certificate.Classes[0].Value += 0.1
		}, "could hold"},
		{"multipliers of another node", func(p *scheduling.Plan) {
			for i := range p.Certificate.Types {
				p.Certificate.Types[i].Multipliers = map[corev1.ResourceName]float64{corev1.ResourceCPU: 10}
			}
		}, "could hold"},
		{"a type left out", func(p *scheduling.Plan) { p.Certificate.Types = p.Certificate.Types[:1] }, "lacks instance type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planned(t, s)
			c.change(p)
			faults := planvalidator.Check(s, p)
			if c.want == "" {
				if len(faults) != 0 {
					t.Errorf("faults %v", faults)
				}
				return
			}
			for _, fault := range faults {
				if strings.Contains(fault.Error(), c.want) {
					return
				}
			}
			t.Errorf("faults %v, want one with %q", faults, c.want)
		})
	}
}
