package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// barrier decides when State is synced. This is the case after State has seen all objects that the API had at the start.
type barrier struct {
	// unlisted are the kinds for which State.Expect has not been called yet.
	unlisted map[Kind]struct{}
	// missing are objects that the API has and State has not seen yet.
	missing map[ObjectKey]struct{}
	// gone are objects that were deleted before their kind was listed. They are recorded because a list may be older than the deletion.
	gone map[ObjectKey]struct{}
	open bool
}

// maxGone is the largest number of deletions that are recorded for kinds that have not been listed yet.
const maxGone = 65536

func newBarrier(o Options) (barrier, error) {
	kinds := o.Kinds
	if kinds == nil {
		kinds = defaultKinds(o)
	}
	b := barrier{unlisted: make(map[Kind]struct{}), missing: make(map[ObjectKey]struct{}), gone: make(map[ObjectKey]struct{})}
	for _, kind := range kinds {
		if !slices.Contains(allKinds(), kind) {
			return b, fmt.Errorf("cluster options: kinds: unknown kind %q; use the constants Kind…", kind)
		}
		b.unlisted[kind] = struct{}{}
	}
	b.check()
	return b, nil
}

// check opens the barrier if no kind is unlisted and no object is missing. An open barrier stays open, because from then on the view lacks
// only events that have not arrived yet.
func (b *barrier) check() {
	if len(b.unlisted)+len(b.missing) > 0 {
		return
	}
	b.open, b.gone = true, nil
}

func (b *barrier) see(key ObjectKey, deleted bool) {
	if b.open {
		return
	}
	delete(b.missing, key)
	if _, waits := b.unlisted[key.Kind]; waits && deleted && len(b.gone) < maxGone {
		b.gone[key] = struct{}{}
	}
	b.check()
}

// BarrierError says which objects are not known yet.
type BarrierError struct {
	// Unlisted are the kinds for which State.Expect was not called, sorted.
	Unlisted []Kind
	// Missing are expected objects without an event so far, sorted, at most ten; MissingCount is their total number.
	Missing      []ObjectKey
	MissingCount int
}

// Error names what is missing.
func (e *BarrierError) Error() string {
	var parts []string
	if len(e.Unlisted) > 0 {
		names := make([]string, len(e.Unlisted))
		for i, kind := range e.Unlisted {
			names[i] = string(kind)
		}
		parts = append(parts, "not listed yet: "+strings.Join(names, ", "))
	}
	if e.MissingCount > 0 {
		names := make([]string, len(e.Missing))
		for i, key := range e.Missing {
			names[i] = key.String()
		}
		text := "not seen yet: " + strings.Join(names, ", ")
		if more := e.MissingCount - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text)
	}
	return "cluster state is not synced: " + strings.Join(parts, "; ") + "; wait for the watches"
}

// Expect states which objects of a kind exist in the API, according to a list that was read from the API (or from a cache of it). State is
// not synced until there was an event for each of these objects, or for its deletion. No keys means that the API has no objects of the
// kind. Expect may be called again for a kind while State is not synced; after that, it changes nothing.
func (s *State) Expect(kind Kind, keys ...types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.barrier.open {
		return
	}
	for _, name := range keys {
		key := ObjectKey{kind, name}
		if _, gone := s.barrier.gone[key]; !gone && !s.knows(kind, name) {
			s.barrier.missing[key] = struct{}{}
		}
	}
	delete(s.barrier.unlisted, kind)
	s.barrier.check()
}

func (s *State) knows(kind Kind, name types.NamespacedName) bool {
	store := s.stores[kind]
	return store != nil && store.has(name)
}

// Synced reports whether all expected objects are known. Once true, it stays true: claims without an instance do not close the barrier,
// because planning assumes what their instances will be.
func (s *State) Synced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.barrier.open
}

// Missing returns what State waits for before it is synced, as a *BarrierError; nil once it is synced.
func (s *State) Missing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.barrier.open {
		return nil
	}
	e := &BarrierError{
		Unlisted: slices.Sorted(maps.Keys(s.barrier.unlisted)), MissingCount: len(s.barrier.missing),
		Missing: slices.SortedFunc(maps.Keys(s.barrier.missing), compareObjectKeys),
	}
	e.Missing = e.Missing[:min(len(e.Missing), 10)]
	return e
}

func compareObjectKeys(a, b ObjectKey) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), compareKeys(a.NamespacedName, b.NamespacedName))
}
