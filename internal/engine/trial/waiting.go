package trial

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Waiting returns the names of pending pods; the parameter most is the maximum number of names. Pods of hidden nodes come first, beginning
// with the node that was hidden last. The snapshot's pending pods follow. If only some pods of a class are placed, Waiting leaves out the
// pods that were hidden first.
func (t *Trial) Waiting(most int) []planning.PodKey {
	if most = min(most, GangsOf(t).WaitingPods()); most == 0 {
		return nil
	}
	var out []planning.PodKey
	seen := map[int32]int32{}
	for i := len(t.S.Freed) - 1; i >= 0 && len(out) < most; i-- {
		p := t.S.Freed[i]
		if seen[p.Class] < t.S.Waiting[p.Class] {
			seen[p.Class]++
			out = append(out, planning.PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name})
		}
	}
	if len(t.M.Pods) == 0 || len(out) == most {
		return out
	}
	for class, c := range t.M.Classes {
		if t.S.Waiting[class] == 0 || c.Invalid != nil {
			continue
		}
		rest := min(int(t.S.Waiting[class]-seen[int32(class)]), most-len(out))
		queue := GangsOf(t).QueueOf(int32(class))
		for _, i := range queue[:max(0, min(rest, len(queue)))] {
			p := t.M.Pods[i]
			out = append(out, planning.PodKey{Namespace: p.Namespace, Name: p.Name})
		}
	}
	for _, i := range GangsOf(t).Withheld() {
		if len(out) < most {
			out = append(out, planning.KeyOf(t.M.Pods[i]))
		}
	}
	return out
}

// WaitingClasses returns the classes with pending pods that can be placed, sorted by priority and then by size.
func (t *Trial) WaitingClasses() []int32 {
	var out []int32
	for i, n := range t.S.Waiting {
		if n > 0 {
			out = append(out, int32(i))
		}
	}
	size := func(class int32) float64 {
		if t.Rooms == nil {
			return 0
		}
		return t.Rooms.size[class]
	}
	slices.SortFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.M.Classes[b].Priority, t.M.Classes[a].Priority), cmp.Compare(size(b), size(a)), cmp.Compare(a, b))
	})
	return out
}

// Ruled reports whether the model has rules about the nodes of other pods. Without such rules, pods that can be placed in one order can be
// placed in any order.
func (t *Trial) Ruled() bool { return t.S.Topology != nil }

// Expect reserves memory for pods that will be hidden and placed, so that the trial's lists need not grow in small steps.
func (t *Trial) Expect(pods int) {
	t.S.Expect(pods)
}

// WaitingClass returns the class of a pod of a hidden node, or of a pending pod of the snapshot. It returns an error if no pods of this
// class are pending.
func (t *Trial) WaitingClass(key planning.PodKey) (int32, error) {
	GangsOf(t).release(key)
	class, ok := t.names.class(t.M, t.S.Freed, key)
	if !ok || t.S.Waiting[class] == 0 {
		return 0, notWaiting(key)
	}
	return class, nil
}

func notWaiting(key planning.PodKey) error {
	return fmt.Errorf("pod %s is not pending in this trial: it was not pending in the snapshot and its node is not hidden (see Trial.Hide), or the trial has placed it already", key)
}

// NewNodes returns the number of new nodes opened so far, including new nodes without pods. New nodes are numbered from 0 in the order in
// which they were opened.
func (t *Trial) NewNodes() int { return len(t.S.Planned) }

// Filled returns the numbers of the new nodes that have pods, without numbers below the parameter from.
func (t *Trial) Filled(from int) []int {
	var out []int
	for i := from; i < len(t.S.Planned); i++ {
		if !t.S.Planned[i].Empty() {
			out = append(out, i)
		}
	}
	return out
}

// Drop removes a new node from the trial, as if it had never been opened. Its pods become pending again. It returns the number of these
// pods. If the number is unknown or the node has no pods, it returns an error and changes nothing.
func (t *Trial) Drop(number int) (pods int, err error) {
	if number < 0 || number >= len(t.S.Planned) || t.S.Planned[number].Empty() {
		return 0, fmt.Errorf("dropping new node %d: the trial has no new node with this number that has pods", number)
	}
	t.Proof = nil
	return t.S.Drop(number), nil
}

// Grown returns, in ascending order, the numbers of the new nodes that existed at the mark and have received pods after it. The mark must
// be valid.
func (t *Trial) Grown(since Mark) []int {
	first := len(t.M.Nodes) + len(t.S.Planned) - t.S.Log.OpenedSince(since.At)
	var out []int
	for _, b := range t.S.Placed.Since(&t.S.Log, since.At) {
		if b.Count > 0 && int(b.Host) >= len(t.M.Nodes) && int(b.Host) < first {
			out = append(out, int(b.Host)-len(t.M.Nodes))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Receivers returns the nodes of the snapshot that have received pods since the mark, in the order in which they first received a pod. The
// mark must be valid.
func (t *Trial) Receivers(since Mark) []string {
	var out []string
	seen := map[int32]bool{}
	for _, b := range t.S.Placed.Since(&t.S.Log, since.At) {
		if b.Count > 0 && b.Host < int32(len(t.M.Nodes)) && !seen[b.Host] {
			seen[b.Host] = true
			out = append(out, t.M.Nodes[b.Host].Name)
		}
	}
	return out
}
