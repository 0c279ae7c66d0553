package scheduling_test

import (
	"context"
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
	"github.com/drawknife/drawknife/scheduling"
)

const (
	zoneKey     = corev1.LabelTopologyZone
	archKey     = corev1.LabelArchStable
	typeKey     = corev1.LabelInstanceTypeStable
	capacityKey = v1.CapacityTypeLabelKey
	gpuName     = corev1.ResourceName("example.com/gpu")
)

// amounts makes a ResourceList of "name=quantity" pairs.
func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, pair := range pairs {
		name, q, _ := strings.Cut(pair, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(q)
	}
	return out
}

type podOption func(*corev1.Pod)

// pod is a pod in the namespace "default" that requests one core and 1Gi, unless an option says otherwise.
func pod(name string, options ...podOption) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	requests("cpu=1", "memory=1Gi")(p)
	for _, o := range options {
		o(p)
	}
	return p
}

// pods are n pods named prefix-0 and on.
func pods(prefix string, n int, options ...podOption) []*corev1.Pod {
	out := make([]*corev1.Pod, n)
	for i := range out {
		out[i] = pod(fmt.Sprintf("%s-%d", prefix, i), options...)
	}
	return out
}

func requests(pairs ...string) podOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts(pairs...) }
}

func selector(pairs ...string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{}
		for _, pair := range pairs {
			k, v, _ := strings.Cut(pair, "=")
			p.Spec.NodeSelector[k] = v
		}
	}
}

func nodeAffinity(p *corev1.Pod) *corev1.NodeAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.NodeAffinity == nil {
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return p.Spec.Affinity.NodeAffinity
}

func expression(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return expression(key, corev1.NodeSelectorOpIn, values...)
}

// required adds one term of required node affinity: a further alternative.
func required(expressions ...corev1.NodeSelectorRequirement) podOption {
	return func(p *corev1.Pod) {
		a := nodeAffinity(p)
		if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		}
		s := a.RequiredDuringSchedulingIgnoredDuringExecution
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: expressions})
	}
}

// requiredFields adds a term of required node affinity on fields.
func requiredFields(fields ...corev1.NodeSelectorRequirement) podOption {
	return func(p *corev1.Pod) {
		required()(p)
		terms := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		terms[len(terms)-1].MatchFields = fields
	}
}

// ofOS names the pod's operating system.
func ofOS(name string) podOption {
	return func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.OSName(name)} }
}

func preferred(weight int32, expressions ...corev1.NodeSelectorRequirement) podOption {
	return func(p *corev1.Pod) {
		a := nodeAffinity(p)
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: expressions}})
	}
}

func tolerates(tolerations ...corev1.Toleration) podOption {
	return func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, tolerations...) }
}

// taint reads "key=value:Effect".
func taint(text string) corev1.Taint {
	kv, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(kv, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func taints(texts ...string) []corev1.Taint {
	out := make([]corev1.Taint, len(texts))
	for i := range texts {
		out[i] = taint(texts[i])
	}
	return out
}

// machineType is an amd64 linux type with 110 pods, sold on demand at price in zones a and b and as spot at 0.4 of it.
func machineType(name string, price float64, capacity ...string) *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{
		Name: name,
		Requirements: requirements.NewSet(
			requirements.In(typeKey, name), requirements.In(archKey, "amd64"), requirements.In(corev1.LabelOSStable, "linux"),
		),
		Capacity: amounts(append([]string{"pods=110"}, capacity...)...),
	}
	for _, zone := range []string{"a", "b"} {
		it.Offerings = append(it.Offerings, offering(zone, v1.CapacityTypeOnDemand, price), offering(zone, v1.CapacityTypeSpot, price*0.4))
	}
	return it
}

func offering(zone, capacityType string, price float64) cloudprovider.Offering {
	return cloudprovider.Offering{
		Requirements: requirements.NewSet(requirements.In(zoneKey, zone), requirements.In(capacityKey, capacityType)),
		Price:        price, Available: true,
	}
}

// with replaces the type's statement of a label.
func with(it *cloudprovider.InstanceType, r ...requirements.Requirement) *cloudprovider.InstanceType {
	for i := range r {
		it.Requirements = it.Requirements.Without(r[i].Key()).With(r[i])
	}
	return it
}

// sold replaces the type's offerings.
func sold(it *cloudprovider.InstanceType, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	it.Offerings = offerings
	return it
}

// catalogue is small, medium and large of one family (2, 4 and 8 cores with 4Gi a core) and an arm64 node like
// medium that is a little cheaper.
func catalogue() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{
		machineType("small", 0.10, "cpu=2", "memory=8Gi"),
		machineType("medium", 0.20, "cpu=4", "memory=16Gi"),
		machineType("large", 0.40, "cpu=8", "memory=32Gi"),
		with(machineType("arm", 0.19, "cpu=4", "memory=16Gi"), requirements.In(archKey, "arm64")),
	}
}

type poolOption func(*scheduling.NodePool)

// nodePool launches nodes of the catalog "types". Its key is that of the current generation.
func nodePool(name string, options ...poolOption) scheduling.NodePool {
	np := scheduling.NodePool{Key: v1.NewPoolKey(name), Object: &v1.NodePool{}, Catalog: "types"}
	np.Object.Name = name
	np.Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, o := range options {
		o(&np)
	}
	return np
}

func weight(w int32) poolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Weight = &w }
}

func poolTaints(texts ...string) poolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Template.Spec.Taints = taints(texts...) }
}

func startupTaints(texts ...string) poolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Template.Spec.StartupTaints = taints(texts...) }
}

func limit(pairs ...string) poolOption {
	return func(np *scheduling.NodePool) { np.Object.Spec.Limits = amounts(pairs...) }
}

func poolLabel(key, value string) poolOption {
	return func(np *scheduling.NodePool) {
		labels := &np.Object.Spec.Template.Labels
		if *labels == nil {
			*labels = map[string]string{}
		}
		(*labels)[key] = value
	}
}

func poolNeeds(key string, op corev1.NodeSelectorOperator, values ...string) poolOption {
	return func(np *scheduling.NodePool) {
		spec := &np.Object.Spec.Template.Spec
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values})
	}
}

func catalogOf(name string) poolOption {
	return func(np *scheduling.NodePool) { np.Catalog = name }
}

func bornIn(g v1.Generation) poolOption {
	return func(np *scheduling.NodePool) { np.Key.Generation = g }
}

type nodeOption func(*scheduling.Node)

// node is an unmanaged node of 4 cores and 16Gi in zone a.
func node(name string, options ...nodeOption) scheduling.Node {
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		zoneKey: "a", archKey: "amd64", corev1.LabelHostname: name, corev1.LabelOSStable: "linux", typeKey: "medium",
	}}}
	o.Status.Capacity = amounts("cpu=4", "memory=16Gi", "pods=110")
	o.Status.Allocatable = amounts("cpu=4", "memory=16Gi", "pods=110")
	n := scheduling.Node{Name: name, Object: o}
	for _, opt := range options {
		opt(&n)
	}
	return n
}

func nodeLabel(key, value string) nodeOption {
	return func(n *scheduling.Node) { n.Object.Labels[key] = value }
}

func nodeTaints(texts ...string) nodeOption {
	return func(n *scheduling.Node) { n.Object.Spec.Taints = taints(texts...) }
}

func allocatable(pairs ...string) nodeOption {
	return func(n *scheduling.Node) {
		n.Object.Status.Allocatable = amounts(append([]string{"pods=110"}, pairs...)...)
		n.Object.Status.Capacity = n.Object.Status.Allocatable.DeepCopy()
	}
}

func bound(list ...*corev1.Pod) nodeOption {
	return func(n *scheduling.Node) {
		for _, p := range list {
			p.Spec.NodeName = n.Name
			p.Status.Phase = corev1.PodRunning
			n.Pods = append(n.Pods, p)
		}
	}
}

func leaving(n *scheduling.Node) { n.Leaving = true }

// ofPool makes the node one of the pool's, registered and initialised, with a NodeClaim like the Node.
func ofPool(name string) nodeOption {
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

// daemonSet has one pod a node that requests the amounts.
func daemonSet(name string, amounts []string, options ...podOption) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, UID: types.UID("ds-" + name)}}
	d.Spec.Template.Spec = pod(name, append([]podOption{requests(amounts...)}, options...)...).Spec
	return d
}

// ownedBy makes the pod one of the DaemonSet's.
func ownedBy(d *appsv1.DaemonSet) podOption {
	return func(p *corev1.Pod) {
		yes := true
		p.Namespace = d.Namespace
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name, UID: d.UID, Controller: &yes}}
	}
}

// cluster is a snapshot with the catalogue above, one pool "default" if no part is a pool, and the given parts: pools,
// nodes, pods, DaemonSets and instance types, which replace the catalogue.
func cluster(parts ...any) *scheduling.Snapshot {
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
			panic(fmt.Sprintf("no part of a cluster: %T", part))
		}
	}
	if types == nil {
		types = catalogue()
	}
	if s.NodePools == nil {
		s.NodePools = []scheduling.NodePool{nodePool("default")}
	}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
	return s
}

// solve plans the snapshot; a fault in the plan that the independent validator finds fails the test.
func solve(t testing.TB, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	checkPlan(t, s, p)
	return p
}

// place is where a pod went: "new <type>/<zone>/<capacity type>", "on <node>" or "nowhere".
func place(p *scheduling.Plan, name string) string {
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

// newNodeOf is the new node that holds the pod.
func newNodeOf(t testing.TB, p *scheduling.Plan, name string) *scheduling.NewNode {
	t.Helper()
	for i := range p.NewNodes {
		if slices.Contains(p.NewNodes[i].Pods, scheduling.PodKey{Namespace: "default", Name: name}) {
			return &p.NewNodes[i]
		}
	}
	t.Fatalf("pod %s is not on a new node, but %s", name, place(p, name))
	return nil
}

// reasonsOf are the sentences about a pod that was not placed.
func reasonsOf(t testing.TB, p *scheduling.Plan, name string) []scheduling.Reason {
	t.Helper()
	for _, u := range p.Unschedulable {
		if u.Pod.Name == name {
			return u.Reasons
		}
	}
	t.Fatalf("pod %s is not unschedulable, but %s", name, place(p, name))
	return nil
}

// wantPlace fails the test unless the pod went there.
func wantPlace(t testing.TB, p *scheduling.Plan, name, want string) {
	t.Helper()
	if got := place(p, name); got != want {
		why := ""
		for _, u := range p.Unschedulable {
			if u.Pod.Name == name {
				why = fmt.Sprintf(" (%s)", u.Reasons)
			}
		}
		t.Errorf("pod %s: %s%s, want %s", name, got, why, want)
	}
}

// wantReason fails the test unless the pod was refused for the single reason of that text, the one about existing nodes
// aside.
func wantReason(t testing.TB, p *scheduling.Plan, name, want string) {
	t.Helper()
	got := slices.Clone(reasonsOf(t, p, name))
	if last := len(got) - 1; last > 0 && got[last].Code == scheduling.ReasonExistingNodes {
		got = got[:last]
	}
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("pod %s: %q, want %q", name, got, want)
	}
}

// ownerNode makes a pod a static one.
func ownerNode() []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "node-n", Controller: &yes}}
}
