package scheduling

import (
	"cmp"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
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
	classes := make([]*podclass.Class, len(order))
	fresh := make([]bool, len(order))
	for at, n := range order {
		kd := &k.kinds[n]
		var c *podclass.Class
		if kd.Class >= 0 {
			u.renumber[kd.Class] = int32(at)
			own := *u.was.classes[kd.Class]
			c = &own
			c.Pending = nil
		} else {
			c, fresh[at] = kd.NewClass(), true
		}
		c.Sample = kd.Sample
		if c.Topology = nil; len(kd.Owns)+len(kd.In) > 0 {
			stake := kd.Stake(k.groupOf)
			c.Topology = &stake
		}
		classes[at] = c
		kd.Class = int32(at)
	}
	for _, merged := range u.merged {
		if merged.class >= 0 {
			u.renumber[merged.class] = k.kinds[merged.into].Class
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
			podclass.AskAbout(m.askedKeys, term)
		}
	}
	for i := range m.daemonSets {
		for _, term := range m.daemonSets[i].Terms {
			podclass.AskAbout(m.askedKeys, term)
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
		if kd := &k.kinds[n]; kd.Members > 0 {
			list = append(list, entry{kd.SortedBy(k.groupOf), int32(n)})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.text, b.text) })
	out := make([]int32, len(list))
	for i, e := range list {
		out[i] = e.kind
	}
	return out
}

// changeShapes finds the shapes of the classes, which are of the kinds given by order; fresh says which are new. Shapes,
// profiles and stages are numbered as they are come upon.
func (u *update) changeShapes(order []int32, fresh []bool) {
	m, was, k := u.next, u.was, u.memo
	u.freshPools()
	r := m.reader()
	profiles := podclass.NewProfileNumbers(was.pools, m.pools)
	m.shapes, m.shapeIndex, u.shapeWas = nil, make(map[string]int32, len(was.shapeIndex)), []int32{}
	for at, c := range m.classes {
		kd := &k.kinds[order[at]]
		text := kd.ShapeText()
		n, known := m.shapeIndex[text]
		if !known {
			n = int32(len(m.shapes))
			m.shapeIndex[text] = n
			old, had := was.shapeIndex[text]
			if had && !(u.volumes && kd.Claims) {
				m.shapes, u.shapeWas = append(m.shapes, r.KeepShape(was.shapes[old], c.Requests, profiles)), append(u.shapeWas, old)
			} else {
				m.shapes, u.shapeWas = append(m.shapes, r.NewShape(c.Sample, c.Requests)), append(u.shapeWas, -1)
			}
		}
		if fresh[at] {
			r.ShapeClass(c, m.shapes[n], n)
		}
		c.Shape = n
	}
	found := podclass.NewStages(len(was.stages))
	numbers := make([]int32, len(was.stages))
	for i := range numbers {
		numbers[i] = -1
	}
	for at, c := range m.classes {
		switch {
		case c.Invalid != nil:
		case fresh[at]:
			found.Find(m.pools, c, m.shapes[c.Shape])
		default:
			c.Stages = slices.Clone(c.Stages)
			for i, st := range c.Stages {
				if numbers[st] < 0 {
					numbers[st] = found.Intern(profiles.Stage(was.stages[st]))
				}
				c.Stages[i] = numbers[st]
			}
		}
	}
	m.stages = found.List
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
		ruled = ruled || was.classes[was.daemonSets[i].Class].Topology != nil
		d.Class = u.memo.kinds[u.memo.ofDaemons[i]].Class
		ruled = ruled || m.classes[d.Class].Topology != nil
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
