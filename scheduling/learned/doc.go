// Package learned corrects what instance types say of their devices by what nodes have published.
//
//	corrections, faults := learned.Devices(snapshot)
//	corrector.Apply(snapshot, corrections)              // plans now count on what nodes of the type have
//	annotations[v1.LearnedDevicesAnnotationKey] = corrections.Annotation(pool)
//
// [Devices] is a pure function of a snapshot: of the ResourceSlices of initialised nodes, of the templates of instance types, and of the
// annotations of NodePools, which keep what was learned for types that have no node at the moment. So a restart changes nothing.
//
// Stability: beta.
package learned
