// Package generations lets reconcilers for NodePools, NodeClaims and EC2NodeClasses of v1 also work on Provisioners, Machines and
// AWSNodeTemplates of v1alpha5. It wraps the manager and converts all objects that are read or written through it.
//
//	served, err := generations.Serve(mgr, generations.Options{Logger: log})
//	if err != nil {
//		return err
//	}
//	if err := reconcilers.Add(served, reconcilers.Options{Provider: provider}); err != nil {
//		return err
//	}
//	return mgr.Start(ctx)
//
// The client, reader, cache, indexes and events of the returned manager present stored v1alpha5 objects as v1 objects, and
// convert writes back to the stored form:
//
//	served    which kinds the cluster has, and the manager                    served.go
//	translate pools, claims, node classes, there and back                     pools.go, claims.go, classes.go, conditions.go
//	read      Get and List                                                    reader.go
//	write     Create, Patch, Update, Delete, status                           client.go, write.go
//	watch     informers                                                       informers.go
//	report    events, the condition Active, advice                            events.go, watcher.go
//
// # Identity
//
// A Provisioner and a NodePool may have the same name. So an object that was created as v1alpha5 has the namespace v1.GenerationV1Alpha5,
// in memory only: see v1.GenerationOf. The kinds are cluster-scoped and otherwise have no namespace, so keys, requests and work queues
// distinguish a Provisioner from a NodePool without a special type. A node class is referred to by name only, so its name in memory has the
// generation as a prefix, with a slash, which no API name contains:
//
//	v1alpha5/TEMPLATE              an AWSNodeTemplate
//	v1alpha5/TEMPLATE/PROVISIONER  the same with the kubelet block of a Provisioner, which is the node class's in v1
//	v1alpha5//PROVISIONER          the inline provider block of a Provisioner
//
// # What is stored
//
// New instances of a Provisioner are stored as Machines, as in the last Karpenter release with Provisioners. So you can go back to that
// release by restarting it. The Machine stores values of a NodeClaim for which it has no field in the annotation StateAnnotation. The
// resolved status of a node class and the number of nodes of a pool are kept in memory; the next process computes them again.
//
// A write first reads the stored object from the API, and fails if the object has changed since the caller read it. It sends only
// the difference between the present and the wanted object, so unknown fields are kept.
//
// Reconcilers do not see objects that can't be converted, except for Machines: such a Machine appears without a node class. So the object
// is not managed, but its instance is not deleted as garbage either.
package generations
