package fake

import (
	"container/heap"
	"time"
)

// change is something that will happen to an instance by itself.
type change struct {
	at   time.Time
	seq  int
	what func(at time.Time)
}

// timeline holds the changes to come, the next first; of those at one moment the one planned first.
type timeline struct {
	queue changeHeap
	seq   int
}

func (t *timeline) plan(at time.Time, what func(at time.Time)) {
	t.seq++
	heap.Push(&t.queue, change{at: at, seq: t.seq, what: what})
}

// next takes the next change that is due by now.
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
	(*h)[last] = change{} // let go of the instance
	*h = (*h)[:last]
	return x
}

// notBefore keeps the cloud's time from running backwards: callers read the clock before they have the lock.
func (a *account) notBefore(now time.Time) time.Time {
	if now.Before(a.latest) {
		return a.latest
	}
	a.latest = now
	return now
}

// catchUp makes everything happen that is due by now, in its order.
func (a *account) catchUp(now time.Time) {
	for {
		due, ok := a.timeline.next(now)
		if !ok {
			return
		}
		due.what(due.at)
	}
}

// Settle carries out everything that is due by the clock, as any call does, and wakes readers of interruptions.
func (c *Cloud) Settle() {
	_ = c.lever(Event{Name: "Settle"}, func(time.Time) error {
		c.inbox.wakeAll()
		return nil
	})
}

// NextChange is when the next event is due: an instance boots, is reclaimed or is gone. False if none is. The time may be in the
// past, if the cloud was not called since.
func (c *Cloud) NextChange() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timeline.queue) == 0 {
		return time.Time{}, false
	}
	return c.timeline.queue[0].at, true
}
