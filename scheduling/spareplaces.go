package scheduling

import (
	"context"
	"slices"
)

// Room on machines that are there costs nothing and is filled first. But a pod there may drag others along that follow it,
// or drive others away that keep apart from it, and what they need then may be dearer.

const (
	// maxSparing bounds how many pods are planned once more without some machine, and how often.
	maxSparing        = 12
	maxSparingRetries = 16
)

// sparePlaces looks for a cheaper way to place as many pods as since the mark, without some of the machines that have
// received any.
func (t *Trial) sparePlaces(ctx context.Context, before Mark, classes []int32) {
	if t.topology == nil || t.newCost() == 0 || t.options.ExistingOnly {
		return
	}
	found := t.record(before)
	pods := found.pods()
	for _, class := range classes {
		pods += int(t.waiting[class])
	}
	used := found.nodesUsed()
	if len(used) == 0 || pods > maxSparing || !slices.ContainsFunc(found.bindings, func(b binding) bool {
		o := t.m.classes[b.class].topology
		return o != nil && t.m.bindsWidely(o)
	}) {
		return
	}
	priorities := t.prioritiesOf(classes)
	best, cost, improved := found, t.newCost(), false
	queue, seen := [][]int32{}, [][]int32{}
	extend := func(spared, used []int32) {
		for _, node := range used {
			next := append(slices.Clone(spared), node)
			slices.Sort(next)
			if !slices.ContainsFunc(seen, func(s []int32) bool { return slices.Equal(s, next) }) {
				seen, queue = append(seen, next), append(queue, next)
			}
		}
	}
	extend(nil, used)
	for n := 0; n < len(queue) && n < maxSparingRetries && ctx.Err() == nil; n++ {
		t.undo(before)
		for _, node := range queue[n] {
			t.usable.clear(int(node))
		}
		t.placeReal(ctx, classes)
		for _, node := range queue[n] {
			t.usable.set(int(node))
		}
		w := t.record(before)
		extend(queue[n], w.nodesUsed())
		if c := slices.Compare(t.value(w, priorities), t.value(best, priorities)); c > 0 || (c == 0 && t.newCost() < cost) {
			best, cost, improved = w, t.newCost(), true
		}
	}
	t.undo(before)
	t.restore(best)
	if improved {
		t.settle()
	}
}

// bindsWidely reports whether the stake has a rule over domains larger than a machine that must be kept.
func (m *Model) bindsWidely(o *ownership) bool {
	return slices.ContainsFunc(o.owns, func(g int32) bool { return m.topology[g].hard && m.topology[g].at != hostnameKey })
}
