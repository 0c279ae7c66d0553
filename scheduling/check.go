package scheduling

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SnapshotError says what is wrong with a Snapshot.
type SnapshotError struct {
	// Path of the field, from the snapshot's root.
	Path string
	// Rule that it breaks, to be read after the path.
	Rule string
	// Cure is what to do.
	Cure string
}

// Error is "path rule: cure".
func (e *SnapshotError) Error() string {
	return fmt.Sprintf("snapshot: %s %s: %s", e.Path, e.Rule, e.Cure)
}

// checkObjects refuses null objects and pods that stand twice: everything after it can rely on neither.
func checkObjects(s *Snapshot, previous *Model) error {
	seen := make(map[PodKey]string, len(s.Pods)+len(s.Placeholders))
	pods := func(path string, list []*corev1.Pod) error {
		for i, pod := range list {
			if pod == nil {
				return &SnapshotError{Path: fmt.Sprintf("%s[%d]", path, i), Rule: "is null", Cure: "leave it out"}
			}
			key := PodKey{pod.Namespace, pod.Name}
			if first, twice := seen[key]; twice {
				return &SnapshotError{Path: fmt.Sprintf("%s[%d]", path, i), Rule: fmt.Sprintf("is a second pod %s, after %s", key, first), Cure: "namespace and name are unique over all pods, waiting and bound"}
			}
			seen[key] = path
		}
		return nil
	}
	if err := pods("pods", s.Pods); err != nil {
		return err
	}
	if err := pods("placeholders", s.Placeholders); err != nil {
		return err
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		path := "nodes[" + n.Name + "]"
		switch {
		case n.Name == "":
			return &SnapshotError{Path: fmt.Sprintf("nodes[%d].name", i), Rule: "is empty", Cure: "name the node after its Node or its NodeClaim"}
		case n.Object == nil && n.Claim == nil:
			return &SnapshotError{Path: path, Rule: "has neither object nor claim", Cure: "give at least one of them"}
		}
		if err := pods(path+".pods", n.Pods); err != nil {
			return err
		}
	}
	for i := range s.NodePools {
		if s.NodePools[i].Object == nil {
			return &SnapshotError{Path: fmt.Sprintf("nodePools[%d].object", i), Rule: "is missing", Cure: "give the NodePool in its v1 form"}
		}
	}
	for i, set := range s.DaemonSets {
		if set == nil {
			return &SnapshotError{Path: fmt.Sprintf("daemonSets[%d]", i), Rule: "is null", Cure: "leave it out"}
		}
	}
	if err := checkLists(s); err != nil {
		return err
	}
	if err := checkQuantities(s, previous); err != nil {
		return err
	}
	for _, e := range ValidateDefaultTopologySpread(s.DefaultTopologySpread, field.NewPath("defaultTopologySpread")) {
		return &SnapshotError{Path: e.Field, Rule: "is not as kube-scheduler takes it, " + e.ErrorBody(), Cure: "give the default constraints of its configuration"}
	}
	return nil
}

// checkLists refuses null entries in the lists of objects that pods refer to.
func checkLists(s *Snapshot) error {
	for _, l := range []struct {
		path string
		null int
	}{
		{"nodeOverlays", firstNil(s.NodeOverlays)}, {"namespaces", firstNil(s.Namespaces)}, {"services", firstNil(s.Services)},
		{"replicaSets", firstNil(s.ReplicaSets)}, {"statefulSets", firstNil(s.StatefulSets)},
		{"replicationControllers", firstNil(s.ReplicationControllers)}, {"podDisruptionBudgets", firstNil(s.PodDisruptionBudgets)},
		{"persistentVolumeClaims", firstNil(s.PersistentVolumeClaims)}, {"persistentVolumes", firstNil(s.PersistentVolumes)},
		{"storageClasses", firstNil(s.StorageClasses)}, {"csiNodes", firstNil(s.CSINodes)},
	} {
		if l.null >= 0 {
			return &SnapshotError{Path: fmt.Sprintf("%s[%d]", l.path, l.null), Rule: "is null", Cure: "leave it out"}
		}
	}
	return nil
}

// firstNil is the index of the first nil entry, or -1.
func firstNil[T any](list []*T) int {
	for i, p := range list {
		if p == nil {
			return i
		}
	}
	return -1
}
