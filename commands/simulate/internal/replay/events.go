package replay

import (
	"cmp"
	"container/heap"
	"time"
)

// agenda has the future events in the order of time; events at the same time are in the order of their insertion.
type agenda struct {
	items   []item
	entered int
}

type item struct {
	at    time.Time
	order int
	do    func() error
}

func (a *agenda) Len() int { return len(a.items) }
func (a *agenda) Less(i, k int) bool {
	return cmp.Or(a.items[i].at.Compare(a.items[k].at), cmp.Compare(a.items[i].order, a.items[k].order)) < 0
}
func (a *agenda) Swap(i, k int) { a.items[i], a.items[k] = a.items[k], a.items[i] }
func (a *agenda) Push(x any)    { a.items = append(a.items, x.(item)) }
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

// enter adds an event to the agenda: at its time, do is called.
func (a *agenda) enter(at time.Time, do func() error) {
	a.entered++
	heap.Push(a, item{at, a.entered, do})
}

// next removes the first event from the agenda. It returns false if no event is due at the time until or earlier.
func (a *agenda) next(until time.Time) (item, bool) {
	if len(a.items) == 0 || a.items[0].at.After(until) {
		return item{}, false
	}
	return heap.Pop(a).(item), true
}
