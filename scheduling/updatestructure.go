package scheduling

import (
	"cmp"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// changeStructure numbers the classes again, and with them topology groups, shapes, profiles and stages, as compiling would:
// in the order of the texts of classes, and of groups. What was made of classes that were there before is taken over.
func (u *update) changeStructure() {
	m, k := u.next, u.memo
	m.askedKeys = make(map[string]bool, len(u.was.askedKeys))
	u.numberGroups()
	order := u.orderKinds()
	u.renumber = make([]int32, len(u.was.classes))
	classes := make([]*class, len(order))
	fresh := make([]bool, len(order))
	for at, n := range order {
		kd := &k.kinds[n]
		var c *class
		if kd.class >= 0 {
			u.renumber[kd.class] = int32(at)
			own := *u.was.classes[kd.class]
			c = &own
			c.pending = nil
		} else {
			c, fresh[at] = kd.newClass(), true
		}
		c.sample = kd.sample
		if c.topology = nil; len(kd.owns)+len(kd.in) > 0 {
			stake := kd.stake(k.groupOf)
			c.topology = &stake
		}
		classes[at] = c
		kd.class = int32(at)
	}
	for _, merged := range u.merged {
		if merged.class >= 0 {
			u.renumber[merged.class] = k.kinds[merged.into].class
		}
	}
	if sameNumbers(u.renumber) {
		u.renumber = nil
	}
	m.classes = classes
	u.changeShapes(order, fresh)
	u.changeResidents()
}

// sameNumbers reports whether all keep their numbers.
func sameNumbers(renumber []int32) bool {
	for was, now := range renumber {
		if int32(was) != now {
			return false
		}
	}
	return true
}

// numberGroups numbers the topology groups by their texts, and hands them to the model if they are not those it has.
func (u *update) numberGroups() {
	m, k := u.next, u.memo
	x := k.index
	order := x.InOrder()
	same := len(order) == len(u.was.topology)
	for int(len(k.groupOf)) < len(x.Groups) {
		k.groupOf, k.stated = append(k.groupOf, -1), append(k.stated, 0)
	}
	before := slices.Clone(k.groupOf)
	for g := range k.groupOf {
		k.groupOf[g] = -1
	}
	for i, g := range order {
		k.groupOf[g] = int32(i)
		same = same && before[g] == int32(i)
	}
	if same {
		for _, key := range m.topologyKeys {
			m.askedKeys[key] = true
		}
	} else {
		groups := make([]topology.Group, len(order))
		for i, g := range order {
			groups[i] = x.Groups[g]
			groups[i].Labels = nil
		}
		m.setTopology(groups)
	}
	for i := range m.topology {
		for _, term := range m.topology[i].Filter.Terms {
			askAbout(m.askedKeys, term)
		}
	}
	for i := range m.daemonSets {
		for _, term := range m.daemonSets[i].Terms {
			askAbout(m.askedKeys, term)
		}
	}
}

// orderKinds lists the kinds in the order of their classes.
func (u *update) orderKinds() []int32 {
	k := u.memo
	type entry struct {
		text string
		kind int32
	}
	list := make([]entry, 0, len(k.kinds)-len(k.vacant))
	for n := range k.kinds {
		if kd := &k.kinds[n]; kd.members > 0 {
			list = append(list, entry{kd.sortedBy(k.groupOf), int32(n)})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.text, b.text) })
	out := make([]int32, len(list))
	for i, e := range list {
		out[i] = e.kind
	}
	return out
}

// changeShapes finds the shapes of the classes, which are of the kinds given by order; fresh tells which are new. Shapes,
// profiles and stages are numbered as they are come upon.
func (u *update) changeShapes(order []int32, fresh []bool) {
	m, was, k := u.next, u.was, u.memo
	u.freshPools()
	r := m.reader()
	profiles := newProfileNumbers(was.pools, m.pools)
	m.shapes, m.shapeIndex, u.shapeWas = nil, make(map[string]int32, len(was.shapeIndex)), []int32{}
	for at, c := range m.classes {
		kd := &k.kinds[order[at]]
		text := kd.shapeText()
		n, known := m.shapeIndex[text]
		if !known {
			n = int32(len(m.shapes))
			m.shapeIndex[text] = n
			old, had := was.shapeIndex[text]
			if had && !(u.volumes && kd.claims) {
				m.shapes, u.shapeWas = append(m.shapes, r.keepShape(was.shapes[old], c.requests, profiles)), append(u.shapeWas, old)
			} else {
				m.shapes, u.shapeWas = append(m.shapes, r.newShape(c.sample, c.requests)), append(u.shapeWas, -1)
			}
		}
		if fresh[at] {
			r.shapeClass(c, m.shapes[n], n)
		}
		c.shape = n
	}
	found := newStages(len(was.stages))
	numbers := make([]int32, len(was.stages))
	for i := range numbers {
		numbers[i] = -1
	}
	for at, c := range m.classes {
		switch {
		case c.invalid != nil:
		case fresh[at]:
			found.find(m.pools, c, m.shapes[c.shape])
		default:
			c.stages = slices.Clone(c.stages)
			for i, st := range c.stages {
				if numbers[st] < 0 {
					numbers[st] = found.intern(profiles.stage(was.stages[st]))
				}
				c.stages[i] = numbers[st]
			}
		}
	}
	m.stages = found.list
	for _, p := range m.pools {
		p.FindRobust(m.resources.Len())
	}
}

// freshPools gives the model pools of its own, without profiles.
func (u *update) freshPools() {
	m := u.next
	m.pools = slices.Clone(m.pools)
	for i, p := range m.pools {
		m.pools[i] = p.WithoutProfiles()
	}
}

// changeResidents gives DaemonSets the new numbers of their classes, and notes those that topology rules could notice.
func (u *update) changeResidents() {
	m, was := u.next, u.was
	if len(m.daemonSets) == 0 {
		return
	}
	ruled := false
	if sameList(m.daemonSets, was.daemonSets) {
		m.daemonSets = slices.Clone(m.daemonSets)
	}
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		ruled = ruled || was.classes[was.daemonSets[i].Class].topology != nil
		d.Class = u.memo.kinds[u.memo.ofDaemons[i]].class
		ruled = ruled || m.classes[d.Class].topology != nil
	}
	if !ruled {
		return
	}
	tables := make(map[*nodepool.Table]*nodepool.Table, len(m.tables))
	m.tables = maps.Clone(m.tables)
	for text, t := range m.tables {
		own := *t
		own.Rows = slices.Clone(t.Rows)
		for i := range own.Rows {
			own.Rows[i].Residents, own.Rows[i].Resident = nil, 0
		}
		tables[t], m.tables[text] = &own, &own
	}
	for _, p := range m.pools {
		if p.Table != nil {
			p.Table = tables[p.Table]
		}
	}
	m.findResidents()
}
