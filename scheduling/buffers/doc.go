// Package buffers turns CapacityBuffers into placeholder pods: pods that exist in a snapshot alone and keep room free
// for pods to come.
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
// placeholders after all real pods; their priority, the lowest possible, says the same.
//
// Stability: beta.
package buffers
