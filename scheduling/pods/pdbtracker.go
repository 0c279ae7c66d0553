package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PDBTracker counts the evictions of a plan against PodDisruptionBudgets, so that moving several pods of one budget uses up several
// disruptions. It is not safe for concurrent use; make one for each plan.
type PDBTracker struct {
	budgets *Budgets
	taken   map[types.NamespacedName]int
}

// NewPDBTracker returns a tracker without evictions. If budgets is nil, it never refuses an eviction.
func NewPDBTracker(budgets *Budgets) *PDBTracker {
	return &PDBTracker{budgets: budgets, taken: make(map[types.NamespacedName]int)}
}

// Left returns how many more disruptions the budget allows.
func (t *PDBTracker) Left(budget *Budget) int { return max(0, budget.Allowed-t.taken[budget.Key]) }

// Take uses up one disruption of the pod's budget, or returns why it can't and leaves the tracker unchanged. It uses up nothing if the pod
// is not evictable now, if no budget selects it, or if it is not ready and its budget has SparesUnready.
func (t *PDBTracker) Take(pod *corev1.Pod, now time.Time) *Block {
	budget, why := t.demand(pod, now)
	if why == nil && budget != nil {
		t.taken[budget.Key]++
	}
	return why
}

// TakeAll calls Take for all pods. If a pod is refused, it undoes the calls for the pods before it and returns the refusal.
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

// Return undoes a successful Take of the same pod with the same time.
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

// uses returns the budget whose allowed disruptions an eviction of the pod reduces, or nil if it reduces no budget's allowed disruptions.
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
