package cluster

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// displacedPod is a pod of a leaving node, and its pending copy.
type displacedPod struct {
	bound, waiting *corev1.Pod
}

// sameSpec compares two specs by their encoded form, like the API. A comparison by fields would miss unexported fields.
func sameSpec[T any](a, b *T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Snapshot returns a view of the present cluster. It never fails: objects that can't be part of it are in View.LeftOut. Synced reports
// whether it is complete.
func (s *State) Snapshot(q Query) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists.nodePools == nil { // s was not made by New: return an empty cluster
		return &View{Snapshot: &scheduling.Snapshot{Time: q.Time, Catalogs: q.Catalogs}}
	}
	s.refresh()
	l := &s.lists
	snapshot := &scheduling.Snapshot{
		Time: q.Time, Vocabulary: s.options.Vocabulary, Catalogs: q.Catalogs,
		NodeOverlays: l.nodeOverlays.sorted.values(), DefaultTopologySpread: s.options.DefaultTopologySpread,
		DaemonSets: l.daemonSets.sorted.values(), Namespaces: l.namespaces.sorted.values(),
		Services: l.services.sorted.values(), ReplicaSets: l.replicaSets.sorted.values(), StatefulSets: l.statefulSets.sorted.values(),
		ReplicationControllers: l.replicationControllers.sorted.values(), PodDisruptionBudgets: l.podDisruptionBudgets.sorted.values(),
		PersistentVolumeClaims: l.persistentVolumeClaims.sorted.values(), PersistentVolumes: l.persistentVolumes.sorted.values(),
		StorageClasses: l.storageClasses.sorted.values(), CSINodes: l.csiNodes.sorted.values(),
		VolumeAttachments: l.volumeAttachments.sorted.values(),
		ResourceClaims:    l.resourceClaims.sorted.values(), ResourceClaimTemplates: l.resourceClaimTemplates.sorted.values(),
		DeviceClasses: l.deviceClasses.sorted.values(), ResourceSlices: l.resourceSlices.sorted.values(),
		Gangs:                         s.groups.gangs(),
		UnsupportedVolumeTopologyKeys: s.options.UnsupportedVolumeTopologyKeys, UnsupportedVolumeDrivers: s.options.UnsupportedVolumeDrivers,
	}
	view := &View{Snapshot: snapshot}
	s.addPools(view, q)
	s.addNodes(snapshot, q)
	view.Nodes = s.stateList
	snapshot.Placeholders = s.placeholders(q.Placeholders)
	view.LeftOut = append(view.LeftOut, s.leftOut()...)
	slices.SortFunc(view.LeftOut, func(a, b LeftOut) int { return compareObjectKeys(a.Object, b.Object) })
	view.Unconfirmed = s.unconfirmed()
	view.Revision = s.revision
	return view
}

// addPools adds the valid pools to the view's snapshot, and the invalid pools to the view's list LeftOut.
func (s *State) addPools(view *View, q Query) {
	list := q.NodePools
	if list == nil {
		for _, pool := range s.lists.nodePools.sorted.values() {
			list = append(list, scheduling.NodePool{Key: pool.Key(), Object: pool})
		}
	}
	sound := list[:0:0]
	for i := range list {
		if err := scheduling.CheckNodePool(&list[i], s.lookup); err != nil {
			view.LeftOut = append(view.LeftOut, LeftOut{ObjectKey{KindNodePool, keyOf(list[i].Object)}, LeftOutInvalid, err.Error()})
			continue
		}
		pool := list[i]
		pool.Key = pool.Identity()
		sound = append(sound, pool)
	}
	view.Snapshot.NodePools = sound
}

// addNodes adds the nodes with their pods, and all pending pods.
func (s *State) addNodes(snapshot *scheduling.Snapshot, q Query) {
	if s.shown.dirty() || s.nodeList == nil {
		shown := s.shown.values()
		s.nodeList, s.stateList = make([]scheduling.Node, len(shown)), make([]NodeState, len(shown))
		for i, m := range shown {
			s.nodeList[i], s.stateList[i] = m.node, m.state
		}
	}
	snapshot.Nodes = s.nodeList
	snapshot.Pods = s.waiting.values()
	if len(s.leaving)+len(s.unlaunched) == 0 {
		return
	}
	snapshot.Nodes = slices.Clone(s.nodeList)
	s.addShapes(snapshot, q)
	s.displace(snapshot, q.Time)
}

// nodeOf returns the snapshot's node that has the given identity.
func (s *State) nodeOf(snapshot *scheduling.Snapshot, key nodeKey) *scheduling.Node {
	at, _ := slices.BinarySearchFunc(snapshot.Nodes, s.entries[key].shown.node.Name, func(n scheduling.Node, name string) int { return strings.Compare(n.Name, name) })
	return &snapshot.Nodes[at]
}

// displace removes the pods of leaving nodes that must move to other nodes, and adds pending copies of them.
func (s *State) displace(snapshot *scheduling.Snapshot, now time.Time) {
	var moved []*corev1.Pod
	copies := make(map[types.NamespacedName]displacedPod, len(s.displaced))
	for key := range s.leaving {
		n := s.nodeOf(snapshot, key)
		if len(n.Pods) == 0 {
			continue
		}
		staying, marker := make([]*corev1.Pod, 0, len(n.Pods)), v1.MarkerOf(n.Pool)
		for _, pod := range n.Pods {
			if !pods.ReschedulableNowFrom(marker, pod, s.disruptionBudgets(), now) {
				staying = append(staying, pod)
				continue
			}
			d := s.displaced[keyOf(pod)]
			if d.bound != pod {
				d = displacedPod{pod, pods.Unbound(pod)}
			}
			copies[keyOf(pod)] = d
			moved = append(moved, d.waiting)
		}
		n.Pods = staying
	}
	s.displaced = copies
	if len(moved) == 0 {
		return
	}
	all := newSortedList(s.waiting.keyOf, compareKeys)
	all.list = snapshot.Pods
	for _, pod := range moved {
		all.set(pod)
	}
	snapshot.Pods = all.values()
}

// disruptionBudgets returns the valid PodDisruptionBudgets.
func (s *State) disruptionBudgets() *pods.Budgets {
	if s.budgets == nil {
		// The list contains no invalid budgets, so NewBudgets returns no error.
		s.budgets, _ = pods.NewBudgets(s.lists.podDisruptionBudgets.sorted.values())
	}
	return s.budgets
}

// placeholders returns the placeholders in the list whose name no pod of the cluster has.
func (s *State) placeholders(list []*corev1.Pod) []*corev1.Pod {
	taken := func(pod *corev1.Pod) bool { return s.pods.has(keyOf(pod)) }
	if !slices.ContainsFunc(list, taken) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), taken)
}

// leftOut lists the objects that are not part of the view, except pools.
func (s *State) leftOut() []LeftOut {
	var out []LeftOut
	for key := range s.incomplete {
		out = append(out, s.entries[key].leftOut...)
	}
	for name := range s.keyless {
		out = append(out, LeftOut{Object: objectKey(KindNode, name), Code: LeftOutNoProviderID})
	}
	for node := range s.orphaned {
		for key := range s.onNode[node] {
			out = append(out, LeftOut{ObjectKey{KindPod, key}, LeftOutUnknownNode, node})
		}
	}
	for key, why := range s.faulty {
		out = append(out, LeftOut{key, LeftOutInvalid, why})
	}
	return out
}

func (s *State) unconfirmed() []ObjectKey {
	var out []ObjectKey
	for kind, store := range s.stores {
		for key := range store.assumed() {
			out = append(out, ObjectKey{kind, key})
		}
	}
	slices.SortFunc(out, compareObjectKeys)
	return out
}

// Usage returns, for each pool, the capacity of its nodes that have an instance and are not leaving, including their number as "nodes". It
// uses the capacity of each node's present phase. NodePools show the result as status.resources.
func (v *View) Usage() map[v1.PoolKey]corev1.ResourceList {
	out := make(map[v1.PoolKey]corev1.ResourceList)
	for i := range v.Nodes {
		m := &v.Nodes[i]
		if m.ProviderID == "" || m.Leaving || m.Pool.IsZero() {
			continue
		}
		sum := out[m.Pool]
		if sum == nil {
			sum = corev1.ResourceList{}
			out[m.Pool] = sum
		}
		for name, amount := range v.Snapshot.Nodes[i].Capacity() {
			total := sum[name]
			total.Add(amount)
			sum[name] = total
		}
	}
	return out
}
