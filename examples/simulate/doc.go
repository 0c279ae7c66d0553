// Command simulate packs the pods of a cluster onto the machines it has and onto new EC2 machines, and says what that
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
// gets the class's default settings, with a note. Instance types and prices are those of us-east-1 that are built in
// (package aws/catalog).
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
// The AWS SDK takes longer to compile than all the rest, so that the program has it only when built with -tags aws. One
// built without builds that program when it needs it, with the go command and from the source it was built from, and keeps
// it in the user's cache folder. To take the program elsewhere, build it with the tag.
//
// # Exit status
//
//	0  all pods have a place
//	1  bad input or usage: nothing was planned
//	2  some pods have no place
//
// ("go run" turns each status but 0 into 1; build the command to read it.)
//
// # JSON
//
// With -o json, standard output is one object. Keys are only ever added; arrays are never null. Apart from
// solveMillis, equal input gives equal bytes.
//
//	summary
//	  pods           number of pending pods
//	  placed         how many of them have a place
//	  unschedulable  how many have none
//	  existingNodes  number of machines the cluster has, or has on their way
//	  newNodes       number of machines to launch
//	  hourlyCost     of the new machines, USD: the sum of their prices
//	  lowerBound     USD per hour that no set of new machines for these pods can cost less than
//	  solveMillis    how long solving took, milliseconds
//	nodes[]          machines to launch
//	  name           placeholder, unique in the plan
//	  nodePool       pool that launches it
//	  instanceType   the cheapest type that does
//	  zone           of its cheapest offering
//	  capacityType   of its cheapest offering: spot, on-demand or reserved
//	  price          of its cheapest offering, USD per hour
//	  instanceTypes  names of all types that would do, cheapest first
//	  pods           "namespace/name" of the pods placed on it
//	  placeholders   "namespace/name" of capacity buffers' placeholders placed on it
//	  requests       of all these and the DaemonSets it will run, quantity by resource
//	  allocatable    what instanceType has for pods, quantity by resource
//	  minValuesRelaxed
//	                 true if instanceTypes are less varied than the pool's minValues ask for; else absent
//	existing[]       machines the cluster has, by name
//	  name           of the Node, or of the NodeClaim before it has joined
//	  pods           "namespace/name" of the pending pods placed on it, perhaps none
//	  placeholders   "namespace/name" of capacity buffers' placeholders placed on it
//	unschedulable[]  pods without a place
//	  pod            "namespace/name"
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
//	buffers[]        capacity buffers that stand for at least one pod, by name
//	  name           "namespace/name"
//	  pods           how many placeholders the buffer has, the sum of the next three
//	  new            how many have room on machines to launch
//	  existing       how many have room on machines the cluster has
//	  unplaced       how many have none
//	  reasons[]      why they have none, as of a pod
//	notes[]          remarks on the input that did not stop the plan: first those on how it was read, which a replay
//	                 lacks; the same as on standard error
//	  code           machine-readable, see scheduling.NoteCode and manifests.WarningCode
//	  object         that the remark is about, or ""
//	  where          file, document and line; absent if it is about no single place
//	  message        a sentence
//
// Capacity buffers keep room free for pods to come. Their placeholders are no pods: no count of pods includes them, and
// a plan without room for them has still placed all pods. But machines are launched for them, at a cost.
//
// Quantities are strings as Kubernetes writes them ("1500m", "2Gi").
//
// # Certificate
//
// --certificate writes the proof of lowerBound, checkable by arithmetic alone: scheduling.Certificate says what holds
// between its figures.
//
//	classes[]        groups of pods with equal requests
//	  requests       of one pod, quantity by resource, "pods": "1" among them
//	  count          of pods
//	  value          of one pod, USD per hour; lowerBound is the sum of count * value
//	types[]          instance types that may be used
//	  name           of the type
//	  price          of its cheapest usable offering, USD per hour
//	  multipliers    USD per hour and unit, by resource
package main
