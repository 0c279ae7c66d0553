package trial

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Assignment says where a trial has placed pods.
type Assignment struct {
	// Existing are the nodes of the snapshot that have received pods, by name.
	Existing []planning.ExistingNode
	// Planned has the pods of new nodes, by the number of the new node.
	Planned [][]planning.PodKey
	// Hidden are the hidden nodes, in the order in which they were hidden.
	Hidden []string
	// ExistingFrom and PlannedFrom contain, for each pod in Existing and Planned, the index in Hidden of the node from which the pod comes.
	// It is -1 for a pod that was pending in the snapshot.
	ExistingFrom, PlannedFrom [][]int32
}

// Assigned returns where the trial has placed pods so far. It is like Placed, but without details of new nodes. Pods of one class that were
// hidden together are assigned to nodes together, regardless of earlier placements and of undone changes.
func (t *Trial) Assigned() *Assignment {
	m := t.M
	r := state.PodsOf(&t.S)
	from := r.HiddenOf()
	counts := make([]int, len(m.Nodes)+len(t.S.Planned))
	total := 0
	for i := range t.S.Placed.All {
		counts[t.S.Placed.All[i].Host] += len(r.ByBinding[i])
		total += len(r.ByBinding[i])
	}
	// To save memory allocations, the lists of all hosts are parts of a single list.
	keys, origins := make([]planning.PodKey, total), make([]int32, total)
	at := make([]int, len(counts))
	for host, sum := 0, 0; host < len(counts); host++ {
		at[host] = sum
		sum += counts[host]
	}
	for i := range t.S.Placed.All {
		host := t.S.Placed.All[i].Host
		for _, p := range r.ByBinding[i] {
			pod, origin := r.Pod(p), int32(-1)
			if p >= 0 {
				origin = from[p]
			}
			keys[at[host]], origins[at[host]] = planning.PodKey{Namespace: pod.Namespace, Name: pod.Name}, origin
			at[host]++
		}
	}
	out := &Assignment{Planned: make([][]planning.PodKey, len(t.S.Planned)), PlannedFrom: make([][]int32, len(t.S.Planned))}
	var nodes []int32
	for i := range m.Nodes {
		if counts[i] > 0 {
			nodes = append(nodes, int32(i))
		}
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(m.Nodes[a].Name, m.Nodes[b].Name) })
	part := func(host int) (list []planning.PodKey, from []int32) {
		end := at[host]
		first := end - counts[host]
		return keys[first:end:end], origins[first:end:end]
	}
	for _, i := range nodes {
		list, from := part(int(i))
		out.Existing = append(out.Existing, planning.ExistingNode{Name: m.Nodes[i].Name, Pods: list})
		out.ExistingFrom = append(out.ExistingFrom, from)
	}
	for i := range t.S.Planned {
		if host := len(m.Nodes) + i; counts[host] > 0 {
			out.Planned[i], out.PlannedFrom[i] = part(host)
		}
	}
	for _, i := range t.S.Hidden {
		out.Hidden = append(out.Hidden, m.Nodes[i].Name)
	}
	return out
}
