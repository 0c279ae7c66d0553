package provisioning

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// EvictionOutcome is the result of a request to evict or delete a pod.
type EvictionOutcome int

// The outcomes.
const (
	// EvictionDone: the request was accepted, or the pod is gone or was replaced (status 404 and 409).
	EvictionDone EvictionOutcome = iota
	// EvictionRefused: a PodDisruptionBudget does not allow it now, or several select the pod (429).
	EvictionRefused
	// EvictionFailed: any other error; the request is retried.
	EvictionFailed
)

// Back-off of a pod in the queue.
const (
	evictionBackOffFirst   = 100 * time.Millisecond
	evictionBackOffLongest = 10 * time.Second
)

// EvictionQueue schedules evictions. Each pod is evicted at once. After a refusal, the eviction is requested again, with a back-off for
// each pod, until the pod is gone or its deadline turns the eviction into a deletion. The queue has no clock and no lock: only one
// goroutine may use it.
type EvictionQueue struct {
	entries map[evictionKey]*evictionEntry
	turns   evictionTurns
}

// evictionKey identifies a pod in the queue. It includes the UID, to distinguish a pod from a later pod with the same name.
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
	// turn is the pod's index in the heap turns. While the pod is not in the heap, turn is -1 (the constant `taken`). This is the case from
	// the call of Next that returns the pod to the call of Report.
	turn int
}

// taken is the value of the field turn while the pod is not in the heap.
const taken = -1

// evictionTurns is a heap of pods, ordered by the time of their next attempt.
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

// NewEvictionQueue returns an empty queue.
func NewEvictionQueue() *EvictionQueue {
	return &EvictionQueue{entries: make(map[evictionKey]*evictionEntry)}
}

// Add puts the pod into the queue. If the pod is added again, the time of its next attempt stays, and the earlier of the two deadlines
// applies: a deadline never becomes later.
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

// Next returns the due pod that has waited longest. If none is due, it returns false and the time until the next pod is due (0 if Report or
// Add must be called first). A returned pod is not returned again before Report was called for it. late means that its deadline has passed:
// delete the pod instead (see DrainNode).
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

// Report records the result of a request. A pod that is done leaves the queue. Any other pod is due again after a back-off that doubles
// from 100 ms to 10 s.
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

// Remove drops pods that need no eviction any more, for example because their node is gone.
func (q *EvictionQueue) Remove(uids ...types.UID) {
	for key, entry := range q.entries {
		if slices.Contains(uids, key.uid) {
			q.drop(entry)
		}
	}
}

// Len returns the number of pods in the queue.
func (q *EvictionQueue) Len() int { return len(q.entries) }
