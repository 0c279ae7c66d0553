// Package cloudprovider is the interface between planners and clouds. It defines the methods and errors of a provider, its instance types,
// and the contract that every provider must fulfil.
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
//		// delete the NodeClaim and plan its pods again: the next InstanceTypes knows what is out of stock
//	}
//
// A provider implements [CloudProvider]. It also implements the optional interfaces that its cloud supports: [DriftDetector], [Repairer],
// [InterruptionSource], [NodeClassStatus], [RegistrationGate] and [GroupCreator]. A provider declares its properties in its [Capabilities],
// and stores nothing in package variables. Package fake is a provider in memory; package cloudprovider/mock has mocks of all interfaces.
//
// # Contract
//
// Callers may rely on the clauses below, and the conformance kit tests each of them. A "claim" is a NodeClaim. An instance is "gone" if it
// no longer runs and no longer costs money. Clauses of an optional interface are in the comment of that interface.
//
// # CP-DESCRIBE: what a provider declares
//
//   - CP-DESCRIBE-01: Describe does no I/O and always returns the same value. Why: planners call it in pure code, and a snapshot
//     that contains it must reproduce the plan.
//   - CP-DESCRIBE-02: the result passes [Capabilities.Validate]. Why: a mistake in the capabilities would be noticed only much later, when
//     pods fit on no node.
//   - CP-DESCRIBE-03: every label key with the same meaning as a well-known one is declared as an alias, including the keys that
//     CSI drivers put on volumes. Why: a pod with a volume in zone "a" under another key would never find a node.
//   - CP-DESCRIBE-04: known values of well-known keys are listed. Why: a misspelt zone is then refused when the object is written,
//     instead of causing "no offering" when a pod is pending.
//   - CP-DESCRIBE-05: declarations are not stored in package variables. Why: one process may use several providers.
//   - CP-DESCRIBE-06: the name is constant and not empty. Why: the name is used as a metric label.
//
// # CP-CATALOG: InstanceTypes
//
//   - CP-CATALOG-01: all types and offerings are listed, available or not. If capacity is missing, only [Offering].Available changes. Why:
//     if a type disappeared, its running nodes would look drifted, and plans could not explain why pods are pending.
//   - CP-CATALOG-02: a type's name is unique and is its only value of node.kubernetes.io/instance-type. Why: claims and nodes identify
//     their type by this name.
//   - CP-CATALOG-03: for every well-known key of the vocabulary, the type or its offerings have a requirement: In with one or several
//     values, or DoesNotExist. If only some offerings have a requirement for a key, instances of the other offerings lack this label. The
//     only exception is the NodePool key, for which instance types have no requirement. Architecture, operating system, zone and capacity
//     type have values. Why: a key without a requirement matches any value that a pod requires, but the node would lack the label.
//   - CP-CATALOG-04: types and offerings use canonical keys and valid values. If the values of a key are declared, only the declared values
//     are used. Why: values are compared as text, so a different spelling is a different value.
//   - CP-CATALOG-05: a type's offerings are unique by [OfferingKey]. Why: if two offerings had the same key, nobody would know which of
//     them is bought, at which price, and which is out of stock.
//   - CP-CATALOG-06: an offering has one value for the zone, one of reserved, spot and on-demand for the capacity type, and at most one
//     value for any other key. A reserved offering names its reservation, the number of instances left in it, and the time at which its
//     instances are taken back, if there is one. These facts are the same for all offerings of a reservation. No other offering has labels
//     of a reservation. Why: each offering stands for one purchase, and a job is planned in a reservation only if it would finish before
//     the end.
//   - CP-CATALOG-07: prices are finite, positive and in USD per hour. Zero is allowed only for reservations that are already paid for. A
//     tiny price in proportion to the instance's size is better, so that small instances are used first. An interruption rate is optional;
//     its bounds are fractions from 0 to 1. Why: if a missing price is read as zero, all pods are planned on that type.
//   - CP-CATALOG-08: capacity has cpu, memory and pods. No amount is negative, and capacity minus overhead is positive for cpu and memory.
//     Why: limits, the packing of pods and node sizes are computed from the capacity.
//   - CP-CATALOG-09: neither the provider nor the caller changes a returned instance type. If a type changes, the provider creates a new
//     object. An unchanged type is returned as the same pointer in each call. Why: planners use types for a long time, in many goroutines,
//     and compare them by pointer.
//   - CP-CATALOG-10: the slice belongs to the caller. Why: callers sort and shorten it.
//   - CP-CATALOG-11: if no fact about types, prices or availability has changed, the list is the same, in the same order. A type has the
//     same content for all NodePools that can use it. Why: plans are compared byte by byte.
//   - CP-CATALOG-12: the answer may differ by NodePool and over time, but memory depends on the number of different types, not on
//     the number of NodePools times the number of changes. Why: long-running processes ran out of memory.
//   - CP-CATALOG-13: while the types of a NodePool are not known, for example because an overlay has not been evaluated, return an error of
//     kind UnevaluatedNodePool, not an empty list. Why: planners would conclude from an empty list that no type fits.
//   - CP-CATALOG-14: allocatable (capacity minus overhead) is at most what a real node of the type reports, and as close to it as
//     possible. Why: if it is too high, planned pods never bind; if it is too low, money is wasted.
//   - CP-CATALOG-15: [InstanceType].VolumeLimits names every CSI driver whose volumes use attachment slots of the instance, with the number
//     of slots left for volumes of pods. The number is at most the one that the driver reports on a real node of the type, and never
//     negative. Why: a new node has no CSINode with the limit, so too many pods with volumes would be planned on it and never bind.
//   - CP-CATALOG-16: [InstanceType].Devices names every driver of Dynamic Resource Allocation that will publish devices on the instance. It
//     contains no device that the driver will not publish. Names are valid and unique within a pool, used counters exist, and no amount is
//     negative. An attribute whose value depends on the offering is bound ([AttributeBinding]) to a label for which each offering has a
//     value, and devices must not have this attribute themselves. Why: a new node has no ResourceSlices yet, so pods could be planned on it
//     for devices that never appear.
//
// # CP-CREATE: Create
//
//   - CP-CREATE-01: nil means that exactly one instance was launched. It meets all requirements of the claim, and its allocatable
//     covers the claim's requests. Why: the pods were planned for such an instance.
//   - CP-CREATE-02: a claim UID has at most one live instance. If Create is called again for a UID, in parallel or much later, by this
//     process or the next one, it returns the existing instance. It may launch another instance only if the existing one is shutting down
//     or gone. The UID is required. Why: responses get lost and processes restart; a second instance would run unnoticed.
//   - CP-CREATE-03: of the compatible offerings, reserved ones are preferred to spot, and spot ones to on-demand. Within a capacity type
//     the provider uses its own strategy; for on-demand it must choose the lowest price. Why: planners rely on this to compute the price of
//     a replacement.
//   - CP-CREATE-04: the instance's node joins with the taint karpenter.sh/unregistered:NoExecute and with the claim's taints and
//     start-up taints. Why: otherwise pods could be bound before the node has its labels.
//   - CP-CREATE-05: the result has the claim's name and UID, a label for each well-known key of the instance, the provider ID, the
//     image ID, capacity and allocatable. Why: nothing else is known about the node until it joins.
//   - CP-CREATE-06: the claim argument is not changed, and the result shares no memory with it or with the provider. Why: their
//     owners modify both.
//   - CP-CREATE-07: if no compatible offering has capacity, the error has kind InsufficientCapacity and names all compatible offerings. For
//     a few minutes InstanceTypes of every NodePool shows exactly the offerings that were out of stock as unavailable, with the same keys.
//     The same applies to offerings blocked by a quota, and to offerings found out of stock before a launch succeeded. Why: otherwise
//     planners would create the same claim again at once.
//   - CP-CREATE-08: cluster, NodePool, claim name and claim UID are stored with the instance from the moment it exists. Why: after a crash
//     the instance can be found only by List.
//   - CP-CREATE-09: after an error, a timeout or a cancelled context, either no instance exists, or List shows it and Create returns it for
//     the same UID. Why: an instance that nobody can find costs money forever.
//   - CP-CREATE-10: a claim whose node class is missing, being deleted or not ready gives an error of kind NodeClassNotReady. Why: the pods
//     may fit into other NodePools.
//   - CP-CREATE-11: Create sees the same types, prices and capacities as InstanceTypes, overlays included. Why: the launched
//     instance must be the planned one.
//
// # CP-DELETE: Delete
//
//   - CP-DELETE-01: nil means that termination is in progress, not that the instance is gone; the error of kind NodeClaimNotFound means
//     that it is gone. Why: an instance that is shutting down still uses its volumes and addresses and still costs money.
//   - CP-DELETE-02: it can be called repeatedly, before, during and after termination. Why: callers repeat the call until the instance is
//     gone.
//   - CP-DELETE-03: an empty, malformed, foreign or unknown provider ID is of kind NodeClaimNotFound. Why: any other error would be
//     retried forever and block the claim's finalizer.
//   - CP-DELETE-04: only the provider ID of the claim is used; its other fields may be outdated. An instance of another cluster is never
//     terminated. Why: claims are read from caches.
//
// # CP-GET: Get
//
//   - CP-GET-01: the result describes the instance in the same way as Create. Why: callers compare the two results.
//   - CP-GET-02: for an instance that is shutting down, the result has a deletion timestamp. For an instance that is gone, the error has
//     kind NodeClaimNotFound. Why: callers wait in the first case and forget the instance in the second case.
//   - CP-GET-03: an empty, malformed, foreign or unknown provider ID is of kind NodeClaimNotFound. Why: see
//     CP-DELETE-03.
//
// # CP-LIST: List
//
//   - CP-LIST-01: the result contains every instance of the cluster, and no instance of another cluster. Why: garbage collection deletes
//     claims without instances and instances without claims.
//   - CP-LIST-02: the result is out of date by at most [Capabilities].ConsistencyWindow, for new and for terminated instances. Why: if
//     terminated instances stay in the list, lost nodes are not noticed. If new instances are missing for longer, garbage collection
//     terminates them.
//   - CP-LIST-03: instances that are shutting down are listed with a deletion timestamp; instances that are gone are not listed. Why: see
//     CP-GET-02.
//   - CP-LIST-04: each entry contains the NodePool, the claim name and the claim UID. The NodePool is in the same label as on the claim.
//     Why: see CP-CREATE-08; a Provisioner may have the same name as a NodePool, and only the label distinguishes them ([v1.PoolOf]).
//   - CP-LIST-05: if the answer may be incomplete, for example because a page could not be read, return an error, never a shorter list.
//     Why: instances that are not listed are treated as lost.
//   - CP-LIST-06: entries are ordered by provider ID. Why: actions and logs of callers can then be compared.
//
// # CP-SPOT: capacity that can be taken back
//
//   - CP-SPOT-01: a claim that allows spot and on-demand gets a spot instance if a compatible spot offering has capacity, and otherwise an
//     on-demand instance. Why: pods need not wait when spot is out of stock.
//   - CP-SPOT-02: if spot is out of stock, only spot offerings of the same type and zone become unavailable. Why: on-demand must
//     remain as a fallback.
//   - CP-SPOT-03: Get, List and Delete treat an instance that the cloud reclaimed like an instance that was deleted. Why: the cause does
//     not matter for the clean-up.
//
// # CP-RESERVED: capacity that is paid for
//
//   - CP-RESERVED-01: a claim that is compatible with a reservation uses the reservation if it has room, and the instance's labels name the
//     reservation. Why: an unused reservation costs as much as a used one.
//   - CP-RESERVED-02: [Offering].ReservationCapacity decreases by one when an instance is launched, and increases by one when the instance
//     is gone. Why: planners rely on the number.
//   - CP-RESERVED-03: a reservation that is full gets no further instance; the claim gets another compatible offering, or an error of kind
//     InsufficientCapacity. Why: otherwise the cloud would charge the on-demand price for an instance that was planned as already paid for.
//
// # CP-ERROR: errors
//
// An error has a kind ([ErrorKind]), which errors.Is or [KindOf] find. The kind decides what the caller does:
//
//	NodeClaimNotFound      the instance is gone: for Delete that is success
//	InsufficientCapacity   delete the claim, plan its pods again
//	QuotaExceeded          the same, and notify an operator
//	NodeClassNotReady      delete the claim, plan its pods again
//	CreateFailed           keep the claim, show reason and message, try again
//	UnevaluatedNodePool    leave the NodePool out for now
//	Throttled              try again, not before RetryAfter
//	Unauthorized           retry at long intervals, show an operator the missing permission
//	Transient              try again with back-off
//	Permanent              do not repeat the call unchanged
//
// In clauses:
//
//   - CP-ERROR-01: an error that fits a kind is returned with that kind. Only Create may wrap it in a [CreateError], which is shown on the
//     claim and keeps the kind. Why: if an error about missing capacity had no kind, the launch would be repeated until the cloud
//     throttles, instead of using other offerings.
//   - CP-ERROR-02: errors.Is finds kinds and errors.As finds their data, through any wrapping; callers never compare messages. Why:
//     messages change.
//   - CP-ERROR-03: an error without a kind is transient. Why: only an explicit kind may stop retries.
//   - CP-ERROR-04: a throttling error contains the waiting time if the cloud gave one. Why: calls before the end of this time make the
//     throttling worse.
//   - CP-ERROR-05: the error about a missing permission contains the cloud's own name of the permission. Why: the operator must grant it.
//   - CP-ERROR-06: if a call fails for several causes, the error joins all of them. Why: the first cause is often not the important one.
//   - CP-ERROR-07: when ctx ends, the error wraps ctx.Err(). Why: the caller can then distinguish its own timeout from failures of
//     the cloud.
//
// # CP-CONCURRENCY: goroutines, locks, memory
//
//   - CP-CONCURRENCY-01: all methods may be called in parallel from any number of goroutines; a thousand parallel Creates launch a
//     thousand instances. Why: claims of one plan are launched together.
//   - CP-CONCURRENCY-02: no lock is held during a call to the cloud or to foreign code. Why: one slow call must not block all
//     others.
//   - CP-CONCURRENCY-03: a method returns soon after its ctx ended, and leaves no goroutine running. Why: shutdown and change of
//     leader must be clean.
//   - CP-CONCURRENCY-04: memory is bounded by types times zones times capacity types, plus running instances. Why: see
//     CP-CATALOG-12.
//
// Stability: beta.
package cloudprovider
