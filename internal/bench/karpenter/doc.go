// The program karpenter plans a workload with the scheduler of sigs.k8s.io/karpenter, used as a library and unchanged,
// so that drawknife's plans can be compared with Karpenter's. It reads a workload as JSON and prints what was planned
// and what it took as JSON:
//
//	karpenter < workload.json > result.json
//	karpenter workload.json > result.json
//
// The workload is a saved scheduling.Snapshot: objects as Kubernetes writes them, and instance types with their
// offerings as plain lists. What of it Karpenter's scheduler does not know (overlays, placeholders, a cluster's default
// spread) is refused, so that both sides plan the same.
//
// The scheduler is made and run as Karpenter's provisioner does it: preferences respected, strict minValues, reserved
// capacity preferred, one worker, which is what a controller with a request of one CPU gets. Measured is the time from
// there being objects to there being a plan: topology, scheduler, solve. Reading the workload is not measured, nor is
// building the state of the cluster, nor its deep copy.
//
// With "consolidate" and whether spot nodes may be replaced by spot nodes before the file, it consolidates a fleet instead:
//
//	karpenter consolidate true < fleet.json
//
// The library's consolidation methods (emptiness, multi-node, single-node) are tried in the order of its controller, on its
// own cluster state, and each command is carried out in memory at once: nodes go, what is launched is ready, and pods are
// bound where the library's simulation put them. So it goes on until every method calls the fleet consolidated. Nobody waits:
// the clock is a fake one, which the delay before a command is validated moves on. So the three minutes that single-node
// consolidation has, and the minute of multi-node consolidation, never pass: what is found does not depend on how busy the
// node is. Measured is looking for commands, validation included, and not carrying them out. For each look there is a line of
// JSON with what was found and what all looks took so far; the last has "done".
//
// The line "planning" on standard error says that the measured part begins. The exit status is 0 for a plan, also one
// that leaves pods out, and 1 for a workload that can't be planned.
package main
