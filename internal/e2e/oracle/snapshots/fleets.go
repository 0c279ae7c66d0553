package snapshots

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Fleets makes snapshots for properties of disruption, with at most the given features. They have more nodes than the snapshots of Of. Most
// nodes are one day old, and some have drifted. There are PodDisruptionBudgets, pools that allow much disruption, and no pending pods.
func Fleets(features []Feature) *rapid.Generator[*scheduling.Snapshot] {
	return rapid.Custom(func(t *rapid.T) *scheduling.Snapshot {
		m := &maker{t: t, features: features, serial: map[string]int{}, fleet: true, s: &scheduling.Snapshot{
			Time:       time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Vocabulary: requirements.CoreVocabulary().Merge(requirements.Vocabulary{WellKnown: []string{familyKey, coresKey, reservationKey}}),
		}}
		m.zones = []string{"zone-a", "zone-b", "zone-c"}[:m.number("zones", 2, 3)]
		m.catalog()
		m.pools()
		m.policies()
		m.overlays()
		m.namespaces()
		m.storage()
		m.workloads()
		m.defaultSpread()
		m.daemons()
		m.s.Nodes = list(m, "nodes", 2, 9, func() scheduling.Node { return m.inService(m.node(m.name("node"))) })
		m.podBudgets()
		return m.s
	})
}

// policies sets the disruption policies of the pools.
func (m *maker) policies() {
	for i := range m.s.NodePools {
		d := &m.s.NodePools[i].Object.Spec.Disruption
		d.ConsolidationPolicy = choose(m, "policy", v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced)
		d.Budgets = []v1.Budget{}
		if m.chance("budget", 15) {
			d.Budgets = []v1.Budget{{Nodes: fmt.Sprint(m.number("budget of nodes", 1, 4))}}
		}
	}
}

// inService adds to the node what a candidate for disruption has, if the node has a NodeClaim.
func (m *maker) inService(n scheduling.Node) scheduling.Node {
	if n.Object != nil {
		n.Object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
	if n.Claim == nil {
		return n
	}
	created := metav1.NewTime(m.s.Time.Add(-24 * time.Hour))
	n.Claim.UID, n.Claim.CreationTimestamp = types.UID("uid-"+n.Name), created
	n.Claim.Spec.ExpireAfter = v1.Never()
	if n.Object == nil || n.Object.Labels[v1.NodeInitializedLabelKey] != "true" {
		return n
	}
	n.Claim.Status.ProviderID, n.Claim.Status.NodeName = "cloud://"+n.Name, n.Name
	n.Object.Spec.ProviderID = n.Claim.Status.ProviderID
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		n.Claim.Conditions().SetTrue(kind, created.Time)
	}
	if m.chance("drifted", 15) {
		n.Claim.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, "NodePoolDrifted", "", m.s.Time.Add(-time.Duration(m.number("drifted for", 1, 9))*time.Hour))
	}
	return n
}

// podBudgets makes PodDisruptionBudgets for whole workloads.
func (m *maker) podBudgets() {
	for _, t := range m.templates {
		if !m.chance("pod budget", 20) {
			continue
		}
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: t.app}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: t.app}}
		b.Status.DisruptionsAllowed = int32(m.number("disruptions allowed", 0, 3))
		m.s.PodDisruptionBudgets = append(m.s.PodDisruptionBudgets, b)
	}
}
