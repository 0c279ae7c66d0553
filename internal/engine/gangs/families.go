package gangs

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Family contains gangs that are placed all together or not at all.
type Family struct {
	// Needed are the numbers of the gangs, in the sequence in which they were listed. There may be none.
	Needed []int32
	// Within is the number of the family that is complete without this one: this one is placed after it, if it has a place, and in the
	// domains that both share. -1 means none. Spare are the numbers of the families that are placed within this one.
	Within int32
	Spare  []int32
}

// Families finds the gangs that are placed all together or not at all: those of one parent, and of all groups of an ancestor, except the
// ones that are spare. A spare gang is a family of its own, and so are the gangs of a spare group. order lists the numbers of the gangs. of
// is the family of each gang; -1 for a gang without a parent. A family comes after the one that it is within.
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

// familyFinder collects families. known are those of groups, by the name of their outermost group.
type familyFinder struct {
	families []Family
	known    map[planning.GangKey]int32
}

// of returns the family of the gangs that the group needs. The group is the gang's parent, or one of its ancestors, by level.
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

// add adds a family without gangs.
func (f *familyFinder) add(within int32) int32 {
	at := int32(len(f.families))
	f.families = append(f.families, Family{Within: within})
	if within >= 0 {
		f.families[within].Spare = append(f.families[within].Spare, at)
	}
	return at
}

// level is the parent or an ancestor of a gang. spare says that it is complete without the group, or the gang, below it.
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

// Group is a parent or an ancestor of gangs, which are in the same domain for the first Shared of their topology constraints.
type Group struct {
	Name   string
	Shared int
	// Members are the gangs, by their place in a list.
	Members []int
}

// Groups returns the parents and ancestors of the gangs, which have one namespace, and the groups of each gang. Each list begins with the
// outermost group.
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

// LargestFirst returns the places of the gangs in the list in the order in which they are tried: gangs of one group follow each other, and
// the gangs and groups that need the most pods come first. needs are the numbers of pods that the gangs need.
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
	part := func(i, depth int) (first, pods int) { // the group at the depth, or the gang itself
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
