package model

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func (m *Model) compileDaemons(s *planning.Snapshot, r *likeness.Roster) {
	if len(s.DaemonSets) == 0 {
		return
	}
	newest := map[types.UID]*corev1.Pod{}
	if r.Daemons > 0 {
		newest = daemonset.Newest(daemonPods(s.Nodes))
	}
	sets := slices.Clone(s.DaemonSets)
	slices.SortStableFunc(sets, func(a, b *appsv1.DaemonSet) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, set := range sets {
		pod := daemonset.Representative(set, newest)
		terms, err := m.Terms.Placement(&pod.Spec)
		if err != nil {
			continue // matches no node
		}
		d := daemonset.Set{Object: set, Sample: pod, Requests: make([]int64, m.Resources.Len()), Tolerations: pod.Spec.Tolerations, Terms: terms}
		m.Resources.Requests(resources.OfPod(pod), d.Requests)
		m.Devices.AddDaemon(pod, d.Requests)
		for _, t := range terms {
			podclass.AskAbout(m.AskedKeys, t)
		}
		m.DaemonSets = append(m.DaemonSets, d)
	}
}

// daemonPods returns, for each node, the pods from which the pods of their DaemonSets can be predicted. It returns no pods for nodes that
// are being removed.
func daemonPods(nodes []planning.Node) [][]*corev1.Pod {
	out := make([][]*corev1.Pod, len(nodes))
	for i := range nodes {
		out[i] = DaemonPodsOf(&nodes[i])
	}
	return out
}

// DaemonPodsOf returns the pods of the node from which the pods of their DaemonSets can be predicted.
func DaemonPodsOf(n *planning.Node) []*corev1.Pod {
	if n.Leaving {
		return nil
	}
	return daemonset.Standing(n.Pods)
}
