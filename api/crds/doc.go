// Package crds contains the CustomResourceDefinitions of all kinds, as YAML embedded in the program. An API server with these definitions
// serves NodePools, NodeClaims, NodeOverlays, EC2NodeClasses, CapacityBuffers and ProvisioningRequests. The API server sets their defaults.
// It also refuses the objects that their validation in Go refuses, as far as a schema can express the rules.
//
//	for _, crd := range crds.All() {
//		if err := apply(crd.Name(), crd.YAML()); err != nil {
//			return err
//		}
//	}
//
// All returns the definitions of the present generation. WithV1Beta1 and Alpha are for clusters that still contain objects of older
// generations.
//
// The definitions are made from the Go types by go generate. Some rules are checked only by the controller, because they depend on the
// provider or can't be expressed in a schema: reserved label keys of the provider's domain, the cron schedules of budgets, duplicate
// taints, and the content of kubelet settings and user data.
//
// All functions are safe for concurrent use.
//
// Stability: stable.
package crds
