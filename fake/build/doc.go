// Package build makes the objects that tests and examples need, in one line each: pods, NodePools, NodeClaims, Nodes, instance types.
// Everything that no option sets has a fixed default that makes the object valid.
//
//	pool := build.Pool("default", build.Requires(v1.CapacityTypeLabelKey, "In", "spot"))
//	pods := build.Pods("web", 12, build.CPU("1500m"), build.Memory("4Gi"), build.Labels("app", "web"))
//	large := build.InstanceType("m.large", build.CPU("2"), build.Memory("8Gi"), build.OnDemand("zone-a", 0.10))
//
// The compiler checks that an option fits the object. CPU can be used for pods (their requests), nodes and instance types; On can be used
// only for pods. For everything else, any function can be an option:
//
//	build.Pod("dns", build.PodFunc(func(p *corev1.Pod) { p.Spec.HostNetwork = true }))
//
// Options are applied in their order; nil options are ignored. Objects share no memory with each other or with the options, and may be
// changed. To simulate a whole cluster with a clock, see package fake/world.
//
// Stability: beta.
package build
