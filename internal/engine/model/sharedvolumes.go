package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// A volume that several pods of one node use takes one of its places for volumes, not one for each. What classes
// request counts it for each pod, so that pods can be packed by their requests alone; once pods are placed, the node
// gets back what they share.

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
				m.addBoundVolumes(out, host, r.Pods[at])
			}
		}
	}
	return out
}

func (m *Model) addBoundVolumes(into map[state.VolumeOn]int32, host int32, pod *corev1.Pod) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.Volumes.Attached(pod) {
		if claim.Shared && claim.Handle != "" {
			into[state.VolumeOn{Host: host, ID: claim.ID}]++
		}
	}
}
