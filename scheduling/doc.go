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
//   - Package scheduling/manifests makes a Snapshot of files, scheduling/pods tells which pods wait, scheduling/nodeclaims makes
//     NodeClaims of a plan.
//
// # How it works
//
//	Snapshot   plain data, checked                     snapshot.go, encode.go, check.go, costmodel.go, costmodelcheck.go
//	   │ Compile
//	   ▼
//	Model      all of it, made ready and shared        model.go
//	           resources as int64 vectors              resources.go, amounts.go, podrequests.go, attach.go
//	           nodes of the snapshot                   node.go, join.go, taints.go
//	           machines to buy, with a price table     machines.go, pool.go, daemons.go, variety.go,
//	                                                   launchables.go
//	           what they cost, commitments             costterms.go, commitments.go
//	           pods as classes of the like, in stages  classkey.go, class.go, needs.go, stage.go, assign.go
//	           rules about counts as topology groups   topology*.go, rulekey.go, hostports.go, defaultspread.go
//	           volumes as alternatives and room        volumes.go and its neighbours, sharedvolumes.go
//	   │ Trial, Solve
//	   ▼
//	Trial      what is where, undoable                 trial*.go, topologystate.go, limits.go, ledger.go, way.go
//	           the order of work                       solve.go, policy.go
//	   1. deal pods under wide rules out to cells      cells.go, deal.go
//	   2. value pods by a linear program: the bound    problem.go, pricing.go, knapsack.go, simplex.go, values.go
//	   3. fill the nodes there are, by value           propose.go
//	   4. pack the rest onto new ones                  patterns.go, pack.go, improve.go, merge.go, exact.go, committed.go
//	   5. admit all that by the exact rules            propose.go, topologyadmit.go
//	   6. place what is left pod by pod                singly.go, growth.go, sites.go, spreadorder.go
//	   7. look for better ways where pods are few      search.go, searchkinds.go, spareplaces.go, rearrange.go
//	   │
//	   ▼
//	Plan       its types                               plan.go, reason.go, nearestmiss.go
//	           nodes, places, wishes given up          assemble.go, leeway.go, machineoptions.go, relax.go
//	           the bound and its proof                 certificate.go, certify.go
//	           why a pod has no place                  explain.go, survey.go, suitability.go, topologyreason.go, nodereason.go
//	           what would have to be different         findmiss.go
//	           differences of two plans                diff.go
//
// # Deliberate differences
//
// The behaviour is Karpenter's where that is not a defect. What differs, and why:
//
//   - Pods are placed by price and all together, not one by one in the order of CPU (SCH-165 to SCH-168): the queue, its
//     re-queuing and its deadline have no counterpart. Limits on priorities: if something is scarce, higher priorities
//     get it (OPP-12).
//   - Preferences are not hard constraints that are given up one after another (SCH-065, SCH-070 to SCH-075, SCH-078 to
//     SCH-080). Preferred node affinity and soft rules over zones are kept where they cost at most Query.PreferencePremium
//     more; soft rules over single machines never buy a machine of their own, since kube-scheduler honours them among the
//     machines there are. Every wish not kept is in Plan.Relaxations. All alternatives of required affinity are tried with
//     each level of preferences (OPP-1).
//   - On machines there are, wishes only decide which machine is tried first: kube-scheduler binds a pod wherever it
//     fits.
//   - A label that no instance type, offering or pool states is absent from new machines, also when it is well known
//     (SCH-032): the provider contract has every type state every well-known label.
//   - A pod that names a machine by kubernetes.io/hostname is not refused (SCH-014) but can only go where that machine is.
//     One that opts out of all pools is not refused either (SCH-093): it can go on a machine without one.
//   - Existing machines are not taken in the order of their names: those with least room first (OPP-6, OPP-16).
//   - Of the domains of a spread over zones those count that have machines and those where the pod could get one
//     (SCH-110, SCH-125); one that only unavailable offerings could serve does not hold pods back. A pod that would then
//     have no place is placed by the domains that there are, which is what kube-scheduler goes by; of a spread over machines
//     the emptiest one then counts as it is, not as empty (SCH-127).
//   - No pod that waits could be placed with the rest as it is. That others can't be placed elsewhere to make room for it is
//     looked into for few pods: up to 12 are placed in all ways, as far as a fixed number of steps allows, up to 1,000 once
//     more with those first that waited.
//   - A new machine whose claim leaves the domain open, since no rule concerns its pods, is not planned in another domain to
//     let one more pod join it there. That matters where limits allow no machine beside it: in 1 of 9,000 random clusters.
//   - Room on machines there are is filled machine by machine, and the lower bound is about what is left for new ones: of more
//     than 12 pods, an empty machine that is added can raise the cost by more than the gap reported, as the pods that are
//     left may be others. It did in 1 of 8,000 random clusters, never by more than those pods are worth.
//   - Of the domains that a spread allows the cheapest is taken, not the one with the fewest pods (SCH-126): the skew is
//     kept either way, and kube-scheduler asks for no more.
//   - The first pod of those that must be together starts a domain only while no pod that its rule counts is anywhere
//     (SCH-130), as in kube-scheduler: where such pods are out of its reach, it would not be bound.
//   - Of the places where a volume can be, the cheapest is taken, not the first (SCH-103).
//   - A plan lists every instance type that would do (SCH-042, SCH-173): nothing is cut, so that no second look at
//     minValues is needed. Who cuts the list to launch from it has to look, as the providers of this project do.
//   - Machines whose minValues had to be given up take whatever fits (SCH-041): they have no lowered value to keep.
//   - A DaemonSet that selects nodes by a label which a pool leaves open is reckoned with on each new node of the pool
//     (SCH-151), also on one that the plan gives another value: such a node may have room that the plan does not use.
//   - A DaemonSet whose pods claim devices takes room like any other (SCH-155): its pods run where they get them, and a
//     machine with too little room for a pod is worse than one with too much.
//   - Checks have no order that a result could depend on (SCH-170): a machine takes a pod if it passes all of them. Reasons
//     count machines by the first check failed, in the order of the fields of Removed and RemovedNodes.
//   - NodeOverlays are applied to the snapshot (SCH-180): there is no pool that has not been looked at yet.
//   - Devices claimed through dynamic resource allocation are not planned (SCH-190 to SCH-194): such pods are refused
//     with the reason, as the reference does by default.
//   - A topology key that is an alias is read as the label it stands for (SCH-003).
//   - Taints are merged onto a Node when it registers (SCH-054), which is no part of planning. What a machine will be rid of
//     once it is initialised is found by the same rule, key and effect.
//   - A Snapshot is one moment (SCH-094): whoever takes it from a live cluster sees to the order in which objects are read.
package scheduling
