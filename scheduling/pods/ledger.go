package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ledger reckons with budgets as a resource that evictions use up, so that a plan that moves several pods of one
// budget counts them all. It is not safe for concurrent use; make one for each plan.
type Ledger struct {
	budgets *Budgets
	taken   map[types.NamespacedName]int
}

// NewLedger is a ledger in which nothing is taken yet. budgets may be nil: nothing is then ever refused.
func NewLedger(budgets *Budgets) *Ledger {
	return &Ledger{budgets: budgets, taken: make(map[types.NamespacedName]int)}
}

// Left is how many more disruptions the budget allows after those taken.
func (l *Ledger) Left(budget *Budget) int { return max(0, budget.Allowed-l.taken[budget.Key]) }

// Take uses up one disruption of the pod's budget, or says why it can't; the ledger is then unchanged. A pod that is not
// evictable at the time now, that no budget selects, or that its budget spares because it is not ready, uses up
// nothing.
func (l *Ledger) Take(pod *corev1.Pod, now time.Time) *Block {
	budget, why := l.demand(pod, now)
	if why == nil && budget != nil {
		l.taken[budget.Key]++
	}
	return why
}

// TakeAll takes for all pods or for none: the first refusal is the answer.
func (l *Ledger) TakeAll(list []*corev1.Pod, now time.Time) *Block {
	for i, pod := range list {
		if why := l.Take(pod, now); why != nil {
			for _, taken := range list[:i] {
				l.Return(taken, now)
			}
			return why
		}
	}
	return nil
}

// Return undoes a Take of the same pod at the same time that was not refused.
func (l *Ledger) Return(pod *corev1.Pod, now time.Time) {
	if budget := l.uses(pod, now); budget != nil && l.taken[budget.Key] > 0 {
		l.taken[budget.Key]--
	}
}

func (l *Ledger) demand(pod *corev1.Pod, now time.Time) (*Budget, *Block) {
	if !Evictable(pod, now) {
		return nil, nil
	}
	if why := block(pod, l.budgets.Of(pod), func(b *Budget) bool { return l.Left(b) > 0 }); why != nil {
		return nil, why
	}
	return l.uses(pod, now), nil
}

// uses is the one budget that an eviction of the pod draws on, or nil.
func (l *Ledger) uses(pod *corev1.Pod, now time.Time) *Budget {
	if !Evictable(pod, now) {
		return nil
	}
	matching := l.budgets.Of(pod)
	if len(matching) != 1 || spares(matching[0], pod) {
		return nil
	}
	return matching[0]
}
