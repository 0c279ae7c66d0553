package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Fleet describes nodes to consolidate. The nodes have many different types, but all are equally full. Their pods belong to fifty
// applications.
type Fleet struct {
	Nodes int
	// Fill is the larger of two shares of each node: the requested share of its CPU and the requested share of its memory.
	Fill float64
	// Mixed adds separate pools for spot nodes and for arm64 nodes, zone spreads, hostname anti-affinity, pods that require a zone, an
	// architecture or a capacity type, and PodDisruptionBudgets.
	Mixed bool
	// Dense replaces each pod by three pods, each with a third of the pod's requests. A node with Fill 0.4 then has about 18 pods.
	Dense bool
	// Seed is the seed of the random generator. 0 means the constant Seed.
	Seed uint64
}

// Snapshot returns the fleet. Its nodes have existed for a long time and may be consolidated without limit. The same Fleet gives the same
// snapshot.
func (f Fleet) Snapshot() *scheduling.Snapshot {
	if f.Seed == 0 {
		f.Seed = Seed
	}
	catalog := Catalog()
	nodes := existing(catalog, f.Nodes, f.Fill, f.Seed)
	for i := range nodes {
		if f.Dense {
			nodes[i].Pods = thirds(nodes[i].Pods)
		}
	}
	s := Snapshot(catalog, nil, nodes)
	s.NodePools[0].Object.Spec.Disruption.Budgets = []v1.Budget{}
	s.NodePools[0].Object.UID = "pool-default"
	if f.Mixed {
		addPools(s)
	}
	for i := range s.Nodes {
		f.finish(s, &s.Nodes[i])
	}
	if f.Mixed {
		addBudgets(s)
		settleSpreads(s)
	}
	return s
}

// addPools adds a pool for arm64 nodes and a pool for spot nodes. In all other fields, these pools are equal to the first pool.
func addPools(s *scheduling.Snapshot) {
	for name, require := range map[string]v1.NodeSelectorRequirementWithMinValues{
		"arm":  {Key: LabelArch, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}},
		"spot": {Key: LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"spot"}},
	} {
		object := s.NodePools[0].Object.DeepCopy()
		object.Name, object.UID = name, types.UID("pool-"+name)
		list := &object.Spec.Template.Spec.Requirements
		*list = append(slices.DeleteFunc(*list, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == require.Key }), require)
		s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(name), Object: object, Catalog: s.NodePools[0].Catalog})
	}
	slices.SortFunc(s.NodePools, func(a, b scheduling.NodePool) int { return a.Key.Compare(b.Key) })
}

// thirds returns three pods for each pod of the list, each with a third of the pod's requests.
func thirds(list []Pod) []Pod {
	var out []Pod
	for _, p := range list {
		for i := range 3 {
			q := p
			q.Name, q.CPUm, q.MemMi = fmt.Sprintf("%s-%d", p.Name, i), max(p.CPUm/3, 10), max(p.MemMi/3, 16)
			out = append(out, q)
		}
	}
	return out
}

// finish adds the NodeClaim of a node. If Mixed is set, it also adds constraints to the pods.
func (f Fleet) finish(s *scheduling.Snapshot, n *scheduling.Node) {
	if f.Mixed {
		switch {
		case n.Object.Labels[LabelArch] == "arm64":
			n.Object.Labels[v1.NodePoolLabelKey] = "arm"
		case n.Object.Labels[LabelCapacityType] == "spot":
			n.Object.Labels[v1.NodePoolLabelKey] = "spot"
		}
		n.Pool = scheduling.PoolOf(n.Object.Labels)
		apart := map[string]bool{}
		n.Pods = slices.DeleteFunc(n.Pods, func(p *corev1.Pod) bool {
			constrain(p, n.Object.Labels)
			twice := apart[p.Labels["app"]] && p.Spec.Affinity != nil
			apart[p.Labels["app"]] = true
			return twice
		})
	}
	Settle(n, s.Time.Add(-24*time.Hour))
}

// Settle makes a node that has existed since the given time: the node is ready and has a NodeClaim.
func Settle(n *scheduling.Node, since time.Time) {
	created := metav1.NewTime(since)
	n.Object.CreationTimestamp = created
	n.Object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	n.Claim = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "claim-" + n.Name, UID: types.UID("uid-" + n.Name), CreationTimestamp: created, Labels: n.Object.Labels,
	}}
	n.Claim.Status.ProviderID, n.Claim.Status.NodeName = n.Object.Spec.ProviderID, n.Name
	n.Claim.Spec.ExpireAfter = v1.Never()
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		n.Claim.Conditions().SetTrue(kind, since)
	}
}

// constrain adds a rule to the pod if the last digit of its application's number is from 0 to 4. Each of these digits has a different rule.
// The applications are called run00 to run49.
func constrain(p *corev1.Pod, labels map[string]string) {
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
	pin := func(key string) {
		p.Labels["app"] += "-" + strings.ReplaceAll(labels[key], "/", "-")
		p.Spec.NodeSelector = map[string]string{key: labels[key]}
	}
	var app int
	fmt.Sscanf(p.Labels["app"], "run%d", &app)
	switch app % 10 {
	case 0:
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 5, TopologyKey: LabelZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own,
		}}
	case 1:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: own}},
		}}
	case 2:
		pin(LabelZone)
	case 3:
		pin(LabelArch)
	case 4:
		pin(LabelCapacityType)
	}
}

// settleSpreads sets the maxSkew of each spread constraint to the present skew plus two, but at least to 5, so that the fleet meets the
// constraint.
func settleSpreads(s *scheduling.Snapshot) {
	counts := map[string]map[string]int32{}
	each := func(do func(p *corev1.Pod, zone string)) {
		for i := range s.Nodes {
			for _, p := range s.Nodes[i].Pods {
				if len(p.Spec.TopologySpreadConstraints) > 0 {
					do(p, s.Nodes[i].Object.Labels[LabelZone])
				}
			}
		}
	}
	each(func(p *corev1.Pod, zone string) {
		app := p.Labels["app"]
		if counts[app] == nil {
			counts[app] = map[string]int32{}
		}
		counts[app][zone]++
	})
	each(func(p *corev1.Pod, _ string) {
		list := counts[p.Labels["app"]]
		low, high := int32(1<<30), int32(0)
		for _, zone := range Zones() {
			low, high = min(low, list[zone]), max(high, list[zone])
		}
		p.Spec.TopologySpreadConstraints[0].MaxSkew = max(5, high-low+2)
	})
}

// addBudgets adds a PodDisruptionBudget for every fifth application. It allows 10% of the application's pods to be unavailable at a time.
func addBudgets(s *scheduling.Snapshot) {
	for app := 0; app < 50; app += 5 {
		name := fmt.Sprintf("run%02d", app)
		unavailable := intstr.FromString("10%")
		pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		pdb.Spec.MaxUnavailable = &unavailable
		count := int32(0)
		for i := range s.Nodes {
			for _, p := range s.Nodes[i].Pods {
				if p.Labels["app"] == name {
					count++
				}
			}
		}
		pdb.Status.ExpectedPods, pdb.Status.CurrentHealthy, pdb.Status.DisruptionsAllowed = count, count, max(1, count/10)
		s.PodDisruptionBudgets = append(s.PodDisruptionBudgets, pdb)
	}
}
