// Package cloudprovider is the seam between planners and clouds: the interface a provider implements, the instances it
// offers, the errors it answers with, and the contract it keeps.
//
//	types, err := provider.InstanceTypes(ctx, nodePool)
//	switch {
//	case cloudprovider.IsUnevaluatedNodePool(err):
//		return nil // later
//	case err != nil:
//		return err
//	}
//	claim, err := provider.Create(ctx, nodeClaim)
//	if cloudprovider.LaunchAbandoned(err) {
//		// delete the NodeClaim and plan its pods anew: the next InstanceTypes knows what is out of stock
//	}
//
// A provider implements [CloudProvider] and whichever of [DriftDetector], [Repairer], [InterruptionSource],
// [NodeClassStatus] and [RegistrationGate] its cloud has a use for. It keeps nothing in package variables: all that it
// has to declare is in its [Capabilities]. Package fake is a provider in memory; package cloudprovider/mock has mocks
// of all interfaces.
//
// # Contract
//
// The clauses below are what a caller may rely on and what the conformance kit tests, clause by clause. "Machine" is
// one instance in the cloud; "claim" a NodeClaim; "gone" means that the instance can do no work and cost no money any
// more. Clauses of the optional interfaces stand at each interface.
//
// # CP-DESCRIBE: what a provider declares
//
//   - CP-DESCRIBE-01: Describe does no I/O and gives the same answer for the provider's whole life. Why: planners read
//     it in the middle of pure code, and a snapshot made of it must reproduce the plan.
//   - CP-DESCRIBE-02: the answer passes [Capabilities.Validate]. Why: a fault in it shows up much later, as pods that
//     fit nowhere.
//   - CP-DESCRIBE-03: every label key that means the same as a well-known one is declared an alias, those that CSI
//     drivers put on volumes among them. Why: a volume in zone "a" under another key would never find a node.
//   - CP-DESCRIBE-04: values of well-known keys that are known beforehand are listed. Why: a misspelt zone is then
//     refused when it is written, not met with "no offering" when a pod waits.
//   - CP-DESCRIBE-05: nothing that is declared sits in a package variable. Why: several providers live in one process.
//   - CP-DESCRIBE-06: the name is constant and not empty. Why: it is a metric label.
//
// # CP-CATALOG: InstanceTypes
//
//   - CP-CATALOG-01: all types and offerings are listed, available or not; being out of stock only changes
//     [Offering].Available. Why: a type that vanishes makes its running nodes look drifted, and says nothing of why
//     pods wait.
//   - CP-CATALOG-02: a type's name is unique and is its only value of node.kubernetes.io/instance-type. Why: claims
//     and nodes name their type by it.
//   - CP-CATALOG-03: every well-known key of the vocabulary is stated for every type, as In with its value or values
//     or as DoesNotExist, by the type or by its offerings; a key that only some offerings state is absent from the
//     others' instances. Only the NodePool key is not an instance's to state. Architecture, operating system, zone and
//     capacity type have values. Why: an unstated key matches whatever a pod asks, and the node then lacks the label.
//   - CP-CATALOG-04: types and offerings state canonical keys, legal values, and of a key whose values are declared
//     only those. Why: comparisons are of text, so another spelling is another instance.
//   - CP-CATALOG-05: a type's offerings are unique by [OfferingKey]. Why: of two equal ones it is not known which is
//     bought, at which price, nor which one to close when it is out of stock.
//   - CP-CATALOG-06: an offering states one value for zone and one of reserved, spot, on-demand for capacity type, and
//     one value or none for any other key; a reserved one names its reservation and how much room is left in it, and
//     no other bears a reservation's labels. Why: an offering is one thing that can be bought.
//   - CP-CATALOG-07: prices are finite, positive and all USD per hour; zero is for reservations already paid for,
//     which had better keep a tiny price in proportion to their size, so that small ones are used first.
//     Why: a missing price read as zero draws every pod to that type.
//   - CP-CATALOG-08: capacity has cpu, memory and pods; nothing is negative, and overhead leaves cpu and memory for
//     pods. Why: limits, packing and node size all start from it.
//   - CP-CATALOG-09: what was handed out is never changed again, by the provider or by the caller: a change is a new
//     object, and a type in which nothing changed keeps its identity from call to call. Why: planners hold types for
//     long, on many goroutines, and recognise them by pointer.
//   - CP-CATALOG-10: the slice belongs to the caller. Why: callers sort and cut it.
//   - CP-CATALOG-11: the same facts give the same list in the same order, and types with equal content for all
//     NodePools that see them. Why: plans are compared byte by byte.
//   - CP-CATALOG-12: the answer may differ by NodePool and over time, but memory is bounded by what differs in
//     content, not by the number of NodePools times the number of changes. Why: long-lived processes died of that.
//   - CP-CATALOG-13: while the answer for a NodePool is not known, for want of an overlay's evaluation for instance,
//     the error is of kind UnevaluatedNodePool, not an empty list. Why: an empty list reads as "nothing fits".
//   - CP-CATALOG-14: allocatable, capacity less overhead, is at most what a real node of the type reports, and as
//     close to it as the provider can know. Why: too much, and planned pods never bind; too little wastes money.
//   - CP-CATALOG-15: [InstanceType].VolumeLimits names every CSI driver whose volumes take up slots of the instance, with
//     the number of slots left for pods' volumes: at most what the driver reports on a real node of the type, and never
//     negative. Why: a new node has no CSINode to read the limit from, so that pods with volumes would be planned onto
//     it without end and never bind.
//   - CP-CATALOG-16: [InstanceType].Devices names every driver of Dynamic Resource Allocation that will publish devices on the
//     instance, with at most the devices that it will publish: valid names, unique within a pool, counters that are there, nothing
//     negative. Why: a new node has no ResourceSlices yet, so that pods would be planned onto it for devices that never appear.
//
// # CP-CREATE: Create
//
//   - CP-CREATE-01: nil means that exactly one instance was launched, that meets all the claim's requirements and
//     whose allocatable holds its requests. Why: the pods were planned onto just that.
//   - CP-CREATE-02: a claim UID has at most one live instance. Create repeated for a UID, at once or much later, by
//     this process or the next one, answers with the instance that is there; only once that is shutting down or gone
//     may another be launched. The UID is required. Why: answers get lost and processes restart; a second instance
//     would run unseen.
//   - CP-CREATE-03: of the offerings that suit, the capacity type is chosen reserved before spot before on-demand,
//     then by the provider's own strategy, which for on-demand is the lowest price. Why: plans count on it when they
//     reckon what a replacement costs.
//   - CP-CREATE-04: the instance's node joins with the taint karpenter.sh/unregistered:NoExecute and with the claim's
//     taints and start-up taints. Why: otherwise pods slip in before the node is labelled.
//   - CP-CREATE-05: the answer has the claim's name and UID, labels with the one value of each well-known key the
//     instance has, the provider ID, the image ID, capacity and allocatable. Why: it is all that is known of
//     a node until it joins.
//   - CP-CREATE-06: the claim handed in is not changed, and the answer shares nothing with it or with the provider.
//     Why: both are written to by their owners.
//   - CP-CREATE-07: when nothing that suits has room, the error is of kind InsufficientCapacity and names every
//     offering that suits; the next InstanceTypes, of any NodePool, shows exactly the offerings found out of stock as
//     unavailable, under the keys it lists them by, for a few minutes. Those of a quota likewise. Offerings
//     found empty on the way to a success are shown so too. Why: planners would otherwise come back with the same
//     claim at once.
//   - CP-CREATE-08: whose an instance is, by cluster, NodePool, claim name and claim UID, is stored with the instance
//     from the moment it exists. Why: after a crash List is all there is.
//   - CP-CREATE-09: an error, a time-out or a cancelled context leaves no instance, or one that List shows and that
//     Create for the same UID answers with. Why: what nobody can find is paid for for ever.
//   - CP-CREATE-10: a claim whose node class is missing, being deleted or not ready gives an error of kind
//     NodeClassNotReady. Why: the pods may have other NodePools to go to.
//   - CP-CREATE-11: Create sees the same types, prices and capacities as InstanceTypes, overlays included. Why: what
//     was planned must be what is bought.
//
// # CP-DELETE: Delete
//
//   - CP-DELETE-01: nil means that termination is under way, not that the instance is gone; the error of kind
//     NodeClaimNotFound means that it is gone. Why: an instance that is still shutting down still holds its
//     volumes, addresses and cost.
//   - CP-DELETE-02: it can be repeated at will, before, during and after termination. Why: the caller does just that.
//   - CP-DELETE-03: an empty, malformed, foreign or unknown provider ID is of kind NodeClaimNotFound. Why: any other
//     error would be retried for ever and hold the claim's finalizer.
//   - CP-DELETE-04: only the provider ID counts; the rest of the claim may be stale. An instance of another cluster is
//     never touched. Why: claims are read from caches.
//
// # CP-GET: Get
//
//   - CP-GET-01: the answer describes the instance as Create did. Why: callers compare them.
//   - CP-GET-02: an instance that is shutting down has a deletion timestamp; one that is gone is an error of kind
//     NodeClaimNotFound. Why: the two call for different things, waiting and forgetting.
//   - CP-GET-03: an empty, malformed, foreign or unknown provider ID is of kind NodeClaimNotFound. Why: see
//     CP-DELETE-03.
//
// # CP-LIST: List
//
//   - CP-LIST-01: every instance that the cluster owns is there, and none of another cluster. Why: garbage
//     collection deletes claims without instances and instances without claims.
//   - CP-LIST-02: it lags behind what happened by at most [Capabilities].ConsistencyWindow, in both directions. Why:
//     a cache that keeps dead instances hides lost nodes, and one that is late with new ones gets them collected.
//   - CP-LIST-03: instances that are shutting down are listed with a deletion timestamp, gone ones are not. Why: see
//     CP-GET-02.
//   - CP-LIST-04: NodePool, claim name and claim UID can be read from each entry, the NodePool from the label that names it
//     on the claim. Why: see CP-CREATE-08; a pool of the first generation, where such are served, may bear the name of
//     another, and its label alone tells them apart ([v1.PoolOf]).
//   - CP-LIST-05: an answer that may be incomplete, a page that could not be read for instance, is an error, never a
//     shorter list. Why: what is not listed is taken for lost.
//   - CP-LIST-06: entries are ordered by provider ID. Why: callers' work, and their logs, can be compared.
//
// # CP-SPOT: capacity that can be taken back
//
//   - CP-SPOT-01: a claim that allows spot and on-demand is given spot while an offering that suits has room, and
//     on-demand once none has. Why: a stock-out of spot is no reason for pods to wait.
//   - CP-SPOT-02: spot that is out of stock closes offerings of spot alone, of the same type and zone. Why: with
//     on-demand closed as well nothing is left to fall back on.
//   - CP-SPOT-03: an instance that the cloud takes back ends, to Get, List and Delete, as one that was deleted. Why:
//     what took it is no concern of those that clean up.
//
// # CP-RESERVED: capacity that is paid for
//
//   - CP-RESERVED-01: a claim that a reservation suits uses it while it has room, and names it in its labels. Why: what
//     is not used is paid for all the same.
//   - CP-RESERVED-02: [Offering].ReservationCapacity falls by one with a launch and rises once the instance is gone. Why:
//     planners count on just so many.
//   - CP-RESERVED-03: a reservation that is full gets no further instance; the claim goes to what else suits, or meets an
//     error of kind InsufficientCapacity. Why: the cloud would sell on demand what was planned to be free.
//
// # CP-ERROR: errors
//
// An error has a kind ([ErrorKind]), found with errors.Is or [KindOf]. What the caller does:
//
//	NodeClaimNotFound      the instance is gone: for Delete that is success
//	InsufficientCapacity   delete the claim, plan its pods anew
//	QuotaExceeded          the same, and tell an operator
//	NodeClassNotReady      delete the claim, plan its pods anew
//	CreateFailed           keep the claim, show reason and message, try again
//	UnevaluatedNodePool    leave the NodePool out for now
//	Throttled              try again, not before RetryAfter
//	Unauthorized           try again slowly, tell an operator which permission is missing
//	Transient              try again with back-off
//	Permanent              do not repeat the call unchanged
//
// In clauses:
//
//   - CP-ERROR-01: what fits a kind is returned as that kind; only Create may put it into a [CreateError], which shows
//     it on the claim, and keeps the kind inside. Why: an exhaustion without a kind is retried instead of planned
//     around, until the cloud throttles.
//   - CP-ERROR-02: kinds are found by errors.Is and their data by errors.As, through any wrapping; nobody compares
//     messages. Why: messages change.
//   - CP-ERROR-03: an error without a kind is transient. Why: giving up for good must be said in so many words.
//   - CP-ERROR-04: a throttled call says how long to wait when the cloud did. Why: guessing shorter makes it worse.
//   - CP-ERROR-05: a refused permission is named in the cloud's own words. Why: it is what the operator must grant.
//   - CP-ERROR-06: when one call fails for several causes, all are kept, joined. Why: the first is often not the one
//     that matters.
//   - CP-ERROR-07: when ctx ends, the error wraps ctx.Err(). Why: the caller tells its own haste from the cloud's
//     trouble.
//
// # CP-CONCURRENCY: goroutines, locks, memory
//
//   - CP-CONCURRENCY-01: all methods may be called at once from any number of goroutines; a thousand Creates at once
//     launch a thousand instances. Why: claims of one plan are launched together.
//   - CP-CONCURRENCY-02: no lock is held across a call to the cloud or to foreign code. Why: one slow call must not
//     stop all others.
//   - CP-CONCURRENCY-03: a method returns soon after its ctx ended, and leaves no goroutine behind. Why: shutdown and
//     leader change must be clean.
//   - CP-CONCURRENCY-04: memory is bounded by types times zones times capacity types and by live instances. Why: see
//     CP-CATALOG-12.
//
// Stability: beta.
package cloudprovider
