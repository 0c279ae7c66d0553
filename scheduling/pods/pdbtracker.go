package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PDBTracker counts evictions against PodDisruptionBudgets, so that a plan that moves several pods of one
// budget counts them all. It is not safe for concurrent use; make one for each plan.
type PDBTracker struct {
	budgets *Budgets
	taken   map[types.NamespacedName]int
}

// NewPDBTracker is a tracker in which nothing is taken yet. budgets may be nil: nothing is then ever refused.
func NewPDBTracker(budgets *Budgets) *PDBTracker {
	return &PDBTracker{budgets: budgets, taken: make(map[types.NamespacedName]int)}
}

// Left is how many more disruptions the budget allows after those taken.
func (t *PDBTracker) Left(budget *Budget) int { return max(0, budget.Allowed-t.taken[budget.Key]) }

// Take uses up one disruption of the pod's budget, or says why it can't; the tracker is then unchanged. A pod that is not
// evictable at the time now, that no budget selects, or that its budget spares because it is not ready, uses up
// nothing.
func (t *PDBTracker) Take(pod *corev1.Pod, now time.Time) *Block {
	budget, why := t.demand(pod, now)
	if why == nil && budget != nil {
		t.taken[budget.Key]++
	}
	return why
}

// TakeAll takes for all pods or for none: the first refusal is the answer.
func (t *PDBTracker) TakeAll(list []*corev1.Pod, now time.Time) *Block {
	for i, pod := range list {
		if why := t.Take(pod, now); why != nil {
			for _, taken := range list[:i] {
				t.Return(taken, now)
			}
			return why
		}
	}
	return nil
}

// Return undoes a Take of the same pod at the same time that was not refused.
func (t *PDBTracker) Return(pod *corev1.Pod, now time.Time) {
	if budget := t.uses(pod, now); budget != nil && t.taken[budget.Key] > 0 {
		t.taken[budget.Key]--
	}
}

func (t *PDBTracker) demand(pod *corev1.Pod, now time.Time) (*Budget, *Block) {
	if !Evictable(pod, now) {
		return nil, nil
	}
	if why := block(pod, t.budgets.Of(pod), func(b *Budget) bool { return t.Left(b) > 0 }); why != nil {
		return nil, why
	}
	return t.uses(pod, now), nil
}

// uses is the one budget that an eviction of the pod draws on, or nil.
func (t *PDBTracker) uses(pod *corev1.Pod, now time.Time) *Budget {
	if !Evictable(pod, now) {
		return nil
	}
	matching := t.budgets.Of(pod)
	if len(matching) != 1 || spares(matching[0], pod) {
		return nil
	}
	return matching[0]
}
