package limits

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ResourceNodes is the resource name with which a NodePool limits its number of nodes. Every node uses 1 of this resource, regardless of
// its capacity.
const ResourceNodes corev1.ResourceName = "nodes"

// Tracker holds the entries of all pools. One entry represents one planned, ordered or existing node. Tracker is safe for concurrent use:
// if two reservations fit separately but not together, one is refused. Amounts are added exactly, as quantities.
type Tracker struct {
	mu      sync.Mutex
	pools   map[v1.PoolKey]*account
	entries map[string]*entry
}

// account has the limits of one pool, and the resources that the pool uses.
type account struct {
	limits corev1.ResourceList
	// used is the total capacity of the entries that count against limits. live is the total capacity of the entries with an instance.
	used, live corev1.ResourceList
	// phases has the number of entries in each phase.
	phases [Leaving + 1]int
}

type entry struct {
	pool     v1.PoolKey
	phase    Phase
	capacity corev1.ResourceList // nodes: 1 included
}

// NewTracker returns a Tracker without entries and limits.
func NewTracker() *Tracker {
	return &Tracker{pools: make(map[v1.PoolKey]*account), entries: make(map[string]*entry)}
}

// SetLimits replaces the pool's limits; nil or empty means none. The limits apply from the next Reserve on; existing nodes keep their
// entries. The error is a *LimitError for a negative amount; then nothing is changed.
func (t *Tracker) SetLimits(pool v1.PoolKey, limits corev1.ResourceList) error {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if limit := limits[name]; limit.Sign() < 0 {
			return &LimitError{Pool: pool, Resource: name, Limit: limit}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.account(pool).limits = limits.DeepCopy()
	t.tidy(pool)
	return nil
}

// Reserve adds an entry for a planned node, if the pool's limits have room for its capacity. The entry's ID, which is unique over all
// pools, stays with the node. It is the NodeClaim's UID, or a name made up before the NodeClaim exists (see Rename). The error is an
// *ExceededError, or an *EntryError if the ID is empty or taken; then nothing is changed.
func (t *Tracker) Reserve(pool v1.PoolKey, id string, capacity corev1.ResourceList) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.free(id); err != nil {
		return err
	}
	e := &entry{pool: pool, phase: Planned, capacity: withNode(capacity)}
	if err := t.account(pool).room(pool, e.capacity); err != nil {
		t.tidy(pool)
		return err
	}
	t.entries[id] = e
	t.account(pool).add(e)
	return nil
}

// Observe adds a node in its current phase, or updates its entry, regardless of limits, because the node exists. The phase of an entry that
// is launching, or in a later phase, can't become planned again. The error is an *EntryError for an empty ID, for an unknown phase, or for
// a phase that would become planned again.
func (t *Tracker) Observe(pool v1.PoolKey, id string, phase Phase, capacity corev1.ResourceList) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.entries[id]
	switch {
	case id == "":
		return &EntryError{ID: id, Rule: "the id is empty"}
	case phase < Planned || phase > Leaving:
		return &EntryError{ID: id, Rule: "there is no " + phase.String()}
	case old != nil && phase == Planned && old.phase != Planned:
		return &EntryError{ID: id, Rule: "a node that is " + old.phase.String() + " is not planned any more"}
	}
	if old != nil {
		t.remove(id, old)
	}
	e := &entry{pool: pool, phase: phase, capacity: withNode(capacity)}
	t.init()
	t.entries[id] = e
	t.account(pool).add(e)
	return nil
}

// Rename gives an entry another ID, when a node that was planned gets its NodeClaim. The error is an *EntryError if there is no entry with
// this ID, or if the new ID is empty or taken.
func (t *Tracker) Rename(id, to string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[id]
	if e == nil {
		return &EntryError{ID: id, Rule: "the tracker has no entry with this id"}
	}
	if id == to {
		return nil
	}
	if err := t.free(to); err != nil {
		return err
	}
	delete(t.entries, id)
	t.entries[to] = e
	return nil
}

// Release forgets the node: it is gone, or will not be launched. An unknown ID is ignored.
func (t *Tracker) Release(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		t.remove(id, e)
		t.tidy(e.pool)
	}
}

// Usage contains a pool's use and its limits.
type Usage struct {
	// Used is the capacity of planned, launching and live nodes; its resource "nodes" is their number.
	Used corev1.ResourceList
	// Left is the free amount of each limited resource; negative if the pool is over its limit.
	Left corev1.ResourceList
	// Planned, Launching, Live and Leaving are numbers of nodes.
	Planned, Launching, Live, Leaving int
}

// Usage returns the use of the pool. A pool without entries and limits has empty lists. The caller owns the lists.
func (t *Tracker) Usage(pool v1.PoolKey) Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.pools[pool]
	if a == nil {
		a = &account{}
	}
	u := Usage{
		Used: corev1.ResourceList{}, Left: a.limits.DeepCopy(),
		Planned: a.phases[Planned], Launching: a.phases[Launching], Live: a.phases[Live], Leaving: a.phases[Leaving],
	}
	for name, q := range a.used {
		if !q.IsZero() {
			u.Used[name] = q.DeepCopy()
		}
	}
	for name, left := range u.Left {
		left.Sub(a.used[name])
		u.Left[name] = left
	}
	return u
}

// Entry is one node.
type Entry struct {
	ID    string
	Pool  v1.PoolKey
	Phase Phase
}

// Entries lists all nodes by ID; use it to find nodes that only the tracker knows.
func (t *Tracker) Entries() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Entry, 0, len(t.entries))
	for _, id := range slices.Sorted(maps.Keys(t.entries)) {
		list = append(list, Entry{ID: id, Pool: t.entries[id].pool, Phase: t.entries[id].phase})
	}
	return list
}

// free returns an error if a new entry can't have this ID.
func (t *Tracker) free(id string) error {
	switch {
	case id == "":
		return &EntryError{ID: id, Rule: "the new id is empty"}
	case t.entries[id] != nil:
		return &EntryError{ID: id, Rule: "there is already an entry with the new id, which is " + t.entries[id].phase.String()}
	}
	return nil
}

// init makes the zero value an empty Tracker.
func (t *Tracker) init() {
	if t.pools == nil {
		t.pools, t.entries = map[v1.PoolKey]*account{}, map[string]*entry{}
	}
}

func (t *Tracker) account(pool v1.PoolKey) *account {
	t.init()
	a := t.pools[pool]
	if a == nil {
		a = &account{used: corev1.ResourceList{}, live: corev1.ResourceList{}}
		t.pools[pool] = a
	}
	return a
}

func (t *Tracker) remove(id string, e *entry) {
	a := t.account(e.pool)
	a.phases[e.phase]--
	for _, sum := range a.sums(e.phase) {
		for name, q := range e.capacity {
			amount := sum[name]
			amount.Sub(q)
			sum[name] = amount
		}
	}
	delete(t.entries, id)
}

// tidy removes a pool without entries and limits, so that deleted pools leave no data.
func (t *Tracker) tidy(pool v1.PoolKey) {
	if a := t.pools[pool]; a != nil && len(a.limits) == 0 && a.phases == [Leaving + 1]int{} {
		delete(t.pools, pool)
	}
}

func (a *account) add(e *entry) {
	a.phases[e.phase]++
	for _, sum := range a.sums(e.phase) {
		for name, q := range e.capacity {
			amount := sum[name]
			amount.Add(q)
			sum[name] = amount
		}
	}
}

// sums returns those of the sums used and live that include a node in the phase.
func (a *account) sums(p Phase) []corev1.ResourceList {
	switch {
	case p == Live:
		return []corev1.ResourceList{a.used, a.live}
	case p.counts():
		return []corev1.ResourceList{a.used}
	}
	return nil
}

// room returns an *ExceededError for the first limit, by name, that a node of the given capacity would exceed. If a pool exceeds any of its
// limits, it launches no node, not even a node that needs nothing of the limited resource. A pool created as v1alpha5 also launches no node
// after nodes with instances have used up a limit, because early releases compared the recorded usage, which counts these nodes. The rule
// for v1alpha5 does not count planned nodes, so nodes that are planned together don't prevent each other's launch.
func (a *account) room(pool v1.PoolKey, capacity corev1.ResourceList) error {
	early := pool.Generation == v1.GenerationV1Alpha5
	for _, name := range slices.Sorted(maps.Keys(a.limits)) {
		limit, used, asked, live := a.limits[name], a.used[name], capacity[name], a.live[name]
		sum := used.DeepCopy()
		sum.Add(asked)
		reached := early && live.Sign() > 0 && live.Cmp(limit) >= 0
		if reached || sum.Cmp(limit) > 0 {
			return &ExceededError{Pool: pool, Resource: name, Limit: limit.DeepCopy(), Used: used.DeepCopy(), Asked: asked.DeepCopy(), Reached: reached}
		}
	}
	return nil
}

// withNode returns a copy of the capacity with 1 of the resource "nodes".
func withNode(capacity corev1.ResourceList) corev1.ResourceList {
	own := capacity.DeepCopy()
	if own == nil {
		own = corev1.ResourceList{}
	}
	own[ResourceNodes] = *resource.NewQuantity(1, resource.DecimalSI)
	return own
}
