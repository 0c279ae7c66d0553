package state

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// VolumeOn is a shared volume on a host.
type VolumeOn struct {
	Host int32
	ID   volumes.ID
}

// Volumes counts the users of volumes that several pods of a node share: each volume uses one attachment on the node, not one attachment
// per pod.
type Volumes struct {
	// bound has the number of bound pods of the snapshot that use a volume on a host. placed has this number for the pods that the planner
	// placed.
	bound, placed map[VolumeOn]int32
}

// using returns how many pods on the host use the volume.
func (v *Volumes) using(on VolumeOn) int32 { return v.bound[on] + v.placed[on] }

// share adds n pods of the class to the users of its volumes on the host. These pods request more attachments than they need. share
// multiplies the surplus by sign and adds it to the vector free.
func (v *Volumes) share(c *podclass.Class, host, n int32, free []int64, sign int64) {
	for _, shared := range c.Shared {
		on := VolumeOn{host, shared.ID}
		before := v.using(on)
		if v.placed == nil {
			v.placed = map[VolumeOn]int32{}
		}
		v.placed[on] += n
		taken := min(before+n, 1) - min(before, 1)
		free[shared.Dim] += sign * int64(n-taken)
	}
}

// NeedOn returns the amounts that one more pod of the class needs on the host: its requests without the volumes that are already attached
// there.
func (v *Volumes) NeedOn(c *podclass.Class, host int32) []int64 {
	var need []int64
	for _, shared := range c.Shared {
		if v.using(VolumeOn{host, shared.ID}) == 0 {
			continue
		}
		if need == nil {
			need = slices.Clone(c.Requests)
		}
		need[shared.Dim]--
	}
	if need == nil {
		return c.Requests
	}
	return need
}
