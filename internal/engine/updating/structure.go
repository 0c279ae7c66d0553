package updating

import (
	"cmp"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// changeStructure numbers classes, topology groups, shapes, profiles and stages again, in the same order as compiling: by the texts of
// classes and groups. It reuses the data of existing classes.
func (u *update) changeStructure() {
	m, k := u.next, u.memo
	m.AskedKeys = make(map[string]bool, len(u.was.AskedKeys))
	u.numberGroups()
	order := u.orderKinds()
	u.renumber = make([]int32, len(u.was.Classes))
	classes := make([]*podclass.Class, len(order))
	fresh := make([]bool, len(order))
	for at, n := range order {
		kd := &k.kinds[n]
		var c *podclass.Class
		if kd.Class >= 0 {
			u.renumber[kd.Class] = int32(at)
			own := *u.was.Classes[kd.Class]
			c = &own
			c.Pending = nil
		} else {
			c, fresh[at] = kd.NewClass(), true
		}
		c.Sample = kd.Sample
		if c.Topology = nil; len(kd.Owns)+len(kd.In) > 0 {
			groups := kd.Renumbered(k.groupOf)
			c.Topology = &groups
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
	m.Classes = classes
	u.changeShapes(order, fresh)
	u.changeResidents()
}

// sameNumbers reports whether no number changes.
func sameNumbers(renumber []int32) bool {
	for was, now := range renumber {
		if int32(was) != now {
			return false
		}
	}
	return true
}

// numberGroups numbers the topology groups by their texts. If the groups differ from the groups of the model, it sets the model's groups.
func (u *update) numberGroups() {
	m, k := u.next, u.memo
	x := k.index
	order := x.InOrder()
	same := len(order) == len(u.was.Topology)
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
		for _, key := range m.TopologyKeys {
			m.AskedKeys[key] = true
		}
	} else {
		groups := make([]topology.Group, len(order))
		for i, g := range order {
			groups[i] = x.Groups[g]
			groups[i].Labels = nil
		}
		m.SetTopology(groups)
	}
	for i := range m.Topology {
		for _, term := range m.Topology[i].Filter.Terms {
			podclass.AskAbout(m.AskedKeys, term)
		}
	}
	for i := range m.DaemonSets {
		for _, term := range m.DaemonSets[i].Terms {
			podclass.AskAbout(m.AskedKeys, term)
		}
	}
}

// orderKinds returns the numbers of the kinds in the order of the kinds' classes.
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

// changeShapes finds the shapes of the classes. order has the kind of each class. fresh says which classes are new. Shapes, profiles and
// stages are numbered in the order in which they are found.
func (u *update) changeShapes(order []int32, fresh []bool) {
	m, was, k := u.next, u.was, u.memo
	u.freshPools()
	r := m.Reader()
	profiles := podclass.NewProfileNumbers(was.Pools, m.Pools)
	m.Shapes, m.ShapeIndex, u.shapeWas = nil, make(map[string]int32, len(was.ShapeIndex)), []int32{}
	for at, c := range m.Classes {
		kd := &k.kinds[order[at]]
		text := kd.ShapeText()
		n, known := m.ShapeIndex[text]
		if !known {
			n = int32(len(m.Shapes))
			m.ShapeIndex[text] = n
			old, had := was.ShapeIndex[text]
			if had && !(u.volumes && kd.Claims) {
				m.Shapes, u.shapeWas = append(m.Shapes, r.KeepShape(was.Shapes[old], c.Requests, profiles)), append(u.shapeWas, old)
			} else {
				m.Shapes, u.shapeWas = append(m.Shapes, r.NewShape(c.Sample, c.Requests)), append(u.shapeWas, -1)
			}
		}
		if fresh[at] {
			r.ShapeClass(c, m.Shapes[n], n)
		}
		c.Shape = n
	}
	found := podclass.NewStages(len(was.Stages))
	numbers := make([]int32, len(was.Stages))
	for i := range numbers {
		numbers[i] = -1
	}
	for at, c := range m.Classes {
		switch {
		case c.Invalid != nil:
		case fresh[at]:
			found.Find(m.Pools, c, m.Shapes[c.Shape])
		default:
			c.Stages = slices.Clone(c.Stages)
			for i, st := range c.Stages {
				if numbers[st] < 0 {
					numbers[st] = found.Intern(profiles.Stage(was.Stages[st]))
				}
				c.Stages[i] = numbers[st]
			}
		}
	}
	m.Stages = found.List
	for _, p := range m.Pools {
		p.FindRobust(m.Resources.Len())
	}
}

// freshPools replaces the model's pools by copies without profiles.
func (u *update) freshPools() {
	m := u.next
	m.Pools = slices.Clone(m.Pools)
	for i, p := range m.Pools {
		m.Pools[i] = p.WithoutProfiles()
	}
}

// changeResidents updates the classes of DaemonSets to their new numbers, and records the DaemonSets that topology rules could see.
func (u *update) changeResidents() {
	m, was := u.next, u.was
	if len(m.DaemonSets) == 0 {
		return
	}
	ruled := false
	if model.SameList(m.DaemonSets, was.DaemonSets) {
		m.DaemonSets = slices.Clone(m.DaemonSets)
	}
	for i := range m.DaemonSets {
		d := &m.DaemonSets[i]
		ruled = ruled || was.Classes[was.DaemonSets[i].Class].Topology != nil
		d.Class = u.memo.kinds[u.memo.ofDaemons[i]].Class
		ruled = ruled || m.Classes[d.Class].Topology != nil
	}
	if !ruled {
		return
	}
	tables := make(map[*nodepool.Table]*nodepool.Table, len(m.Tables))
	m.Tables = maps.Clone(m.Tables)
	for text, t := range m.Tables {
		own := *t
		own.Rows = slices.Clone(t.Rows)
		for i := range own.Rows {
			own.Rows[i].Residents, own.Rows[i].Resident = nil, 0
		}
		tables[t], m.Tables[text] = &own, &own
	}
	for _, p := range m.Pools {
		if p.Table != nil {
			p.Table = tables[p.Table]
		}
	}
	m.FindResidents()
}

// Only compiling determines the devices of claims and nodes. An Update reuses them if the device objects, the nodes with devices and the
// pods with claims are unchanged, and if the time limit for publishing devices has not ended on any node.

// devicesStand reports whether all nodes with devices are unchanged, so that their device data can be reused.
func (u *update) devicesStand() bool {
	x := u.was.Devices
	if x == nil {
		return true
	}
	for _, c := range u.changed {
		n := &u.snapshot.Nodes[c.at]
		if c.was >= 0 {
			if old := u.was.Nodes[c.was].Source; old.Object == n.Object && old.Claim == n.Claim {
				continue
			}
			if x.Has(u.was.Nodes[c.was].Source) {
				return false
			}
		}
		if x.Has(n) {
			return false
		}
	}
	for _, was := range u.gone {
		if x.Has(u.was.Nodes[was].Source) {
			return false
		}
	}
	return true
}
