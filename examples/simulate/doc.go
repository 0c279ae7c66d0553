// Command simulate plans the pods of a cluster on its existing nodes and on new EC2 nodes, and prints what the new nodes cost. It
// reads manifests or the output of kubectl. It needs no cluster and, except for --provider aws, no AWS account and no network. It
// only adds flags and output to the SDK:
//
//	manifests.Load → scheduling.Snapshot → scheduling.Compile → Model.Solve → scheduling.Plan
//
// Without arguments it plans a small built-in cluster:
//
//	go run ./examples/simulate
//
// --help describes inputs and flags.
//
// # Defaults
//
// If the input has no NodePool, simulate uses one named "default" (linux, amd64 or arm64, spot or on-demand, any instance type, no limits;
// default-nodepool.yaml) and prints a note. If an EC2NodeClass that a NodePool names is not in the input, simulate uses a class with default
// settings and prints a note. Instance types and prices are built in (package aws/catalog). The region is given by --region, or else by the
// labels and provider IDs of the nodes. If there are no nodes, or the nodes are in several regions or outside of AWS, the region is
// us-east-1. The output lists all assumptions.
//
// # Generations
//
// Provisioners, Machines and AWSNodeTemplates of v1alpha5, and NodePools, NodeClaims and EC2NodeClasses of
// v1beta1, may be mixed with those of v1: in the inputs, in the file of --diff, with --consolidate and --replay (see
// scheduling/manifests). Each change by the conversion is reported as a note or warning with its code (W101 and so on: package
// api/conversion), object and field, on standard error and in the notes of the JSON output. A Provisioner is called v1alpha5/NAME,
// to distinguish it from a NodePool of the same name; its nodes have the label karpenter.sh/provisioner-name. The kubelet block of
// a pool overrides that of its node class. With --strict, unknown fields are errors.
//
// # AWS
//
// With --provider aws, instance types, zones and prices are read from AWS. Credentials, region and endpoints (AWS_ENDPOINT_URL) are found
// in the same way as by the AWS command line. The AWS policy must allow these actions:
//
//	ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings
//
// For current prices and zone IDs, it must also allow
//
//	pricing:GetProducts, ec2:DescribeSpotPriceHistory, ec2:DescribeAvailabilityZones
//
// If prices cannot be read, built-in prices are used, and a note says so. A missing spot price is replaced by the on-demand price. Nothing
// is launched or changed. --save-snapshot saves the answers of AWS, so that a saved snapshot can be planned again without AWS.
//
// The AWS SDK takes longer to compile than everything else. Therefore only a program built with -tags aws contains it:
//
//	go run -tags aws ./examples/simulate deploy/ --provider aws --region eu-west-1
//
// A program built without the tag runs the program simulate-aws from its own folder, and from nowhere else:
//
//	go build -o bin/simulate ./examples/simulate
//	go build -tags aws -o bin/simulate-aws ./examples/simulate
//
// # Cost model
//
// --cost-model names a file with costs beyond list prices: discounts, Savings Plans and Reserved Instances, fees per node, a carbon
// price. Terms apply in the order of the file; scheduling.CostModel explains each. The whole plan uses these costs: the choice of
// nodes, their prices and the lower bound.
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
// The built-in spot prices were recorded on a single day and are old. Plans use the median price of an instance type's zones, but at least
// a share of the on-demand price (see docs/catalog.md); the output marks such estimates with ~. With --spot-prices seen, plans use each
// zone's price of that day.
//
// --fees adds costs of nodes beyond their instances, with built-in prices: public-ipv4, root-volume, cross-zone-traffic, eks-auto-mode, and
// the operating system licences rhel, sles and ubuntu-pro. Only the named fees are counted. A fee can have an amount and NodePools:
// root-volume=100 counts a volume of 100 GB, and rhel@linux+batch counts RHEL licences only for nodes of the NodePools linux and batch. The
// prices and their sources are in docs/costs.md. The fees become terms of the cost model, after the terms of --cost-model.
//
// --spot-risk adds the expected cost of interruptions of spot nodes, and expected price rises after momentary low prices. Both become terms
// of the cost model, before all others. The notes list current low spot prices that the plan does not use, and why. The figures are
// explained in docs/spot.md.
//
// A snapshot saved with --cost-model, --fees or --spot-risk contains the cost model. If --cost-model is given with such a snapshot, the
// given model replaces the saved model.
//
// # Settings of Karpenter up to 0.32
//
// A ConfigMap karpenter-global-settings in the input is read in the same way as by the controller, with the same codes (W701 to W708). Its
// settings for memory overhead and reserved network interfaces apply to all nodes. Its settings for pod density and branch interfaces apply
// to nodes of Provisioners. If it turns drift off, no node counts as drifted. The other settings, and the ConfigMap config-logging, do not
// affect planning; a note says so.
//
// # Consolidation and comparison
//
// --consolidate shows which nodes package disruption would remove or replace now, within the budgets of their NodePools. If the input has
// no NodeClaims, each node with the label of a NodePool counts as a node of that NodePool, and a note says so.
//
// The flags --disruption-... set the thresholds of --consolidate: minimum saving, pay-back time, cost of moving a pod, and so on. They
// are the controller's settings, with the same names and defaults: see examples/settings.Disruption.
//
// --diff compares the NodePools of the input with another complete set in one file, which may also contain changed node classes. It prints
// which nodes would drift, and the cost before and after their replacement.
//
// --replace-nodes removes the nodes that match a label selector and treats their pods as pending. It prints which nodes would be
// launched instead, and their price. Nodes without the label karpenter.sh/capacity-type count as on-demand, unless EKS has labelled them
// eks.amazonaws.com/capacityType=SPOT (managed node groups). If no node matches the selector, the command fails.
//
// # Replay
//
// --replay simulates a cluster over time: pods of a trace arrive and end, and nodes come from the NodePools of the input, starting
// with an empty cluster. Pods are planned in batches. Nodes are launched in a simulated cloud that interrupts spot nodes at random.
// The cluster is consolidated every hour, or at the interval of --consolidate-every. The thresholds of commands are set by
// --disruption-pay-back, --disruption-min-saving, --disruption-min-saving-share, --disruption-price and --disruption-cool-down, as
// for --consolidate. Simulated time jumps from event to event, so a month takes a minute. The same seed gives the same result. The
// trace is CSV:
//
//	name,arrival,departure,cpu,memory,gpu,resourceclaimtemplates,resourceclaims
//	web-1,0,26h,500m,1Gi,,,
//	job-1,3600,2h30m,4,8Gi,1,,
//	llm-1,3600,,4,8Gi,,one-gpu,
//	llm-2,3600,,4,8Gi,,,team/shared-gpu
//
// Times are seconds since the start, or durations; departure may be empty, and the columns after memory may be missing. The format of
// Alibaba's openb trace (cluster-trace-gpu-v2023) is also accepted. The columns resourceclaimtemplates and resourceclaims name the
// ResourceClaimTemplates and ResourceClaims of the input that the pod uses: as namespace/name or, in the namespace default, as name.
// Several names are separated by spaces. A pod has its devices while it is on a node. A ResourceClaim has its devices while a pod that uses
// it is on a node. The simulation is simplified: a node is ready a minute after its launch, and its pods start at that moment; an evicted
// pod starts again and ends at its original time; DaemonSets reserve room but do not run; pods have no owners, so moving a pod starts no
// cool-down for pods of the same owner.
//
// # Exit status
//
//	0  all pods have a place; with --consolidate, always if the plan was made
//	1  bad input or usage: nothing was planned. Without --allow-empty, an input without pending pods is bad input
//	2  some pods have no place; with --diff, more than before
//	3  --timeout ran out
//	4  AWS could not be called, or did not answer
//	5  output could not be written
//	130  interrupted; standard error says what was written before
//
// ("go run" changes every status other than 0 to 1; build the command to see the status.)
//
// # JSON
//
// With -o json, standard output is one JSON object; with -o yaml it is the same object as YAML. New versions only add keys. Arrays
// are never null. Equal input gives equal bytes, except for solveMillis, compileMillis and planMillis; if the result depends on the
// current time, set it with --now. The folder schemas has a JSON Schema for each kind. Times are RFC 3339. Durations are in
// seconds, or in milliseconds if the name of the key says so.
//
//	apiVersion       simulate.drawknife.dev/v1; changes if the meaning of a key changes
//	kind             Plan
//	summary
//	  pods           number of pending pods
//	  placed         how many of them have a place
//	  unschedulable  how many have none
//	  existingNodes  number of nodes of the cluster, including NodeClaims that have not joined yet
//	  newNodes       number of nodes to launch
//	  hourlyCost     of the new nodes, USD: the sum of their prices
//	  lowerBound     USD per hour: no set of new nodes for these pods costs less
//	  onDemandCost   of the new nodes, USD per hour, if the spot nodes were on-demand, too; absent without spot nodes, with
//	                 commitments, and if it is not known
//	  lowCost, highCost
//	                 of the new nodes, USD per hour, at the lowest and highest prices of their types in the region on the day
//	                 of the prices; absent if no price has such a range, and with commitments
//	  estimated      number of new nodes with an estimated price; absent if 0
//	  solveMillis    how long solving took, milliseconds
//	  compileMillis  how long reading the snapshot into the planner took, milliseconds
//	  replacedNodes  number of nodes that --replace-nodes removed; absent without it
//	  replacedCost   cost of these nodes as far as known, USD per hour; absent without --replace-nodes, and if no price is known
//	  replacedUnpriced
//	                 number of these nodes without a known price; absent if 0
//	  replacedEstimated
//	                 number of these nodes with an estimated price; absent if 0
//	  replicas       range that the autoscalers of the input allow; absent without autoscalers
//	    planned      value of --replicas: min, current or max
//	    workloads[]  with their workload, scaler, and numbers of pods: planned, min and max (absent if there is no maximum)
//	    min, max     plans with the smallest and largest numbers of pods: pods, newNodes, hourlyCost (USD) and unschedulable; the
//	                 last three are absent if nothing was planned because there are too many pods
//	  usage          the plan with requests at usage; absent without --usage
//	    percentile   value of --usage-percentile; absent if no series has several samples
//	    sources      names of the files
//	    workloads    number of workloads with known usage
//	    pods         number of their pods with known usage, pending and running
//	    podsWithout  number of all other pods
//	    requested, used
//	                 sums for the pods with known usage, quantity by resource: cpu and memory
//	    plan         pods, newNodes, hourlyCost and unschedulable of the plan, as in replicas.min
//	nodes[]          nodes to launch
//	  name           placeholder, unique in the plan
//	  nodePool       pool that launches it
//	  instanceType   the cheapest of instanceTypes
//	  arch           architecture of instanceType: amd64 or arm64; absent if the type does not state one
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
//	  instanceTypes  names of all allowed types, cheapest first
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
//	    nodePool     that can't take the pod; "" if the pod itself is the cause
//	    code         machine-readable, see scheduling.ReasonCode
//	    message      a sentence
//	    nearestMiss  a sentence: the smallest change with which the pod would have a place here; absent if
//	                 no single change would do
//	relaxations[]    preferences that the plan does not keep
//	  code           machine-readable, see scheduling.RelaxationCode
//	  detail         which preference
//	  pods           "namespace/name" of the pods with this preference
//	  placeholders   "namespace/name" of the placeholders with it
//	preemptions[]    pods for which kube-scheduler makes room on a node there is by preempting others, unless the nodes planned
//	                 here are there first; with --preemption expect no place is planned for them; absent for none
//	  pod            "namespace/name"
//	  node           whose pods it preempts
//	  victims        "namespace/name" of these, by falling priority
//	buffers[]        capacity buffers that stand for at least one pod, by name
//	  name           "namespace/name"
//	  pods           number of placeholders of the buffer, the sum of the next three
//	  new            number with room on nodes to launch
//	  existing       number with room on existing nodes
//	  unplaced       number without room
//	  reasons[]      why they have no room, as for a pod
//	usage[]          containers with known usage, by workload; absent without --usage. First are those whose requests exceed the usage
//	                 of all their pods by most; 8 GiB of memory count as a core
//	  workload       "Deployment namespace/name", or "Pod namespace/name" for a pod that nothing owns
//	  container      name of the container
//	  pods           number of its pods; 0 for a DaemonSet that has none yet
//	  requests       of one pod, the largest if they differ, quantity by resource: cpu and memory; without a request, the key is absent
//	  usage          of one pod, likewise; if it is not known, the key is absent
//	notes[]          remarks on the input that did not stop the plan: first those on how it was read, which a replay
//	                 lacks; the same as on standard error. UnknownPrice names nodes whose price is not known; the text has it in
//	                 the answer itself
//	  code           machine-readable, see scheduling.NoteCode and manifests.WarningCode
//	  object         that the remark is about, or ""
//	  where          file, document and line; absent if it is about no single place
//	  message        a sentence
//	prices[]         where the prices of the nodes to launch come from
//	  capacityType   spot, on-demand or reserved
//	  source         in words, with its day; empty if it is not known
//	  date           of the prices, such as 2026-07-20; absent if it is not known
//	  region         of the prices; absent if it is not known
//	  confidence     current: the cloud gave the prices; given: the user did; dated: they are from a public list of that
//	                 day; estimated: they are computed from others; absent if it is not known
//	  nodes          number of nodes with prices from this source
//	  hourlyCost     of these, USD
//	commitments[]    of the cost model, in its order; absent without any
//	  name, source   of the term
//	  unit           that the amounts are in
//	  amount         that is paid for
//	  existing       amount used by existing nodes
//	  planned        amount used by nodes to launch
//	  saved          by how much it lowers hourlyCost, USD per hour
//
// Capacity buffers keep room free for future pods. Their placeholders are not counted as pods: the exit status is 0 even if a plan has no
// room for them. But nodes are launched for placeholders, and these nodes cost money.
//
//	assumptions[]    what the answer rests on that neither the input nor AWS says: the region and its zones, the day of its
//	                 prices, how others were estimated; absent for none. With --consolidate, --diff and --replay too
//
// Quantities are strings as Kubernetes writes them ("1500m", "2Gi").
//
// With --consolidate, the output has the keys below. Its digest identifies the actions of a plan: removed nodes, evicted pods and
// launches, wave by wave. Plans with equal actions have equal digests, independent of prices and time; the controller uses the same
// digests:
//
//	apiVersion, kind the kind is ConsolidationPlan
//	digest           of the plan: 32 hexadecimal digits, see disruption.Plan.Digest
//	summary
//	  nodes          number of nodes
//	  candidates     number of nodes that nothing but the plan itself keeps
//	  removed, replaced
//	                 number of nodes removed without and with replacements
//	  launched       number of nodes launched
//	  evictions      pods that have to move
//	  hourlyCost     of the nodes with a known price, USD; absent if no price is known
//	  hourlyCostAfter
//	                 the same after all commands
//	  unpriced, estimated
//	                 number of nodes without a known price, and with an estimated one; absent if 0
//	  unpricedAfter, estimatedAfter
//	                 the same after all commands
//	  savings        of the commands whose saving is known
//	  savingsUnknown number of commands whose saving is not known, because a price is missing; absent if 0
//	  evictionCost   one-off cost of moving the pods, USD: see --disruption-price
//	  planMillis     how long planning took, milliseconds
//	commands[]       each is executed as a whole, in order
//	  id             the same for the same nodes and time
//	  digest         see disruption.Command.Digest
//	  decision       delete or replace
//	  method         that found it, see disruption.Method
//	  reason         see disruption.Reason
//	  nodes          names of the removed nodes
//	  pods           "namespace/name" of the pods that move
//	  launches[]     nodePool, and as in nodes[] of a plan: instanceType, zone, capacityType, price, priceEstimated, instanceTypes, pods;
//	                 nodePool alone for nodes of a static pool
//	  receivers[]    nodes of the cluster that pods move to: name, pods
//	  savings        USD per hour; negative if it costs more; absent if not known
//	  savingsEstimated
//	                 true if it rests on estimates; else absent
//	  evictionCost   one-off cost of moving the pods, USD
//	  notBefore      earliest time at which it may start, RFC 3339
//	  wave           number of its wave, from 1; absent if the planner makes no waves, like the reference
//	waves[]          commands that are executed in parallel, one wave after another, in order
//	  commands       their ids
//	  seconds        expected duration
//	  overlap        USD, cost of running old and new nodes at the same time
//	  pods           that have to move
//	  savings, savingsUnknown
//	                 as in summary
//	prices[]         where the prices of the nodes come from, as in a plan
//	nodes[]          every node, by name
//	  name, nodePool nodePool is empty for a node without one, which stays
//	  outcome        kept, removed or replaced
//	  command        id of the command that removes it; absent if it stays
//	  price          USD per hour; absent if not known
//	  priceEstimated true if that is an estimate; else absent
//	  disruptionCost disturbance of removing it, in ordinary pods; absent if it is no candidate
//	  reasons[]      why it stays
//	    method       disruption method that the reason blocks; absent if it blocks all
//	    code         machine-readable, see disruption.BlockCode
//	    message      a sentence
//	    block        the data of the sentence, see disruption.Block: objects, numbers and perhaps a proof. Its prices field is
//	                 an index into floorPrices, from 0; its floor is at most the value of its demand at these prices, or
//	                 the price of the cheapest node for one of its homeless pods
//	  calendar       when it may be removed, whether or not that pays
//	    mayGo        time from which nothing forbids it, RFC 3339; absent if not known
//	    gates[]      what forbids it until then: kind (budget, podDisruptionBudget, annotation, consolidateAfter, coolDown,
//	                 approval or state), code and message as of reasons[], until, absent if not known
//	floorPrices[]    prices used by proofs: USD per hour for each core (cpu), byte (memory) and pod (pods). Every new node that could
//	                 hold a homeless pod of such a proof costs at least its allocatable, minus DaemonSets, at these prices.
//	                 New nodes come from pools that are ready, not static, and tolerated by the pod, with the requirements
//	                 of pool and pod. Absent with the reference planner and with a cost model
//	waiting, again   whether more may be possible later, because budgets or waiting times block something now; and when,
//	                 RFC 3339, absent if not known
//	notes[]          as above
//
// With --diff:
//
//	apiVersion, kind the kind is PoolComparison
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
//	apiVersion, kind the kind is Replay
//	start, length    when it began, and for how long, seconds
//	series[]         stretches of equal length: at, seconds since the start; costPerHour, USD; nodes, pending, on average; cpu and memory
//	                 that pods on nodes ask for, as a share of what nodes have
//	cost             of all nodes, USD
//	prices           what that rests on
//	  from[]         as prices[] of a plan, with launches, and cost in USD over the whole time, in place of nodes and hourlyCost
//	  onDemandCost   if the spot nodes were on-demand, too; absent without spot nodes, and if it is not known
//	  low, high      at the lowest and highest prices, as lowCost and highCost of a plan; absent likewise
//	pods, unplaced, refused, never
//	                 pods that came, that wait at the end, of which no place can be found for refused, and that were done
//	                 before they had a node
//	refusals[]       why plans had no place for the refused, and for others that were done before they had a node; at most ten reasons:
//	                 pods, how many; pod, one of them; reasons; nearest, what would help
//	withoutDevices   bindings that failed because the node had no devices left for the claims of the pod; absent for none
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
// --certificate writes the proof of lowerBound, which simple arithmetic can check: scheduling.Certificate explains how.
//
//	classes[]        groups of pods with equal requests
//	  requests       of one pod, quantity by resource, "pods": "1" among them
//	  count          of pods
//	  value          of one pod, USD per hour; lowerBound is the sum of count * value, less that over limits
//	types[]          instance types that may be used
//	  name           of the type
//	  price          of its cheapest usable offering, USD per hour
//	  multipliers    USD per hour and unit, by resource
//	limits[]         reservations and commitments, which are limited; absent if none are
//	  reservation    labels of the reservation,
//	  commitment     or the name of a commitment; the other is absent
//	  amount         that is left for nodes to launch
//	  value          of one, USD per hour; lowerBound has the sum of amount * value taken off
//	  types[]        of nodes that use it: as types[], and
//	    uses         amount that one node uses; it may hold pods worth price + uses * value
package main
