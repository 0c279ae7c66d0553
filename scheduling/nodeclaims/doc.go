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
// A claim says what its pool says, narrowed by what its pods need, and names the instance types that would do,
// cheapest first. It is made from the pool as the plan saw it, so that a pool changed meanwhile shows as drift. Nothing
// here does I/O, and nothing handed in is changed or shared.
//
// Stability: beta.
package nodeclaims
