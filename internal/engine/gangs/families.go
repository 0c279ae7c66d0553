package gangs

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Family is a set of gangs that are placed all together or not at all.
type Family struct {
	// Needed are the indexes of the gangs, in the order in which the gangs were listed. It may be empty.
	Needed []int32
	// Within is the number of the family that contains this family as a spare one, and that is complete without it. If that family has a
	// place, this family is placed after it, in the domains that the two families share. -1 means that there is no such family. Spare are
	// the numbers of the families whose Within is this family.
	Within int32
	Spare  []int32
}

// Families divides the gangs into families. The gangs of one family are placed all together or not at all. A family contains all gangs of
// one parent, or of all groups of one ancestor, but no spare gangs and groups. A spare gang is a family of its own, and the gangs of a
// spare group form a family. order lists the indexes of the gangs. The result of has the family of each gang, or -1 for a gang without a
// parent. In the result families, a family comes after the family in its field Within.
func Families(list []*planning.Gang, order []int32) (families []Family, of []int32) {
	f := &familyFinder{known: map[planning.GangKey]int32{}}
	of = make([]int32, len(list))
	for _, number := range order {
		g := list[number]
		switch {
		case g.Parent == "":
			of[number] = -1
			continue
		case g.Spare:
			of[number] = f.add(f.of(g, 0))
		default:
			of[number] = f.of(g, 0)
		}
		family := &f.families[of[number]]
		family.Needed = append(family.Needed, number)
	}
	return f.families, of
}

// familyFinder collects families. known has the index in families of each family, by the name of its outermost group.
type familyFinder struct {
	families []Family
	known    map[planning.GangKey]int32
}

// of returns the index of the family with the gangs that are needed for the group to be complete. The group is the ancestor of the gang at
// the level: level 0 is the parent, level 1 the parent's parent, and so on.
func (f *familyFinder) of(g *planning.Gang, level int) int32 {
	groups := groupsOf(g)
	for level+1 < len(groups) && !groups[level+1].spare {
		level++
	}
	key := planning.GangKey{Namespace: g.Namespace, Name: groups[level].name}
	if at, ok := f.known[key]; ok {
		return at
	}
	within := int32(-1)
	if level+1 < len(groups) {
		within = f.of(g, level+1)
	}
	at := f.add(within)
	f.known[key] = at
	return at
}

// add adds a family without gangs and returns its number.
func (f *familyFinder) add(within int32) int32 {
	at := int32(len(f.families))
	f.families = append(f.families, Family{Within: within})
	if within >= 0 {
		f.families[within].Spare = append(f.families[within].Spare, at)
	}
	return at
}

// level is the parent or an ancestor of a gang. spare means that this group is complete even if the next lower group, or the gang in it,
// has no place.
type level struct {
	name   string
	shared int
	spare  bool
}

// groupsOf returns the gang's parent and ancestors, the parent first.
func groupsOf(g *planning.Gang) []level {
	if g.Parent == "" {
		return nil
	}
	out := []level{{g.Parent, g.Shared, g.Spare}}
	for _, a := range g.Ancestors {
		out = append(out, level{a.Name, a.Shared, a.Spare})
	}
	return out
}

// Group is a parent or an ancestor of gangs. Its gangs are in the same domain for the first Shared of their topology constraints.
type Group struct {
	Name   string
	Shared int
	// Members are the indexes of the gangs in the list.
	Members []int
}

// Groups returns the parents and ancestors of the gangs, and the groups of each gang. The gangs must have the same namespace. The list of a
// gang's groups begins with the outermost group.
func Groups(list []*planning.Gang) (groups []Group, of [][]int) {
	known := map[string]int{}
	of = make([][]int, len(list))
	for depth, more := 0, true; more; depth++ {
		more = false
		for i, g := range list {
			levels := groupsOf(g)
			if depth >= len(levels) {
				continue
			}
			more = true
			l := levels[len(levels)-1-depth]
			at, ok := known[l.name]
			if !ok {
				at = len(groups)
				known[l.name], groups = at, append(groups, Group{Name: l.name, Shared: l.shared})
			}
			groups[at].Members = append(groups[at].Members, i)
			of[i] = append(of[i], at)
		}
	}
	return groups, of
}

// LargestFirst returns the indexes of the gangs in the order in which they are tried. Gangs of one group follow each other; the gangs and
// groups that need the most pods come first. needs has the number of pods that each gang needs.
func LargestFirst(list []*planning.Gang, needs []int) []int {
	groups, of := Groups(list)
	need := make([]int, len(groups))
	out := make([]int, len(list))
	for i := range list {
		out[i] = i
		for _, at := range of[i] {
			need[at] += needs[i]
		}
	}
	part := func(i, depth int) (first, pods int) { // identifies the group at the depth, or the gang itself
		if depth < len(of[i]) {
			at := of[i][depth]
			return groups[at].Members[0], need[at]
		}
		return i, needs[i]
	}
	slices.SortStableFunc(out, func(a, b int) int {
		depth := 0
		for depth < len(of[a]) && depth < len(of[b]) && of[a][depth] == of[b][depth] {
			depth++
		}
		firstA, podsA := part(a, depth)
		firstB, podsB := part(b, depth)
		return cmp.Or(cmp.Compare(podsB, podsA), cmp.Compare(firstA, firstB))
	})
	return out
}
