package cluster

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// objectList contains the objects of one kind. Snapshots contain these objects unchanged.
type objectList[T metav1.Object] struct {
	store  *store[T]
	sorted *sortedList[types.NamespacedName, T]
}

func newObjectList[T metav1.Object]() *objectList[T] {
	return &objectList[T]{newStore[T](), newSortedList(func(object T) types.NamespacedName { return keyOf(object) }, compareKeys)}
}

// applyTo applies the event to the list. It returns the object before the event (old), whether this object existed (known), and whether the
// event changed the list (news).
func applyTo[T metav1.Object](s *State, l *objectList[T], object T, e *Event) (old T, known, news bool) {
	if e.Deleted {
		old, news = l.store.remove(object, &s.gone)
		if news {
			l.sorted.remove(keyOf(object))
		}
		return old, news, news
	}
	old, known, news = l.store.put(object, e.Assumed, &s.gone)
	if news {
		l.sorted.set(object)
	}
	return old, known, news
}

// applyPool applies the event, and increases the revision if a pool appears, disappears or changes its spec.
func (s *State) applyPool(pool *v1.NodePool, e *Event) {
	old, known, news := applyTo(s, s.lists.nodePools, pool, e)
	if news && (e.Deleted || !known || !sameSpec(&old.Spec, &pool.Spec)) {
		s.revision++
	}
}

// applyOverlay applies the event, and increases the revision as applyPool does. It excludes overlays that planning can't compute with from
// snapshots.
func (s *State) applyOverlay(o *v1.NodeOverlay, e *Event) {
	old, known, news := applyTo(s, s.lists.nodeOverlays, o, e)
	if !news {
		return
	}
	if e.Deleted || !known || !sameSpec(&old.Spec, &o.Spec) {
		s.revision++
	}
	judge(s, s.lists.nodeOverlays, o, e, scheduling.CheckNodeOverlay)
}

// applyBudget applies the event. It excludes invalid budgets from snapshots, because an invalid budget would make the other budgets
// unusable.
func (s *State) applyBudget(budget *policyv1.PodDisruptionBudget, e *Event) {
	l := s.lists.podDisruptionBudgets
	if _, _, news := applyTo(s, l, budget, e); !news {
		return
	}
	s.budgets = nil
	judge(s, l, budget, e, func(b *policyv1.PodDisruptionBudget) error {
		_, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{b})
		return err
	})
}

// judge excludes an object from snapshots if the object would make a snapshot invalid.
func judge[T metav1.Object](s *State, l *objectList[T], object T, e *Event, check func(T) error) {
	key := ObjectKey{KindOf(object), keyOf(object)}
	delete(s.faulty, key)
	if e.Deleted {
		return
	}
	if err := check(object); err != nil {
		s.faulty[key] = err.Error()
		l.sorted.remove(key.NamespacedName)
	}
}
