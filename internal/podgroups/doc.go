// Package podgroups finds pods that are useful only together. It reads the objects that define groups of pods, and the labels, annotations
// and fields with which pods name their group. It makes gangs from the groups.
//
//	objects  PodGroups and Workloads, of whatever API              object.go
//	pods     which groups a pod names                              named.go, fields.go
//	gangs    the members of a group, and what it asks for → Part   gang.go
//	         groups of groups, by their names → Gang               composite.go
//
// Kubernetes changes these APIs with each release, and the fields of pods are newer than the oldest API library that the module
// works with. Therefore this package reads objects as unstructured data, and finds the fields of pods by name with reflection.
package podgroups
