// The program karpenter plans a workload with the scheduler of sigs.k8s.io/karpenter, used as an unchanged library, so that drawknife's
// plans can be compared with Karpenter's. It reads a workload as JSON and prints the plan and its measurements as JSON:
//
//	karpenter < workload.json > result.json
//	karpenter workload.json > result.json
//
// The workload is a saved scheduling.Snapshot: objects as Kubernetes writes them, and instance types with their
// offerings as plain lists. It refuses workloads with data that Karpenter's scheduler does not support (overlays, placeholders, a cluster's
// default spread), so that both sides plan the same workload.
//
// The scheduler is created and run as by Karpenter's provisioner: preferences respected, strict minValues, reserved capacity preferred, one
// worker, as in a controller with a request of one CPU. The measured time begins when the objects exist and ends with the plan: topology,
// scheduler, solve. It does not include the time for reading the workload, for building the state of the cluster, and for copying this
// state.
//
// With the arguments "consolidate", true or false (whether spot nodes may replace spot nodes) and a file, it consolidates a fleet instead:
//
//	karpenter consolidate true < fleet.json
//
// It tries the library's consolidation methods (emptiness, multi-node, single-node) in the order of its controller, on its own cluster
// state, and executes each command at once in memory: nodes disappear, launched nodes are ready, and pods are bound where the library's
// simulation put them. It continues until every method calls the fleet consolidated. It never waits: its clock is a fake one that only
// moves ahead by the delay before the validation of a command. So the time limits (three minutes for single-node consolidation, one for
// multi-node consolidation) are never reached, and the result does not depend on how busy the computer is. The search for commands is
// measured, including validation, but not their execution. Each search prints a line of JSON with its result and the measurements so far;
// the last line has "done".
//
// The line "planning" on standard error says that the measured part starts. The exit status is 0 if there is a plan, even one that leaves
// pods out, and 1 if the workload can't be planned.
package main
