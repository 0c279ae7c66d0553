// Package nodeclaims turns planned nodes into NodeClaims: the objects that a launch starts from.
//
//	for i := range plan.NewNodes {
//		node := &plan.NewNodes[i]
//		claim, err := nodeclaims.New(node, pools[node.Pool], nodeclaims.Options{Lookup: lookup, InstanceTypes: types})
//		if err != nil {
//			return err // *TooManyRequirementsError, *VarietyError
//		}
//	}
//
// A claim contains the pool's template, restricted by the needs of its pods, and names the possible instance types, cheapest first. It is
// made from the pool that the plan used, so that a later change of the pool shows as drift. The functions do no I/O. They do not change
// their arguments, and keep no references to them.
//
// Stability: beta.
package nodeclaims
