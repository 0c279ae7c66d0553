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

// displacedPod is a pod of a leaving machine, and its copy that waits for a place.
type displacedPod struct {
	bound, waiting *corev1.Pod
}

// sameSpec compares as the API does, by what is written: specs have fields that no comparison by fields sees into.
func sameSpec[T any](a, b *T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Snapshot is the cluster as it is now. It never fails: what can't be part of it is in View.LeftOut. Whether it is
// complete is for Synced to say.
func (s *State) Snapshot(q Query) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists.nodePools == nil { // not made by New: a cluster without anything
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
	s.addMachines(snapshot, q)
	view.Machines = s.machineList
	snapshot.Placeholders = s.placeholders(q.Placeholders)
	view.LeftOut = append(view.LeftOut, s.leftOut()...)
	slices.SortFunc(view.LeftOut, func(a, b LeftOut) int { return compareObjectKeys(a.Object, b.Object) })
	view.Unconfirmed = s.unconfirmed()
	view.Revision = s.revision
	return view
}

// addPools adds the pools that can be planned with.
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

// addMachines adds the machines with their pods, and all pods that wait.
func (s *State) addMachines(snapshot *scheduling.Snapshot, q Query) {
	if s.shown.dirty() || s.nodeList == nil {
		shown := s.shown.values()
		s.nodeList, s.machineList = make([]scheduling.Node, len(shown)), make([]Machine, len(shown))
		for i, m := range shown {
			s.nodeList[i], s.machineList[i] = m.node, m.machine
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

// nodeOf is the machine in the snapshot.
func (s *State) nodeOf(snapshot *scheduling.Snapshot, key machineKey) *scheduling.Node {
	at, _ := slices.BinarySearchFunc(snapshot.Nodes, s.machines[key].shown.node.Name, func(n scheduling.Node, name string) int { return strings.Compare(n.Name, name) })
	return &snapshot.Nodes[at]
}

// displace takes the pods that need a new place off the machines that are leaving.
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

// disruptionBudgets are those that can be read.
func (s *State) disruptionBudgets() *pods.Budgets {
	if s.budgets == nil {
		// Budgets that can't be read are not in the list.
		s.budgets, _ = pods.NewBudgets(s.lists.podDisruptionBudgets.sorted.values())
	}
	return s.budgets
}

// placeholders are those whose name no pod bears.
func (s *State) placeholders(list []*corev1.Pod) []*corev1.Pod {
	taken := func(pod *corev1.Pod) bool { return s.pods.has(keyOf(pod)) }
	if !slices.ContainsFunc(list, taken) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), taken)
}

// leftOut lists what plays no part, pools aside.
func (s *State) leftOut() []LeftOut {
	var out []LeftOut
	for key := range s.incomplete {
		out = append(out, s.machines[key].leftOut...)
	}
	for name := range s.keyless {
		out = append(out, LeftOut{Object: objectKey(KindNode, name), Code: LeftOutNoProviderID})
	}
	for node := range s.strays {
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

// Usage is what the machines of each pool have that are there and are to stay: those with an instance that are not leaving,
// in the capacity of their present phase, "nodes" among it. It is what NodePools state as status.resources.
func (v *View) Usage() map[v1.PoolKey]corev1.ResourceList {
	out := make(map[v1.PoolKey]corev1.ResourceList)
	for i := range v.Machines {
		m := &v.Machines[i]
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
