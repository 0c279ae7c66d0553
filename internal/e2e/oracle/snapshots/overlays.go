package snapshots

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// extraName is a resource that only overlays give to nodes.
const extraName = corev1.ResourceName("example.com/extra")

// overlays makes NodeOverlays, some of which contradict one another.
func (m *maker) overlays() {
	if !m.has(Overlays) {
		return
	}
	m.s.NodeOverlays = list(m, "overlays", 0, 3, func() *v1.NodeOverlay {
		o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: m.name("overlay")}}
		if m.chance("overlay selects", 60) {
			key, values := m.overlaidBy()
			o.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{
				Key: key, Operator: choose(m, "overlay operator", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: distinct(some(m, "overlay values", values)),
			}}
		}
		switch m.number("overlay price", 0, 4) {
		case 1, 2:
			price := choose(m, "price", "0.5", "0.01", "0", "3")
			o.Spec.Price = &price
		case 3, 4:
			adjustment := choose(m, "price adjustment", "+50%", "-30%", "-100%", "+0.2", "-0.05")
			o.Spec.PriceAdjustment = &adjustment
		}
		o.Spec.Capacity = amounts(map[corev1.ResourceName]string{extraName: choose(m, "extra", "0", "1", "3")})
		if m.with(Extended, "overlay gpu", 20) {
			o.Spec.Capacity[gpuName] = amount(choose(m, "overlaid gpus", "1", "0", "2"))
		}
		if m.chance("overlay weight", 50) {
			weight := int32(m.number("weight of overlay", 1, 3))
			o.Spec.Weight = &weight
		}
		return o
	})
}

// overlaidBy draws a label that overlays use in requirements, and its values.
func (m *maker) overlaidBy() (key string, values []string) {
	if m.chance("by pool", 15) {
		for _, p := range m.s.NodePools {
			values = append(values, p.Key.Name)
		}
		return v1.NodePoolLabelKey, values
	}
	return m.labelValues()
}
