package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// A volume that several pods of one node use takes one of its places for volumes, not one for each. What classes
// request counts it for each pod, so that pods can be packed by their requests alone; once pods are placed, the node
// gets back what they share.

// volumeOn is a shared volume on a host.
type volumeOn struct {
	host int32
	id   volumes.ID
}

// boundVolumes counts the pods of each shared volume that are bound to nodes of the snapshot.
func (m *Model) boundVolumes(r *likeness.Roster) map[volumeOn]int32 {
	out := map[volumeOn]int32{}
	if r.Claims == 0 {
		return out
	}
	for i, p := range r.OfNodes {
		host := int32(m.nodeIndex[m.snapshot.Nodes[i].Name])
		for at := p.From; at < p.To; at++ {
			if r.Marks[at]&(likeness.HasClaims|likeness.HasEnded) == likeness.HasClaims {
				m.addBoundVolumes(out, host, r.Pods[at])
			}
		}
	}
	return out
}

func (m *Model) addBoundVolumes(into map[volumeOn]int32, host int32, pod *corev1.Pod) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.volumes.Attached(pod) {
		if claim.Shared && claim.Handle != "" {
			into[volumeOn{host, claim.ID}]++
		}
	}
}

// using is how many pods on the host use the volume.
func (t *Trial) using(on volumeOn) int32 { return t.m.volumesBound[on] + t.volumesPlaced[on] }

// shareVolumes adds n pods of the class to those that use its volumes on the host, and gives back to free what they don't
// take although they request it.
func (t *Trial) shareVolumes(c *podclass.Class, host, n int32, free []int64, sign int64) {
	for _, v := range c.Shared {
		on := volumeOn{host, v.ID}
		before := t.using(on)
		if t.volumesPlaced == nil {
			t.volumesPlaced = map[volumeOn]int32{}
		}
		t.volumesPlaced[on] += n
		taken := min(before+n, 1) - min(before, 1)
		free[v.Dim] += sign * int64(n-taken)
	}
}

// needOn is what one more pod of the class takes of the host: its requests without volumes that are there already.
func (t *Trial) needOn(c *podclass.Class, host int32) []int64 {
	var need []int64
	for _, v := range c.Shared {
		if t.using(volumeOn{host, v.ID}) == 0 {
			continue
		}
		if need == nil {
			need = slices.Clone(c.Requests)
		}
		need[v.Dim]--
	}
	if need == nil {
		return c.Requests
	}
	return need
}
