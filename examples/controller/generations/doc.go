// Package generations lets reconcilers that know NodePools, NodeClaims and EC2NodeClasses of v1 work on Provisioners, Machines and
// AWSNodeTemplates of v1alpha5 as well: it stands between them and the manager, and is the one place where old
// becomes new.
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
// What the manager served gives out, its client, reader, cache, indexes and events, tells of stored objects of the first
// generation as of objects of v1, and takes writes to these back to the objects that are stored:
//
//	served    which kinds the cluster has, and the manager                    served.go
//	translate pools, claims, node classes, there and back                     pools.go, claims.go, classes.go, conditions.go
//	read      Get and List                                                    reader.go
//	write     Create, Patch, Update, Delete, status                           client.go, write.go
//	watch     informers                                                       informers.go
//	tell      events, the condition Active, advice                            events.go, watcher.go
//
// # Identity
//
// A Provisioner and a NodePool may have the same name. So an object that was created as v1alpha5 has, in memory alone, the
// namespace v1.GenerationV1Alpha5: see v1.GenerationOf. The kinds are cluster-scoped, so that nobody else uses it, and every key,
// request and work queue tells the two apart without a type of its own. A node class is referred to by its name alone, and there the
// generation is part of the name, which no name in an API can be confused with:
//
//	v1alpha5/TEMPLATE              an AWSNodeTemplate
//	v1alpha5/TEMPLATE/PROVISIONER  the same with the kubelet block of a Provisioner, which is the node class's in v1
//	v1alpha5//PROVISIONER          the inline provider block of a Provisioner
//
// # What is stored
//
// New machines of a Provisioner are stored as Machines, as the last release that acted on Provisioners does, so that going back to
// it needs nothing but a restart. Of what a NodeClaim says and a Machine has no field for (see the annotation StateAnnotation) the
// Machine keeps a copy. The resolved status of a node class and the number of nodes of a pool are kept in memory; the next process
// computes them again.
//
// A write reads the stored object from the API first, and is refused if it is not the one that the change was decided on. What is
// sent is the difference between the stored object as this package understands it and as it is to be: fields that it does not
// understand stay.
//
// An object that can't be converted is not there for reconcilers, except for Machines: one that can't is of no node class, so that
// nobody manages it and nobody takes its instance for garbage.
package generations
