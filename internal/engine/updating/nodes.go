package updating

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

type changedNode struct {
	at  int
	was int
}

// uniqueNames reports whether the names of the changed nodes are unique.
func uniqueNames(nodes []planning.Node, changed []changedNode) bool {
	names := make(map[string]bool, len(changed))
	for _, c := range changed {
		if names[nodes[c.at].Name] {
			return false
		}
		names[nodes[c.at].Name] = true
	}
	return true
}

// changeNodes compiles the nodes that have changed and sorts all nodes.
func (u *update) changeNodes() {
	m, s, dims := u.next, u.snapshot, u.next.Resources.Len()
	groups := existing.NewRegrouping(m.NewGroups(), u.was.Groups, u.was.AskedKeys)
	if u.nodesAsBefore(groups) {
		return
	}
	views := make([]existing.View, len(u.changed))
	fresh := make([]int32, len(s.Nodes)) // for each node of the snapshot, its index in u.changed
	for i, c := range u.changed {
		views[i], fresh[c.at] = existing.ViewOf(&s.Nodes[c.at]), int32(i)
	}
	order := u.orderNodes(views, fresh)
	m.Nodes, m.Groups, m.Free = make([]existing.Node, 0, len(s.Nodes)), nil, make([]int64, 0, len(s.Nodes)*dims)
	arena := existing.NewArena(0)
	limits := &existing.AttachLimits{}
	if dims > m.Resources.WithoutVolumes() {
		limits = existing.NewAttachLimits(s.CSINodes, s.Catalogs)
	}
	maker := m.NodeMaker(groups.Groups, limits)
	k := u.memo
	placed, daemons, claimants := make([][]seat, len(s.Nodes)), make([][]*corev1.Pod, len(s.Nodes)), make([][]*corev1.Pod, len(s.Nodes))
	for at, i := range order {
		n := &s.Nodes[i]
		if was := u.kept[i]; was >= 0 {
			compiled, free := u.keepNode(n, was, groups, maker)
			m.Nodes, m.Free = append(m.Nodes, compiled), append(m.Free, free...)
			placed[at], daemons[at], claimants[at] = k.placed[was], k.daemons[was], k.claimants[was]
			continue
		}
		of := fresh[i]
		free := make([]int64, dims)
		compiled := maker.Node(n, &views[of], u.classesOf(u.placed[of]), likeness.ReadPods(n.Pods), groups.Number(&views[of]), arena, free)
		m.Nodes, m.Free = append(m.Nodes, compiled), append(m.Free, free...)
		placed[at], daemons[at], claimants[at] = u.placed[of], model.DaemonPodsOf(n), claimPods(n.Pods)
	}
	m.Groups = groups.List
	u.changeCompat()
	k.placed, k.daemons, k.claimants = placed, daemons, claimants
	if u.volumes {
		m.VolumesBound = map[state.VolumeOn]int32{}
		for host, pods := range claimants {
			for _, pod := range pods {
				if !likeness.Ended(pod) {
					m.AddBoundVolumes(m.VolumesBound, int32(host), pod)
				}
			}
		}
		return
	}
	if u.sameNames {
		return
	}
	m.VolumesBound = make(map[state.VolumeOn]int32, len(u.was.VolumesBound))
	for on, n := range u.was.VolumesBound {
		// Pods with shared volumes have not moved, so that only the numbers of their nodes change.
		m.VolumesBound[state.VolumeOn{Host: int32(m.NodeIndex[u.was.Nodes[on.Host].Name]), ID: on.ID}] = n
	}
}

// nodesAsBefore reuses the node data of the previous model if none of these data would change, and reports whether it reused them.
func (u *update) nodesAsBefore(groups *existing.Regrouping) bool {
	m, was := u.next, u.was
	if !groups.Same || u.renumber != nil || u.volumes || len(u.touched) > 0 || !model.SameList(m.Snapshot.Nodes, was.Snapshot.Nodes) {
		return false
	}
	u.sameNames = true
	m.Groups = was.Groups
	u.changeCompat()
	return true
}

// orderNodes returns the snapshot's nodes in the order of the model, and numbers them by name.
func (u *update) orderNodes(views []existing.View, fresh []int32) []int {
	m, s := u.next, u.snapshot
	u.sameNames = len(u.gone) == 0
	for i, c := range u.changed {
		u.sameNames = u.sameNames && c.was >= 0 && u.was.Nodes[c.was].Initialized == views[i].Initialized
	}
	if u.sameNames {
		order, places := make([]int, len(s.Nodes)), make([]int32, len(s.Nodes))
		for i, was := range u.kept {
			if was < 0 {
				was = int32(u.changed[fresh[i]].was)
			}
			order[was], places[i] = i, was
		}
		u.memo.order = places
		return order
	}
	order := nodeOrder(s.Nodes, func(i int) bool {
		if was := u.kept[i]; was >= 0 {
			return u.was.Nodes[was].Initialized
		}
		return views[fresh[i]].Initialized
	})
	m.NodeIndex, u.memo.order = make(map[string]int, len(s.Nodes)), make([]int32, len(s.Nodes))
	for at, i := range order {
		m.NodeIndex[s.Nodes[i].Name], u.memo.order[i] = at, int32(at)
	}
	return order
}

// classesOf returns the classes of the pods with the given seats.
func (u *update) classesOf(seats []seat) []int32 {
	out := make([]int32, len(seats))
	for i, at := range seats {
		out[i] = u.memo.kinds[at.kind].Class
	}
	return out
}

// keepNode returns an unchanged node with the new numbers of its pods' classes and of its group.
func (u *update) keepNode(n *planning.Node, was int32, groups *existing.Regrouping, maker *existing.Maker) (existing.Node, []int64) {
	dims := u.next.Resources.Len()
	compiled := u.was.Nodes[was]
	compiled.Source = n
	compiled.Group = groups.Of(compiled.Source, compiled.Group)
	free := u.was.Free[int(was)*dims : (int(was)+1)*dims]
	if !u.touched[was] {
		compiled.Bound, compiled.Movable = u.renumbered(compiled.Bound), u.renumbered(compiled.Movable)
		return compiled, free
	}
	classes := u.classesOf(u.memo.placed[was])
	if !u.volumes {
		compiled.Bound, compiled.Movable = u.reclassed(compiled.Bound, n.Pods, classes), u.reclassed(compiled.Movable, n.Pods, classes)
		return compiled, free
	}
	view, roomNow := existing.ViewOf(n), make([]int64, dims)
	return maker.Node(n, &view, classes, likeness.ReadPods(n.Pods), compiled.Group, existing.NewArena(0), roomNow), roomNow
}

// reclassed returns the given pods of the node with their new classes.
func (u *update) reclassed(some []existing.Pod, pods []*corev1.Pod, classes []int32) []existing.Pod {
	out := u.copied(some)
	at := 0 // the index in the list pods of the next pod to compare: both lists mostly have the same order
	for i := range out {
		if at >= len(pods) || pods[at] != out[i].Pod {
			at = slices.Index(pods, out[i].Pod)
		}
		out[i].Class = classes[at]
		at++
	}
	return out
}

// renumbered returns the pods with the new numbers of their classes. If the numbers have not changed, it returns the same list.
func (u *update) renumbered(pods []existing.Pod) []existing.Pod {
	number := u.renumber
	if number == nil || !slices.ContainsFunc(pods, func(p existing.Pod) bool { return number[p.Class] != p.Class }) {
		return pods
	}
	out := u.copied(pods)
	for i := range out {
		out[i].Class = number[out[i].Class]
	}
	return out
}

// copied does the same as slices.Clone, but allocates memory in large pieces.
func (u *update) copied(pods []existing.Pod) []existing.Pod {
	if len(pods) == 0 {
		return pods
	}
	const piece = 4096
	if cap(u.room)-len(u.room) < len(pods) {
		u.room = make([]existing.Pod, 0, max(piece, len(pods)))
	}
	from := len(u.room)
	u.room = append(u.room, pods...)
	return u.room[from:len(u.room):len(u.room)]
}

// changeCompat sets which groups of nodes accept which shapes. If the groups are unchanged, it reuses the cached results.
func (u *update) changeCompat() {
	m, was := u.next, u.was
	same := slices.EqualFunc(m.Groups, was.Groups, func(a, b existing.Group) bool { return a.Text == b.Text })
	switch {
	case same && u.shapeWas == nil:
		m.Groups, m.Fits = was.Groups, was.Fits
		return
	case same:
		m.Groups = was.Groups
	}
	m.Fits = existing.NewAcceptance(m.Groups, m.Shapes)
	if same {
		m.Fits.TakeOver(was.Fits, u.shapeWas)
	}
}

// nodeOrder returns the order of nodes in a model: initialized nodes come before other nodes, and each of these two groups is sorted by
// name.
func nodeOrder(nodes []planning.Node, initialized func(i int) bool) []int {
	byName := func(a, b int) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) }
	ready, others := make([]int, 0, len(nodes)), []int(nil)
	for i := range nodes {
		if initialized(i) {
			ready = append(ready, i)
		} else {
			others = append(others, i)
		}
	}
	for _, list := range [][]int{ready, others} {
		if !slices.IsSortedFunc(list, byName) {
			slices.SortFunc(list, byName)
		}
	}
	return append(ready, others...)
}

// changePools replaces the objects of pools by the snapshot's objects, whose status may have changed.
func (u *update) changePools() {
	m := u.next
	if slices.EqualFunc(u.was.Snapshot.NodePools, u.snapshot.NodePools, func(a, b planning.NodePool) bool { return a.Object == b.Object }) {
		return
	}
	m.Pools = slices.Clone(m.Pools)
	for i := range u.snapshot.NodePools {
		at := m.PoolIndex[u.snapshot.NodePools[i].Identity()]
		own := *m.Pools[at]
		own.Object = u.snapshot.NodePools[i].Object
		m.Pools[at] = &own
	}
}

// changeTopology counts pods again for the topology rules, and finds the domains that shapes reach.
func (u *update) changeTopology() {
	m := u.next
	if len(m.Topology) == 0 {
		m.Base, m.HostDomains, m.Reach = nil, nil, nil
		return
	}
	m.Base = m.Layout().Count(m.Reachable)
	if u.shapeWas == nil && sameDomains(m.Base.Domains, u.was.Base.Domains, u.was.HostDomains) {
		m.Base.Domains = u.was.Base.Domains
	} else {
		m.HostDomains = m.Base.DomainCounts()
		m.Reach = m.Layout().Reach(m.Base, u.reachKnown())
	}
	m.Base.Owned = false
}

// reachKnown returns a function that returns the domains that existing shapes reach in the next model: see Model.Reach. It returns nil if
// these domains may have changed, for example because the numbers of domains have changed. If all existing domains have nodes of the
// snapshot, the numbers of domains don't depend on shapes.
func (u *update) reachKnown() func(shape int32) [][]int32 {
	m, was := u.next, u.was
	if u.shapeWas == nil || was.Base == nil || !slices.Equal(m.TopologyKeys, was.TopologyKeys) ||
		!slices.Equal(was.Base.DomainCounts(), was.HostDomains) || !slices.Equal(m.HostDomains, was.HostDomains) ||
		!sameDomains(m.Base.Domains, was.Base.Domains, was.HostDomains) {
		return nil
	}
	return func(shape int32) [][]int32 {
		if old := u.shapeWas[shape]; old >= 0 {
			return was.Reach[old]
		}
		return nil
	}
}

// sameDomains compares the domains of each topology key, with index i. It reports whether hosts[i] has of[i] domains, and whether known[i]
// has these domains with the same numbers.
func sameDomains(hosts, known []map[string]int32, of []int) bool {
	for i := range hosts {
		if len(hosts[i]) != of[i] {
			return false
		}
		for value, n := range hosts[i] {
			if have, ok := known[i][value]; !ok || have != n {
				return false
			}
		}
	}
	return true
}
