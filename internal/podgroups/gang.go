package podgroups

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Described reports whether the group is there: its object is, and has the part that the pod names, or it needs none.
func (n *Named) Described(object *Object) bool {
	_, ok := n.termsOf(object)
	return ok
}

// Gang is the group with these members, in any order. False if there is nothing to plan together: any number of the pods may be placed,
// wherever.
func (n *Named) Gang(object *Object, members []planning.PodKey) (planning.Gang, bool) {
	t, ok := n.termsOf(object)
	if !ok || t.minimum == 1 && len(t.topology) == 0 {
		return planning.Gang{}, false
	}
	members = slices.Clone(members)
	slices.SortFunc(members, func(x, y planning.PodKey) int {
		return cmp.Or(cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name))
	})
	return planning.Gang{
		Namespace: n.Group.Namespace, Name: n.Group.Name, Source: t.source, Members: members, Minimum: t.minimum, Priority: t.priority, Topology: t.topology,
		DisruptionMode: t.mode,
	}, true
}

// Compare orders groups by namespace and name.
func Compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// Distinct is the name of a gang among those of other kinds: its own, with the kind where that is taken.
func Distinct(kind Kind, gang planning.GangKey, taken map[planning.GangKey]bool) string {
	for taken[gang] {
		system, _, _ := strings.Cut(strings.ToLower(string(kind)), ".")
		gang.Name += "-" + system
	}
	taken[gang] = true
	return gang.Name
}
