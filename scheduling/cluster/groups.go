package cluster

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"maps"

	"github.com/drawknife/drawknife/internal/podgroups"
	"github.com/drawknife/drawknife/scheduling"
)

// groups contains the pods that are placed together, according to their group names and to the objects that describe groups. It contains
// only pods that count in snapshots. In a cluster without such pods, it is empty and costs nothing.
type groups struct {
	reader *podgroups.Reader
	// objects contains the objects that describe groups, by kind.
	objects map[podgroups.Kind]*store[*podgroups.Object]
	// named contains, for each pod, the groups that the pod names. naming contains, for each group object, the pods that name this object.
	named  map[types.NamespacedName][]podgroups.Named
	naming map[podgroups.Key]map[types.NamespacedName]struct{}
	// The map `of` has the group of each pod, and the map members has the pods of each group.
	of      map[types.NamespacedName]podgroups.Key
	members map[podgroups.Key]map[types.NamespacedName]struct{}
	// succeeded contains the members of groups that have ended successfully.
	succeeded map[types.NamespacedName]struct{}
	// touched contains the groups that must be computed again. list contains the groups in their last computed state.
	touched map[podgroups.Key]struct{}
	list    *sortedList[podgroups.Key, podgroups.Part]
	// composed is true if a CompositePodGroup has changed since the gangs were last computed.
	composed bool
	made     []scheduling.Gang
}

func newGroups(inferred bool, tiers podgroups.Tiers) *groups {
	g := &groups{
		reader: podgroups.NewReader(inferred).WithTiers(maps.Clone(tiers)), objects: make(map[podgroups.Kind]*store[*podgroups.Object]),
		named: make(map[types.NamespacedName][]podgroups.Named), naming: make(map[podgroups.Key]map[types.NamespacedName]struct{}),
		of: make(map[types.NamespacedName]podgroups.Key), members: make(map[podgroups.Key]map[types.NamespacedName]struct{}),
		succeeded: make(map[types.NamespacedName]struct{}), touched: make(map[podgroups.Key]struct{}),
		list: newSortedList(func(p podgroups.Part) podgroups.Key { return p.Key }, podgroups.Compare),
	}
	for _, kind := range groupKinds() {
		g.objects[kind] = newStore[*podgroups.Object]()
	}
	return g
}

// applyGroup stores an object that describes groups. An unreadable object describes no group.
func (s *State) applyGroup(raw *unstructured.Unstructured, e *Event) {
	key := ObjectKey{groupKindOf(raw), keyOf(raw)}
	kind := groupKinds()[key.Kind]
	objects := s.groups.objects[kind]
	if e.Deleted {
		if _, news := objects.remove(raw, &s.gone); news {
			delete(s.faulty, key)
			s.groups.described(podgroups.Key{Kind: kind, Namespace: key.Namespace, Name: key.Name})
		}
		return
	}
	object, err := podgroups.Read(kind, raw.Object)
	if err != nil {
		object = podgroups.Unreadable(kind, raw)
	}
	if _, _, news := objects.put(object, e.Assumed, &s.gone); !news {
		return
	}
	delete(s.faulty, key)
	if err != nil {
		s.faulty[key] = err.Error()
	}
	s.groups.described(podgroups.Key{Kind: kind, Namespace: key.Namespace, Name: key.Name})
}

// described updates the groups of the pods that name the object, after the object was added, removed or changed.
func (g *groups) described(object podgroups.Key) {
	g.composed = g.composed || object.Kind == podgroups.CompositePodGroup
	for pod := range g.naming[object] {
		g.sort(pod)
		if of, ok := g.of[pod]; ok {
			g.touched[of] = struct{}{}
		}
	}
}

// setPod records the groups that the pod names now, and whether the pod has succeeded.
func (g *groups) setPod(pod types.NamespacedName, named []podgroups.Named, succeeded bool) {
	before := g.named[pod]
	if len(before)+len(named) == 0 {
		return
	}
	for i := range before {
		dropFrom(g.naming, before[i].Object, pod)
	}
	delete(g.named, pod)
	delete(g.succeeded, pod)
	if len(named) > 0 {
		g.named[pod] = named
	}
	if len(named) > 0 && succeeded {
		g.succeeded[pod] = struct{}{}
	}
	for i := range named {
		addTo(g.naming, named[i].Object, pod)
	}
	g.sort(pod)
	if of, ok := g.of[pod]; ok {
		g.touched[of] = struct{}{} // the pod may now state different conditions for the group
	}
}

// sort finds the group of the pod. It is the first group among the groups that the pod names for which an object exists.
func (g *groups) sort(pod types.NamespacedName) {
	was, member := g.of[pod]
	for i := range g.named[pod] {
		n := &g.named[pod][i]
		if !n.Described(g.object(n.Object)) {
			continue
		}
		if member && was == n.Group {
			return
		}
		g.leave(pod)
		g.of[pod] = n.Group
		addTo(g.members, n.Group, pod)
		g.touched[n.Group] = struct{}{}
		return
	}
	g.leave(pod)
}

func (g *groups) leave(pod types.NamespacedName) {
	was, member := g.of[pod]
	if !member {
		return
	}
	delete(g.of, pod)
	dropFrom(g.members, was, pod)
	g.touched[was] = struct{}{}
}

// object returns the group object with the key. It returns nil if the object does not exist, or if the name in the key is empty.
func (g *groups) object(key podgroups.Key) *podgroups.Object {
	objects := g.objects[key.Kind]
	if objects == nil {
		return nil
	}
	return objects.get(types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
}

// gangs returns the gangs of the snapshot. It returns the same slice until a gang changes.
func (g *groups) gangs() []scheduling.Gang {
	if len(g.touched) == 0 && !g.composed {
		return g.made
	}
	for key := range g.touched {
		if part, ok := g.partOf(key); ok {
			g.list.set(part)
		} else {
			g.list.remove(key)
		}
	}
	clear(g.touched)
	g.composed = false
	g.made, _ = podgroups.Gangs(g.list.values(), g.object)
	return g.made
}

// partOf returns the group with its members, or false if the group has no members. If pods describe the group differently, the description
// of the first pod is used.
func (g *groups) partOf(key podgroups.Key) (podgroups.Part, bool) {
	var members []podgroups.Member
	var first types.NamespacedName
	for pod := range g.members[key] {
		if len(members) == 0 || compareKeys(pod, first) < 0 {
			first = pod
		}
		_, succeeded := g.succeeded[pod]
		members = append(members, podgroups.Member{
			PodKey: scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}, Task: g.taskOf(pod, key), Succeeded: succeeded,
		})
	}
	for i := range g.named[first] {
		if n := &g.named[first][i]; n.Group == key && len(members) > 0 {
			return n.Part(g.object(n.Object), members)
		}
	}
	return podgroups.Part{}, false
}

// taskOf returns the pod's task in the group.
func (g *groups) taskOf(pod types.NamespacedName, key podgroups.Key) string {
	for i := range g.named[pod] {
		if n := &g.named[pod][i]; n.Group == key {
			return n.Task
		}
	}
	return ""
}

func addTo(all map[podgroups.Key]map[types.NamespacedName]struct{}, key podgroups.Key, pod types.NamespacedName) {
	if key == (podgroups.Key{}) {
		return
	}
	if all[key] == nil {
		all[key] = make(map[types.NamespacedName]struct{})
	}
	all[key][pod] = struct{}{}
}

func dropFrom(all map[podgroups.Key]map[types.NamespacedName]struct{}, key podgroups.Key, pod types.NamespacedName) {
	delete(all[key], pod)
	if len(all[key]) == 0 {
		delete(all, key)
	}
}
