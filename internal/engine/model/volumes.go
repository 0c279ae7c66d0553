package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// SameAttachments reports whether VolumeAttachments use the same room on each node as before.
func (m *Model) SameAttachments(s *planning.Snapshot) bool {
	if slices.Equal(m.Snapshot.VolumeAttachments, s.VolumeAttachments) {
		return true
	}
	if FirstNil(s.VolumeAttachments) >= 0 {
		return false
	}
	return m.Volumes.SameUnused(s.VolumeAttachments, func(yield func(node string, pods []*corev1.Pod) bool) {
		for i := range m.Nodes {
			if n := m.Nodes[i].Source; !yield(n.Name, n.Pods) {
				return
			}
		}
	})
}

// VolumesOf returns the snapshot's objects from which volumes are read. users yields the pods that have volumes, bound pods first.
func VolumesOf(s *planning.Snapshot, users func(yield func(pod *corev1.Pod, bound bool) bool)) *volumes.Objects {
	return &volumes.Objects{
		PersistentVolumes: s.PersistentVolumes, PersistentVolumeClaims: s.PersistentVolumeClaims, StorageClasses: s.StorageClasses,
		VolumeAttachments: s.VolumeAttachments, Users: users, Hostnames: func() map[string]string { return hostnamesOf(s) },
		Unsupported: volumes.Unsupported{TopologyKeys: s.UnsupportedVolumeTopologyKeys, Drivers: s.UnsupportedVolumeDrivers},
	}
}

// hostnamesOf returns the hostnames of the nodes that are not being removed, by node name.
func hostnamesOf(s *planning.Snapshot) map[string]string {
	out := make(map[string]string, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Object != nil && !n.Leaving {
			out[n.Object.Name] = cmp.Or(n.Object.Labels[corev1.LabelHostname], n.Object.Name)
		}
	}
	return out
}

// If several pods of one node share a volume, the volume uses only one attachment of its driver: see boundVolumes.

// AttachNames adds a resource for each driver whose volumes the pod attaches.
func (m *Model) AttachNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.Volumes.Attached(pod) {
		into[resources.Attachable(claim.Driver)] = struct{}{}
	}
}

// CertificateRequests returns the requests of a class, including its volumes, for a certificate. Shared volumes may be left out.
func (m *Model) CertificateRequests(c *podclass.Class) corev1.ResourceList {
	out, requests := resources.OfPod(c.Sample), c.Unshared()
	for at, name := range m.Resources.Names {
		if resources.Hidden(name) && requests[at] > 0 {
			out[name] = *resource.NewQuantity(requests[at], resource.DecimalSI)
		}
	}
	return out
}

// If several pods of one node use a volume, the volume uses only one attachment of the node. The requests of classes count the volume for
// each pod, so that pods can be packed by their requests alone. Once pods are placed, the node gets back the attachments that are counted
// more than once.

// boundVolumes counts the pods of each shared volume that are bound to nodes of the snapshot.
func (m *Model) boundVolumes(r *likeness.Roster) map[state.VolumeOn]int32 {
	out := map[state.VolumeOn]int32{}
	if r.Claims == 0 {
		return out
	}
	for i, p := range r.OfNodes {
		host := int32(m.NodeIndex[m.Snapshot.Nodes[i].Name])
		for at := p.From; at < p.To; at++ {
			if r.Marks[at]&(likeness.HasClaims|likeness.HasEnded) == likeness.HasClaims {
				m.AddBoundVolumes(out, host, r.Pods[at])
			}
		}
	}
	return out
}

// AddBoundVolumes counts the pod among the bound pods of each of its shared volumes on the node host.
func (m *Model) AddBoundVolumes(into map[state.VolumeOn]int32, host int32, pod *corev1.Pod) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.Volumes.Attached(pod) {
		if claim.Shared && claim.Handle != "" {
			into[state.VolumeOn{Host: host, ID: claim.ID}]++
		}
	}
}
