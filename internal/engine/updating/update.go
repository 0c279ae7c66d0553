package updating

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Update returns a Model of a later snapshot: the same as Compile(s), at a cost that depends only on the changes. Unchanged objects are
// recognised by their pointers, and unchanged lists by their slices. Therefore callers must keep the same pointers for the same objects and
// the same slices for the same lists, as package cluster does. The model m stays valid.
//
// Update compiles all pods and nodes again, and records them, if m was compiled, or if Update was already called on m. It also compiles
// them again if there are changes other than these: pods that are added, removed, bound or changed, even if they are of new kinds with new
// node selectors, topology keys, host ports, tolerations or labels; their PersistentVolumeClaims, PersistentVolumes and Namespaces; nodes
// that are added, removed or changed; NodePools and DaemonSets whose status changed. Some of these changes also need compiling: the first
// pod with a new resource is added, or the last pod with a resource is removed; pods have limits on spot nodes; the run time of pods is
// known and reservations end; DaemonSets are added, removed or changed; a CSI driver has its first or loses its last volume; or pods of new
// namespaces appear while rules select namespaces by their labels. Some changes of devices also need compiling: changes of pods that claim
// devices or request a resource of a DeviceClass, changes of nodes that have devices or whose type publishes devices, and the end of the
// time in which a node's drivers must publish. In all cases, compiled catalogs, and catalogs after overlays, are shared if they have not
// changed.
//
// Models never change. Any number of Solve and Trial calls may run in parallel on m and on earlier models, with the same results as before.
func Update(m *model.Model, s *planning.Snapshot) (*model.Model, error) {
	if next := Updated(m, s); next != nil {
		return next, nil
	}
	c, err := model.CompileAgain(s, m)
	if err != nil {
		return nil, err
	}
	if c.Model.Spot == nil && c.Model.RunTimes == nil {
		keepMemo(c)
	}
	return c.Model, nil
}

// Updated returns the model of a snapshot that differs little from the snapshot of m, or nil if the snapshot must be compiled.
func Updated(m *model.Model, s *planning.Snapshot) *model.Model {
	k, _ := m.Kept.Take().(*memo)
	if k == nil || s == nil {
		return nil
	}
	s, err := model.WithGangPods(s)
	if err != nil || !sameWorld(m, s) {
		return nil
	}
	u := &update{
		was: m, memo: k, snapshot: s, scratch: make(map[corev1.ResourceName]struct{}),
		writer:  likeness.NewWriter(m.Resources, m.Volumes),
		touched: make(map[int32]bool),
	}
	if m.Devices != nil {
		u.writer.Pins, u.writer.Tolerated = m.Devices.Pins, m.Devices.Tolerations
	}
	next := *m
	u.next = &next
	next.Snapshot, next.Kept = s, nil
	if !u.findChanges() || !u.devicesStand() || !u.changePods() || !u.changeDaemons() || !changeGangs(u) || !u.settle() || !u.changeSamples() {
		return nil
	}
	if u.regrouped {
		u.changeStructure()
	}
	u.changeClasses()
	if next.Gangs != nil {
		next.Gangs.SetClasses(func(like int32) int32 { return k.kinds[like].Class }, next.PodClass)
	}
	u.changeNodes()
	next.Standings = next.Seller().Standings(next.Nodes)
	u.changePools()
	u.changeTopology()
	next.Kept = model.Keep(k)
	return &next
}

// sameWorld reports whether everything is unchanged except objects whose changes an Update handles: pods, nodes, namespaces, volumes,
// PodDisruptionBudgets, and the status of NodePools and DaemonSets.
func sameWorld(m *model.Model, s *planning.Snapshot) bool {
	was := m.Snapshot
	v, w := &was.Vocabulary, &s.Vocabulary
	if !slices.Equal(v.WellKnown, w.WellKnown) || !slices.Equal(v.RestrictedDomains, w.RestrictedDomains) ||
		!slices.Equal(v.RestrictedKeys, w.RestrictedKeys) || !maps.Equal(v.Aliases, w.Aliases) ||
		!maps.EqualFunc(v.ValueAliases, w.ValueAliases, maps.Equal[map[string]string, map[string]string]) {
		return false
	}
	spreads := len(was.DefaultTopologySpread)+len(s.DefaultTopologySpread) > 0
	return was.CostModel == s.CostModel && maps.EqualFunc(was.Catalogs, s.Catalogs, model.SameList) &&
		slices.EqualFunc(was.NodePools, s.NodePools, func(a, b planning.NodePool) bool {
			return a.Key == b.Key && a.Catalog == b.Catalog && a.NotReady == b.NotReady &&
				(a.Object == b.Object || a.Object != nil && b.Object != nil && sameGeneration(&a.Object.ObjectMeta, &b.Object.ObjectMeta))
		}) &&
		slices.EqualFunc(was.DaemonSets, s.DaemonSets, func(a, b *appsv1.DaemonSet) bool {
			return a == b || a != nil && b != nil && sameGeneration(&a.ObjectMeta, &b.ObjectMeta)
		}) &&
		slices.Equal(was.NodeOverlays, s.NodeOverlays) && slices.Equal(was.StorageClasses, s.StorageClasses) &&
		model.FirstNil(s.Namespaces) < 0 && model.FirstNil(s.PersistentVolumeClaims) < 0 && model.FirstNil(s.PersistentVolumes) < 0 &&
		slices.Equal(was.UnsupportedVolumeTopologyKeys, s.UnsupportedVolumeTopologyKeys) &&
		slices.Equal(was.UnsupportedVolumeDrivers, s.UnsupportedVolumeDrivers) &&
		(m.Resources.Len() == m.Resources.WithoutVolumes() || slices.Equal(was.CSINodes, s.CSINodes) && m.SameAttachments(s)) && model.FirstNil(s.CSINodes) < 0 && // read only for limits on volumes
		model.FirstNil(s.VolumeAttachments) < 0 && m.Devices.Stand(s) && model.SameDevices(was, s) &&
		model.FirstNil(s.PodDisruptionBudgets) < 0 && // Solve reads PodDisruptionBudgets from the snapshot
		(!spreads || model.SameList(was.DefaultTopologySpread, s.DefaultTopologySpread) && slices.Equal(was.Services, s.Services) &&
			slices.Equal(was.ReplicaSets, s.ReplicaSets) && slices.Equal(was.StatefulSets, s.StatefulSets) &&
			slices.Equal(was.ReplicationControllers, s.ReplicationControllers)) &&
		model.FirstNil(s.Services) < 0 && model.FirstNil(s.ReplicaSets) < 0 && model.FirstNil(s.StatefulSets) < 0 && model.FirstNil(s.ReplicationControllers) < 0
}

// sameGeneration reports whether two versions of one object have the same spec, by their UID and generation.
func sameGeneration(a, b *metav1.ObjectMeta) bool {
	return a.Generation > 0 && a.Generation == b.Generation && a.UID != "" && a.UID == b.UID && a.Name == b.Name && a.Namespace == b.Namespace
}

// update is the state of one call of Update, which makes the model next from the model was.
type update struct {
	was, next *model.Model
	memo      *memo
	snapshot  *planning.Snapshot
	writer    *likeness.Writer
	scratch   map[corev1.ResourceName]struct{}
	// changed are the snapshot's new or changed nodes, each with the index of its previous version in was.Nodes, or -1. gone has the
	// indexes in was.Nodes of the removed nodes.
	changed []changedNode
	gone    []int
	// kept is indexed like the snapshot's nodes. It has the index in was.Nodes of unchanged nodes, and -1 for other nodes.
	kept []int32
	// placed, indexed like changed, has the seats of the pods of each changed node. waiting has the seat of each pod of next.Pods. The kind
	// of a new pod is noKind until it is determined.
	placed  [][]seat
	waiting []seat
	// removed are the pods that were deleted, were moved or changed their kind, with their old kinds. added are the pods that are new or
	// have a new kind.
	removed, added []classedPod
	podsChanged    bool
	// swapped are the pods that represent a DaemonSet, or the variant of a gang member for a domain, in place of another pod. It is nil if
	// no such pod has changed.
	swapped []swappedSample
	// volumes means that volumes were read again. touched are the unchanged nodes that have pods whose kinds changed, as indexes in
	// was.Nodes.
	volumes bool
	touched map[int32]bool
	// regrouped means that kinds were added or removed: see changeStructure. merged are kinds that became equal to other kinds. resampled
	// are kinds whose class must be read from another pod.
	regrouped bool
	merged    []mergedKind
	resampled []int32
	// renumber has the new number of each class of the model was. It is nil if no number changes. shapeWas has, for each shape of the model
	// next, its index in was.Shapes, or -1.
	renumber, shapeWas []int32
	// sameNames means that the nodes of both models have the same names, in the same order.
	sameNames bool
	// room is a reserve of memory for lists of pods with new classes: see copied.
	room []existing.Pod
}

const noKind = -1

type swappedSample struct {
	kind     int32
	old, new *corev1.Pod
}

type classedPod struct {
	pod *corev1.Pod
	seat
}

// mergedKind is a class of the previous model whose pods now belong to the kind into.
type mergedKind struct{ class, into int32 }

// findChanges finds the nodes that have changed. It returns false if the snapshot must be compiled.
func (u *update) findChanges() bool {
	s, m := u.snapshot, u.was
	if model.SameList(s.Nodes, m.Snapshot.Nodes) {
		u.kept = u.memo.order
		return true
	}
	u.kept = make([]int32, len(s.Nodes))
	seen := make([]bool, len(m.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		was, known := u.indexOf(n.Name, i)
		if !known || seen[was] { // the node is new, or its name is repeated or empty, which Compile refuses
			if known || n.Name == "" || n.Object == nil && n.Claim == nil {
				return false
			}
			u.kept[i] = -1
			u.changed = append(u.changed, changedNode{i, -1})
			continue
		}
		seen[was] = true
		old := m.Nodes[was].Source
		if old.Object == n.Object && old.Claim == n.Claim && old.Pool == n.Pool && old.Leaving == n.Leaving && (model.SameList(old.Pods, n.Pods) || slices.Equal(old.Pods, n.Pods)) {
			u.kept[i] = int32(was)
			continue
		}
		if n.Object == nil && n.Claim == nil {
			return false
		}
		u.kept[i] = -1
		u.changed = append(u.changed, changedNode{i, was})
	}
	for was := range seen {
		if !seen[was] {
			u.gone = append(u.gone, was)
		}
	}
	for _, c := range u.changed {
		if model.CheckNode(&s.Nodes[c.at]) != nil {
			return false
		}
	}
	return uniqueNames(s.Nodes, u.changed)
}

// indexOf returns the index in was.Nodes of the snapshot's node i. It first tries the index that node i had in the previous snapshot,
// because it is usually the same.
func (u *update) indexOf(name string, i int) (was int, known bool) {
	if order := u.memo.order; i < len(order) && u.was.Nodes[order[i]].Name == name {
		return int(order[i]), true
	}
	was, known = u.was.NodeIndex[name]
	return was, known
}
