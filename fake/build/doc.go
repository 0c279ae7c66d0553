// Package build makes the objects that tests and examples are about, in a line each: pods, NodePools, NodeClaims, Nodes, instance types.
// What is not said has a value that lets the object pass for a good one, and is the same each time.
//
//	pool := build.Pool("default", build.Requires(v1.CapacityTypeLabelKey, "In", "spot"))
//	pods := build.Pods("web", 12, build.CPU("1500m"), build.Memory("4Gi"), build.Labels("app", "web"))
//	large := build.InstanceType("m.large", build.CPU("2"), build.Memory("8Gi"), build.OnDemand("zone-a", 0.10))
//
// An option fits where it means something: CPU is what a pod asks for, what a node has, what an instance type has; On is for pods alone,
// and the compiler says so. For what has no option, any function will do:
//
//	build.Pod("dns", build.PodFunc(func(p *corev1.Pod) { p.Spec.HostNetwork = true }))
//
// Options are applied in their order; nil ones are passed over. Objects share nothing with each other, nor with the options, and may be
// changed. For a whole cluster with a clock see package fake/world.
//
// Stability: beta.
package build
