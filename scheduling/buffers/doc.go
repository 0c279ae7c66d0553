// Package buffers turns CapacityBuffers into placeholder pods: pods that exist only in a snapshot and keep room free for future pods.
//
//	resolved := buffers.Resolve(buffers.Input{Buffers: list, PodTemplates: templates, Deployments: deployments})
//	snapshot.Placeholders = buffers.Placeholders(resolved)
//	// … compile the snapshot, solve it, and then:
//	places := buffers.Locate(resolved, plan)
//	for i, r := range resolved {
//		buffer := r.Buffer.DeepCopy()
//		r.Record(buffer, now)
//		r.Provisioning(places[i]).Record(buffer, now)
//	}
//
// All functions are pure and deterministic: they read no clock, change none of their arguments, and don't depend on the order of lists.
// Returned values may be shared and must not be changed.
//
// A placeholder's name and UID depend only on the buffer and the pod's number, so that consecutive plans can be compared. Planners place
// placeholders after all real pods. Accordingly, placeholders have the lowest possible priority.
//
// Stability: beta.
package buffers
