// The program karpenter plans a workload with the scheduler of sigs.k8s.io/karpenter, which it uses as an unchanged library. In this way,
// drawknife's plans can be compared with Karpenter's. It reads a workload as JSON, and prints the plan and the measurements as JSON:
//
//	karpenter < workload.json > result.json
//	karpenter workload.json > result.json
//
// The workload is a saved scheduling.Snapshot: objects as Kubernetes writes them, and instance types with their
// offerings as plain lists. It refuses workloads with data that Karpenter's scheduler does not support (overlays, placeholders, default
// spread constraints of the cluster), so that both sides plan the same workload.
//
// The scheduler is created and run in the same way as by Karpenter's provisioner. It respects preferences, minValues are strict, and
// reserved capacity is preferred. It has one worker, like a controller that requests one CPU. The measured time begins when the objects
// exist and ends with the plan: topology, scheduler, solve. The time does not include reading the workload, building the state of the
// cluster, and copying this state.
//
// With the arguments "consolidate", true or false (whether spot nodes may replace spot nodes) and a file, it consolidates a fleet instead:
//
//	karpenter consolidate true < fleet.json
//
// It tries the library's consolidation methods (emptiness, multi-node, single-node) in the order of the library's controller, on its own
// cluster state. It executes each command at once in memory: nodes disappear, launched nodes are ready, and pods are bound where the
// library's simulation placed them. It continues until every method considers the fleet consolidated. It never waits. Its clock is a fake
// clock, which moves ahead only by the delay before the validation of a command. So the time limits (three minutes for single-node
// consolidation, one for multi-node consolidation) are never reached, and the result does not depend on how busy the computer is. The
// search for commands is measured, including their validation. Their execution is not measured. Each search prints a line of JSON with its
// result and the measurements so far. The last line has "done".
//
// The line "planning" on standard error says that the measured work starts. The exit status is 0 if there is a plan, even if it leaves pods
// out. It is 1 if the workload can't be planned.
package main
