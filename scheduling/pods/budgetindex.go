package pods

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// budgetIndex finds the PodDisruptionBudgets of a namespace that select a pod. It need not check each budget, because most selectors
// require a certain value of a label.
type budgetIndex struct {
	// byLabel has each budget under one label, a key and value, that the budget's selector requires. keys are the different keys of these
	// labels.
	byLabel map[labelPair][]*Budget
	keys    []string
	// others are budgets whose selectors require no certain value of a label.
	others []*Budget
	size   int
}

type labelPair struct{ key, value string }

// add adds a budget. Budgets must be added in the order of their names.
func (x *budgetIndex) add(b *Budget) {
	b.number = x.size
	x.size++
	requirements, selectable := b.selector.Requirements()
	if !selectable {
		return // the budget selects no pod
	}
	for _, r := range requirements {
		values := r.Values().UnsortedList()
		if len(values) != 1 {
			continue
		}
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if x.byLabel == nil {
				x.byLabel = map[labelPair][]*Budget{}
			}
			at := labelPair{r.Key(), values[0]}
			x.byLabel[at] = append(x.byLabel[at], b)
			if !slices.Contains(x.keys, r.Key()) {
				x.keys = append(x.keys, r.Key())
			}
			return
		}
	}
	x.others = append(x.others, b)
}

// of returns the budgets that select a pod with the given labels, in the order of their names.
func (x *budgetIndex) of(set labels.Set) []*Budget {
	if x == nil {
		return nil
	}
	var found []*Budget
	look := func(list []*Budget) {
		for _, b := range list {
			if b.selector.Matches(set) {
				found = append(found, b)
			}
		}
	}
	look(x.others)
	for _, key := range x.keys {
		if value, has := set[key]; has {
			look(x.byLabel[labelPair{key, value}])
		}
	}
	slices.SortFunc(found, func(a, b *Budget) int { return cmp.Compare(a.number, b.number) })
	return found
}
