package trial

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Hide removes a node of the snapshot from the trial, as if it did not exist. Its movable pods become pending. It returns the number of
// these pods. If the name is unknown or the node is already hidden, it returns an error and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	return t.HideMoving(name, func(*corev1.Pod) bool { return true })
}

// HideMoving does the same as Hide, but only the pods for which moves returns true become pending. The other pods need no other node,
// because they run until they end or are never evicted. moves is not called for pods of DaemonSets and static pods.
func (t *Trial) HideMoving(name string, moves func(*corev1.Pod) bool) (pods int, err error) {
	return GangsOf(t).HideIn(name, moves, nil)
}

// HideIn does the same as Trial.HideMoving for nodes with gangs that are moved together. Pods of gangs that require one domain become
// pending for the target domain of the joint move way. way is nil if there are no such gangs.
func (t Gangs) HideIn(name string, moves func(*corev1.Pod) bool, way *GangWay) (pods int, err error) {
	i, ok := t.M.NodeIndex[name]
	if !ok {
		return 0, fmt.Errorf("hiding node %q: the snapshot has no node with this name", name)
	}
	if t.S.HiddenSet.Has(i) {
		return 0, fmt.Errorf("hiding node %q: it is hidden already", name)
	}
	return t.S.Hide(int32(i), moves, way.as()), nil
}

// Close closes a node of the snapshot, so that no further pods can be placed on it. Pods that are already on the node stay. If the name is
// unknown, it returns an error and changes nothing. If the node is already closed or hidden, it returns no error.
func (t *Trial) Close(name string) error {
	i, ok := t.M.NodeIndex[name]
	if !ok {
		return fmt.Errorf("closing node %q: the snapshot has no node with this name", name)
	}
	t.S.Shut(i)
	return nil
}
