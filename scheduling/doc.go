// Package scheduling decides on which existing or new nodes pods are placed, so that the cost is as low as possible. It is a pure function
// from a Snapshot to a Plan:
//
//	model, err := scheduling.Compile(snapshot)
//	if err != nil {
//		return err // *SnapshotError: path, rule, cure
//	}
//	plan, err := model.Solve(ctx, scheduling.Query{})
//	for _, node := range plan.NewNodes {
//		fmt.Println(node.InstanceTypes[0].Name, node.Pods)
//	}
//
// The same snapshot gives the same plan, byte for byte. A plan depends only on the snapshot: there is no clock, no API server, no
// environment, and no state between calls. Any number of solves may share one Model.
//
// # What else
//
//   - [Plan.Unschedulable] lists the pods that can't be placed, with a [Reason] for each pool. String returns the reason as a sentence.
//     [NearestMiss] says what would have to be different at least ("would fit if it asked for 2Gi less memory").
//   - [Query] says how strictly preferences, minValues and reservations are treated, and how much keeping a preference may cost.
//   - [Model.Trial] is a what-if: [Trial.Hide] removes a node, [Trial.Place] finds places for its pods, [Trial.Put] places them on a node of
//     your choice, [Trial.Plan] returns the result, and [Trial.Rollback] undoes all of this.
//   - [Diff] compares two plans: their nodes, the places of their pods, and their costs.
//   - [Model.Update] makes the model of the next snapshot. Both models share the parts that are equal.
//   - [Snapshot.Encode] and [DecodeSnapshot] save and read the snapshot of a plan, from which the same plan can be made again.
//   - [Snapshot.Placeholders] keep room free: package scheduling/buffers makes them from CapacityBuffers.
//   - ProvisioningRequests ask whether there is, or could be, room for pods: package scheduling/requests answers them.
//   - [Snapshot.Gangs] are pods that are placed together or not at all, in one zone if required: [Plan.Gangs] says which gangs are placed.
//   - [Snapshot.CostModel] contains costs of nodes beyond list prices: discounts, fees, Reserved Instances, Savings Plans.
//   - Package scheduling/manifests makes a Snapshot from files, scheduling/pods says which pods wait, scheduling/nodeclaims makes
//     NodeClaims from a plan.
//
// # How it works
//
//	Snapshot   plain data                              scheduling/planning (planning.go has the names)
//	   │ Compile
//	   ▼
//	Model      the snapshot, checked and compiled      internal/engine/model (model.go, join.go)
//	           resources as int64 vectors, sets        internal/engine/resources, internal/engine/bitset
//	           nodes of the snapshot                   internal/engine/existing
//	           nodes to buy, with a price table        internal/engine/market, internal/engine/nodepool
//	           classes of equal pods, and their stages internal/engine/likeness, internal/engine/match,
//	                                                   internal/engine/podclass
//	           rules about counts as topology groups   internal/engine/topology, internal/engine/layout
//	           volumes of pods, and limits of nodes    internal/engine/volumes
//	           devices as amounts                      internal/engine/claimed, internal/engine/devices
//	   │ Trial, Solve
//	   ▼
//	Trial      the places of pods, which can be undone internal/engine/state, internal/engine/trial (trial.go)
//	           the order of work                       internal/engine/solving
//	   1. assign pods with topology rules to cells     internal/engine/layout, internal/engine/placing
//	   2. compute values of pods by a linear program   internal/engine/valuing, internal/engine/offers, internal/engine/pricing,
//	                                                   internal/engine/lp
//	   3. fill the existing nodes, by value            internal/engine/solving
//	   4. pack the other pods onto new nodes           internal/engine/filling, internal/engine/packing, internal/engine/solving
//	   5. check these places by the exact rules        internal/engine/solving
//	   6. place the remaining pods one by one          internal/engine/placing
//	   before step 1: place gangs                      internal/engine/gangs, internal/engine/solving
//	   7. search better places for small groups        internal/engine/solving
//	           new nodes that replace hidden nodes     internal/engine/launching
//	   │
//	   ▼
//	Plan       its types                               scheduling/planning
//	           nodes, places, preferences not kept     internal/engine/answering, internal/engine/newnodes
//	           the bound and its proof                 internal/engine/certify, internal/engine/pricing
//	           why a pod has no place, and what would  internal/engine/explain
//	           have to be different
//
// # Deliberate differences
//
// The package behaves like Karpenter, except for Karpenter's defects and for deliberate differences. docs/differences.md lists them under
// "Planning".
//
// Stability: beta.
package scheduling
