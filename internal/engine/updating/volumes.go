package updating

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// changeVolumes reads the volumes again if a change may affect them. Such changes are: pods with claims were added or removed, objects to
// which these pods refer changed, or nodes changed that were chosen for volumes that do not exist yet. It returns false if the CSI drivers
// whose volumes pods attach have changed.
func (u *update) changeVolumes(arrivals []arrival) bool {
	k, s, was := u.memo, u.snapshot, u.was.Snapshot
	changed := !slices.Equal(was.PersistentVolumeClaims, s.PersistentVolumeClaims) || !slices.Equal(was.PersistentVolumes, s.PersistentVolumes)
	if changed {
		k.promised = volumes.NodesChosen(s.PersistentVolumeClaims)
	}
	changed = changed || k.promised && len(u.changed)+len(u.gone) > 0 ||
		slices.ContainsFunc(arrivals, func(a arrival) bool { return likeness.UsesClaims(a.pod) }) ||
		slices.ContainsFunc(u.removed, func(r classedPod) bool { return likeness.UsesClaims(r.pod) })
	if !changed {
		return true
	}
	u.volumes = true
	m := u.next
	m.Volumes = volumes.New(model.VolumesOf(s, u.claimants()), m.Vocab)
	u.writer.Volumes, k.index.Volumes = m.Volumes, m.Volumes
	// Kinds of pods with claims are determined again, because the texts of these kinds refer to the previous volumes.
	for n := range k.kinds {
		if kd := &k.kinds[n]; kd.Claims && k.kindOf[kd.Text] == int32(n) {
			delete(k.kindOf, kd.Text)
		}
	}
	return u.sameDrivers()
}

// claimants yields the pods with claims in the order that VolumesOf requires.
func (u *update) claimants() func(yield func(pod *corev1.Pod, bound bool) bool) {
	return func(yield func(pod *corev1.Pod, bound bool) bool) {
		for i, was := range u.kept {
			list := u.snapshot.Nodes[i].Pods
			if was >= 0 {
				list = u.memo.claimants[was]
			}
			for _, pod := range list {
				if (was >= 0 || likeness.UsesClaims(pod)) && !yield(pod, true) {
					return
				}
			}
		}
		for _, pod := range u.snapshot.Pods {
			if likeness.UsesClaims(pod) && !yield(pod, false) {
				return
			}
		}
	}
}

// sameDrivers reports whether pods attach volumes of the same CSI drivers as in the previous snapshot. The model has a resource for each
// driver.
func (u *update) sameDrivers() bool {
	clear(u.scratch)
	for pod := range u.claimants() {
		u.next.AttachNames(pod, u.scratch)
	}
	for _, pod := range u.snapshot.Placeholders {
		u.next.AttachNames(pod, u.scratch)
	}
	known := 0
	for _, name := range u.was.Resources.Names {
		if resources.Attaches(name) {
			known++
			if _, still := u.scratch[name]; !still {
				return false
			}
		}
	}
	return known == len(u.scratch)
}
