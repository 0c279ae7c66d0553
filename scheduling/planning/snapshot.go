package planning

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Snapshot is everything a plan is made from, as plain data: saved as YAML it reproduces the decision. A planner
// reads it and nothing else: no clock, no API server, no provider. Its maker must not change it, or any
// object it points to, afterwards.
type Snapshot struct {
	// Time is "now" for every decision made from this snapshot. Placing pods needs none: zero will do.
	Time time.Time `json:"time"`
	// Vocabulary says which label keys are well known, restricted or aliases: the provider's, or
	// requirements.CoreVocabulary() where there is none. The zero value stands for requirements.CoreVocabulary(). It belongs
	// to Catalogs: of a label that instance types state and the vocabulary does not know, pods can't select absent values.
	Vocabulary requirements.Vocabulary `json:"vocabulary,omitzero"`
	// Catalogs are the lists of instance types, by name. Pools that may launch the same types name the same catalog, so
	// that it is held, saved and compiled once.
	Catalogs map[string][]*cloudprovider.InstanceType `json:"catalogs,omitempty"`
	// NodePools that may launch nodes or own some. Keys are unique. Order carries no meaning.
	NodePools []NodePool `json:"nodePools,omitempty"`
	// NodeOverlays change prices and capacities of instance types.
	NodeOverlays []*v1.NodeOverlay `json:"nodeOverlays,omitempty"`
	// CostModel says what nodes cost where that is not their list price. Nil is list price alone.
	CostModel *CostModel `json:"costModel,omitempty"`
	// Nodes are what the cluster has or is about to have, with the pods bound to them. Names are unique.
	Nodes []Node `json:"nodes,omitempty"`
	// Pods are waiting for a place. They have no spec.nodeName. namespace/name is unique over all pods, bound ones
	// included. Each is planned for, whatever its status: of a live cluster's list those that Provisionable in package
	// scheduling/pods reports, which are not gated, with those that Nominated reports, and leave out what another scheduler places. Pods with
	// status.nominatedNodeName are placed on that node before all others, and hold its room against pods of equal and
	// lower priority.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Placeholders are the pods of capacity buffers: room to keep free. They are placed after all real pods, and never
	// in their stead.
	Placeholders []*corev1.Pod `json:"placeholders,omitempty"`
	// Gangs are pods that are placed together or not at all. Their members that wait are in Pods, too.
	Gangs []Gang `json:"gangs,omitempty"`
	// DefaultTopologySpread are the cluster's default spread constraints: for pods that have none of their own, with
	// the selector deduced from their Services and controller. See ValidateDefaultTopologySpread.
	DefaultTopologySpread []corev1.TopologySpreadConstraint `json:"defaultTopologySpread,omitempty"`
	// DaemonSets whose pods each new node will have to carry.
	DaemonSets []*appsv1.DaemonSet `json:"daemonSets,omitempty"`

	// Namespaces, for the namespaceSelectors of pod (anti-)affinity. A namespace that pods are in and that is not listed
	// has no labels but its name's.
	Namespaces []*corev1.Namespace `json:"namespaces,omitempty"`
	// Services, ReplicaSets, StatefulSets and ReplicationControllers, for the selectors of DefaultTopologySpread: those that
	// select or control a pod without constraints of its own. Without defaults they are not read.
	Services               []*corev1.Service               `json:"services,omitempty"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets,omitempty"`
	ReplicationControllers []*corev1.ReplicationController `json:"replicationControllers,omitempty"`
	// PodDisruptionBudgets say which pods may be evicted. Planners that decide which nodes to empty read them; placing pods does only to
	// find which pods others preempt.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`
	// PersistentVolumeClaims, PersistentVolumes and StorageClasses tell where the volumes of pods are or can be made. A pod
	// that names one that is missing is refused with the reason.
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	// CSINodes tell, by the Node's name, how many volumes of each CSI driver a node can attach. A driver that
	// it does not list has no limit. A node without one has none at all or, while it is coming up, those of its instance
	// type.
	CSINodes []*storagev1.CSINode `json:"csiNodes,omitempty"`
	// VolumeAttachments tell which volumes are attached to which node. One that no pod of the node uses still takes one of
	// the places for volumes of its driver there, until it is detached.
	VolumeAttachments []*storagev1.VolumeAttachment `json:"volumeAttachments,omitempty"`

	// ResourceClaims, ResourceClaimTemplates, DeviceClasses and ResourceSlices tell which devices pods ask for through Dynamic
	// Resource Allocation, which ones nodes publish, and which are allocated. A pod that names one of the first three that is missing
	// is refused with the reason.
	ResourceClaims         []*resourcev1.ResourceClaim         `json:"resourceClaims,omitempty"`
	ResourceClaimTemplates []*resourcev1.ResourceClaimTemplate `json:"resourceClaimTemplates,omitempty"`
	DeviceClasses          []*resourcev1.DeviceClass           `json:"deviceClasses,omitempty"`
	ResourceSlices         []*resourcev1.ResourceSlice         `json:"resourceSlices,omitempty"`

	// UnsupportedVolumeTopologyKeys and UnsupportedVolumeDrivers are what the provider's nodes can't do for volumes:
	// label keys in a StorageClass's allowed topologies that no node of theirs meets, and CSI drivers whose volumes
	// none can attach. Pods that need them are refused with a reason.
	UnsupportedVolumeTopologyKeys []string `json:"unsupportedVolumeTopologyKeys,omitempty"`
	UnsupportedVolumeDrivers      []string `json:"unsupportedVolumeDrivers,omitempty"`

	// Assumptions are sentences for people: what the maker of the snapshot took for granted, such as the region that prices are of.
	// Planning does not read them; who plans from a saved snapshot can say them again.
	Assumptions []string `json:"assumptions,omitempty"`
}

// NodePool is a pool of the API with what planning needs in addition to it.
type NodePool struct {
	// Key is the pool's identity. A zero Key stands for {GenerationV1, Object.Name}: read it by Identity.
	Key v1.PoolKey `json:"key"`
	// Object is the pool in its v1 form, whatever generation it was born in.
	Object *v1.NodePool `json:"object"`
	// Catalog names the entry of Snapshot.Catalogs with the instance types the pool may launch. Empty: none, the
	// pool only owns nodes.
	Catalog string `json:"catalog,omitempty"`
	// NotReady says why the pool must not launch nodes now ("NodeClass not found"); empty means it may.
	NotReady string `json:"notReady,omitempty"`
}

// Identity is the pool's key in full, as plans name it: Key, with what it leaves out filled in. It is zero where Key is
// and Object is nil.
func (p *NodePool) Identity() v1.PoolKey {
	key := p.Key
	if key.IsZero() {
		if p.Object == nil {
			return key
		}
		return v1.NewPoolKey(p.Object.Name)
	}
	if key.Generation == "" {
		key.Generation = v1.GenerationV1
	}
	return key
}
