// Package learned corrects the devices of instance types by the devices that nodes have published.
//
//	corrections, faults := learned.Devices(snapshot)
//	corrector.Apply(snapshot, corrections)              // plans now count on what nodes of the type have
//	annotations[v1.LearnedDevicesAnnotationKey] = corrections.Annotation(pool)
//
// [Devices] is a pure function of a snapshot: of the ResourceSlices of initialised nodes, of the templates of instance types, and of the
// annotations of NodePools. The annotations keep learned devices of types that have no node at the moment. So they survive a restart.
//
// Stability: beta.
package learned
