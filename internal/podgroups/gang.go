package podgroups

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Described reports whether the group exists. A group exists if it needs no object, or if its object exists and contains the pod group that
// the pod names.
func (n *Named) Described(object *Object) bool {
	_, ok := n.termsOf(object)
	return ok
}

// Member is a pod of a group, and its task in the group if the group has tasks.
type Member struct {
	planning.PodKey
	Task string
	// Succeeded means that the pod has ended successfully and needs no node any more.
	Succeeded bool
}

// Part is a group of pods. A CompositePodGroup may combine it with other groups.
type Part struct {
	Key  Key
	gang planning.Gang
	// parent is the CompositePodGroup that contains the group, or "" if none does.
	parent string
	// below is the CompositePodGroup that the function family added last as the parent or an ancestor of the gang. It is zero if family has
	// added no CompositePodGroup.
	below Key
	// free means that the pods need no gang: any number of them may be placed, on any nodes.
	free bool
}

// child returns the key by which the part counts as a group of its parent: p.below, or the part's own key if p.below is zero.
func (p *Part) child() Key {
	if p.below != (Key{}) {
		return p.below
	}
	return p.Key
}

// Part makes a part of the group with these members. The order of members does not matter. Part returns false if the pods need not be
// planned together.
func (n *Named) Part(object *Object, members []Member) (Part, bool) {
	t, ok := n.termsOf(object)
	if !ok {
		return Part{}, false
	}
	out := Part{Key: n.Group, free: t.minimum == 1 && len(t.topology) == 0 && len(t.tasks) == 0}
	if n.Object.Kind == PodGroup && object.Spec.ParentCompositePodGroupName != nil {
		out.parent = *object.Spec.ParentCompositePodGroupName
	}
	if out.free && out.parent == "" {
		return Part{}, false
	}
	members = t.withoutSucceeded(members)
	if len(members) == 0 {
		return Part{}, false
	}
	slices.SortFunc(members, func(x, y Member) int { return compareNames(x.PodKey, y.PodKey) })
	keys, minimum := t.inTasks(members)
	out.gang = planning.Gang{
		Namespace: n.Group.Namespace, Name: n.Group.Name, Source: t.source, Members: keys, Minimum: minimum, Priority: t.priority, Topology: t.topology,
		DisruptionMode: t.mode,
	}
	return out, true
}

// withoutSucceeded returns the members that have not ended successfully. For each member that has ended successfully, it lowers the
// minimum, and the number of pods that its task needs, by one.
func (t *terms) withoutSucceeded(members []Member) []Member {
	left := make([]Member, 0, len(members))
	t.tasks = maps.Clone(t.tasks)
	for _, m := range members {
		if !m.Succeeded {
			left = append(left, m)
			continue
		}
		if n, known := t.tasks[m.Task]; known && n > 0 {
			t.tasks[m.Task] = n - 1
		}
		if t.minimum > 1 { // 0 means all members
			t.minimum--
		}
	}
	return left
}

// compareNames orders pods by the length of their names and then by their names, so that "web-2" comes before "web-10".
func compareNames(x, y planning.PodKey) int {
	return cmp.Or(cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name))
}

// inTasks returns the members in the order in which they count towards the minimum, and the minimum. The members that the tasks need come
// first.
func (t *terms) inTasks(members []Member) ([]planning.PodKey, int) {
	var shares []share
	for _, task := range slices.Sorted(maps.Keys(t.tasks)) {
		s := share{need: int(t.tasks[task])}
		for _, m := range members {
			if m.Task == task {
				s.members = append(s.members, m.PodKey)
			}
		}
		shares = append(shares, s)
	}
	var rest share
	for _, m := range members {
		if _, known := t.tasks[m.Task]; !known {
			rest.members = append(rest.members, m.PodKey)
		}
	}
	keys, need := together(append(shares, rest))
	return keys, max(need, t.minimum)
}

// share is a set of pods of a group, and the number of pods in the set that the group needs. Pods outside the set can't replace pods of the
// set.
type share struct {
	members []planning.PodKey
	need    int
}

// together returns the members of all shares, with the needed members first, and the number of needed members. If a share has too few
// members, the result need is larger than the number of all members.
func together(shares []share) (keys []planning.PodKey, need int) {
	lack := 0
	for _, s := range shares {
		n := min(s.need, len(s.members))
		keys, need, lack = append(keys, s.members[:n]...), need+s.need, lack+s.need-n
	}
	for _, s := range shares {
		keys = append(keys, s.members[min(s.need, len(s.members)):]...)
	}
	if lack > 0 {
		need = max(need, len(keys)+lack)
	}
	return keys, need
}

// Compare orders groups by namespace and name.
func Compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// Distinct returns a unique name for a gang. This is the gang's name, or its name with its kind if a gang of another kind has the same
// name.
func Distinct(kind Kind, gang planning.GangKey, taken map[planning.GangKey]bool) string {
	for taken[gang] {
		system, _, _ := strings.Cut(strings.ToLower(string(kind)), ".")
		gang.Name += "-" + system
	}
	taken[gang] = true
	return gang.Name
}
