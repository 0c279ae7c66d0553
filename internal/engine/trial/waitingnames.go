package trial

import (
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// waitingNames maps the names of pods to their classes. It contains the pending pods of a snapshot and the pods of hidden nodes (the freed
// pods). The method class adds pods that are new in the list of freed pods, and the method forget removes pods that are no longer in the
// list.
type waitingNames struct {
	classes map[planning.PodKey]int32
	indexed int // the number of freed pods that are in classes
	last    int // the index in the freed pods of the pod that was found last
}

// class returns the class of the pod with the name key. freed are the pods of hidden nodes, in the order in which the nodes were hidden.
func (x *waitingNames) class(m *model.Model, freed []existing.Pod, key planning.PodKey) (int32, bool) {
	if p := x.recent(freed, key); p != nil {
		return p.Class, true
	}
	if x.classes == nil {
		x.begin(m)
	}
	for ; x.indexed < len(freed); x.indexed++ {
		p := freed[x.indexed]
		x.classes[planning.PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name}] = p.Class
	}
	class, ok := x.classes[key]
	return class, ok
}

// begin adds the pending pods of the snapshot.
func (x *waitingNames) begin(m *model.Model) {
	pods := len(m.Pods)
	for i := range m.Nodes {
		pods += len(m.Nodes[i].Movable)
	}
	x.classes = make(map[planning.PodKey]int32, pods) // with space for movable pods, because executing a plan moves most of them
	for class, c := range m.Classes {
		if c.Invalid != nil {
			continue
		}
		for _, i := range c.Pending {
			p := m.Pods[i]
			x.classes[planning.PodKey{Namespace: p.Namespace, Name: p.Name}] = int32(class)
		}
	}
}

// mostRecent is the number of freed pods, at the end of the list, that are checked before the pod is looked up by name.
const mostRecent = 256

// recent returns the pod if it is one of the last freed pods, or nil. Most pods are placed right after their node was hidden, in the order
// in which the node's pods were listed.
func (x *waitingNames) recent(freed []existing.Pod, key planning.PodKey) *existing.Pod {
	last := len(freed) - 1
	for i, n := min(x.last+1, last), 0; i >= 0 && n < mostRecent; n++ {
		if p := &freed[i]; p.Pod.Name == key.Name && p.Pod.Namespace == key.Namespace {
			x.last = i
			return p
		}
		if i--; n == 0 {
			i = last
		}
	}
	return nil
}

// forget removes the freed pods with an index >= left, because the nodes of these pods are no longer hidden.
func (x *waitingNames) forget(freed []existing.Pod, left int) {
	for ; x.indexed > left; x.indexed-- {
		p := freed[:x.indexed][x.indexed-1]
		delete(x.classes, planning.PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name})
	}
}
