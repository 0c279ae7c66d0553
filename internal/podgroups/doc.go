// Package podgroups reads which pods are of use only together: the objects that say so, and what pods say themselves. It makes gangs
// of them.
//
//	objects  PodGroups and Workloads, of whatever API              object.go
//	pods     which groups a pod names                              named.go, fields.go
//	gangs    the members of a group, and what it asks for → Part   gang.go
//	         groups of groups, by their names → Gang               composite.go
//
// Kubernetes changes these APIs with each release, and the fields of pods are newer than the oldest API library that the module
// works with. So objects are read as they are written, and the fields of pods by their names.
package podgroups
