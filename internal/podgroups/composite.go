package podgroups

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// A CompositePodGroup becomes one gang. The gang's minimum is the number of members that the needed groups of the CompositePodGroup need
// together. A single gang represents the CompositePodGroup exactly if the groups have no topology constraints of their own, because all
// members of a gang have the same constraints. Groups that have topology constraints of their own become separate gangs with one parent.
// These gangs are placed all together or not at all, within the constraints of the parent. If such groups are in a CompositePodGroup that
// another CompositePodGroup contains, the outer CompositePodGroup is an ancestor of their gangs.

// mostLevels is the largest nesting depth of CompositePodGroups that this package reads. Kubernetes allows fewer levels.
const mostLevels = 8

// Gangs converts groups to gangs, in the order of their names. The groups of a CompositePodGroup become one gang, or gangs with one parent.
// The result missing lists the CompositePodGroups that the given parts name and that do not exist.
func Gangs(parts []Part, object func(Key) *Object) (gangs []planning.Gang, missing []Key) {
	c := &composer{object: object, groups: map[Key][]Part{}}
	var list []Part
	for _, p := range parts {
		list = c.add(list, p, mostLevels)
	}
	for level := 0; level < mostLevels && len(c.groups) > 0; level++ {
		list = c.compose(list)
	}
	for _, rest := range c.groups { // nested too deeply
		list = append(list, rest...)
	}
	slices.SortFunc(list, func(a, b Part) int { return Compare(a.Key, b.Key) })
	taken := make(map[planning.GangKey]bool, len(list))
	for _, p := range list {
		if p.free {
			continue
		}
		g := p.gang
		g.Name = Distinct(p.Key.Kind, g.Key(), taken)
		gangs = append(gangs, g)
	}
	slices.SortFunc(c.missing, Compare)
	return gangs, slices.Compact(c.missing)
}

// composer combines the groups in CompositePodGroups.
type composer struct {
	object func(Key) *Object
	// groups has the parts of each CompositePodGroup that is not combined yet. missing has the CompositePodGroups that were not found or
	// can't be read.
	groups  map[Key][]Part
	missing []Key
}

// add adds the part to its CompositePodGroup in c.groups. If the part has no parent, or if the parent is missing or can't be read, add
// appends the part to the given list instead.
func (c *composer) add(list []Part, p Part, levels int) []Part {
	if p.parent == "" || levels == 0 {
		return append(list, p)
	}
	key := Key{CompositePodGroup, p.Key.Namespace, p.parent}
	if o := c.object(key); o == nil || o.unreadable {
		c.missing = append(c.missing, key)
		return append(list, p)
	}
	c.groups[key] = append(c.groups[key], p)
	return list
}

// compose combines the parts of each CompositePodGroup in c.groups that contains no other CompositePodGroup in c.groups. It adds the
// combined part to the parent of that CompositePodGroup, or to the given list if that CompositePodGroup has no parent.
func (c *composer) compose(list []Part) []Part {
	below := map[Key]bool{}
	for key := range c.groups {
		for up, n := c.parentOf(key), 0; up != (Key{}) && n < mostLevels; up, n = c.parentOf(up), n+1 {
			below[up] = true
		}
	}
	var ready []Key
	for key := range c.groups {
		if !below[key] {
			ready = append(ready, key)
		}
	}
	if len(ready) == 0 { // these CompositePodGroups contain each other
		for key := range c.groups {
			ready = append(ready, key)
		}
	}
	slices.SortFunc(ready, Compare)
	for _, key := range ready {
		parts := c.groups[key]
		delete(c.groups, key)
		for _, p := range c.together(key, parts) {
			if p.parent == "" || below[key] {
				list = append(list, p)
				continue
			}
			list = c.add(list, p, mostLevels)
		}
	}
	return list
}

// parentOf returns the parent of a CompositePodGroup. The result is the zero Key if the CompositePodGroup has no parent or can't be read.
func (c *composer) parentOf(key Key) Key {
	o := c.object(key)
	if o == nil || o.unreadable || o.Spec.ParentCompositePodGroupName == nil {
		return Key{}
	}
	return Key{CompositePodGroup, key.Namespace, *o.Spec.ParentCompositePodGroupName}
}

// together returns the parts of the CompositePodGroup combined to one part. It returns several parts if some parts have topology
// constraints of their own, or if each part may be placed alone.
func (c *composer) together(key Key, parts []Part) []Part {
	o := c.object(key)
	parent := ""
	if o.Spec.ParentCompositePodGroupName != nil {
		parent = *o.Spec.ParentCompositePodGroupName
	}
	var topology []planning.GangTopology
	if o.Spec.SchedulingConstraints != nil {
		for _, level := range o.Spec.SchedulingConstraints.Topology {
			topology = append(topology, planning.GangTopology{Key: level.Key})
		}
	}
	needs := 0 // how many of the groups must be placed, or 0 if each group may be placed alone
	if p := o.Spec.SchedulingPolicy; p != nil && p.Gang != nil {
		needs = max(int(p.Gang.MinGroupCount), 1)
	}
	constrained := slices.ContainsFunc(parts, func(p Part) bool { return len(p.gang.Topology) > 0 || p.gang.Parent != "" })
	if constrained || needs == 0 && len(topology) == 0 {
		if constrained && (needs > 0 || len(topology) > 0) {
			parts = family(key, o, parts, needs, topology)
		}
		for i := range parts {
			parts[i].parent = parent
		}
		return parts
	}
	out := one(parts, max(needs, 1))
	out.Key, out.parent = key, parent
	out.gang.Namespace, out.gang.Name, out.gang.Source, out.gang.Topology = key.Namespace, key.Name, "CompositePodGroup "+key.Namespace+"/"+key.Name, topology
	if o.Spec.Priority != nil {
		out.gang.Priority = o.Spec.Priority
	}
	if o.Spec.DisruptionMode != nil && o.Spec.DisruptionMode.All != nil {
		out.gang.DisruptionMode = ""
	}
	return []Part{out}
}

// family returns the parts, with the CompositePodGroup as the parent of their gangs. For gangs that have a parent already, the
// CompositePodGroup becomes an ancestor. needs is the number of groups that the CompositePodGroup needs. The constraints in topology hold
// for all parts. Groups whose pods all exist come first, and equal groups are in the order of their names. If there are more groups than
// the CompositePodGroup needs, the last groups are spare. If too few groups exist, no group is placed.
func family(key Key, o *Object, parts []Part, needs int, topology []planning.GangTopology) []Part {
	parts, lack := slices.Clone(parts), map[Key]int{}
	for i := range parts {
		if !parts[i].gang.Spare {
			lack[parts[i].child()] += lacks(&parts[i])
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(lack[a.child()], lack[b.child()]), Compare(a.child(), b.child()))
	})
	all := o.Spec.DisruptionMode != nil && o.Spec.DisruptionMode.All != nil
	groups, last := 0, Key{}
	for i := range parts {
		if child := parts[i].child(); i == 0 || child != last {
			groups, last = groups+1, child
		}
		g := &parts[i].gang
		shareMore(g, topology)
		if g.Parent == "" {
			g.Parent, g.Shared, g.Spare = key.Name, len(topology), groups > needs
		} else {
			g.Ancestors = append(slices.Clone(g.Ancestors), planning.GangAncestor{
				Name: key.Name, Shared: len(topology), Spare: groups > needs, DisruptedTogether: all,
			})
		}
		if o.Spec.Priority != nil {
			g.Priority = o.Spec.Priority
		}
		if all {
			g.DisruptionMode = planning.GangDisruptedWithParent
		}
		parts[i].free = false
	}
	if missing := needs - groups; missing > 0 {
		g := &parts[0].gang
		g.Minimum = max(g.Needs(), len(g.Members)) + missing
	}
	for i := range parts {
		parts[i].below = key
	}
	return parts
}

// shareMore puts the given constraints, which are wider, before the topology constraints of the gang g. All gangs of g's parent and
// ancestors share the added constraints.
func shareMore(g *planning.Gang, topology []planning.GangTopology) {
	own := g.Topology
	if g.Parent != "" {
		g.Shared = len(within(topology, own[:g.Shared]))
	}
	g.Ancestors = slices.Clone(g.Ancestors)
	for i := range g.Ancestors {
		g.Ancestors[i].Shared = len(within(topology, own[:g.Ancestors[i].Shared]))
	}
	g.Topology = within(topology, own)
}

// within returns the wider constraints (its first argument), followed by those of the other constraints whose topology keys the wider
// constraints don't have.
func within(wide, own []planning.GangTopology) []planning.GangTopology {
	out := slices.Clone(wide)
	for _, t := range own {
		if !slices.ContainsFunc(out, func(w planning.GangTopology) bool { return w.Key == t.Key }) {
			out = append(out, t)
		}
	}
	return out
}

// one combines the parts to one part. The result needs only the pods of the first parts. The parameter needs is the number of these first
// parts. Parts whose pods all exist come first, and equal parts are in the order of their names. The result is moved as a whole if one of
// the parts is moved as a whole.
func one(parts []Part, needs int) Part {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(lacks(&a), lacks(&b)), Compare(a.Key, b.Key))
	})
	var out Part
	out.gang.DisruptionMode = planning.GangDisruptedSingly
	var shares []share
	for i := range parts {
		g := &parts[i].gang
		s := share{members: g.Members, need: g.Needs()}
		if i >= needs {
			s.need = 0
		}
		shares = append(shares, s)
		if g.DisruptionMode != planning.GangDisruptedSingly {
			out.gang.DisruptionMode = g.DisruptionMode
		}
		if p := g.Priority; p != nil && (out.gang.Priority == nil || *p > *out.gang.Priority) {
			out.gang.Priority = p
		}
	}
	for i := len(parts); i < needs; i++ {
		shares = append(shares, share{need: 1}) // a part that does not exist yet
	}
	out.gang.Members, out.gang.Minimum = together(shares)
	out.free = out.gang.Minimum == 1
	return out
}

// lacks returns the number of pods that the part needs and that don't exist yet.
func lacks(p *Part) int { return max(p.gang.Needs()-len(p.gang.Members), 0) }
