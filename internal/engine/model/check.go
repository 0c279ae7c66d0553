package model

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// CheckObjects refuses null objects and pods that are listed twice, so that later steps need not check for them. It returns the list of all
// pods.
func CheckObjects(s *planning.Snapshot, previous *Model, o *Options) (*likeness.Roster, error) {
	ofNodes := make([]int, len(s.Nodes))
	for i := range s.Nodes {
		ofNodes[i] = len(s.Nodes[i].Pods)
	}
	r := likeness.NewRoster(len(s.Pods), len(s.Placeholders), ofNodes, len(s.DefaultTopologySpread) > 0)
	if network := claimed.HasNetwork(s); network || len(s.ResourceClaims)+len(s.ResourceClaimTemplates)+len(s.DeviceClasses) > 0 {
		apart := claimed.NewClaims(s).Apart
		r.Apart = func(pod *corev1.Pod) bool { return network && len(pod.Spec.ResourceClaims) > 0 || apart(pod) }
	}
	if err := addAll(r, s); err != nil {
		return nil, err
	}
	return r, checkOthers(s, previous, o)
}

// addAll adds the pods of the snapshot to the roster r. It refuses the pods that CheckObjects refuses, and nodes without a name or without
// an object.
func addAll(r *likeness.Roster, s *planning.Snapshot) error {
	placeholder := false
	pods := func(list []*corev1.Pod, node *planning.Node) error {
		path := func(i int) string { return fmt.Sprintf("%s[%d]", podList(s, list, node), i) }
		for i, pod := range list {
			if pod == nil {
				return &planning.SnapshotError{Path: path(i), Rule: "is null", Cure: "leave it out"}
			}
			if !r.Add(pod, placeholder) {
				key := planning.KeyOf(pod)
				return &planning.SnapshotError{Path: path(i), Rule: fmt.Sprintf("is a second pod %s, after %s", key, firstListOf(s, key)), Cure: "namespace and name are unique over all pods, waiting and bound"}
			}
			if field, rule := wrongSpread(pod); field != "" {
				return &planning.SnapshotError{Path: path(i) + field, Rule: rule, Cure: "give what the API server takes: a topologyKey, and a maxSkew of 1 or more"}
			}
		}
		return nil
	}
	if err := pods(s.Pods, nil); err != nil {
		return err
	}
	placeholder = true
	if err := pods(s.Placeholders, nil); err != nil {
		return err
	}
	placeholder = false
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case n.Name == "":
			return &planning.SnapshotError{Path: fmt.Sprintf("nodes[%d].name", i), Rule: "is empty", Cure: "name the node after its Node or its NodeClaim"}
		case n.Object == nil && n.Claim == nil:
			return &planning.SnapshotError{Path: "nodes[" + n.Name + "]", Rule: "has neither an object nor a claim", Cure: "give at least one of them"}
		}
		if err := pods(n.Pods, n); err != nil {
			return err
		}
		r.Order = likeness.InOrder(r.Order, n.Pods)
	}
	return nil
}

// checkOthers refuses invalid objects that are not pods.
func checkOthers(s *planning.Snapshot, previous *Model, o *Options) error {
	for i := range s.NodePools {
		if s.NodePools[i].Object == nil {
			return &planning.SnapshotError{Path: fmt.Sprintf("nodePools[%d].object", i), Rule: "is missing", Cure: "give the NodePool in its v1 form"}
		}
	}
	for i, set := range s.DaemonSets {
		if set == nil {
			return &planning.SnapshotError{Path: fmt.Sprintf("daemonSets[%d]", i), Rule: "is null", Cure: "leave it out"}
		}
	}
	if err := checkLists(s); err != nil {
		return err
	}
	if err := checkQuantities(s, previous, o); err != nil {
		return err
	}
	if err := checkDevices(s, previous); err != nil {
		return err
	}
	for _, e := range planning.ValidateDefaultTopologySpread(s.DefaultTopologySpread, field.NewPath("defaultTopologySpread")) {
		return &planning.SnapshotError{Path: e.Field, Rule: "is not in the form that kube-scheduler accepts, " + e.ErrorBody(), Cure: "give the default constraints of its configuration"}
	}
	return nil
}

// CountPods counts the pods of the snapshot: pending pods, placeholders and the pods of nodes.
func CountPods(s *planning.Snapshot) int {
	n := len(s.Pods) + len(s.Placeholders)
	for i := range s.Nodes {
		n += len(s.Nodes[i].Pods)
	}
	return n
}

// podList returns the path of a list of pods. The list belongs to a node or is one of the two lists of the snapshot.
func podList(s *planning.Snapshot, list []*corev1.Pod, node *planning.Node) string {
	switch {
	case node != nil:
		return "nodes[" + node.Name + "].pods"
	case SameList(list, s.Pods):
		return "pods"
	}
	return "placeholders"
}

// firstListOf returns the path of the first list with the pod.
func firstListOf(s *planning.Snapshot, key planning.PodKey) string {
	has := func(list []*corev1.Pod) bool {
		return slices.ContainsFunc(list, func(pod *corev1.Pod) bool { return pod != nil && planning.KeyOf(pod) == key })
	}
	switch {
	case has(s.Pods):
		return podList(s, s.Pods, nil)
	case has(s.Placeholders):
		return "placeholders"
	}
	for i := range s.Nodes {
		if has(s.Nodes[i].Pods) {
			return podList(s, nil, &s.Nodes[i])
		}
	}
	return ""
}

// wrongSpread returns the field of a spread constraint that the API server would refuse, and the error. Both results are empty if there is
// no such field.
func wrongSpread(pod *corev1.Pod) (path, rule string) {
	for i := range pod.Spec.TopologySpreadConstraints {
		switch c := &pod.Spec.TopologySpreadConstraints[i]; {
		case c.TopologyKey == "":
			return fmt.Sprintf(".spec.topologySpreadConstraints[%d].topologyKey", i), "is empty"
		case c.MaxSkew < 0:
			return fmt.Sprintf(".spec.topologySpreadConstraints[%d].maxSkew", i), fmt.Sprintf("is %d", c.MaxSkew)
		}
	}
	return "", ""
}

// checkLists refuses null entries in the lists of objects that pods refer to.
func checkLists(s *planning.Snapshot) error {
	for _, l := range []struct {
		path string
		null int
	}{
		{"nodeOverlays", FirstNil(s.NodeOverlays)}, {"namespaces", FirstNil(s.Namespaces)}, {"services", FirstNil(s.Services)},
		{"replicaSets", FirstNil(s.ReplicaSets)}, {"statefulSets", FirstNil(s.StatefulSets)},
		{"replicationControllers", FirstNil(s.ReplicationControllers)}, {"podDisruptionBudgets", FirstNil(s.PodDisruptionBudgets)},
		{"persistentVolumeClaims", FirstNil(s.PersistentVolumeClaims)}, {"persistentVolumes", FirstNil(s.PersistentVolumes)},
		{"storageClasses", FirstNil(s.StorageClasses)}, {"csiNodes", FirstNil(s.CSINodes)},
		{"volumeAttachments", FirstNil(s.VolumeAttachments)},
		{"resourceClaims", FirstNil(s.ResourceClaims)}, {"resourceClaimTemplates", FirstNil(s.ResourceClaimTemplates)},
		{"deviceClasses", FirstNil(s.DeviceClasses)}, {"resourceSlices", FirstNil(s.ResourceSlices)},
	} {
		if l.null >= 0 {
			return &planning.SnapshotError{Path: fmt.Sprintf("%s[%d]", l.path, l.null), Rule: "is null", Cure: "leave it out"}
		}
	}
	return nil
}

// FirstNil returns the index of the first nil entry, or -1 if no entry is nil.
func FirstNil[T any](list []*T) int {
	for i, p := range list {
		if p == nil {
			return i
		}
	}
	return -1
}
