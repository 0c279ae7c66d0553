// Package scheduling decides where pods go: on the nodes a cluster has, and on which new ones, for the least money.
// It is a pure function from a Snapshot to a Plan:
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
// The same snapshot gives the same plan, byte for byte. Nothing is read but the snapshot: no clock, no API server, no
// environment; and nothing is kept: any number of solves may share one Model.
//
// # What else
//
//   - Whom no place was found for is in [Plan.Unschedulable], with a [Reason] for each pool: its String is a sentence, its
//     [NearestMiss] the least that would have to be different ("would fit if it asked for 2Gi less memory").
//   - [Query] says how strictly wishes, minValues and reservations are taken, and what keeping a wish may cost.
//   - [Model.Trial] asks what would happen: [Trial.Hide] a node, [Trial.Place] its pods, read [Trial.Plan], [Trial.Rollback].
//   - [Diff] compares two plans: what changed in nodes, places and money.
//   - [Model.Update] makes the model of the next snapshot and shares what stays the same.
//   - [Snapshot.Encode] and [DecodeSnapshot] save and read what a plan was made from: it makes the same plan again.
//   - [Snapshot.Placeholders] keep room free: package scheduling/buffers makes them of CapacityBuffers.
//   - [Snapshot.CostModel] says what nodes cost beyond their list prices: discounts, fees, Reserved Instances, Savings Plans.
//   - Package scheduling/manifests makes a Snapshot of files, scheduling/pods says which pods wait, scheduling/nodeclaims makes
//     NodeClaims of a plan.
//
// # How it works
//
//	Snapshot   plain data                              scheduling/planning
//	   │ Compile
//	   ▼
//	Model      all of it, checked, made ready, shared  model.go, internal/engine/model
//	           resources as int64 vectors, sets        internal/engine/resources, internal/engine/bitset
//	           nodes of the snapshot                   internal/engine/existing, join.go
//	           nodes to buy, with a price table        internal/engine/market, internal/engine/nodepool, variety.go,
//	                                                   launchables.go
//	           what they cost, commitments             internal/engine/market, commitments.go
//	           pods as classes of the like, in stages  internal/engine/likeness, internal/engine/match,
//	                                                   internal/engine/podclass
//	           rules about counts as topology groups   internal/engine/topology, internal/engine/layout
//	           volumes as alternatives and room        internal/engine/volumes
//	           devices as amounts                      internal/engine/claimed, internal/engine/devices
//	   │ Trial, Solve
//	   ▼
//	Trial      what is where, undoable                 internal/engine/state, trial*.go, ledger.go
//	           the order of work                       solve.go, nominated.go, preemption.go
//	   1. deal pods under wide rules out to cells      internal/engine/layout, deal.go
//	   2. value pods by a linear program: the bound    internal/engine/offers, internal/engine/pricing, internal/engine/lp
//	   3. fill the nodes there are, by value           propose.go
//	   4. pack the rest onto new ones                  internal/engine/filling, internal/engine/packing, committed.go, effort.go
//	   5. admit all that by the exact rules            propose.go
//	   6. place what is left pod by pod                singly.go, growth.go, sites.go, spreadorder.go
//	   7. look for better ways where pods are few      search.go, searchkinds.go, spareplaces.go, rearrange.go,
//	                                                   roomfirst.go
//	   │
//	   ▼
//	Plan       its types                               scheduling/planning
//	           nodes, places, wishes given up          assemble.go, bindorder.go, leeway.go, nodeoptions.go, relax.go
//	           the bound and its proof                 certificate.go, wholepods.go, internal/engine/pricing
//	           why a pod has no place                  explain.go, survey.go, suitability.go, topologyreason.go, nodereason.go,
//	                                                   nodefaults.go
//	           what would have to be different         findmiss.go
//	           differences of two plans                scheduling/planning
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. docs/differences.md lists under "Planning" what differs, and
// why.
//
// Stability: beta.
package scheduling
