package fake

import (
	"container/heap"
	"time"
)

// change is a planned change of the cloud, for example of an instance.
type change struct {
	at   time.Time
	seq  int
	what func(at time.Time)
}

// timeline contains the planned changes, ordered by time; changes at the same time are in the order in which they were planned.
type timeline struct {
	queue changeHeap
	seq   int
}

func (t *timeline) plan(at time.Time, what func(at time.Time)) {
	t.seq++
	heap.Push(&t.queue, change{at: at, seq: t.seq, what: what})
}

// next removes and returns the next change that is due.
func (t *timeline) next(now time.Time) (change, bool) {
	if len(t.queue) == 0 || t.queue[0].at.After(now) {
		return change{}, false
	}
	return heap.Pop(&t.queue).(change), true
}

// changeHeap implements heap.Interface.
type changeHeap []change

func (h changeHeap) Len() int { return len(h) }
func (h changeHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h changeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *changeHeap) Push(x any)   { *h = append(*h, x.(change)) }
func (h *changeHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = change{} // clear the entry, so that the garbage collector can free the instance
	*h = (*h)[:last]
	return x
}

// notBefore returns now, or the latest time used so far if now is earlier. Callers read the clock before they have the lock, so times may
// be out of order.
func (a *account) notBefore(now time.Time) time.Time {
	if now.Before(a.latest) {
		return a.latest
	}
	a.latest = now
	return now
}

// catchUp carries out all changes that are due, in their order.
func (a *account) catchUp(now time.Time) {
	for {
		due, ok := a.timeline.next(now)
		if !ok {
			return
		}
		due.what(due.at)
	}
}

// Settle carries out all changes that are due, as every call does, and wakes readers of interruptions.
func (c *Cloud) Settle() {
	_ = c.lever(Event{Name: "Settle"}, func(time.Time) error {
		c.inbox.wakeAll()
		return nil
	})
}

// NextChange returns when the next change is due: an instance boots, is reclaimed or is gone. It returns false if no change is planned. The
// time may be in the past if the cloud has not been called since then.
func (c *Cloud) NextChange() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timeline.queue) == 0 {
		return time.Time{}, false
	}
	return c.timeline.queue[0].at, true
}
