package solving

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Pods with status.nominatedNodeName have been promised room on a node. kube-scheduler frees this room by preemption and reserves it, so
// that pods of equal or lower priority can't use it. When kube-scheduler schedules such a pod, it tries that node first. Therefore these
// pods are placed first, each on its node. If a pod of higher priority then has no place, all pods are placed again, and the nominated pods
// of lower priority are placed like other pods.

// placeNominated puts pods of the classes on the nodes for which they are nominated, pods of the highest priority first. It skips pods with
// a priority below the parameter lowest. It returns the lowest priority of the pods that it placed, and whether it placed any pods.
func (t Solving) placeNominated(classes []int32, lowest int32) (least int32, any bool) {
	m := t.M
	list := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		c := m.Classes[class]
		return c.Nominated == "" || c.Invalid != nil || c.Priority < lowest
	})
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(m.Classes[b].Priority, m.Classes[a].Priority) })
	least = math.MaxInt32
	for _, class := range list {
		c := m.Classes[class]
		at, known := m.NodeIndex[c.Nominated]
		if !known || !t.S.Room.Usable.Has(at) || !m.Fits.Accepts(m.Nodes[at].Group, c.Shape) {
			continue
		}
		host := int32(at)
		preempted := len(trial.VictimsOn(m, &m.Nodes[at], c.Priority)) > 0
		for t.S.Waiting[class] > 0 && resources.Fits(t.S.Volumes.NeedOn(c, host), t.S.Room.Of(host)) && (preempted || t.S.Admits(c, host)) {
			t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: -1})
			least, any = c.Priority, true
		}
	}
	return least, any
}

// highestWaiting returns the highest priority of the classes' pending pods, without pods that can't be planned, and whether there are such
// pods.
func (t Solving) highestWaiting(classes []int32) (highest int32, any bool) {
	highest = math.MinInt32
	for _, class := range classes {
		if c := t.M.Classes[class]; t.S.Waiting[class] > 0 && c.Invalid == nil {
			highest, any = max(highest, c.Priority), true
		}
	}
	return highest, any
}
