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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Options configure a State. The zero value is for a provider without its own vocabulary.
type Options struct {
	// Vocabulary is the provider's vocabulary of label keys; the zero value means requirements.CoreVocabulary().
	Vocabulary requirements.Vocabulary
	// DefaultTopologySpread, UnsupportedVolumeTopologyKeys and UnsupportedVolumeDrivers are passed on to snapshots: see
	// scheduling.Snapshot.
	DefaultTopologySpread         []corev1.TopologySpreadConstraint
	UnsupportedVolumeTopologyKeys []string
	UnsupportedVolumeDrivers      []string
	// Kinds that must be known before State counts as synced. nil means all kinds except NodeOverlays. If DefaultTopologySpread is empty,
	// the kinds for default topology spread are not waited for either.
	Kinds []Kind
	// InferGangs also makes gangs of the pods of a LeaderWorkerSet or a JobSet, by their labels, as manifests.Options.InferGangs does.
	InferGangs bool
	// VolcanoTiers are the node labels of Volcano's network tiers, as in manifests.Options. With nil, network topologies of PodGroups are
	// not read.
	VolcanoTiers map[string]string
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
	// stores are the stores of all kinds, by kind.
	stores map[Kind]anyStore
	gone   tombstones

	// entries are the nodes by identity: see nodeKey. touched are the keys of the entries that must be recomputed.
	entries map[nodeKey]*entry
	touched map[nodeKey]struct{}
	// onNode lists the pods that use resources of a node, by the name of the Node to which they are bound. State need not know this Node.
	onNode map[string]map[types.NamespacedName]*corev1.Pod
	// orphaned are the Node names in onNode whose pods are on no node of the cluster.
	orphaned map[string]struct{}
	// nodeFacts and claimFacts have the facts that State knows about Nodes and NodeClaims in addition to the objects. An entry is deleted
	// together with its object.
	nodeFacts, claimFacts map[string]facts
	// waiting are the pending pods. shown are the nodes in the form that views contain, by name.
	waiting *sortedList[types.NamespacedName, *corev1.Pod]
	shown   *sortedList[string, *shownNode]
	// leaving are the shown nodes that are leaving. unlaunched are the shown nodes whose claims state no capacity yet. incomplete are the
	// entries with objects that are left out of views.
	leaving, unlaunched, incomplete map[nodeKey]struct{}
	// keyless are Nodes that are left out because they have no provider ID.
	keyless map[string]struct{}
	// displaced are the pods of leaving nodes, with their pending copies.
	displaced map[types.NamespacedName]displacedPod
	budgets   *pods.Budgets
	// groups contains the groups of pods that are placed together.
	groups *groups
	// faulty are objects that would make a whole snapshot invalid, with the reason.
	faulty   map[ObjectKey]string
	shapes   shapeCache
	overlaid *overlay.Result
	barrier  barrier
	revision uint64

	nodeList  []scheduling.Node
	stateList []NodeState
}

// lists are the objects that snapshots contain unchanged.
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

// New returns an empty State. The error names a default spread constraint that kube-scheduler would not accept, or a kind that State does
// not keep.
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
		entries: make(map[nodeKey]*entry), touched: make(map[nodeKey]struct{}),
		onNode: make(map[string]map[types.NamespacedName]*corev1.Pod), orphaned: make(map[string]struct{}),
		nodeFacts: make(map[string]facts), claimFacts: make(map[string]facts),
		waiting: newSortedList(func(p *corev1.Pod) types.NamespacedName { return keyOf(p) }, compareKeys),
		shown:   newSortedList(func(m *shownNode) string { return m.node.Name }, compareNames),
		leaving: make(map[nodeKey]struct{}), unlaunched: make(map[nodeKey]struct{}), incomplete: make(map[nodeKey]struct{}),
		keyless:   make(map[string]struct{}),
		displaced: make(map[types.NamespacedName]displacedPod), faulty: make(map[ObjectKey]string),
		groups: newGroups(o.InferGangs, o.VolcanoTiers),
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

// Apply applies events, all of them before the next snapshot or none. The error is an *EventError for an event that no watch could produce:
// its object is nil, has no name, or has a kind that State does not keep. The call then changes nothing.
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

// NodePools returns all known pools, by name, for provisioning.ResolvePools. The list is shared and must not be changed.
func (s *State) NodePools() []*v1.NodePool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists.nodePools.sorted.values()
}

// NodeOverlays returns all known overlays, by name. The list is shared and must not be changed.
func (s *State) NodeOverlays() []*v1.NodeOverlay {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists.nodeOverlays.sorted.values()
}

// Node returns the present state of the node whose Node or NodeClaim has the given name, or nil if no node has it. A claim's name also
// finds its node after the Node has joined; the name of a v1alpha5 Machine is its v1.QualifiedName.
func (s *State) Node(name string) *NodeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if m := s.entryNamed(name); m != nil && m.shown != nil {
		out := m.shown.state
		return &out
	}
	return nil
}

// Nominate protects a node from disruption until the given time, because pods were planned for it. A nomination that lasts longer stays
// unchanged. It reports whether the node exists; see Node for names.
func (s *State) Nominate(name string, until time.Time) bool {
	return s.note(name, func(f *facts) {
		if until.After(f.nominatedUntil) {
			f.nominatedUntil = until
		}
	})
}

// NominateNew protects a node that was launched for pods from disruption until these pods can have been bound to it: for the given window
// after the initialisation of its NodeClaim, even if that is late. Before initialisation, consolidation does not touch the node anyway. A
// longer window stays unchanged. It reports whether a NodeClaim of that name exists; see Node for names.
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

// Mark marks a node for deletion: it no longer counts as capacity, and its pods are planned again. The mark is deleted with the node. It
// reports whether the node exists; see Node for names.
func (s *State) Mark(name string) bool {
	return s.note(name, func(f *facts) { f.marked = true })
}

// Unmark removes the mark, after the command that would have removed the node was given up. It reports whether the node exists.
func (s *State) Unmark(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.entryNamed(name)
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
	m := s.entryNamed(name)
	if m == nil {
		return false
	}
	all, on := s.nodeFacts, ""
	node, claim := m.speakers(s)
	if claim != nil { // the facts are kept for the claim, because it is created before its Node and deleted after its Node
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

// defaultKinds returns the kinds that planning needs.
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
