package provisioning

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// EvictionOutcome is what became of a request to evict or delete a pod.
type EvictionOutcome int

// The outcomes.
const (
	// EvictionDone: the request was taken, or the pod is gone or another (the answers 404 and 409).
	EvictionDone EvictionOutcome = iota
	// EvictionRefused: a disruption budget does not allow it now, or several select the pod (429).
	EvictionRefused
	// EvictionFailed: anything else; it is tried again.
	EvictionFailed
)

// Back-off of a pod in the queue.
const (
	evictionBackOffFirst   = 100 * time.Millisecond
	evictionBackOffLongest = 10 * time.Second
)

// EvictionQueue paces evictions: each pod is tried at once, and after a refusal again with a back-off of its own, until
// it is gone or its deadline makes the eviction a deletion. It holds no clock and no lock: one goroutine owns
// it.
type EvictionQueue struct {
	entries map[evictionKey]*evictionEntry
	turns   evictionTurns
}

// evictionKey tells a pod from a later one of its name.
type evictionKey struct {
	key types.NamespacedName
	uid types.UID
}

type evictionEntry struct {
	evictionKey
	deadline time.Time
	why      string
	due      time.Time
	failures int
	// turn is its index in turns; taken while the pod was handed out and its Report is awaited.
	turn int
}

// taken is the turn of a pod that has none.
const taken = -1

// evictionTurns is a heap of the pods that have a turn, the next first.
type evictionTurns []*evictionEntry

func (t evictionTurns) Len() int { return len(t) }

func (t evictionTurns) Less(i, j int) bool {
	a, b := t[i], t[j]
	return cmp.Or(
		a.due.Compare(b.due), cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name), cmp.Compare(a.uid, b.uid),
	) < 0
}

func (t evictionTurns) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].turn, t[j].turn = i, j
}

// Push implements heap.Interface.
func (t *evictionTurns) Push(x any) {
	entry := x.(*evictionEntry)
	entry.turn = len(*t)
	*t = append(*t, entry)
}

// Pop implements heap.Interface.
func (t *evictionTurns) Pop() any {
	last := len(*t) - 1
	entry := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	entry.turn = taken
	return entry
}

// NewEvictionQueue makes a queue without pods.
func NewEvictionQueue() *EvictionQueue {
	return &EvictionQueue{entries: make(map[evictionKey]*evictionEntry)}
}

// Add has the pod evicted. Added again, the pod keeps its turn, and of two deadlines the earlier: one can be drawn
// closer, never put off.
func (q *EvictionQueue) Add(e EvictPod, now time.Time) {
	key := evictionKey{e.Key, e.UID}
	known := q.entries[key]
	if known == nil {
		entry := &evictionEntry{evictionKey: key, deadline: e.Deadline, why: e.Why, due: now}
		q.entries[key] = entry
		heap.Push(&q.turns, entry)
		return
	}
	if !e.Deadline.IsZero() && (known.deadline.IsZero() || e.Deadline.Before(known.deadline)) {
		known.deadline = e.Deadline
	}
}

// Next takes the pod whose turn has come, the one that has waited longest; false, with the time until there is one (0 for
// none before a Report or an Add), if there is none. A pod that was taken has no turn until its Report. late tells that its
// deadline has passed: it is to be deleted instead, which DrainNode says how.
func (q *EvictionQueue) Next(now time.Time) (e EvictPod, late, ok bool, again time.Duration) {
	if len(q.turns) == 0 {
		return EvictPod{}, false, false, 0
	}
	entry := q.turns[0]
	if wait := entry.due.Sub(now); wait > 0 {
		return EvictPod{}, false, false, wait
	}
	heap.Pop(&q.turns)
	late = !entry.deadline.IsZero() && now.After(entry.deadline)
	return EvictPod{Key: entry.key, UID: entry.uid, Deadline: entry.deadline, Why: entry.why}, late, true, 0
}

// Report says what became of a request: a pod that is done leaves the queue, any other gets its next turn after a
// back-off that doubles from 100 ms to 10 s.
func (q *EvictionQueue) Report(e EvictPod, outcome EvictionOutcome, now time.Time) {
	key := evictionKey{e.Key, e.UID}
	entry := q.entries[key]
	switch {
	case entry == nil:
	case outcome == EvictionDone:
		q.drop(entry)
	default:
		entry.due = now.Add(min(evictionBackOffFirst<<min(entry.failures, 20), evictionBackOffLongest))
		entry.failures++
		if entry.turn == taken {
			heap.Push(&q.turns, entry)
		} else {
			heap.Fix(&q.turns, entry.turn)
		}
	}
}

func (q *EvictionQueue) drop(entry *evictionEntry) {
	delete(q.entries, entry.evictionKey)
	if entry.turn != taken {
		heap.Remove(&q.turns, entry.turn)
	}
}

// Remove forgets pods that need not go any more: those of a node that is gone.
func (q *EvictionQueue) Remove(uids ...types.UID) {
	for key, entry := range q.entries {
		if slices.Contains(uids, key.uid) {
			q.drop(entry)
		}
	}
}

// Len is how many pods are waiting for their turn.
func (q *EvictionQueue) Len() int { return len(q.entries) }
