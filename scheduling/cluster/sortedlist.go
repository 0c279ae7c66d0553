package cluster

import "slices"

// sortedList is a list that is sorted by key. The call l.values() returns it as a slice. Changes are collected until this call, and then
// merged into a new slice. A returned slice is never changed, and l.values() returns the same slice until the list changes.
type sortedList[K comparable, V any] struct {
	keyOf   func(V) K
	compare func(a, b K) int
	list    []V
	changed map[K]change[V]
}

// change is an entry's new value, or its removal.
type change[V any] struct {
	value   V
	removed bool
}

func newSortedList[K comparable, V any](keyOf func(V) K, compare func(a, b K) int) *sortedList[K, V] {
	return &sortedList[K, V]{keyOf: keyOf, compare: compare, changed: make(map[K]change[V])}
}

func (l *sortedList[K, V]) set(v V) { l.changed[l.keyOf(v)] = change[V]{value: v} }

func (l *sortedList[K, V]) remove(key K) { l.changed[key] = change[V]{removed: true} }

// dirty reports whether the list was changed since values was last called.
func (l *sortedList[K, V]) dirty() bool { return len(l.changed) > 0 }

// values returns the present list. Callers must not change it.
func (l *sortedList[K, V]) values() []V {
	if len(l.changed) == 0 {
		return l.list
	}
	keys := make([]K, 0, len(l.changed))
	for key := range l.changed {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, l.compare)
	merged := make([]V, 0, len(l.list)+len(keys))
	at := 0
	for _, key := range keys {
		// copy the unchanged entries that come before the key of the change
		offset, found := slices.BinarySearchFunc(l.list[at:], key, func(v V, k K) int { return l.compare(l.keyOf(v), k) })
		merged = append(merged, l.list[at:at+offset]...)
		at += offset
		if found {
			at++
		}
		if c := l.changed[key]; !c.removed {
			merged = append(merged, c.value)
		}
	}
	l.list = append(merged, l.list[at:]...)
	if len(l.list) == 0 {
		l.list = nil
	}
	l.changed = make(map[K]change[V])
	return l.list
}
