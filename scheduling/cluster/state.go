package cluster

import (
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Options configure a State. The zero value is a cluster of a provider without a vocabulary of its own.
type Options struct {
	// Vocabulary is the provider's; the zero value stands for requirements.CoreVocabulary().
	Vocabulary requirements.Vocabulary
	// DefaultTopologySpread, UnsupportedVolumeTopologyKeys and UnsupportedVolumeDrivers are handed on to snapshots: see
	// scheduling.Snapshot.
	DefaultTopologySpread         []corev1.TopologySpreadConstraint
	UnsupportedVolumeTopologyKeys []string
	UnsupportedVolumeDrivers      []string
	// Kinds that have to be known before State counts as synced. Nil: all, those for default topology spread only if
	// there is any, and NodeOverlays not.
	Kinds []Kind
	// InferGangs also makes gangs of the pods of a LeaderWorkerSet or a JobSet, by their labels, as manifests.Options.InferGangs does.
	InferGangs bool
}

// State is a live view of a cluster. It is safe for concurrent use; make it with New.
type State struct {
	mu      sync.Mutex
	options Options
	lookup  *requirements.Lookup

	pods   *store[*corev1.Pod]
	nodes  *store[*corev1.Node]
	claims *store[*v1.NodeClaim]
	lists  lists
	// stores are all of them, by kind.
	stores map[Kind]anyStore
	gone   graves

	// machines by identity, see machineKey; touched are those to be looked at again.
	machines map[machineKey]*machine
	touched  map[machineKey]struct{}
	// onNode are the pods that hold a place, by the Node they are bound to, known or not.
	onNode map[string]map[types.NamespacedName]*corev1.Pod
	// strays are those names in onNode whose pods are on no machine.
	strays map[string]struct{}
	// facts are what is known of Nodes and NodeClaims in addition to the objects; they go when their object goes.
	nodeFacts, claimFacts map[string]facts
	// waiting are the pods without a place; shown the machines, by name.
	waiting *sortedList[types.NamespacedName, *corev1.Pod]
	shown   *sortedList[string, *shownMachine]
	// leaving, unlaunched and incomplete are the machines that views treat otherwise than as they are in shown.
	leaving, unlaunched, incomplete map[machineKey]struct{}
	// keyless are Nodes that are left out because they have no provider ID.
	keyless map[string]struct{}
	// displaced are copies of pods of leaving machines.
	displaced map[types.NamespacedName]displacedPod
	budgets   *pods.Budgets
	// groups are the pods that are placed together.
	groups *groups
	// faulty are objects that would spoil a whole snapshot, with the reason.
	faulty   map[ObjectKey]string
	shapes   shapeCache
	overlaid *overlay.Result
	barrier  barrier
	revision uint64

	nodeList    []scheduling.Node
	machineList []Machine
}

// lists are the objects that go into snapshots as they are.
type lists struct {
	nodePools              *objectList[*v1.NodePool]
	nodeOverlays           *objectList[*v1.NodeOverlay]
	daemonSets             *objectList[*appsv1.DaemonSet]
	persistentVolumes      *objectList[*corev1.PersistentVolume]
	persistentVolumeClaims *objectList[*corev1.PersistentVolumeClaim]
	storageClasses         *objectList[*storagev1.StorageClass]
	csiNodes               *objectList[*storagev1.CSINode]
	volumeAttachments      *objectList[*storagev1.VolumeAttachment]
	resourceClaims         *objectList[*resourcev1.ResourceClaim]
	resourceClaimTemplates *objectList[*resourcev1.ResourceClaimTemplate]
	deviceClasses          *objectList[*resourcev1.DeviceClass]
	resourceSlices         *objectList[*resourcev1.ResourceSlice]
	namespaces             *objectList[*corev1.Namespace]
	podDisruptionBudgets   *objectList[*policyv1.PodDisruptionBudget]
	services               *objectList[*corev1.Service]
	replicaSets            *objectList[*appsv1.ReplicaSet]
	statefulSets           *objectList[*appsv1.StatefulSet]
	replicationControllers *objectList[*corev1.ReplicationController]
}

// New makes an empty State. The error says which of the default spread constraints kube-scheduler would not take, or
// which kind State does not keep.
func New(o Options) (*State, error) {
	if errs := scheduling.ValidateDefaultTopologySpread(o.DefaultTopologySpread, field.NewPath("defaultTopologySpread")); len(errs) > 0 {
		return nil, fmt.Errorf("cluster options: %w", errs.ToAggregate())
	}
	vocabulary := o.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	s := &State{
		options: o, lookup: vocabulary.Compile(),
		pods: newStore[*corev1.Pod](), nodes: newStore[*corev1.Node](), claims: newStore[*v1.NodeClaim](),
		lists: lists{
			nodePools: newObjectList[*v1.NodePool](), nodeOverlays: newObjectList[*v1.NodeOverlay](),
			daemonSets:             newObjectList[*appsv1.DaemonSet](),
			persistentVolumes:      newObjectList[*corev1.PersistentVolume](),
			persistentVolumeClaims: newObjectList[*corev1.PersistentVolumeClaim](),
			storageClasses:         newObjectList[*storagev1.StorageClass](), csiNodes: newObjectList[*storagev1.CSINode](),
			volumeAttachments: newObjectList[*storagev1.VolumeAttachment](),
			resourceClaims:    newObjectList[*resourcev1.ResourceClaim](), resourceClaimTemplates: newObjectList[*resourcev1.ResourceClaimTemplate](),
			deviceClasses: newObjectList[*resourcev1.DeviceClass](), resourceSlices: newObjectList[*resourcev1.ResourceSlice](),
			namespaces: newObjectList[*corev1.Namespace](), podDisruptionBudgets: newObjectList[*policyv1.PodDisruptionBudget](),
			services: newObjectList[*corev1.Service](), replicaSets: newObjectList[*appsv1.ReplicaSet](),
			statefulSets: newObjectList[*appsv1.StatefulSet](), replicationControllers: newObjectList[*corev1.ReplicationController](),
		},
		machines: make(map[machineKey]*machine), touched: make(map[machineKey]struct{}),
		onNode: make(map[string]map[types.NamespacedName]*corev1.Pod), strays: make(map[string]struct{}),
		nodeFacts: make(map[string]facts), claimFacts: make(map[string]facts),
		waiting: newSortedList(func(p *corev1.Pod) types.NamespacedName { return keyOf(p) }, compareKeys),
		shown:   newSortedList(func(m *shownMachine) string { return m.node.Name }, compareNames),
		leaving: make(map[machineKey]struct{}), unlaunched: make(map[machineKey]struct{}), incomplete: make(map[machineKey]struct{}),
		keyless:   make(map[string]struct{}),
		displaced: make(map[types.NamespacedName]displacedPod), faulty: make(map[ObjectKey]string),
		groups: newGroups(o.InferGangs),
	}
	s.stores = map[Kind]anyStore{
		KindPod: s.pods, KindNode: s.nodes, KindNodeClaim: s.claims, KindNodePool: s.lists.nodePools.store,
		KindNodeOverlay: s.lists.nodeOverlays.store, KindDaemonSet: s.lists.daemonSets.store,
		KindPersistentVolume: s.lists.persistentVolumes.store, KindPersistentVolumeClaim: s.lists.persistentVolumeClaims.store,
		KindStorageClass: s.lists.storageClasses.store, KindCSINode: s.lists.csiNodes.store, KindVolumeAttachment: s.lists.volumeAttachments.store,
		KindResourceClaim: s.lists.resourceClaims.store, KindResourceClaimTemplate: s.lists.resourceClaimTemplates.store,
		KindDeviceClass: s.lists.deviceClasses.store, KindResourceSlice: s.lists.resourceSlices.store, KindNamespace: s.lists.namespaces.store,
		KindPodDisruptionBudget: s.lists.podDisruptionBudgets.store, KindService: s.lists.services.store,
		KindReplicaSet: s.lists.replicaSets.store, KindStatefulSet: s.lists.statefulSets.store,
		KindReplicationController: s.lists.replicationControllers.store,
	}
	for name, of := range groupKinds() {
		s.stores[name] = s.groups.objects[of]
	}
	var err error
	s.barrier, err = newBarrier(o)
	return s, err
}

// Apply takes in events, all of them before the next snapshot or none. The error is an *EventError for an event that
// no watch could bring: a nil object, one without a name, or one of a kind that State does not keep; the call then
// changes nothing.
func (s *State) Apply(events ...Event) error {
	for i, e := range events {
		if err := e.check(i); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events {
		s.apply(&events[i])
	}
	return nil
}

func (s *State) apply(e *Event) {
	switch object := e.Object.(type) {
	case *corev1.Pod:
		s.applyPod(object, e)
	case *corev1.Node:
		s.applyNode(object, e)
	case *v1.NodeClaim:
		s.applyClaim(object, e)
	case *v1.NodePool:
		s.applyPool(object, e)
	case *v1.NodeOverlay:
		s.applyOverlay(object, e)
	case *appsv1.DaemonSet:
		applyTo(s, s.lists.daemonSets, object, e)
	case *corev1.PersistentVolume:
		applyTo(s, s.lists.persistentVolumes, object, e)
	case *corev1.PersistentVolumeClaim:
		applyTo(s, s.lists.persistentVolumeClaims, object, e)
	case *storagev1.StorageClass:
		applyTo(s, s.lists.storageClasses, object, e)
	case *storagev1.CSINode:
		applyTo(s, s.lists.csiNodes, object, e)
	case *storagev1.VolumeAttachment:
		applyTo(s, s.lists.volumeAttachments, object, e)
	case *resourcev1.ResourceClaim:
		applyTo(s, s.lists.resourceClaims, object, e)
	case *resourcev1.ResourceClaimTemplate:
		applyTo(s, s.lists.resourceClaimTemplates, object, e)
	case *resourcev1.DeviceClass:
		applyTo(s, s.lists.deviceClasses, object, e)
	case *resourcev1.ResourceSlice:
		applyTo(s, s.lists.resourceSlices, object, e)
	case *corev1.Namespace:
		applyTo(s, s.lists.namespaces, object, e)
	case *policyv1.PodDisruptionBudget:
		s.applyBudget(object, e)
	case *corev1.Service:
		applyTo(s, s.lists.services, object, e)
	case *appsv1.ReplicaSet:
		applyTo(s, s.lists.replicaSets, object, e)
	case *appsv1.StatefulSet:
		applyTo(s, s.lists.statefulSets, object, e)
	case *corev1.ReplicationController:
		applyTo(s, s.lists.replicationControllers, object, e)
	case *unstructured.Unstructured:
		s.applyGroup(object, e)
	}
	s.barrier.see(ObjectKey{KindOf(e.Object), keyOf(e.Object)}, e.Deleted)
}

// NodePools are all that are known, by name: what provisioning.ResolvePools asks for. The list is shared and must not
// be changed.
func (s *State) NodePools() []*v1.NodePool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists.nodePools.sorted.values()
}

// NodeOverlays are all that are known, by name. The list is shared and must not be changed.
func (s *State) NodeOverlays() []*v1.NodeOverlay {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists.nodeOverlays.sorted.values()
}

// Machine is the machine of that name, its Node's or its NodeClaim's, as it is now; nil if there is none. A claim's name finds
// its machine also once the Node has joined; that of one of the first generation is its v1.QualifiedName.
func (s *State) Machine(name string) *Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if m := s.machineNamed(name); m != nil && m.shown != nil {
		out := m.shown.machine
		return &out
	}
	return nil
}

// Nominate keeps a machine from being disrupted until the given time, since pods were planned for it. A nomination
// that lasts longer stays. It reports whether there is such a machine; the name is as for Machine.
func (s *State) Nominate(name string, until time.Time) bool {
	return s.note(name, func(f *facts) {
		if until.After(f.nominatedUntil) {
			f.nominatedUntil = until
		}
	})
}

// NominateNew keeps a machine that was ordered for pods from being disrupted until they can have been bound to it: for the
// window given from its NodeClaim's initialisation on, however long that takes to come; before it, consolidation leaves it
// alone anyway. A longer window stays. It reports whether there is a NodeClaim of that name,
// which is as for Machine.
func (s *State) NominateNew(claim string, window time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ordered := s.claims.get(claimKey(claim))
	if ordered == nil {
		return false
	}
	f := s.claimFacts[claim]
	f.nominatedFor = max(f.nominatedFor, window)
	s.claimFacts[claim] = f
	s.touch(keyOfClaim(ordered))
	return true
}

// Mark marks a machine for deletion: it is no capacity any more and its pods are planned again. The mark goes with the
// machine. It reports whether there is such a machine; the name is as for Machine.
func (s *State) Mark(name string) bool {
	return s.note(name, func(f *facts) { f.marked = true })
}

// Unmark takes the mark back, when the command that wanted the machine gone has been given up. It reports whether there is
// such a machine.
func (s *State) Unmark(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machineNamed(name)
	if m == nil {
		return false
	}
	unmark := func(all map[string]facts, name string) {
		if f, ok := all[name]; ok {
			f.marked = false
			all[name] = f
		}
	}
	for claim := range m.claims {
		unmark(s.claimFacts, claim)
	}
	for node := range m.nodes {
		unmark(s.nodeFacts, node)
	}
	s.touch(m.key)
	return true
}

func (s *State) note(name string, change func(*facts)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machineNamed(name)
	if m == nil {
		return false
	}
	all, on := s.nodeFacts, ""
	node, claim := m.speakers(s)
	if claim != nil { // the claim is there first and goes last
		all, on = s.claimFacts, v1.QualifiedName(claim)
	} else {
		on = node.Name
	}
	f := all[on]
	change(&f)
	all[on] = f
	s.touch(m.key)
	return true
}

// objectList is a kind that goes into snapshots as it is.
type objectList[T metav1.Object] struct {
	store  *store[T]
	sorted *sortedList[types.NamespacedName, T]
}

func newObjectList[T metav1.Object]() *objectList[T] {
	return &objectList[T]{newStore[T](), newSortedList(func(object T) types.NamespacedName { return keyOf(object) }, compareKeys)}
}

// applyTo returns the object before the event, and whether anything changed.
func applyTo[T metav1.Object](s *State, l *objectList[T], object T, e *Event) (old T, known, news bool) {
	if e.Deleted {
		old, news = l.store.remove(object, &s.gone)
		if news {
			l.sorted.remove(keyOf(object))
		}
		return old, news, news
	}
	old, known, news = l.store.put(object, e.Assumed, &s.gone)
	if news {
		l.sorted.set(object)
	}
	return old, known, news
}

// applyPool also moves the revision when the spec changes.
func (s *State) applyPool(pool *v1.NodePool, e *Event) {
	old, known, news := applyTo(s, s.lists.nodePools, pool, e)
	if news && (e.Deleted || !known || !sameSpec(&old.Spec, &pool.Spec)) {
		s.revision++
	}
}

// applyOverlay also removes overlays that planning can't compute with.
func (s *State) applyOverlay(o *v1.NodeOverlay, e *Event) {
	old, known, news := applyTo(s, s.lists.nodeOverlays, o, e)
	if !news {
		return
	}
	if e.Deleted || !known || !sameSpec(&old.Spec, &o.Spec) {
		s.revision++
	}
	judge(s, s.lists.nodeOverlays, o, e, scheduling.CheckNodeOverlay)
}

// applyBudget also sorts out budgets that can't be read: they would spoil the others.
func (s *State) applyBudget(budget *policyv1.PodDisruptionBudget, e *Event) {
	l := s.lists.podDisruptionBudgets
	if _, _, news := applyTo(s, l, budget, e); !news {
		return
	}
	s.budgets = nil
	judge(s, l, budget, e, func(b *policyv1.PodDisruptionBudget) error {
		_, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{b})
		return err
	})
}

// judge keeps an object out of snapshots if it would spoil them.
func judge[T metav1.Object](s *State, l *objectList[T], object T, e *Event, check func(T) error) {
	key := ObjectKey{KindOf(object), keyOf(object)}
	delete(s.faulty, key)
	if e.Deleted {
		return
	}
	if err := check(object); err != nil {
		s.faulty[key] = err.Error()
		l.sorted.remove(key.NamespacedName)
	}
}

// defaultKinds are those that are needed before planning makes sense.
func defaultKinds(o Options) []Kind {
	kinds := []Kind{
		KindPod, KindNode, KindNodeClaim, KindNodePool, KindDaemonSet, KindPersistentVolume, KindPersistentVolumeClaim,
		KindStorageClass, KindCSINode, KindNamespace, KindPodDisruptionBudget,
	}
	if len(o.DefaultTopologySpread) > 0 {
		kinds = append(kinds, KindService, KindReplicaSet, KindStatefulSet, KindReplicationController)
	}
	return kinds
}
