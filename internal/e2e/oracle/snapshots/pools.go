package snapshots

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

func (m *maker) pools() {
	most := 1
	if m.has(Pools) {
		most = 3
	}
	m.s.NodePools = list(m, "pools", 1, most, func() scheduling.NodePool {
		pool := m.pool(m.name("pool"))
		return scheduling.NodePool{Key: v1.NewPoolKey(pool.Name), Object: pool, Catalog: catalogName}
	})
}

func (m *maker) pool(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	spec := &pool.Spec.Template.Spec
	spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	spec.NodeClassRef = v1.NodeClassReference{Group: "example.com", Kind: "ExampleClass", Name: "standard"}
	static := m.serial["pool"] > 1 && m.with(StaticPools, "static", 25)
	if static {
		replicas := int64(m.number("replicas", 0, 3))
		pool.Spec.Replicas = &replicas
	}
	if !static && m.with(Pools, "weight", 40) {
		weight := int32(m.number("pool weight", 1, 3))
		pool.Spec.Weight = &weight
	}
	require := func(key string, operator corev1.NodeSelectorOperator, values ...string) {
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: operator, Values: values})
	}
	if m.with(Pools, "pool arch", 25) {
		require(corev1.LabelArchStable, corev1.NodeSelectorOpIn, choose(m, "arch", "amd64", "arm64"))
	}
	if m.with(Pools, "pool zones", 25) {
		require(zoneKey, corev1.NodeSelectorOpIn, distinct(some(m, "zones", m.zones))...)
	}
	if m.with(Pools, "pool capacity type", 40) {
		require(capacityKey, corev1.NodeSelectorOpIn, choose(m, "capacity type", m.capacityTypes()...))
	}
	if m.with(Pools, "pool family", 20) {
		require(familyKey, choose(m, "operator", corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpIn), choose(m, "family", "f1", "f2", "f3"))
	}
	if m.with(Pools, "pool cores", 20) {
		require(coresKey, choose(m, "operator", corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, "Gte", "Lte"), choose(m, "bound", "1", "2", "4", "8"))
	}
	if m.has(CustomLabels) {
		switch m.number("pool tier", 0, 4) {
		case 1:
			pool.Spec.Template.Labels = map[string]string{tierKey: choose(m, "tier", "gold", "silver")}
		case 2:
			require(tierKey, corev1.NodeSelectorOpIn, "gold", "silver")
		case 3:
			require(tierKey, corev1.NodeSelectorOpNotIn, "gold")
		case 4:
			require(tierKey, corev1.NodeSelectorOpExists)
		}
		if m.chance("pool team", 30) {
			require(teamKey, corev1.NodeSelectorOpIn, "red", "blue")
		}
	}
	if m.with(Taints, "pool taint", 30) {
		spec.Taints = append(spec.Taints, m.taint())
	}
	if m.with(Taints, "pool startup taint", 15) {
		spec.StartupTaints = append(spec.StartupTaints, corev1.Taint{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule})
	}
	if m.with(MinValues, "min values", 35) {
		n := m.number("values", 1, 4)
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: choose(m, "varied key", corev1.LabelInstanceTypeStable, familyKey, zoneKey, coresKey, capacityKey), Operator: corev1.NodeSelectorOpExists, MinValues: &n,
		})
	}
	if static && m.with(Limits, "static limit", 30) {
		pool.Spec.Limits = amounts(map[corev1.ResourceName]string{"nodes": "2"})
	}
	if !static && m.with(Limits, "limits", 30) {
		pool.Spec.Limits = amounts(map[corev1.ResourceName]string{choose[corev1.ResourceName](m, "limited", "cpu", "memory", "nodes"): choose(m, "limit", "4", "2", "1", "16", "40Gi")})
	}
	pool.Default()
	return pool
}

// capacityTypes returns the capacity types that pools and pods may require.
func (m *maker) capacityTypes() []string {
	kinds := []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot}
	if m.has(Reservations) {
		kinds = append(kinds, v1.CapacityTypeReserved)
	}
	return kinds
}

// taint draws one of a few taints, so that tolerations match some of them.
func (m *maker) taint() corev1.Taint {
	return corev1.Taint{
		Key:    choose(m, "taint key", "example.com/dedicated", "example.com/rank"),
		Value:  choose(m, "taint value", "", "5", "a"),
		Effect: choose(m, "effect", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
	}
}

// tolerations draws tolerations that may match the taints.
func (m *maker) tolerations() []corev1.Toleration {
	var out []corev1.Toleration
	if !m.with(Taints, "tolerates", 35) {
		return nil
	}
	for range m.number("tolerations", 1, 2) {
		t := corev1.Toleration{Key: choose(m, "tolerated key", "example.com/dedicated", "example.com/rank", ""), Operator: corev1.TolerationOpExists}
		if t.Key != "" && m.chance("equal", 40) {
			t.Operator, t.Value = corev1.TolerationOpEqual, choose(m, "tolerated value", "", "5", "a")
		}
		t.Effect = choose(m, "tolerated effect", "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
		out = append(out, t)
	}
	return out
}
