// Package parts makes snapshots for tests of the planner and of its packages. It makes pods, pools, nodes and instance types by hand, or
// draws them at random.
package parts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// These constants are label keys, and a resource that only few instance types have.
const (
	ZoneKey     = corev1.LabelTopologyZone
	ArchKey     = corev1.LabelArchStable
	TypeKey     = corev1.LabelInstanceTypeStable
	CapacityKey = v1.CapacityTypeLabelKey
	GPUName     = corev1.ResourceName("example.com/gpu")
)

// Amounts makes a ResourceList from "name=quantity" pairs. Unlike build.Amounts, it accepts quantities that planners refuse.
func Amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, pair := range pairs {
		name, q, _ := strings.Cut(pair, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(q)
	}
	return out
}

// PodOption changes a pod.
type PodOption func(*corev1.Pod)

// Pod returns a pod in the namespace "default" that requests one core and 1Gi, unless an option changes this.
func Pod(name string, options ...PodOption) *corev1.Pod {
	p := build.Pod(name, build.UID(name), build.CPU("1"), build.Memory("1Gi"))
	for _, o := range options {
		o(p)
	}
	return p
}

// Pods returns n pods, named prefix-0, prefix-1 and so on.
func Pods(prefix string, n int, options ...PodOption) []*corev1.Pod {
	out := make([]*corev1.Pod, n)
	for i := range out {
		out[i] = Pod(fmt.Sprintf("%s-%d", prefix, i), options...)
	}
	return out
}

// Requests sets the requests of the pod's container.
func Requests(pairs ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = Amounts(pairs...) }
}

// Selector sets the pod's node selector, from "key=value" pairs.
func Selector(pairs ...string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{}
		for _, pair := range pairs {
			k, v, _ := strings.Cut(pair, "=")
			p.Spec.NodeSelector[k] = v
		}
	}
}

// NodeAffinity returns the pod's node affinity. If the pod has no node affinity, it adds an empty node affinity.
func NodeAffinity(p *corev1.Pod) *corev1.NodeAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.NodeAffinity == nil {
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return p.Spec.Affinity.NodeAffinity
}

// Expression returns an expression of node affinity.
func Expression(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// In returns an expression with the operator In.
func In(key string, values ...string) corev1.NodeSelectorRequirement {
	return Expression(key, corev1.NodeSelectorOpIn, values...)
}

// Required adds one term of required node affinity, which is one more alternative for the pod.
func Required(expressions ...corev1.NodeSelectorRequirement) PodOption {
	return func(p *corev1.Pod) {
		a := NodeAffinity(p)
		if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		}
		s := a.RequiredDuringSchedulingIgnoredDuringExecution
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: expressions})
	}
}

// RequiredFields adds a term of required node affinity on fields.
func RequiredFields(fields ...corev1.NodeSelectorRequirement) PodOption {
	return func(p *corev1.Pod) {
		Required()(p)
		terms := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		terms[len(terms)-1].MatchFields = fields
	}
}

// OfOS sets the pod's operating system.
func OfOS(name string) PodOption {
	return func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.OSName(name)} }
}

// Preferred adds a term of preferred node affinity.
func Preferred(weight int32, expressions ...corev1.NodeSelectorRequirement) PodOption {
	return func(p *corev1.Pod) {
		a := NodeAffinity(p)
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: expressions}})
	}
}

// Tolerates adds tolerations.
func Tolerates(tolerations ...corev1.Toleration) PodOption {
	return func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, tolerations...) }
}

// Taints returns the taints that the texts describe, each in the form "key=value:Effect".
func Taints(texts ...string) []corev1.Taint {
	out := make([]corev1.Taint, len(texts))
	for i := range texts {
		out[i] = build.Taint(texts[i])
	}
	return out
}

// InstanceType returns an amd64 Linux type that can run 110 pods. It is offered on demand in zones a and b at the given price, and as spot
// at 0.4 of that price.
func InstanceType(name string, price float64, capacity ...string) *cloudprovider.InstanceType {
	it := build.InstanceType(name)
	it.Capacity = Amounts(append([]string{"pods=110"}, capacity...)...)
	for _, zone := range []string{"a", "b"} {
		it.Offerings = append(it.Offerings, Offering(zone, v1.CapacityTypeOnDemand, price), Offering(zone, v1.CapacityTypeSpot, price*0.4))
	}
	return it
}

// Offering returns an available offering.
func Offering(zone, capacityType string, price float64) cloudprovider.Offering {
	return build.Offering(zone, capacityType, price)
}

// With replaces the type's requirements for the labels that r names.
func With(it *cloudprovider.InstanceType, r ...requirements.Requirement) *cloudprovider.InstanceType {
	build.With(r...)(it)
	return it
}

// Sold replaces the type's offerings.
func Sold(it *cloudprovider.InstanceType, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	it.Offerings = offerings
	return it
}

// Catalogue returns three types of one family (small, medium and large, with 2, 4 and 8 cores and 4Gi per core), and an arm64 type that is
// like medium and slightly cheaper.
func Catalogue() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{
		InstanceType("small", 0.10, "cpu=2", "memory=8Gi"),
		InstanceType("medium", 0.20, "cpu=4", "memory=16Gi"),
		InstanceType("large", 0.40, "cpu=8", "memory=32Gi"),
		With(InstanceType("arm", 0.19, "cpu=4", "memory=16Gi"), requirements.In(ArchKey, "arm64")),
	}
}

// PoolOption changes a NodePool.
type PoolOption func(*scheduling.NodePool)

// NodePool returns a NodePool that launches nodes of the catalog "types". Its key is the key of a v1 NodePool.
func NodePool(name string, options ...PoolOption) scheduling.NodePool {
	np := scheduling.NodePool{Key: v1.NewPoolKey(name), Object: &v1.NodePool{}, Catalog: "types"}
	np.Object.Name = name
	np.Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, o := range options {
		o(&np)
	}
	return np
}

// Weight sets the pool's weight.
func Weight(w int32) PoolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Weight = &w }
}

// PoolTaints sets the taints of the pool's nodes.
func PoolTaints(texts ...string) PoolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Template.Spec.Taints = Taints(texts...) }
}

// Limit sets the pool's limits.
func Limit(pairs ...string) PoolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Limits = Amounts(pairs...) }
}

// PoolLabel sets a label of the pool's nodes.
func PoolLabel(key, value string) PoolOption {
	return func(np *scheduling.NodePool) {
		labels := &np.Object.Spec.Template.Labels
		if *labels == nil {
			*labels = map[string]string{}
		}
		(*labels)[key] = value
	}
}

// PoolNeeds adds a requirement to the pool.
func PoolNeeds(key string, op corev1.NodeSelectorOperator, values ...string) PoolOption {
	return func(np *scheduling.NodePool) {
		spec := &np.Object.Spec.Template.Spec
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values})
	}
}

// NodeOption changes a node.
type NodeOption func(*scheduling.Node)

// Node returns an unmanaged node with 4 cores and 16Gi in zone a.
func Node(name string, options ...NodeOption) scheduling.Node {
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		ZoneKey: "a", ArchKey: "amd64", corev1.LabelHostname: name, corev1.LabelOSStable: "linux", TypeKey: "medium",
	}}}
	o.Status.Capacity = Amounts("cpu=4", "memory=16Gi", "pods=110")
	o.Status.Allocatable = Amounts("cpu=4", "memory=16Gi", "pods=110")
	n := scheduling.Node{Name: name, Object: o}
	for _, opt := range options {
		opt(&n)
	}
	return n
}

// NodeLabel sets a label of the node.
func NodeLabel(key, value string) NodeOption {
	return func(n *scheduling.Node) { n.Object.Labels[key] = value }
}

// NodeTaints sets the taints of the node.
func NodeTaints(texts ...string) NodeOption {
	return func(n *scheduling.Node) { n.Object.Spec.Taints = Taints(texts...) }
}

// Allocatable sets the node's allocatable resources and its capacity.
func Allocatable(pairs ...string) NodeOption {
	return func(n *scheduling.Node) {
		n.Object.Status.Allocatable = Amounts(append([]string{"pods=110"}, pairs...)...)
		n.Object.Status.Capacity = n.Object.Status.Allocatable.DeepCopy()
	}
}

// Bound adds the pods to the node, as bound pods.
func Bound(list ...*corev1.Pod) NodeOption {
	return func(n *scheduling.Node) {
		for _, p := range list {
			p.Spec.NodeName = n.Name
			p.Status.Phase = corev1.PodRunning
			n.Pods = append(n.Pods, p)
		}
	}
}

// OfPool makes the node a registered and initialized node of the pool, with a NodeClaim that agrees with the Node.
func OfPool(name string) NodeOption {
	return func(n *scheduling.Node) {
		n.Pool = v1.NewPoolKey(name)
		n.Claim = &v1.NodeClaim{}
		n.Claim.Name = n.Name
		n.Claim.Labels = map[string]string{v1.NodePoolLabelKey: name}
		n.Claim.Status.Capacity = n.Object.Status.Capacity.DeepCopy()
		n.Claim.Status.Allocatable = n.Object.Status.Allocatable.DeepCopy()
		n.Object.Labels[v1.NodePoolLabelKey] = name
		n.Object.Labels[v1.NodeRegisteredLabelKey] = "true"
		n.Object.Labels[v1.NodeInitializedLabelKey] = "true"
	}
}

// DaemonSet returns a DaemonSet whose pods request the amounts.
func DaemonSet(name string, amounts []string, options ...PodOption) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, UID: types.UID("ds-" + name)}}
	d.Spec.Template.Spec = Pod(name, append([]PodOption{Requests(amounts...)}, options...)...).Spec
	return d
}

// OwnedBy makes the DaemonSet the owner of the pod.
func OwnedBy(d *appsv1.DaemonSet) PodOption {
	return func(p *corev1.Pod) {
		yes := true
		p.Namespace = d.Namespace
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name, UID: d.UID, Controller: &yes}}
	}
}

// Cluster returns a snapshot made of the given parts: pools, nodes, pods, DaemonSets and instance types. Without instance types it has the
// types of Catalogue, and without pools it has one pool "default".
func Cluster(parts ...any) *scheduling.Snapshot {
	s := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary()}
	var types []*cloudprovider.InstanceType
	for _, part := range parts {
		switch x := part.(type) {
		case scheduling.NodePool:
			s.NodePools = append(s.NodePools, x)
		case scheduling.Node:
			s.Nodes = append(s.Nodes, x)
		case *corev1.Pod:
			s.Pods = append(s.Pods, x)
		case []*corev1.Pod:
			s.Pods = append(s.Pods, x...)
		case *appsv1.DaemonSet:
			s.DaemonSets = append(s.DaemonSets, x)
		case *cloudprovider.InstanceType:
			types = append(types, x)
		case []*cloudprovider.InstanceType:
			types = append(types, x...)
		default:
			// This node has only a name, which describes the mistake. Therefore Compile returns an error that contains the name.
			s.Nodes = append(s.Nodes, scheduling.Node{Name: fmt.Sprintf("no part of a cluster: %T", part)})
		}
	}
	if types == nil {
		types = Catalogue()
	}
	if s.NodePools == nil {
		s.NodePools = []scheduling.NodePool{NodePool("default")}
	}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
	return s
}

// Place describes where the plan places the pod in the namespace "default": "new <type>/<zone>/<capacity type>", "on <node>" or "nowhere".
func Place(p *scheduling.Plan, name string) string {
	key := scheduling.PodKey{Namespace: "default", Name: name}
	for i := range p.Existing {
		if slices.Contains(p.Existing[i].Pods, key) {
			return "on " + p.Existing[i].Name
		}
	}
	for i := range p.NewNodes {
		if slices.Contains(p.NewNodes[i].Pods, key) {
			o := p.NewNodes[i].InstanceTypes[0]
			return "new " + o.Name + "/" + o.Zone + "/" + o.CapacityType
		}
	}
	return "nowhere"
}

// WantPlace fails the test unless Place returns want for the pod.
func WantPlace(t testing.TB, p *scheduling.Plan, name, want string) {
	t.Helper()
	if got := Place(p, name); got != want {
		why := ""
		for _, u := range p.Unschedulable {
			if u.Pod.Name == name {
				why = fmt.Sprintf(" (%s)", u.Reasons)
			}
		}
		t.Errorf("pod %s: %s%s, want %s", name, got, why, want)
	}
}
