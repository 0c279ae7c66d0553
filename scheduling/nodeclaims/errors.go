package nodeclaims

import "fmt"

// InputError says that no claim can be made from a node and a pool.
type InputError struct {
	// Node is the planned node's name; empty if no node was given.
	Node string
	// Rule that is broken.
	Rule string
}

func (e *InputError) Error() string {
	if e.Node == "" {
		return "nodeclaim: " + e.Rule
	}
	return fmt.Sprintf("nodeclaim of planned node %s: %s", e.Node, e.Rule)
}

// TooManyRequirementsError says that a claim has more requirements than the API accepts.
type TooManyRequirementsError struct {
	// Node is the planned node's name.
	Node string
	// Count is the number of requirements that the claim would have.
	Count int
}

func (e *TooManyRequirementsError) Error() string {
	return fmt.Sprintf("nodeclaim of planned node %s: spec.requirements: %d entries, and the API takes at most %d: let its nodepool or its pods name fewer labels",
		e.Node, e.Count, MaxRequirements)
}

// VarietyError says that the instance types of a claim, limited to the number that a claim may name, are less varied than the pool's
// minValues require.
type VarietyError struct {
	// Node is the planned node's name, and Pool is the key of its pool.
	Node, Pool string
	// Key is the key of the requirement. MinValues is how many distinct values it requires, and Found is how many the types have.
	Key              string
	MinValues, Found int
	// InstanceTypes is the maximum number of instance types that a claim may name.
	InstanceTypes int
}

func (e *VarietyError) Error() string {
	return fmt.Sprintf("nodeclaim of planned node %s: nodepool %s asks for minValues %d of %s, of which %d are found among the %d instance types a claim may name: lower minValues, or let the claim name more types",
		e.Node, e.Pool, e.MinValues, e.Key, e.Found, e.InstanceTypes)
}
