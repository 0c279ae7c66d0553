package workload

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// PoolName is the name of the only NodePool of every workload. It allows Linux, both architectures and both capacity types, and has no
// limits.
const PoolName = "default"

// Snapshot converts a workload to a scheduling.Snapshot.
func Snapshot(catalog []*Type, pods []Pod, nodes []Node) *scheduling.Snapshot {
	s := snapshot(InstanceTypes(catalog))
	for i := range pods {
		s.Pods = append(s.Pods, object(&pods[i]))
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, node(&nodes[i]))
	}
	return s
}

// snapshot returns a snapshot with one pool and its instance types, but without pods.
func snapshot(types []*cloudprovider.InstanceType) *scheduling.Snapshot {
	return &scheduling.Snapshot{
		Time:       time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Vocabulary: requirements.CoreVocabulary(),
		Catalogs:   map[string][]*cloudprovider.InstanceType{PoolName: types},
		NodePools:  []scheduling.NodePool{{Key: v1.NewPoolKey(PoolName), Object: pool(), Catalog: PoolName}},
	}
}

func pool() *v1.NodePool {
	p := &v1.NodePool{}
	p.Name = PoolName
	p.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "workload.drawknife.dev", Kind: "NodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
		{Key: LabelArch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64"}},
		{Key: LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand", "spot"}},
	}
	return p
}

// InstanceTypes converts the catalog's types to the instance types that a cloud provider would list.
func InstanceTypes(catalog []*Type) []*cloudprovider.InstanceType {
	out := make([]*cloudprovider.InstanceType, len(catalog))
	for i, t := range catalog {
		it := &cloudprovider.InstanceType{
			Name: t.Name,
			Requirements: requirements.NewSet(
				requirements.In(corev1.LabelInstanceTypeStable, t.Name),
				requirements.In(corev1.LabelArchStable, t.Arch),
				requirements.In(corev1.LabelOSStable, "linux"),
			),
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(t.CapCPUm, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(t.CapMemMi<<20, resource.BinarySI),
				corev1.ResourcePods:   *resource.NewQuantity(int64(t.MaxPods), resource.DecimalSI),
			},
			Overhead: cloudprovider.Overhead{KubeReserved: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(t.ReservedCPUm, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(t.ReservedMemMi<<20, resource.BinarySI),
			}},
		}
		if t.GPUs > 0 {
			it.Capacity["nvidia.com/gpu"] = *resource.NewQuantity(int64(t.GPUs), resource.DecimalSI)
		}
		for _, o := range t.Offerings {
			it.Offerings = append(it.Offerings, cloudprovider.Offering{
				Requirements: requirements.NewSet(requirements.In(LabelZone, o.Zone), requirements.In(LabelCapacityType, capacityType(o.Spot))),
				Price:        o.Price,
				Available:    o.Available,
			})
		}
		out[i] = it
	}
	return out
}

func capacityType(spot bool) string {
	if spot {
		return "spot"
	}
	return "on-demand"
}

func object(p *Pod) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: p.Name, Labels: map[string]string{"app": p.App}}}
	pod.Spec.NodeName = p.Node
	pod.Spec.NodeSelector = p.NodeSelector
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(p.CPUm, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(p.MemMi<<20, resource.BinarySI),
	}}}}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.App}}
	if p.ZoneSpread {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: LabelZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own,
		}}
	}
	if p.HostAnti {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: own}},
		}}
	}
	return pod
}

func node(n *Node) scheduling.Node {
	t := n.Type
	obj := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelInstanceTypeStable: t.Name, corev1.LabelArchStable: t.Arch,
		corev1.LabelOSStable: "linux", LabelZone: n.Zone, LabelCapacityType: capacityType(n.Spot),
		"karpenter.sh/nodepool": PoolName, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
	}}}
	obj.Spec.ProviderID = "workload://" + n.Name
	amounts := func(cpu, mem int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(mem<<20, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(int64(t.MaxPods), resource.DecimalSI),
		}
	}
	obj.Status.Capacity, obj.Status.Allocatable = amounts(t.CapCPUm, t.CapMemMi), amounts(t.AllocCPUm(), t.AllocMemMi())
	out := scheduling.Node{Name: n.Name, Pool: v1.NewPoolKey(PoolName), Object: obj}
	for i := range n.Pods {
		pod := object(&n.Pods[i])
		pod.Status.Phase = corev1.PodRunning
		out.Pods = append(out.Pods, pod)
	}
	return out
}

// Named returns the snapshot of a scenario: a (identical pods), b (50 deployments), c (constrained mix), d (all different), e (2,000 nodes
// that are 60 % full, and the pods of b), f (Mixed), fa (Apart), fe (ApartEC2), g (Preferring), gpu (GPUs). It returns nil for other names.
func Named(name string, pods int) *scheduling.Snapshot { return Seeded(name, pods, Seed) }

// Seeded returns the snapshot of a scenario, like Named, with the given seed. The seed has no effect on the pods of scenario a.
func Seeded(name string, pods int, seed uint64) *scheduling.Snapshot {
	catalog := Catalog()
	switch strings.ToLower(name) {
	case "a":
		return Snapshot(catalog, Homogeneous(pods), nil)
	case "b":
		return Snapshot(catalog, deployments(pods, seed), nil)
	case "c":
		return Snapshot(catalog, constrained(pods, seed), nil)
	case "d":
		return Snapshot(catalog, diverse(pods, seed), nil)
	case "e":
		return Snapshot(catalog, deployments(pods, seed), existing(catalog, 2000, 0.60, seed))
	case "f":
		return Mixed(pods, seed)
	case "fa":
		return Apart(pods, seed)
	case "fe":
		return ApartEC2(pods, seed)
	case "g":
		return Preferring(pods, seed)
	case "gpu":
		return GPUs(pods, seed)
	}
	return nil
}
