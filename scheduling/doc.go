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
//   - [Plan.Unschedulable] lists the pods without a place, with a [Reason] for each pool: its String is a sentence, its
//     [NearestMiss] the least that would have to be different ("would fit if it asked for 2Gi less memory").
//   - [Query] says how strictly preferences, minValues and reservations are treated, and how much keeping a preference may cost.
//   - [Model.Trial] is a what-if: [Trial.Hide] a node, [Trial.Place] its pods or [Trial.Put] them on nodes of your choice, read
//     [Trial.Plan], [Trial.Rollback].
//   - [Diff] compares two plans: what changed in nodes, places and money.
//   - [Model.Update] makes the model of the next snapshot and shares what stays the same.
//   - [Snapshot.Encode] and [DecodeSnapshot] save and read what a plan was made from: it makes the same plan again.
//   - [Snapshot.Placeholders] keep room free: package scheduling/buffers makes them of CapacityBuffers.
//   - ProvisioningRequests ask whether there is room for pods, or could be: package scheduling/requests answers them.
//   - [Snapshot.Gangs] are pods that are placed together or not at all, in one zone if required: [Plan.Gangs] says which gangs are placed.
//   - [Snapshot.CostModel] contains costs of nodes beyond list prices: discounts, fees, Reserved Instances, Savings Plans.
//   - Package scheduling/manifests makes a Snapshot of files, scheduling/pods says which pods wait, scheduling/nodeclaims makes
//     NodeClaims of a plan.
//
// # How it works
//
//	Snapshot   plain data                              scheduling/planning (planning.go has the names)
//	   │ Compile
//	   ▼
//	Model      all of it, checked, made ready, shared  internal/engine/model (model.go, join.go)
//	           resources as int64 vectors, sets        internal/engine/resources, internal/engine/bitset
//	           nodes of the snapshot                   internal/engine/existing
//	           nodes to buy, with a price table        internal/engine/market, internal/engine/nodepool
//	           pods as classes of the like, in stages  internal/engine/likeness, internal/engine/match,
//	                                                   internal/engine/podclass
//	           rules about counts as topology groups   internal/engine/topology, internal/engine/layout
//	           volumes as alternatives and room        internal/engine/volumes
//	           devices as amounts                      internal/engine/claimed, internal/engine/devices
//	   │ Trial, Solve
//	   ▼
//	Trial      what is where, undoable                 internal/engine/state, internal/engine/trial (trial.go)
//	           the order of work                       internal/engine/solving
//	   1. deal pods under wide rules out to cells      internal/engine/layout, internal/engine/placing
//	   2. value pods by a linear program: the bound    internal/engine/valuing, internal/engine/offers, internal/engine/pricing,
//	                                                   internal/engine/lp
//	   3. fill the nodes there are, by value           internal/engine/solving
//	   4. pack the rest onto new ones                  internal/engine/filling, internal/engine/packing, internal/engine/solving
//	   5. admit all that by the exact rules            internal/engine/solving
//	   6. place what is left pod by pod                internal/engine/placing
//	   before all that: pods that are placed as one    internal/engine/gangs, internal/engine/solving
//	   7. look for better ways where pods are few      internal/engine/solving
//	           new nodes in place of hidden ones       internal/engine/launching
//	   │
//	   ▼
//	Plan       its types                               scheduling/planning
//	           nodes, places, wishes given up          internal/engine/answering, internal/engine/newnodes
//	           the bound and its proof                 internal/engine/certify, internal/engine/pricing
//	           why a pod has no place, and what would  internal/engine/explain
//	           have to be different
//
// # Deliberate differences
//
// The behaviour is Karpenter's except for defects and deliberate differences, which docs/differences.md lists under "Planning".
//
// Stability: beta.
package scheduling
