package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/layout"
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
	i, ok := t.m.nodeIndex[name]
	if !ok {
		return 0, fmt.Errorf("hiding node %q: the snapshot has none of that name", name)
	}
	if t.hiddenSet.Has(i) {
		return 0, fmt.Errorf("hiding node %q: it is hidden already", name)
	}
	n := &t.m.nodes[i]
	t.takeOff(int32(i))
	t.usable.Remove(i)
	t.roomChanged(int32(i))
	t.hidden = append(t.hidden, int32(i))
	t.hiddenSet.Add(i)
	t.firstFreed = append(t.firstFreed, int32(len(t.freed)))
	for _, p := range n.Movable {
		if moves(p.Pod) {
			t.waiting[p.Class]++
			t.freed = append(t.freed, p)
			pods++
		}
	}
	if !n.Source.Leaving {
		t.countNode(n, -1)
		t.countBound(int32(i), -1)
	}
	t.log = append(t.log, change{changeHidden, int32(i), int32(pods)})
	return pods, nil
}

// takeOff makes pods that the trial has put on a host wait again.
func (t *Trial) takeOff(host int32) {
	if t.received[host] == 0 {
		return
	}
	list := t.onHost[:0]
	for i := t.last[host] - 1; i >= 0; i = t.placed[i].before - 1 {
		if t.placed[i].count > 0 {
			list = append(list, i)
		}
	}
	t.onHost = list
	for _, i := range slices.Backward(list) { // the first to come waits longest
		p := &t.placed[i]
		t.apply(*p, -1)
		t.log = append(t.log, change{changeTaken, i, p.count})
		p.count = 0
	}
}

func (t *Trial) unhide(i int32, pods int) {
	n := &t.m.nodes[i]
	for _, p := range t.freed[len(t.freed)-pods:] {
		t.waiting[p.Class]--
	}
	t.freed = t.freed[:len(t.freed)-pods]
	for ; t.freedIndexed > len(t.freed); t.freedIndexed-- {
		p := t.freed[:t.freedIndexed][t.freedIndexed-1]
		delete(t.freedClass, PodKey{p.Pod.Namespace, p.Pod.Name})
	}
	t.hidden = t.hidden[:len(t.hidden)-1]
	t.hiddenSet.Remove(int(i))
	t.firstFreed = t.firstFreed[:len(t.hidden)]
	if n.Usable && !t.isClosed(int(i)) {
		t.usable.Add(int(i))
		t.roomChanged(i)
	}
	if !n.Source.Leaving {
		t.countNode(n, 1)
		t.countBound(i, 1)
	}
}

// countBound adds the node and its bound pods to the topology counts, or takes them off.
func (t *Trial) countBound(node, n int32) {
	if t.topology == nil {
		return
	}
	if n > 0 {
		t.topology.SetGone(node, false)
	}
	for _, p := range t.m.nodes[node].Bound {
		t.topology.Place(layout.StakeOfBound(t.m.topology, p, t.m.classes[p.Class].Topology), node, n)
	}
	if n < 0 {
		t.topology.SetGone(node, true)
	}
}
