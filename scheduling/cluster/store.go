package cluster

import (
	"cmp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// anyStore is a store of any kind.
type anyStore interface {
	has(key types.NamespacedName) bool
	assumed() map[types.NamespacedName]bool
}

// store keeps the objects of one kind and decides which events change them.
type store[T metav1.Object] struct {
	objects map[types.NamespacedName]stored[T]
	// unconfirmed are objects that State assumes and that the watch has not delivered yet.
	unconfirmed map[types.NamespacedName]bool
}

type stored[T metav1.Object] struct {
	object T
	// version is the resourceVersion as a number, or 0 if it is not a number. Versions of objects of one kind can be compared: KEP-5504
	// guarantees this, and it was always true for etcd's revisions.
	version uint64
}

func newStore[T metav1.Object]() *store[T] {
	return &store[T]{objects: make(map[types.NamespacedName]stored[T]), unconfirmed: make(map[types.NamespacedName]bool)}
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// put stores the object. It does nothing if the object was deleted before, or if the known object is newer or the same. The first result is
// the replaced object; the second result is true if this object existed.
func (s *store[T]) put(object T, assumed bool, gone *tombstones) (old T, known, news bool) {
	key := keyOf(object)
	if gone.holds(object.GetUID()) {
		return old, false, false
	}
	have, known := s.objects[key]
	version, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if known && have.version > version && version > 0 {
		return old, known, false
	}
	switch {
	case !assumed:
		delete(s.unconfirmed, key)
	case !known || version == 0 || have.version < version:
		s.unconfirmed[key] = true
	}
	if known && have.version == version && version > 0 && have.object.GetUID() == object.GetUID() {
		return old, known, false
	}
	if known && have.object.GetUID() != object.GetUID() {
		gone.add(have.object.GetUID())
	}
	s.objects[key] = stored[T]{object, version}
	return have.object, known, true
}

// remove removes the object. It does nothing if the store has a different object with the same name.
func (s *store[T]) remove(object metav1.Object, gone *tombstones) (old T, news bool) {
	key := keyOf(object)
	have, known := s.objects[key]
	gone.add(object.GetUID())
	if !known || object.GetUID() != "" && have.object.GetUID() != "" && have.object.GetUID() != object.GetUID() {
		return old, false
	}
	gone.add(have.object.GetUID())
	delete(s.objects, key)
	delete(s.unconfirmed, key)
	return have.object, true
}

func (s *store[T]) has(key types.NamespacedName) bool {
	_, ok := s.objects[key]
	return ok
}

func (s *store[T]) assumed() map[types.NamespacedName]bool { return s.unconfirmed }

// get returns the object with this name, or nil if the store has no such object.
func (s *store[T]) get(key types.NamespacedName) T { return s.objects[key].object }

// maxTombstones is the largest number of deletions that are recorded. It is larger than the number of deletions that a late watch can have
// missed.
const maxTombstones = 8192

// tombstones records the UIDs of the most recently deleted objects. UIDs are never reused.
type tombstones struct {
	ring [maxTombstones]types.UID
	next int
	uids map[types.UID]struct{}
}

func (g *tombstones) holds(uid types.UID) bool {
	_, ok := g.uids[uid]
	return ok
}

func (g *tombstones) add(uid types.UID) {
	if uid == "" || g.holds(uid) {
		return
	}
	if g.uids == nil {
		g.uids = make(map[types.UID]struct{}, maxTombstones)
	}
	delete(g.uids, g.ring[g.next])
	g.ring[g.next] = uid
	g.uids[uid] = struct{}{}
	g.next = (g.next + 1) % maxTombstones
}
