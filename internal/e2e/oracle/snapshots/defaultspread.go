package snapshots

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// defaultSpread makes the cluster's default spread constraints. It also makes the objects that determine their selectors: Services, and
// controllers of the workloads.
func (m *maker) defaultSpread() {
	if !m.with(DefaultSpread, "default spread", 50) {
		return
	}
	for range m.number("default constraints", 1, 2) {
		c := corev1.TopologySpreadConstraint{
			TopologyKey:       choose(m, "default key", zoneKey, hostnameKey, capacityKey),
			MaxSkew:           int32(m.number("default max skew", 1, 2)),
			WhenUnsatisfiable: choose(m, "default when unsatisfiable", corev1.DoNotSchedule, corev1.ScheduleAnyway),
		}
		if len(m.s.DefaultTopologySpread) == 1 && m.s.DefaultTopologySpread[0].TopologyKey == c.TopologyKey {
			break
		}
		m.s.DefaultTopologySpread = append(m.s.DefaultTopologySpread, c)
	}
	for _, t := range m.templates {
		if m.chance("service", 50) {
			s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: t.app}}
			s.Spec.Selector = map[string]string{appLabel: t.app}
			if m.chance("service of a group", 40) {
				s.Spec.Selector = map[string]string{groupLabel: t.pod.Labels[groupLabel]}
			}
			m.s.Services = append(m.s.Services, s)
		}
		if m.chance("controller", 50) {
			m.controller(t)
		}
	}
}

// controller makes a controller for the workload.
func (m *maker) controller(t *template) {
	meta := metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: t.app, UID: types.UID("controller-" + t.app)}
	selector := metav1.LabelSelector{MatchLabels: map[string]string{appLabel: t.app}}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Name: t.app, UID: meta.UID}
	switch owner.Kind = choose(m, "kind of controller", "ReplicaSet", "StatefulSet", "ReplicationController"); owner.Kind {
	case "ReplicaSet":
		m.s.ReplicaSets = append(m.s.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: &selector}})
	case "StatefulSet":
		m.s.StatefulSets = append(m.s.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: &selector}})
	case "ReplicationController":
		owner.APIVersion = "v1"
		m.s.ReplicationControllers = append(m.s.ReplicationControllers, &corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels}})
	}
	yes := true
	owner.Controller = &yes
	t.pod.OwnerReferences = []metav1.OwnerReference{owner}
}
