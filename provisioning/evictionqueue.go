package provisioning

import (
	"cmp"
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

// Back-off of a pod in the queue (PRV-070).
const (
	evictionBackOffFirst   = 100 * time.Millisecond
	evictionBackOffLongest = 10 * time.Second
)

// EvictionQueue paces evictions: each pod is tried at once, and after a refusal again with a back-off of its own, until
// it is gone or its deadline makes the eviction a deletion (PRV-070). It holds no clock and no lock: one goroutine owns
// it.
type EvictionQueue struct {
	entries map[evictionKey]*evictionEntry
}

// evictionKey tells a pod from a later one of its name.
type evictionKey struct {
	key types.NamespacedName
	uid types.UID
}

type evictionEntry struct {
	deadline time.Time
	why      string
	due      time.Time
	failures int
	// asked tells that the pod was handed out and its Report is awaited.
	asked bool
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
		q.entries[key] = &evictionEntry{deadline: e.Deadline, why: e.Why, due: now}
		return
	}
	if !e.Deadline.IsZero() && (known.deadline.IsZero() || e.Deadline.Before(known.deadline)) {
		known.deadline = e.Deadline
	}
}

// Next takes the pod whose turn has come, the one that has waited longest; false, with the time until there is one (0 for
// none before a Report or an Add), if there is none. A pod that was taken has no turn until its Report. late tells that its deadline has passed: it is to be deleted instead, which DrainNode
// says how.
func (q *EvictionQueue) Next(now time.Time) (e EvictPod, late, ok bool, again time.Duration) {
	var first *evictionKey
	for key, entry := range q.entries {
		if !entry.asked && (first == nil || q.before(key, entry, *first)) {
			first = &key
		}
	}
	if first == nil {
		return EvictPod{}, false, false, 0
	}
	entry := q.entries[*first]
	if wait := entry.due.Sub(now); wait > 0 {
		return EvictPod{}, false, false, wait
	}
	entry.asked = true
	late = !entry.deadline.IsZero() && now.After(entry.deadline)
	return EvictPod{Key: first.key, UID: first.uid, Deadline: entry.deadline, Why: entry.why}, late, true, 0
}

func (q *EvictionQueue) before(key evictionKey, entry *evictionEntry, other evictionKey) bool {
	return cmp.Or(
		entry.due.Compare(q.entries[other].due), cmp.Compare(key.key.Namespace, other.key.Namespace),
		cmp.Compare(key.key.Name, other.key.Name), cmp.Compare(key.uid, other.uid),
	) < 0
}

// Report says what became of a request: a pod that is done leaves the queue, any other gets its next turn after a
// back-off that doubles from 100 ms to 10 s.
func (q *EvictionQueue) Report(e EvictPod, outcome EvictionOutcome, now time.Time) {
	key := evictionKey{e.Key, e.UID}
	entry := q.entries[key]
	switch {
	case entry == nil:
	case outcome == EvictionDone:
		delete(q.entries, key)
	default:
		entry.asked = false
		entry.due = now.Add(min(evictionBackOffFirst<<min(entry.failures, 20), evictionBackOffLongest))
		entry.failures++
	}
}

// Remove forgets pods that need not go any more: those of a node that is gone.
func (q *EvictionQueue) Remove(uids ...types.UID) {
	for key := range q.entries {
		if slices.Contains(uids, key.uid) {
			delete(q.entries, key)
		}
	}
}

// Len is how many pods are waiting for their turn.
func (q *EvictionQueue) Len() int { return len(q.entries) }
