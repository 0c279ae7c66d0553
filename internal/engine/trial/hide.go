package trial

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Hide takes a node of the snapshot out of the trial, as if it were gone: its pods that can move begin to wait for
// a place. It reports how many those are. A name the snapshot does not have, or a node already hidden, is an
// error and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	return t.HideMoving(name, func(*corev1.Pod) bool { return true })
}

// HideMoving is Hide for a node some of whose pods need no other place, since they stay until they end or are never let go:
// only those for which moves says so begin to wait. Pods of DaemonSets and static ones are not asked about.
func (t *Trial) HideMoving(name string, moves func(*corev1.Pod) bool) (pods int, err error) {
	i, ok := t.M.NodeIndex[name]
	if !ok {
		return 0, fmt.Errorf("hiding node %q: the snapshot has none of that name", name)
	}
	if t.S.HiddenSet.Has(i) {
		return 0, fmt.Errorf("hiding node %q: it is hidden already", name)
	}
	return t.S.Hide(int32(i), moves), nil
}

// Close keeps pods that are placed from now on off a node of the snapshot: what is on it stays. A name the snapshot does
// not have is an error and changes nothing; a node that is closed or hidden already is none.
func (t *Trial) Close(name string) error {
	i, ok := t.M.NodeIndex[name]
	if !ok {
		return fmt.Errorf("closing node %q: the snapshot has none of that name", name)
	}
	t.S.Shut(i)
	return nil
}
