package scheduling

import (
	"cmp"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
)

type changedNode struct {
	at  int
	was int
}

// uniqueNames reports whether no two of the changed machines bear one name.
func uniqueNames(nodes []Node, changed []changedNode) bool {
	names := make(map[string]bool, len(changed))
	for _, c := range changed {
		if names[nodes[c.at].Name] {
			return false
		}
		names[nodes[c.at].Name] = true
	}
	return true
}

// changeNodes makes the machines that changed ready and puts all in their order.
func (u *update) changeNodes() {
	m, s, dims := u.next, u.snapshot, u.next.resources.len()
	views := make([]nodeView, len(u.changed))
	fresh := make([]int32, len(s.Nodes)) // the place in changed
	for i, c := range u.changed {
		views[i], fresh[c.at] = viewOf(&s.Nodes[c.at]), int32(i)
	}
	initialized := func(i int) bool {
		if was := u.kept[i]; was >= 0 {
			return u.was.nodes[was].initialized
		}
		return views[fresh[i]].initialized
	}
	m.nodes, m.groups, m.free = slices.Grow([]node(nil), len(s.Nodes)), nil, make([]int64, 0, len(s.Nodes)*dims)
	m.nodeIndex = make(map[string]int, len(s.Nodes))
	groups, renumbered := make(map[string]int32), make([]int32, len(u.was.groups))
	limits := &attachLimits{}
	if dims > m.resources.withoutVolumes() {
		limits = newAttachLimits(s)
	}
	classes, daemons := make([][]int32, 0, len(s.Nodes)), make([][]*corev1.Pod, 0, len(s.Nodes))
	for _, i := range nodeOrder(s.Nodes, initialized) {
		n := &s.Nodes[i]
		m.nodeIndex[n.Name] = len(m.nodes)
		if was := u.kept[i]; was >= 0 {
			compiled := u.was.nodes[was]
			compiled.source = n
			compiled.group = m.regroup(u.was, compiled.group, groups, renumbered)
			m.nodes = append(m.nodes, compiled)
			m.free = append(m.free, u.was.free[int(was)*dims:(int(was)+1)*dims]...)
			classes, daemons = append(classes, u.memo.classes[was]), append(daemons, u.memo.daemons[was])
			continue
		}
		at := fresh[i]
		compiled, free := m.compileNode(n, &views[at], u.classes[at], m.groupOf(&views[at], groups), limits)
		m.nodes, m.free = append(m.nodes, compiled), append(m.free, free...)
		classes, daemons = append(classes, u.classes[at]), append(daemons, daemonPods(n.Pods))
	}
	if slices.EqualFunc(m.groups, u.was.groups, func(a, b nodeGroup) bool { return a.text == b.text }) {
		m.groups, m.compat = u.was.groups, u.was.compat
	} else {
		m.compat = make([]atomic.Uint32, len(m.shapes)*len(m.groups))
	}
	u.memo.classes, u.memo.daemons = classes, daemons
	m.volumesBound = make(map[volumeOn]int32, len(u.was.volumesBound))
	for on, n := range u.was.volumesBound {
		// Pods with such volumes are where they were.
		m.volumesBound[volumeOn{int32(m.nodeIndex[u.was.nodes[on.host].name]), on.id}] = n
	}
}

// regroup is the number that a group of the model before has now. renumbered holds those that are known, from 1 on.
func (m *Model) regroup(was *Model, group int32, groups map[string]int32, renumbered []int32) int32 {
	if renumbered[group] > 0 {
		return renumbered[group] - 1
	}
	text := was.groups[group].text
	g, known := groups[text]
	if !known {
		g = int32(len(m.groups))
		m.groups = append(m.groups, was.groups[group])
		groups[text] = g
	}
	renumbered[group] = g + 1
	return g
}

// nodeOrder is the order of machines in a model: those that are initialised first, then by name.
func nodeOrder(nodes []Node, initialized func(i int) bool) []int {
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

// changePools gives pools the objects of the snapshot, whose status may have changed.
func (u *update) changePools() {
	m := u.next
	if slices.EqualFunc(u.was.snapshot.NodePools, u.snapshot.NodePools, func(a, b NodePool) bool { return a.Object == b.Object }) {
		return
	}
	m.pools = slices.Clone(m.pools)
	for i := range u.snapshot.NodePools {
		at := m.poolIndex[u.snapshot.NodePools[i].Identity()]
		own := *m.pools[at]
		own.object = u.snapshot.NodePools[i].Object
		m.pools[at] = &own
	}
}

// changeTopology counts pods anew.
func (u *update) changeTopology() {
	m := u.next
	if len(m.topology) == 0 {
		return
	}
	m.base = newTopologyState(m)
	if sameDomains(m.base.domains, u.was.base.domains, u.was.hostDomains) {
		m.base.domains = u.was.base.domains
	} else {
		m.hostDomains = m.base.domainCounts()
		m.findReachable()
	}
	m.base.owned = false
}

// sameDomains reports whether hosts are in the first so many of the known domains, and numbered alike.
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
