package pods

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Budgets are the PodDisruptionBudgets of a cluster, with an index by selector. It never changes after NewBudgets, and is safe for
// concurrent use. A nil *Budgets contains no budgets.
type Budgets struct {
	byNamespace map[string]*budgetIndex
}

// Budget is one PodDisruptionBudget.
type Budget struct {
	// Key is its namespace and name.
	Key types.NamespacedName
	// Allowed is how many of its pods may be disrupted now, by its status. It is 0 while the disruption controller
	// has not seen the latest spec, since the eviction API then refuses every pod.
	Allowed int
	// Never means that the budget allows no disruption, no matter how many pods exist: maxUnavailable 0 or "0%", or minAvailable "100%".
	Never bool
	// SparesUnready means that pods that are not ready may always be evicted, because the budget's unhealthyPodEvictionPolicy is
	// AlwaysAllow.
	SparesUnready bool

	selector labels.Selector
	// number is the position of the budget among all budgets sorted by name.
	number int
}

// BudgetError is a PodDisruptionBudget that can't be read.
type BudgetError struct {
	Key types.NamespacedName
	// Field is the path of the faulty field.
	Field string
	Err   error
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("podDisruptionBudget %s: %s: %v: correct the selector, or delete the budget", e.Key, e.Field, e.Err)
}

// Unwrap returns the cause.
func (e *BudgetError) Unwrap() error { return e.Err }

// NewBudgets builds the index of PodDisruptionBudgets. A missing selector matches no pod; an empty selector matches every pod of the
// namespace. The error is a *BudgetError for the first budget, by namespace and name, with an invalid selector. It is unknown which pods
// this budget should protect, so NewBudgets can neither allow nor forbid their eviction.
func NewBudgets(list []*policyv1.PodDisruptionBudget) (*Budgets, error) {
	b := &Budgets{byNamespace: make(map[string]*budgetIndex)}
	sorted := slices.SortedFunc(slices.Values(slices.DeleteFunc(slices.Clone(list), func(b *policyv1.PodDisruptionBudget) bool { return b == nil })), func(x, y *policyv1.PodDisruptionBudget) int {
		return compareKeys(keyOf(x), keyOf(y))
	})
	for _, pdb := range sorted {
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err != nil {
			return nil, &BudgetError{Key: keyOf(pdb), Field: "spec.selector", Err: err}
		}
		allowed := int(pdb.Status.DisruptionsAllowed)
		if pdb.Status.ObservedGeneration < pdb.Generation {
			allowed = 0
		}
		policy := pdb.Spec.UnhealthyPodEvictionPolicy
		in := b.byNamespace[pdb.Namespace]
		if in == nil {
			in = &budgetIndex{}
			b.byNamespace[pdb.Namespace] = in
		}
		in.add(&Budget{
			Key: keyOf(pdb), Allowed: allowed, selector: selector,
			Never:         isAmount(pdb.Spec.MaxUnavailable, "0", "0%") || isAmount(pdb.Spec.MinAvailable, "100%"),
			SparesUnready: policy != nil && *policy == policyv1.AlwaysAllow,
		})
	}
	return b, nil
}

func keyOf(pdb *policyv1.PodDisruptionBudget) types.NamespacedName {
	return types.NamespacedName{Namespace: pdb.Namespace, Name: pdb.Name}
}

// isAmount reports whether the field v has the same value as one of the texts.
func isAmount(v *intstr.IntOrString, texts ...string) bool {
	return v != nil && slices.Contains(texts, v.String())
}

// Of returns the budgets that select the pod, by name. The caller owns the slice.
func (b *Budgets) Of(pod *corev1.Pod) []*Budget {
	if b == nil {
		return nil
	}
	return b.byNamespace[pod.Namespace].of(pod.Labels)
}

// NeverAllow reports whether budgets prevent every eviction of the pod until somebody changes them. A single budget does so if it never
// allows a disruption. Several budgets always do, because the eviction API refuses pods with several budgets. It is false for pods that are
// not evictable, and for pods that are not ready if their budget has SparesUnready.
func (b *Budgets) NeverAllow(pod *corev1.Pod) bool { return b.NeverAllowFrom(v1.MarkerTaint, pod) }

// NeverAllowFrom is NeverAllow for a pod on a node that a drain marks with the given marker.
func (b *Budgets) NeverAllowFrom(marker v1.DisruptionMarker, pod *corev1.Pod) bool {
	if !Active(pod) || ToleratesMarker(pod, marker) || Static(pod) {
		return false
	}
	matching := b.Of(pod)
	if len(matching) != 1 {
		return len(matching) > 1
	}
	return matching[0].Never && !(matching[0].SparesUnready && !Ready(pod))
}

// Block says why budgets refuse the eviction of a pod.
type Block struct {
	Pod types.NamespacedName
	// Budgets are the budgets that refuse the eviction, by name. It is one budget that allows no disruption now, or several budgets that
	// select the pod: the eviction API refuses every eviction of a pod with several budgets.
	Budgets []types.NamespacedName
}

func (b *Block) Error() string {
	switch len(b.Budgets) {
	case 0:
		return fmt.Sprintf("pod %s: a disruption budget allows no disruption now", b.Pod)
	case 1:
	default:
		return fmt.Sprintf("pod %s: the eviction API refuses pods that several disruption budgets select: %v: leave one of them", b.Pod, b.Budgets)
	}
	return fmt.Sprintf("pod %s: disruption budget %s allows no disruption now", b.Pod, b.Budgets[0])
}

// Blocks returns why the budgets would refuse to evict the pod now, or nil. It is nil for pods that are not evictable. It considers this
// eviction alone: use PDBTracker for several evictions.
func (b *Budgets) Blocks(pod *corev1.Pod, now time.Time) *Block {
	return b.BlocksFrom(v1.MarkerTaint, pod, now)
}

// BlocksFrom is Blocks for a pod on a node that a drain marks with the given marker.
func (b *Budgets) BlocksFrom(marker v1.DisruptionMarker, pod *corev1.Pod, now time.Time) *Block {
	if !EvictableFrom(marker, pod, now) {
		return nil
	}
	return block(pod, b.Of(pod), func(budget *Budget) bool { return budget.Allowed > 0 })
}

func block(pod *corev1.Pod, matching []*Budget, allows func(*Budget) bool) *Block {
	switch {
	case len(matching) == 0:
		return nil
	case len(matching) == 1 && (allows(matching[0]) || spares(matching[0], pod)):
		return nil
	}
	why := &Block{Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}}
	for _, budget := range matching {
		why.Budgets = append(why.Budgets, budget.Key)
	}
	return why
}

// spares reports whether evicting the pod uses up no disruption: the budget has SparesUnready, and the pod's Ready condition is False.
func spares(budget *Budget, pod *corev1.Pod) bool {
	return budget.SparesUnready && condition(pod, corev1.PodReady) == corev1.ConditionFalse
}

func compareKeys(x, y types.NamespacedName) int {
	return slices.Compare([]string{x.Namespace, x.Name}, []string{y.Namespace, y.Name})
}
