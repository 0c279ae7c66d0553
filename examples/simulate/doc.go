// Command simulate packs the pods of a cluster onto the nodes it has and onto new EC2 nodes, and says what that
// costs. It reads manifests or what kubectl prints, needs no cluster and, but for --provider aws, no AWS account and no
// network, and is nothing but flags and output around the SDK:
//
//	manifests.Load → scheduling.Snapshot → scheduling.Compile → Model.Solve → scheduling.Plan
//
// The smallest use plans a small built-in cluster:
//
//	go run ./examples/simulate
//
// Run it with --help for its inputs and flags.
//
// # Defaults
//
// Without a NodePool in the input, one named "default" is used and a note says so: linux, amd64 or arm64, spot or
// on-demand, any instance type, no limits (default-nodepool.yaml). A NodePool whose EC2NodeClass is not in the input
// gets the class's default settings, with a note. Instance types and prices are built in (package aws/catalog): those of
// the region that --region names, or that the nodes are in, by their labels and provider IDs. Without nodes, and where the nodes name
// several regions or none of AWS, they are those of us-east-1. What is assumed is part of the answer.
//
// # Generations
//
// Provisioners, Machines and AWSNodeTemplates of the first generation of the API, and NodePools, NodeClaims and EC2NodeClasses of
// v1beta1, are read beside those of v1, in any mixture: in the inputs, in the file of --diff, with --consolidate and --replay
// (see scheduling/manifests). What conversion changed is told on standard error as a note or a warning with its code (W101 and so
// on: package api/conversion), object and field, and in the JSON output's notes. A pool of the first generation is called
// v1alpha5/NAME, so that it is not taken for a NodePool of its name; its nodes bear the label karpenter.sh/provisioner-name. A
// kubelet block that a pool brings counts in place of its node class's. With --strict a field that a kind does not have is refused.
//
// # AWS
//
// With --provider aws, instance types, zones and prices are those that AWS gives to the user's credentials: these and
// the region are found as the AWS command line finds them, and so are endpoints (AWS_ENDPOINT_URL). A policy must allow
//
//	ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings
//
// and for prices of the day and ids of zones
//
//	pricing:GetProducts, ec2:DescribeSpotPriceHistory, ec2:DescribeAvailabilityZones
//
// Prices that can't be read are those built in, with a note; spot prices, where none are built in, the on-demand ones.
// Nothing is launched or changed. --save-snapshot keeps AWS's answer: a replay asks nobody.
//
// The AWS SDK takes longer to compile than all the rest, so that the program has it only when built with -tags aws:
//
//	go run -tags aws ./examples/simulate deploy/ --provider aws --region eu-west-1
//
// One built without runs the program simulate-aws in its own folder, and looks for it nowhere else:
//
//	go build -o bin/simulate ./examples/simulate
//	go build -tags aws -o bin/simulate-aws ./examples/simulate
//
// # Cost model
//
// --cost-model names a file that says what nodes cost beyond their list prices: discounts, Savings Plans and Reserved
// Instances, fees per node, a price on carbon. Terms apply in the order they stand; scheduling.CostModel says what each
// means. Everything of the plan reckons with it: which nodes, what they cost, the lower bound.
//
//	terms:
//	- name: reserved instances
//	  source: order 4711, until 2027-03
//	  where:
//	    requirements:
//	    - {key: node.kubernetes.io/instance-type, operator: In, values: [m7g.xlarge]}
//	  commitment: {amount: 3}                            # three nodes are paid for
//	- name: compute savings plan
//	  source: order 4712
//	  commitment: {amount: 2.5, percentOfPrice: 72}      # $2.50 an hour, at rates 28% below on-demand
//	- name: enterprise discount
//	  source: contract, page 4
//	  percent: -9
//	- name: monitoring
//	  source: price list of the vendor, per host
//	  perNode: 0.02
//
// Replays of a snapshot saved with it need no --cost-model; with one, they say what the same would have cost by it.
//
// # Settings of old releases
//
// A ConfigMap karpenter-global-settings among the inputs is read as the controller reads it, with the same codes (W701 to W708):
// the memory overhead and the reserved network interfaces count for all nodes, the density of pods and branch interfaces
// for those of Provisioners, and without drift no node counts as drifted. The rest, and the ConfigMap config-logging, has no
// bearing on planning and is said to have none.
//
// # What could go, and what would change
//
// --consolidate asks package disruption which nodes could be removed or replaced, now and within their pools' budgets. Where
// the input has no NodeClaim at all, each node that a pool's label names is taken for one of that pool, with a note.
//
// What it weighs (the least saving, the pay-back time, what a move is worth, and so on) is set by the flags --disruption-...,
// which are the controller's settings of the same names and defaults: see examples/settings.Disruption.
//
// --diff compares the NodePools of the input with another set, given as a whole in one file, with node classes that are
// others: which nodes would drift, and what everything costs before and once they have been replaced.
//
// --replace-nodes leaves out the nodes that a selector of labels matches and lets their pods wait: what would be launched in
// their place, and at what price. Nodes that say nothing of how they were bought count as on-demand ones, but for what EKS
// says of those of its groups (eks.amazonaws.com/capacityType). A selector that no node meets is bad input: nothing is planned.
//
// # Replay
//
// --replay lets pods of a trace come and go over the pools of the input, beginning with an empty cluster: planned in batches,
// launched from a simulated cloud that takes spot nodes back by chance, consolidated every hour or as often as
// --consolidate-every says. What a command has to be worth is set by --disruption-pay-back, --disruption-min-saving,
// --disruption-min-saving-share, --disruption-price and --disruption-cool-down, as for --consolidate. It is a simulation of
// events, so that a month takes a minute, and the same seed gives the same result. The trace is CSV:
//
//	name,arrival,departure,cpu,memory,gpu
//	web-1,0,26h,500m,1Gi,
//	job-1,3600,2h30m,4,8Gi,1
//
// Times are seconds since the beginning or durations; departure may be empty, gpu be left out. The openb trace is taken as it
// is. What is simplified: pods start the moment their node is ready, a minute after its launch; an evicted pod starts anew and
// ends when it would have; DaemonSets are planned for and not run; pods have no owner whose moves would let others cool down.
//
// # Exit status
//
//	0  all pods have a place; with --consolidate, whatever came of it
//	1  bad input or usage: nothing was planned. An input without a pod that waits for a place is one, without --allow-empty
//	2  some pods have no place; with --diff, more than before
//	3  --timeout ran out
//	4  AWS could not be asked, or did not answer
//	5  output could not be written
//	130  interrupted; standard error says what was written before
//
// ("go run" turns each status but 0 into 1; build the command to read it.)
//
// # JSON
//
// With -o json, standard output is one object, and with -o yaml the same as YAML. Keys are only ever added; arrays are never null. Apart from
// solveMillis, compileMillis and planMillis, equal input gives equal bytes, at the same time where time matters: --now says which. The
// folder schemas has a JSON Schema for each kind. Times are RFC 3339; lengths of time are seconds, or milliseconds where the key says so.
//
//	apiVersion       simulate.drawknife.dev/v1; another if a key means something else
//	kind             Plan
//	summary
//	  pods           number of pending pods
//	  placed         how many of them have a place
//	  unschedulable  how many have none
//	  existingNodes  number of nodes the cluster has, or has on their way
//	  newNodes       number of nodes to launch
//	  hourlyCost     of the new nodes, USD: the sum of their prices
//	  lowerBound     USD per hour that no set of new nodes for these pods can cost less than
//	  onDemandCost   of the new nodes, USD per hour, if the spot ones are bought on demand too; absent without spot nodes, with a
//	                 cost model, and where it is not known
//	  estimated      of how many new nodes the price is an estimate; absent for none
//	  solveMillis    how long solving took, milliseconds
//	  compileMillis  how long reading the snapshot into the planner took, milliseconds
//	  replacedNodes  number of nodes left out; absent without --replace-nodes
//	  replacedCost   what those cost whose price is known, USD per hour; absent likewise, and if it is known of none
//	  replacedUnpriced
//	                 how many of them have no known price; absent for none
//	  replacedEstimated
//	                 of how many the price is an estimate; absent for none
//	nodes[]          nodes to launch
//	  name           placeholder, unique in the plan
//	  nodePool       pool that launches it
//	  instanceType   the cheapest type that does
//	  arch           that it has: amd64 or arm64; absent if the type does not state one
//	  zone           of its cheapest offering
//	  capacityType   of its cheapest offering: spot, on-demand or reserved
//	  price          of its cheapest offering, USD per hour
//	  priceEstimated true if that is an estimate, see assumptions; else absent
//	  reservation    that the offering draws on, "key=value"; absent unless capacityType is reserved
//	  priceTerms[]   how the price came about; absent without a cost model
//	    name         "list price", then the cost model's terms that changed it
//	    source       where the figure comes from
//	    amount       that it adds, USD per hour
//	    covered      the share of the node, 0 to 1, that a commitment covers; absent for other terms
//	  instanceTypes  names of all types that would do, cheapest first
//	  pods           "namespace/name" of the pods placed on it
//	  placeholders   "namespace/name" of capacity buffers' placeholders placed on it
//	  requests       of all these and the DaemonSets it will run, quantity by resource
//	  allocatable    what instanceType has for pods, quantity by resource
//	  minValuesRelaxed
//	                 true if instanceTypes are less varied than the pool's minValues ask for; else absent
//	existing[]       nodes the cluster has, by name
//	  name           of the Node, or of the NodeClaim before it has joined
//	  pods           "namespace/name" of the pending pods placed on it, perhaps none
//	  placeholders   "namespace/name" of capacity buffers' placeholders placed on it
//	unschedulable[]  pods without a place
//	  pod            "namespace/name"
//	  workload       that it belongs to, "Deployment namespace/name"; absent for pods that nothing owns
//	  reasons[]      one for each NodePool, or one for the pod itself
//	    nodePool     that can't take the pod; "" when the pod itself is at fault
//	    code         machine-readable, see scheduling.ReasonCode
//	    message      a sentence
//	    nearestMiss  a sentence: the least that would have to be different for the pod to have a place here; absent if
//	                 no single change would do
//	relaxations[]    wishes that the plan does not keep
//	  code           machine-readable, see scheduling.RelaxationCode
//	  detail         which wish
//	  pods           "namespace/name" of the pods that wished it
//	  placeholders   "namespace/name" of the placeholders that did
//	preemptions[]    pods for which kube-scheduler makes room on a node there is by preempting others, unless the nodes planned
//	                 here are there first; with --preemption expect no place is planned for them; absent for none
//	  pod            "namespace/name"
//	  node           whose pods it preempts
//	  victims        "namespace/name" of these, by falling priority
//	buffers[]        capacity buffers that stand for at least one pod, by name
//	  name           "namespace/name"
//	  pods           how many placeholders the buffer has, the sum of the next three
//	  new            how many have room on nodes to launch
//	  existing       how many have room on nodes the cluster has
//	  unplaced       how many have none
//	  reasons[]      why they have none, as of a pod
//	notes[]          remarks on the input that did not stop the plan: first those on how it was read, which a replay
//	                 lacks; the same as on standard error. UnknownPrice names nodes whose price is not known; the text has it in
//	                 the answer itself
//	  code           machine-readable, see scheduling.NoteCode and manifests.WarningCode
//	  object         that the remark is about, or ""
//	  where          file, document and line; absent if it is about no single place
//	  message        a sentence
//	prices[]         where the prices of the nodes to launch come from
//	  capacityType   spot, on-demand or reserved
//	  source         with its day, as far as is known
//	  nodes          how many nodes are priced so
//	  hourlyCost     of these, USD
//	commitments[]    of the cost model, in its order; absent without any
//	  name, source   of the term
//	  unit           that the amounts are in
//	  amount         that is paid for
//	  existing       what nodes of the cluster use of it
//	  planned        what nodes to launch do
//	  saved          what it takes off hourlyCost, USD per hour
//
// Capacity buffers keep room free for pods to come. Their placeholders are no pods: no count of pods includes them, and
// a plan without room for them has still placed all pods. But nodes are launched for them, at a cost.
//
//	assumptions[]    what the answer rests on that neither the input nor AWS says: the region and its zones, the day of its
//	                 prices, how others were estimated; absent for none. With --consolidate, --diff and --replay too
//
// Quantities are strings as Kubernetes writes them ("1500m", "2Gi").
//
// With --consolidate, where the digest names what is done to the cluster (the nodes that go, the pods that are evicted, what may be
// launched, wave by wave) and is the same for the same, whatever the prices and the time; the controller goes by the same digests:
//
//	apiVersion, kind of which the latter is ConsolidationPlan
//	digest           of the plan: 32 hexadecimal digits, see disruption.Plan.Digest
//	summary
//	  nodes          number of nodes
//	  candidates     how many of them could go as far as they alone are concerned
//	  removed, replaced
//	                 how many go, without and with something launched in their stead
//	  launched       how many nodes come
//	  evictions      pods that have to move
//	  hourlyCost     of the nodes whose price is known, USD; absent if it is known of none
//	  hourlyCostAfter
//	                 once all commands are carried out; absent likewise
//	  unpriced, estimated
//	                 how many nodes have no known price, and of how many it is an estimate; absent for none
//	  unpricedAfter, estimatedAfter
//	                 the same once all commands are carried out
//	  savings        of the commands for which that is known
//	  savingsUnknown for how many it is not: a price of what goes or comes is not known; absent for none
//	  evictionCost   what moving the pods is worth, once, USD: see --disruption-price
//	  planMillis     how long planning took, milliseconds
//	commands[]       what is carried out as a whole, in order
//	  id             the same for the same nodes and time
//	  digest         see disruption.Command.Digest
//	  decision       delete or replace
//	  method         that found it, see disruption.Method
//	  reason         see disruption.Reason
//	  nodes          names of the nodes that go
//	  pods           "namespace/name" of the pods that move
//	  launches[]     nodePool, and as in nodes[] of a plan: instanceType, zone, capacityType, price, priceEstimated, instanceTypes, pods;
//	                 nodePool alone for nodes of a static pool
//	  receivers[]    nodes of the cluster that pods move to: name, pods
//	  savings        USD per hour; negative where it costs more; absent if not known
//	  savingsEstimated
//	                 true if it rests on estimates; else absent
//	  evictionCost   what moving the pods is worth, once, USD
//	  notBefore      when it may begin at the earliest, RFC 3339
//	  wave           number of its wave, from 1; absent if the planner makes none, as the reference
//	waves[]          what is carried out side by side, one wave after another, in order
//	  commands       their ids
//	  seconds        how long that is expected to take
//	  overlap        USD for what is launched while what goes is still there
//	  pods           that have to move
//	  savings, savingsUnknown
//	                 as in summary
//	nodes[]          every node, by name
//	  name, nodePool the latter empty for a node of none, which stays
//	  outcome        kept, removed or replaced
//	  command        id of the one that removes it; absent if none does
//	  price          USD per hour; absent if not known
//	  priceEstimated true if that is an estimate; else absent
//	  disruptionCost what disturbing it costs, in ordinary pods; absent if it is no candidate
//	  reasons[]      why it stays
//	    method       that it is kept from; absent if from all
//	    code         machine-readable, see disruption.BlockCode
//	    message      a sentence
//	    block        what the sentence is made of, see disruption.Block: objects, numbers and, where there is one, a proof,
//	                 whose prices are the number of one of floorPrices, from 0: its floor is at most what its demand is
//	                 worth at these, or the cheapest of one of its homeless pods
//	  calendar       when it may go, whether or not that is worth it
//	    mayGo        from when on nothing forbids it, RFC 3339; absent if nobody knows
//	    gates[]      what forbids it until then: kind (budget, podDisruptionBudget, annotation, consolidateAfter, coolDown,
//	                 approval or state), code and message as of reasons[], until, absent if nobody knows
//	floorPrices[]    USD per hour for each core (cpu), byte (memory) and pod (pods), such that no node that may be launched
//	                 for a homeless pod of a proof that goes by them, and would hold it, costs less than what it has for
//	                 pods, beside its DaemonSets, is worth at them. Nodes may be launched by pools that are ready and
//	                 not static, whose taints the pod tolerates, as the pool and the pod require. None from the reference
//	                 and with a cost model
//	waiting, again   whether more may be possible later, since budgets or waiting times leave something out now; and when, RFC 3339,
//	                 absent if that is not known
//	notes[]          as above
//
// With --diff:
//
//	apiVersion, kind of which the latter is PoolComparison
//	summary
//	  nodes          number of nodes
//	  replaced       how many would drift, or go with their pool
//	  hourlyCost, hourlyCostAfter
//	                 USD per hour of all nodes and of those planned for pods that wait: now, and with the other pools once
//	                 everything is replaced; of those whose price is known, absent if it is known of none
//	  unpriced, estimated, unpricedAfter, estimatedAfter
//	                 how many of these have no known price, or one that is an estimate; absent for none
//	  unschedulableBefore, unschedulable
//	                 pods without a place, now and then
//	nodePools[]      name; change: added, removed, changed or unchanged; fields: paths of those that are others
//	nodes[]          that would go: name, nodePool, price (absent if not known), priceEstimated, and reason as in the condition Drifted, or NodePoolGone
//	launches[]       nodes planned with the other pools, as nodes[] of a plan
//	noPlace[]        pods without a place then, as unschedulable[] of a plan without workload
//	plans            what differs between the plans for pods that wait, see scheduling.PlanDiff
//	notes[]          as above
//
// With --replay:
//
//	apiVersion, kind of which the latter is Replay
//	start, length    when it began, and for how long, seconds
//	series[]         stretches of equal length: at, seconds since the start; costPerHour, USD; nodes, pending, on average; cpu and memory
//	                 that pods on nodes ask for, as a share of what nodes have
//	cost             of all nodes, USD
//	pods, unplaced, refused, never
//	                 pods that came, that wait at the end, of which no place can be found for refused, and that were done
//	                 before they had a node
//	estimated        launches whose price is an estimate; absent for none
//	launches, passes, looks, commands
//	                 nodes launched, planning runs, looks for a smaller fleet and what came of them
//	interruptions, evictionsBySpot, evictionsByPlan
//	packing[]        the fleet at its largest: name, nodePool, instanceType, zone, capacityType, price, priceEstimated, pods[] with their shares
//	packedAt         when that was, seconds since the start
//	pendingSeconds   p50, p90, p99 and max of pods' waits for their first node
//	notes[]          as above
//	solveMillis      how long it took, milliseconds
//
// # Certificate
//
// --certificate writes the proof of lowerBound, checkable by arithmetic alone: scheduling.Certificate says what holds
// between its figures.
//
//	classes[]        groups of pods with equal requests
//	  requests       of one pod, quantity by resource, "pods": "1" among them
//	  count          of pods
//	  value          of one pod, USD per hour; lowerBound is the sum of count * value, less that over limits
//	types[]          instance types that may be used
//	  name           of the type
//	  price          of its cheapest usable offering, USD per hour
//	  multipliers    USD per hour and unit, by resource
//	limits[]         what there is only so much of; absent where there is nothing
//	  reservation    what it is: labels of a reservation,
//	  commitment     or the name of a commitment; the other is absent
//	  amount         that is left for nodes to launch
//	  value          of one, USD per hour; lowerBound has the sum of amount * value taken off
//	  types[]        of nodes that use it: as types[], and
//	    uses         how much of it one node uses; it may hold pods worth price + uses * value
package main
