// Package scenario makes the workloads for comparisons: each side of a comparison plans the same workload. Scenarios a to g are made from a
// seed. Scenario h is made from Kubernetes objects and a catalog. Others are made from a file that a user writes. Named makes the scenarios
// of the corpus by name: ordinary clusters, saved cases, and traces drawn from the openb trace.
//
//	s, err := scenario.Generated("b", 10_000, workload.Seed)
//
// # Scenario files
//
// A file is YAML. Unknown fields are refused.
//
//	name: shop                     # what the results call it; the file's name if left out
//	catalog: ec2-like              # ec2-like: the 806 types of scenarios a to e (the default); ec2: the catalogue built
//	                               # into drawknife; or the path, from the file's folder, of a catalogue in the form of
//	                               # simulate --catalog
//	instanceTypes:                 # or the types themselves
//	- name: small
//	  capacity: {cpu: "4", memory: 16Gi, pods: "58"}
//	  reserved: {cpu: 80m, memory: 1Gi}       # what the node keeps for itself; default nothing
//	  labels: {kubernetes.io/arch: arm64}     # in addition to instance type, amd64 and linux
//	  offerings:
//	  - {zone: zone-a, capacityType: spot, price: 0.05}
//	  - {zone: zone-b, capacityType: on-demand, price: 0.15, available: false}
//	nodePools: []                  # Kubernetes objects; default: one that allows every type and offering
//	deployments:
//	- name: web
//	  namespace: shop              # default: default
//	  count: 300
//	  requests: {cpu: 500m, memory: 1Gi}
//	  labels: {tier: front}        # in addition to app: NAME
//	  # The rest is as in a pod: nodeSelector, affinity, tolerations, topologySpreadConstraints. A selector of pods that
//	  # is left out selects the deployment's own.
//	  topologySpreadConstraints:
//	  - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}
//	nodes:                         # nodes there are
//	- {instanceType: small, zone: zone-a, capacityType: spot, count: 10, pods: {web: 4}} # and what runs on each
package scenario
