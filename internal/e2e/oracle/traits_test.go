package oracle_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/e2e/oracle/snapshots"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// promise is a pod that a plan places.
type promise struct {
	snapshot *scheduling.Snapshot
	query    scheduling.Query
	pod      *corev1.Pod
	// One of them is set: where it goes.
	node    *scheduling.Node
	planned *scheduling.NewNode
}

// trait is something about a promise that kube-scheduler, or the controller that launches nodes, has a say in. A run in which
// one never comes up proves nothing about it.
type trait struct {
	name string
	has  func(p *promise) bool
}

func traits() []trait {
	out := []trait{
		{"existing node", func(p *promise) bool { return p.node != nil }},
		{"new node", func(p *promise) bool { return p.planned != nil }},
		{"node selector", func(p *promise) bool { return p.pod.Spec.NodeSelector != nil }},
		{"several required terms", func(p *promise) bool { return len(requiredTerms(p.pod)) > 1 }},
		{"several required terms and spread", func(p *promise) bool {
			return len(requiredTerms(p.pod)) > 1 && spreads(p.pod, func(c *corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == corev1.DoNotSchedule })
		}},
		{"empty required term", func(p *promise) bool {
			return slices.ContainsFunc(requiredTerms(p.pod), func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions) == 0 })
		}},
		{"preferred node affinity", func(p *promise) bool {
			a := p.pod.Spec.Affinity
			return a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
		}},
		{"preferences ignored", func(p *promise) bool { return p.query.Preferences == scheduling.PreferencesIgnore }},
		{"toleration", func(p *promise) bool { return len(p.pod.Spec.Tolerations) > 0 }},
		{"pool taint", func(p *promise) bool { return len(p.pool().Spec.Template.Spec.Taints) > 0 && p.planned != nil }},
		{"startup taint", func(p *promise) bool { return len(p.pool().Spec.Template.Spec.StartupTaints) > 0 && p.planned != nil }},
		{"limits", func(p *promise) bool { return len(p.pool().Spec.Limits) > 0 && p.planned != nil }},
		{"priority", func(p *promise) bool { return p.pod.Spec.Priority != nil && !buffers.IsPlaceholder(p.pod) }},
		{"init container", func(p *promise) bool { return len(p.pod.Spec.InitContainers) > 0 }},
		{"overhead", func(p *promise) bool { return len(p.pod.Spec.Overhead) > 0 }},
		{"extended resource", func(p *promise) bool { return asks(p.pod, "example.com/gpu") }},
		{"daemon sets", func(p *promise) bool { return len(p.snapshot.DaemonSets) > 0 && p.planned != nil }},
		{"host port", func(p *promise) bool { return len(p.pod.Spec.Containers[0].Ports) > 0 }},

		{"spread by zone", spreadOver(corev1.LabelTopologyZone)},
		{"spread by hostname", spreadOver(corev1.LabelHostname)},
		{"spread by capacity type", spreadOver(v1.CapacityTypeLabelKey)},
		{"spread by a custom label", spreadOver("example.com/tier")},
		{"min domains", spread(func(c *corev1.TopologySpreadConstraint) bool { return c.MinDomains != nil })},
		{"spread with match label keys", spread(func(c *corev1.TopologySpreadConstraint) bool { return len(c.MatchLabelKeys) > 0 })},
		{"spread that may be broken", spread(func(c *corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == corev1.ScheduleAnyway })},
		{"default spread, demanded", defaultSpread(corev1.DoNotSchedule)},
		{"default spread, wished", defaultSpread(corev1.ScheduleAnyway)},

		{"affinity", func(p *promise) bool { return len(affinityTerms(p.pod)) > 0 }},
		{"anti-affinity", func(p *promise) bool { return len(antiAffinityTerms(p.pod)) > 0 }},
		{"preferred pod affinity", func(p *promise) bool {
			a := p.pod.Spec.Affinity
			return a != nil && a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
		}},
		{"preferred pod anti-affinity", func(p *promise) bool {
			a := p.pod.Spec.Affinity
			return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
		}},
		{"listed namespaces", podTerm(func(t *corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 })},
		{"namespace selector", podTerm(func(t *corev1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })},
		{"match label keys", podTerm(func(t *corev1.PodAffinityTerm) bool { return len(t.MatchLabelKeys) > 0 })},
		{"mismatch label keys", podTerm(func(t *corev1.PodAffinityTerm) bool { return len(t.MismatchLabelKeys) > 0 })},
		{"several pod terms and spread", func(p *promise) bool {
			return len(affinityTerms(p.pod))+len(antiAffinityTerms(p.pod)) > 1 && len(p.pod.Spec.TopologySpreadConstraints) > 0
		}},

		{"bound volume", claim(func(p *promise, c *corev1.PersistentVolumeClaim) bool { return c.Spec.VolumeName != "" })},
		{"volume that waits", claim(func(p *promise, c *corev1.PersistentVolumeClaim) bool {
			return c.Spec.VolumeName == "" && *c.Spec.StorageClassName != "by-hand"
		})},
		{"volume made by hand on a new node", claim(func(p *promise, c *corev1.PersistentVolumeClaim) bool {
			return c.Spec.VolumeName == "" && *c.Spec.StorageClassName == "by-hand" && p.planned != nil
		})},
		{"volume made by hand on a node", claim(func(p *promise, c *corev1.PersistentVolumeClaim) bool {
			return c.Spec.VolumeName == "" && *c.Spec.StorageClassName == "by-hand" && p.node != nil
		})},
		{"volume of an immediate class", claim(func(p *promise, c *corev1.PersistentVolumeClaim) bool { return *c.Spec.StorageClassName == "immediate" })},
		{"ephemeral volume", func(p *promise) bool {
			return slices.ContainsFunc(p.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil })
		}},

		{"placeholder", func(p *promise) bool { return buffers.IsPlaceholder(p.pod) }},
		{"placeholder next to pods of its workload", func(p *promise) bool {
			return buffers.IsPlaceholder(p.pod) && slices.ContainsFunc(p.snapshot.Pods, func(o *corev1.Pod) bool { return o.Labels["app"] == p.pod.Labels["app"] })
		}},
		{"reserved node", func(p *promise) bool {
			return p.planned != nil && p.planned.InstanceTypes[0].CapacityType == v1.CapacityTypeReserved
		}},
		{"reserved node, strictly", func(p *promise) bool {
			return p.query.Reserved == scheduling.ReservedStrict && p.planned != nil && p.planned.InstanceTypes[0].CapacityType == v1.CapacityTypeReserved
		}},
		{"bought for want of a reservation", func(p *promise) bool {
			return p.query.Reserved != scheduling.ReservedStrict && p.planned != nil && p.planned.InstanceTypes[0].CapacityType != v1.CapacityTypeReserved
		}},
		{"min values met", func(p *promise) bool { return p.planned != nil && p.minValues() && !p.planned.MinValuesRelaxed }},
		{"min values relaxed", func(p *promise) bool { return p.planned != nil && p.planned.MinValuesRelaxed }},
		{"overlay", func(p *promise) bool { return p.planned != nil && len(p.snapshot.NodeOverlays) > 0 }},
		{"resource of an overlay", func(p *promise) bool { return p.planned != nil && asks(p.pod, "example.com/extra") }},
		{"node of a static pool", func(p *promise) bool { return p.node != nil && p.pool().Spec.Replicas != nil }},
		{"node with few slots for pods", func(p *promise) bool { return p.planned != nil && few(p.planned.Allocatable) }},
		{"odd amount of memory", func(p *promise) bool {
			q := p.allocatable()[corev1.ResourceMemory]
			return p.planned != nil && q.Value()%1024 != 0
		}},

		{"foreign node", func(p *promise) bool { return p.node != nil && p.node.Claim == nil }},
		{"node without an object", func(p *promise) bool { return p.node != nil && p.node.Object == nil }},
		{"node not registered", state(func(n *scheduling.Node) bool {
			return n.Object.Labels[v1.NodeRegisteredLabelKey] != "true" && n.Claim != nil
		})},
		{"node not initialised", state(func(n *scheduling.Node) bool {
			return n.Object.Labels[v1.NodeRegisteredLabelKey] == "true" && n.Object.Labels[v1.NodeInitializedLabelKey] != "true"
		})},
		{"startup taint on a node that comes up", state(func(n *scheduling.Node) bool {
			return n.Claim != nil && len(n.Claim.Spec.StartupTaints) > 0 && len(n.Object.Spec.Taints) > 0 && n.Object.Labels[v1.NodeInitializedLabelKey] != "true"
		})},
		{"node without a zone", state(func(n *scheduling.Node) bool { return n.Object.Labels[corev1.LabelTopologyZone] == "" })},
		{"next to a cordoned node", alongside(func(n *scheduling.Node) bool { return n.Object != nil && n.Object.Spec.Unschedulable })},
		{"next to a leaving node", alongside(func(n *scheduling.Node) bool { return n.Leaving })},
	}
	for _, affinity := range []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore} {
		for _, taints := range []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor} {
			out = append(out, trait{"spread policies " + string(affinity) + " affinity, " + string(taints) + " taints", spread(func(c *corev1.TopologySpreadConstraint) bool {
				return orDefault(c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == affinity && orDefault(c.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == taints
			})})
		}
	}
	return out
}

// traitsOf names the traits that some promise of the plan has.
func traitsOf(s *scheduling.Snapshot, q scheduling.Query, plan *scheduling.Plan) map[string]int {
	pods := map[scheduling.PodKey]*corev1.Pod{}
	for _, list := range [][]*corev1.Pod{s.Pods, s.Placeholders} {
		for _, pod := range list {
			pods[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = pod
		}
	}
	out := map[string]int{}
	look := func(keys []scheduling.PodKey, node *scheduling.Node, planned *scheduling.NewNode) {
		for _, key := range keys {
			p := &promise{s, q, pods[key], node, planned}
			for _, t := range traits() {
				if out[t.name] == 0 && t.has(p) {
					out[t.name] = 1
				}
			}
		}
	}
	for i := range plan.Existing {
		at := slices.IndexFunc(s.Nodes, func(n scheduling.Node) bool { return n.Name == plan.Existing[i].Name })
		look(plan.Existing[i].Pods, &s.Nodes[at], nil)
	}
	for i := range plan.NewNodes {
		look(plan.NewNodes[i].Pods, nil, &plan.NewNodes[i])
	}
	return out
}

// checkTraits fails if a full run has no promise of some trait.
func (c *tally) checkTraits(t *testing.T, features []snapshots.Feature) {
	var rare []string
	for _, trait := range traits() {
		n := c.shown[trait.name]
		t.Logf("%6d snapshots: %s", n, trait.name)
		if n == 0 {
			rare = append(rare, trait.name)
		}
	}
	if len(features) == len(snapshots.All()) && c.snapshots >= defaultSnapshots && len(rare) > 0 {
		t.Errorf("no placement in %d snapshots shows: %s", c.snapshots, strings.Join(rare, "; "))
	}
}

// pool is the one of the node or node; an empty one if it has none.
func (p *promise) pool() *v1.NodePool {
	name := ""
	if p.planned != nil {
		name = p.planned.Pool.Name
	} else {
		name = p.node.Pool.Name
	}
	for i := range p.snapshot.NodePools {
		if p.snapshot.NodePools[i].Object.Name == name {
			return p.snapshot.NodePools[i].Object
		}
	}
	return &v1.NodePool{}
}

func (p *promise) allocatable() corev1.ResourceList {
	if p.planned == nil {
		return nil
	}
	return p.planned.Allocatable
}

func (p *promise) minValues() bool {
	return slices.ContainsFunc(p.pool().Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
}

func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

func affinityTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func antiAffinityTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func podTerm(has func(*corev1.PodAffinityTerm) bool) func(*promise) bool {
	return func(p *promise) bool {
		for _, t := range append(slices.Clone(affinityTerms(p.pod)), antiAffinityTerms(p.pod)...) {
			if has(&t) {
				return true
			}
		}
		return false
	}
}

func spreads(pod *corev1.Pod, has func(*corev1.TopologySpreadConstraint) bool) bool {
	for i := range pod.Spec.TopologySpreadConstraints {
		if has(&pod.Spec.TopologySpreadConstraints[i]) {
			return true
		}
	}
	return false
}

func spread(has func(*corev1.TopologySpreadConstraint) bool) func(*promise) bool {
	return func(p *promise) bool { return spreads(p.pod, has) }
}

func spreadOver(key string) func(*promise) bool {
	return spread(func(c *corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == key && c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
}

// defaultSpread: the pod has no constraints of its own and something selects it.
func defaultSpread(action corev1.UnsatisfiableConstraintAction) func(*promise) bool {
	return func(p *promise) bool {
		if len(p.pod.Spec.TopologySpreadConstraints) > 0 || len(p.pod.OwnerReferences) == 0 {
			return false
		}
		return slices.ContainsFunc(p.snapshot.DefaultTopologySpread, func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == action })
	}
}

func asks(pod *corev1.Pod, name corev1.ResourceName) bool {
	_, ok := pod.Spec.Containers[0].Resources.Requests[name]
	return ok
}

// claim: the pod uses a claim with the property.
func claim(has func(*promise, *corev1.PersistentVolumeClaim) bool) func(*promise) bool {
	return func(p *promise) bool {
		for _, v := range p.pod.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			for _, c := range p.snapshot.PersistentVolumeClaims {
				if c.Namespace == p.pod.Namespace && c.Name == v.PersistentVolumeClaim.ClaimName && has(p, c) {
					return true
				}
			}
		}
		return false
	}
}

func few(list corev1.ResourceList) bool {
	q := list[corev1.ResourcePods]
	return q.Value() < 4
}

// state: the pod goes to a node with an object in that state.
func state(is func(*scheduling.Node) bool) func(*promise) bool {
	return func(p *promise) bool { return p.node != nil && p.node.Object != nil && is(p.node) }
}

func alongside(is func(*scheduling.Node) bool) func(*promise) bool {
	return func(p *promise) bool {
		for i := range p.snapshot.Nodes {
			if is(&p.snapshot.Nodes[i]) {
				return true
			}
		}
		return false
	}
}

func orDefault(policy *corev1.NodeInclusionPolicy, fallback corev1.NodeInclusionPolicy) corev1.NodeInclusionPolicy {
	if policy == nil {
		return fallback
	}
	return cmp.Or(*policy, fallback)
}
