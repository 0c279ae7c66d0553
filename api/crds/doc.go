// Package crds holds the CustomResourceDefinitions of all kinds, as YAML embedded in the program: an API server that has
// them serves NodePools, NodeClaims, NodeOverlays, EC2NodeClasses, CapacityBuffers and ProvisioningRequests, fills in their
// defaults and refuses what their validation in Go would refuse, as far as a schema can tell.
//
//	for _, crd := range crds.All() {
//		if err := apply(crd.Name(), crd.YAML()); err != nil {
//			return err
//		}
//	}
//
// All has the present generation. WithV1Beta1 and Alpha are for clusters that still hold objects of older ones.
//
// The definitions are made from the Go types by go generate. What only the controller judges, since it needs to know the
// provider or more than a schema can say: which label keys of the provider's domain are reserved, whether schedules of
// budgets are cron schedules, taints that come twice, the content of kubelet settings and of user data.
//
// Everything here is safe for concurrent use.
//
// Stability: stable.
package crds
