package placing

import (
	"fmt"

	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Scatter places pending pods, of hidden nodes or of the snapshot, one by one in the given order. Each pod goes on the node with the
// largest free share of CPU and memory, among the snapshot's nodes and the trial's new nodes. This imitates kube-scheduler's default. A
// plan, in contrast, would fill nodes. It returns the pods that no node can take. It ignores preferences. Scatter checks every node for
// each pod, so use it to verify a plan, not to make one.
func (t Placing) Scatter(pods []planning.PodKey) (left []planning.PodKey, err error) {
	hosts := len(t.M.Nodes) + len(t.S.Planned)
	sizes := make([][2]int64, hosts)
	scratch := make([]int64, t.M.Resources.Len())
	for h := range sizes {
		if i := h - len(t.M.Nodes); i >= 0 {
			mc := &t.S.Planned[i]
			alloc := t.M.Pools[mc.Pool].Table.AllocOf(int(mc.Row), len(scratch))
			sizes[h] = [2]int64{alloc[resources.CPU], alloc[resources.Memory]}
			continue
		}
		if object := t.M.Nodes[h].Source.Object; object != nil {
			t.M.Resources.Capacity(object.Status.Allocatable, scratch)
			sizes[h] = [2]int64{scratch[resources.CPU], scratch[resources.Memory]}
		}
	}
	for _, key := range pods {
		class, err := t.WaitingClass(key)
		if err != nil {
			return nil, fmt.Errorf("scattering pods: %w", err)
		}
		c := t.M.Classes[class]
		best, bestShare, bestStage := int32(-1), int64(-1), int32(-1)
		for h := range sizes {
			host := int32(h)
			room, need := t.S.RoomOf(host), t.S.Volumes.NeedOn(c, host)
			if !resources.Fits(need, room) {
				continue
			}
			share := int64(0)
			for d, size := range sizes[h] {
				if dim := [2]int{resources.CPU, resources.Memory}[d]; size > 0 {
					share += (room[dim] - need[dim]) * 100 / size
				}
			}
			if share <= bestShare {
				continue
			}
			stage := int32(-1)
			if i := h - len(t.M.Nodes); i >= 0 {
				if stage = t.StageOn(c, &t.S.Planned[i]); stage < 0 || t.S.Planned[i].Abandoned {
					continue
				}
			} else if !t.S.Room.Usable.Has(h) || !t.M.Fits.Accepts(t.M.Nodes[h].Group, c.Shape) {
				continue
			}
			if t.admitsPut(c, host) {
				best, bestShare, bestStage = host, share, stage
			}
		}
		if best < 0 {
			left = append(left, key)
			continue
		}
		t.Add(state.Binding{Class: class, Host: best, Count: 1, Stage: bestStage})
	}
	return left, nil
}
