package simulate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// sharedParts are parts that the documents of consecutive equal nodes share, so that a plan of a hundred thousand equal nodes contains the
// names of their instance types only once. Shared parts must not be changed.
type sharedParts struct {
	options               *scheduling.InstanceTypeOption
	names                 []string
	requests, allocatable sharedQuantities
}

// typesOf returns the names of the node's instance types. In the plan, nodes with the same instance types also share a list.
func (s *sharedParts) typesOf(node *scheduling.NewNode) []string {
	options := node.InstanceTypes
	if len(options) == 0 {
		return []string{}
	}
	if s.options == &options[0] && len(s.names) == len(options) {
		return s.names
	}
	s.options, s.names = &options[0], make([]string, len(options))
	for i := range options {
		s.names[i] = options[i].Name
	}
	return s.names
}

// sharedQuantities are the amounts of the previous node.
type sharedQuantities struct {
	list    corev1.ResourceList
	written quantities
}

// The method of converts the amounts of a list to the form of documents; for amounts equal to the previous list's, it returns the previous
// result.
func (s *sharedQuantities) of(list corev1.ResourceList) quantities {
	if s.written == nil || !sameAmounts(s.list, list) {
		s.list, s.written = list, newQuantities(list)
	}
	return s.written
}

// sameAmounts reports whether two lists have equal amounts in equal formats.
func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, amount := range a {
		other, ok := b[name]
		if !ok || amount.Format != other.Format || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
