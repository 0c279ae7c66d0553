package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// snapshot converts the scenario file to a snapshot. Paths of catalogs are relative to folder.
func (f *File) snapshot(folder string) (*scheduling.Snapshot, error) {
	s := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary()}
	if err := f.addPools(s, folder); err != nil {
		return nil, err
	}
	byName := make(map[string]*Deployment, len(f.Deployments))
	for i := range f.Deployments {
		d := &f.Deployments[i]
		byName[d.Name] = d
		for n := range d.Count {
			s.Pods = append(s.Pods, d.pod(fmt.Sprintf("%s-%05d", d.Name, n)))
		}
	}
	types := make(map[string]*cloudprovider.InstanceType)
	for _, list := range s.Catalogs {
		for _, t := range list {
			types[t.Name] = t
		}
	}
	for i, n := range f.Nodes {
		t := types[n.InstanceType]
		if t == nil {
			return nil, fmt.Errorf("nodes[%d].instanceType: the catalogue has no %q", i, n.InstanceType)
		}
		for k := range n.Count {
			s.Nodes = append(s.Nodes, n.node(fmt.Sprintf("node-%d-%05d", i, k), t, s.NodePools[0].Object.Name, byName))
		}
	}
	return s, nil
}

func (f *File) addPools(s *scheduling.Snapshot, folder string) error {
	for _, p := range f.NodePools {
		if p.Spec.Template.Spec.NodeClassRef.Kind == "" {
			p.Spec.Template.Spec.NodeClassRef = anyNode().Object.Spec.Template.Spec.NodeClassRef
		}
		s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(p.Name), Object: p})
	}
	if len(s.NodePools) == 0 {
		s.NodePools = []scheduling.NodePool{anyNode()}
		if len(f.InstanceTypes) > 0 {
			s.NodePools[0].Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
		}
	}
	switch {
	case len(f.InstanceTypes) > 0:
		use(s, instanceTypes(f.InstanceTypes))
		return nil
	case f.Catalog == "" || f.Catalog == "ec2-like":
		use(s, workload.InstanceTypes(workload.Catalog()))
		return nil
	}
	name := ""
	if f.Catalog != "ec2" {
		name = f.Catalog
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
	}
	facts, err := readCatalog(name)
	if err != nil {
		return err
	}
	s.Vocabulary = instancetype.Vocabulary()
	return addTypes(s, facts, nil)
}

// use gives all pools of the snapshot the same instance types.
func use(s *scheduling.Snapshot, types []*cloudprovider.InstanceType) {
	const name = "types"
	s.Catalogs = map[string][]*cloudprovider.InstanceType{name: types}
	for i := range s.NodePools {
		s.NodePools[i].Catalog = name
	}
}

func instanceTypes(stated []InstanceType) []*cloudprovider.InstanceType {
	var types []*cloudprovider.InstanceType
	for _, t := range stated {
		labels := map[string]string{corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux"}
		maps.Copy(labels, t.Labels)
		labels[corev1.LabelInstanceTypeStable] = t.Name
		it := &cloudprovider.InstanceType{
			Name: t.Name, Requirements: labelSet(labels), Capacity: t.Capacity, Overhead: cloudprovider.Overhead{KubeReserved: t.Reserved},
		}
		for _, o := range t.Offerings {
			it.Offerings = append(it.Offerings, cloudprovider.Offering{
				Requirements: labelSet(map[string]string{corev1.LabelTopologyZone: o.Zone, v1.CapacityTypeLabelKey: o.CapacityType}),
				Price:        o.Price, Available: o.Available == nil || *o.Available,
			})
		}
		types = append(types, it)
	}
	return types
}

func labelSet(labels map[string]string) requirements.Set {
	var all []requirements.Requirement
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, requirements.In(key, labels[key]))
	}
	return requirements.NewSet(all...)
}

// pod returns a pod of the deployment.
func (d *Deployment) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = d.Namespace, name, maps.Clone(d.Labels)
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	if pod.Labels == nil {
		pod.Labels = make(map[string]string)
	}
	pod.Labels["app"] = d.Name
	pod.Spec = corev1.PodSpec{
		Containers:   []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: d.Requests}}},
		NodeSelector: d.NodeSelector, Affinity: d.Affinity.DeepCopy(), Tolerations: d.Tolerations,
		TopologySpreadConstraints: slices.Clone(d.TopologySpreadConstraints),
	}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.Name}}
	for i := range pod.Spec.TopologySpreadConstraints {
		if c := &pod.Spec.TopologySpreadConstraints[i]; c.LabelSelector == nil {
			c.LabelSelector = own
		}
	}
	for _, t := range podTerms(pod.Spec.Affinity) {
		if t.LabelSelector == nil {
			t.LabelSelector = own
		}
	}
	return pod
}

// podTerms returns all terms of pod affinity and anti-affinity, required and preferred.
func podTerms(a *corev1.Affinity) []*corev1.PodAffinityTerm {
	var terms []*corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if a != nil && a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}

// node returns an existing node with its pods.
func (n *Nodes) node(name string, t *cloudprovider.InstanceType, pool string, deployments map[string]*Deployment) scheduling.Node {
	object := &corev1.Node{}
	object.Name = name
	object.Labels = map[string]string{
		corev1.LabelHostname: name, v1.NodePoolLabelKey: pool,
		v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	}
	for _, e := range t.Requirements.NodeSelectorRequirements() {
		if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			object.Labels[e.Key] = e.Values[0]
		}
	}
	object.Labels[corev1.LabelTopologyZone], object.Labels[v1.CapacityTypeLabelKey] = n.Zone, n.CapacityType
	object.Spec.ProviderID = "scenario://" + name
	object.Status.Capacity = t.Capacity
	object.Status.Allocatable = maps.Clone(t.Capacity)
	for _, kept := range []corev1.ResourceList{t.Overhead.KubeReserved, t.Overhead.SystemReserved, t.Overhead.EvictionThreshold} {
		for resource, q := range kept {
			left := object.Status.Allocatable[resource]
			left.Sub(q)
			object.Status.Allocatable[resource] = left
		}
	}
	out := scheduling.Node{Name: name, Pool: v1.NewPoolKey(pool), Object: object}
	for _, d := range slices.Sorted(maps.Keys(n.Pods)) {
		for i := range n.Pods[d] {
			pod := deployments[d].pod(fmt.Sprintf("%s-on-%s-%d", d, strings.TrimPrefix(name, "node-"), i))
			pod.Spec.NodeName, pod.Status.Phase = name, corev1.PodRunning
			out.Pods = append(out.Pods, pod)
		}
	}
	return out
}
