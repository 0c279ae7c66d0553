// Package drawknife is a library for node autoscaling on Kubernetes: it decides which nodes a cluster should have. It packs pending pods
// onto existing nodes and onto new ones, picks the cheapest nodes that fit, and explains every pod that it can't place. It reads
// Karpenter's objects (NodePool, NodeClaim, EC2NodeClass), needs no cluster to run, and keeps no state of its own.
//
// This package contains only this page; the code is in the packages below it.
//
// # The flow
//
//	 manifests, kubectl output        informers, files, tests
//	          │ manifests.Load                │ by hand                  aws/catalog ── aws/instancetype
//	          ▼                               ▼                            EC2 facts   → instance types
//	┌────────────────────────────────────────────────┐                               │
//	│ scheduling.Snapshot   plain data, serialisable:│◀──────────────────────────────┤
//	│ NodePools, nodes, pods, DaemonSets, the time   │                               │
//	└────────────────────────────────────────────────┘                      fake.GenericTypes, or
//	          │ scheduling.Compile                                cloudprovider.CloudProvider.InstanceTypes
//	          ▼
//	┌────────────────────────────────────────────────┐
//	│ scheduling.Model      labels, resources and    │
//	│ pods as numbers; read-only, safe to share      │
//	└────────────────────────────────────────────────┘
//	          │ Model.Solve                   │ Model.Trial
//	          ▼                               ▼
//	   scheduling.Plan                  what if … : hide nodes, place their pods,
//	   nodes to launch, a place         roll back
//	   or a reason for each pod, the
//	   price and a proven floor under it
//
// Data flows in one direction. Everything a decision needs is in the Snapshot: no stage reads a clock, a file or the network, and the same
// Snapshot gives the same Plan, byte for byte. Save it as YAML (Snapshot.Encode) to reproduce the decision anywhere.
//
// # The packages
//
//	api/v1, aws/api/v1        the objects users write: fields, defaults, validation, drift hash
//	api/requirements          the algebra of label requirements
//	cloudprovider             the interface a cloud implements, instance types, offerings, errors, the contract
//	cloudprovider/overlay     corrections of prices and resources → instance types
//	scheduling                Snapshot → Model → Plan
//	scheduling/manifests      Kubernetes objects as files → Snapshot
//	scheduling/buffers        room to keep free → placeholder pods
//	scheduling/cluster        live objects, event by event → Snapshot
//	scheduling/nodeclaims     planned node → NodeClaim
//	aws/catalog               facts and prices of EC2 instance types, built in
//	aws/instancetype          these facts → instance types: labels, capacity, overhead, offerings
//	fake                      a cloud in memory
//	aws                       EC2 as a provider
//	provisioning              from a pod that waits to an instance that is gone
//	disruption                which nodes to remove or to replace, why, and why the others stay
//	examples/simulate         all of it as a command: what would these manifests need, and cost?
//
// Imports go from the bottom of that list to its top, never back. docs/architecture.md draws them, docs/packages.md lists all packages,
// and docs/algorithm.md explains how plans are found and why their lower bounds are valid.
package drawknife
