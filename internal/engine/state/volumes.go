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

// using is how many pods on the host use the volume.
func (s *State) using(on VolumeOn) int32 { return s.w.VolumesBound[on] + s.volumesPlaced[on] }

// shareVolumes adds n pods of the class to those that use its volumes on the host, and gives back to free what they don't
// take although they request it.
func (s *State) shareVolumes(c *podclass.Class, host, n int32, free []int64, sign int64) {
	for _, v := range c.Shared {
		on := VolumeOn{host, v.ID}
		before := s.using(on)
		if s.volumesPlaced == nil {
			s.volumesPlaced = map[VolumeOn]int32{}
		}
		s.volumesPlaced[on] += n
		taken := min(before+n, 1) - min(before, 1)
		free[v.Dim] += sign * int64(n-taken)
	}
}

// NeedOn is what one more pod of the class takes of the host: its requests without volumes that are there already.
func (s *State) NeedOn(c *podclass.Class, host int32) []int64 {
	var need []int64
	for _, v := range c.Shared {
		if s.using(VolumeOn{host, v.ID}) == 0 {
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
