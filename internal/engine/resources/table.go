package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Table assigns a small number to each resource name of the model: its index in every vector. Apart from CPU, memory and pods, it contains
// only resources that some pod requests, because other resources can't run out.
type Table struct {
	// Names are the names of the resources, in the order of their indexes. Only Intern changes Names.
	Names []corev1.ResourceName
	index map[corev1.ResourceName]int
}

// Indexes of the resources that every table has, and the number of these resources.
const (
	CPU = iota
	Memory
	Pods
	Base
)

// NewTable returns a table with CPU, memory and pods, which every table has.
func NewTable() *Table {
	t := &Table{index: make(map[corev1.ResourceName]int, 8)}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		t.Intern(name)
	}
	return t
}

// Intern returns the index of the resource. If the resource is missing, it is added.
func (t *Table) Intern(name corev1.ResourceName) int {
	if i, ok := t.index[name]; ok {
		return i
	}
	i := len(t.Names)
	t.Names = append(t.Names, name)
	t.index[name] = i
	return i
}

// Len returns the length of every vector.
func (t *Table) Len() int { return len(t.Names) }

// At returns the resource's index. It returns false if the table lacks the resource.
func (t *Table) At(name corev1.ResourceName) (int, bool) {
	i, ok := t.index[name]
	return i, ok
}

// InternAll adds the resources to the table in alphabetical order, so that indexes do not depend on the order of the map. After that,
// Intern returns the index of a single resource.
func (t *Table) InternAll(names map[corev1.ResourceName]struct{}) {
	sorted := make([]corev1.ResourceName, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		t.Intern(name)
	}
}

// Capacity converts a node's amounts to a vector and stores it in the parameter into. Resources that the list lacks are zero.
func (t *Table) Capacity(list corev1.ResourceList, into []int64) {
	for i, name := range t.Names {
		into[i] = 0
		if q, ok := list[name]; ok {
			into[i] = Down(name, q)
		}
	}
}

// Requests converts a pod's effective requests to a vector and stores it in the parameter into. Resources that the table lacks are left
// out.
func (t *Table) Requests(list corev1.ResourceList, into []int64) {
	for i, name := range t.Names {
		into[i] = 0
		if q, ok := list[name]; ok {
			into[i] = Up(name, q)
		}
	}
}

// AddTo adds the amounts in the list to the vector sum. Resources that the table lacks are left out.
func (t *Table) AddTo(sum []int64, list corev1.ResourceList) {
	left := len(list)
	for at, name := range t.Names {
		if left == 0 {
			return
		}
		if q, ok := list[name]; ok {
			sum[at] += Up(name, q)
			left--
		}
	}
}

// List converts a vector to a ResourceList. It leaves out zeros and the resources that exist only in the planner (Hidden).
func (t *Table) List(v []int64) corev1.ResourceList {
	out := make(corev1.ResourceList, len(v))
	for i, amount := range v {
		if amount != 0 && !Hidden(t.Names[i]) {
			out[t.Names[i]] = Quantity(t.Names[i], amount)
		}
	}
	return out
}
