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

// Snapshot is everything that a plan depends on, as plain data. A snapshot saved as YAML reproduces the plan. A planner reads nothing
// else: no clock, no API server, no provider. Do not change it, or any object it points to, after you have passed it to a planner.
type Snapshot struct {
	// Time is "now" for every decision made from this snapshot. Placing pods does not need it, so it may be zero.
	Time time.Time `json:"time"`
	// Vocabulary says which label keys are well known, restricted or aliases. Use the provider's vocabulary, or
	// requirements.CoreVocabulary() without a provider. The zero value means requirements.CoreVocabulary(). It must match Catalogs: if
	// instance types state a label that the vocabulary does not know, pods can't require that the label is absent.
	Vocabulary requirements.Vocabulary `json:"vocabulary,omitzero"`
	// Catalogs are the lists of instance types, by name. Pools with the same instance types name the same catalog, so that it is stored and
	// compiled once.
	Catalogs map[string][]*cloudprovider.InstanceType `json:"catalogs,omitempty"`
	// NodePools that may launch nodes or own some. Keys are unique. Their order does not matter.
	NodePools []NodePool `json:"nodePools,omitempty"`
	// NodeOverlays change prices and capacities of instance types.
	NodeOverlays []*v1.NodeOverlay `json:"nodeOverlays,omitempty"`
	// CostModel says how the cost of nodes differs from their list prices. Nil means list prices only.
	CostModel *CostModel `json:"costModel,omitempty"`
	// Nodes are the nodes that exist or are being launched, with the pods bound to them. Names are unique.
	Nodes []Node `json:"nodes,omitempty"`
	// Pods are the pending pods. They have no spec.nodeName. namespace/name is unique over all pods, including bound pods. A plan tries to
	// place each of them, whatever its status. From a live cluster, take two kinds of pods: those for which Provisionable in package
	// scheduling/pods returns true and that are not gated, and those for which Nominated returns true. Leave out pods of other schedulers.
	// Pods with status.nominatedNodeName are placed on that node before all others, and its room is reserved for them against pods of equal
	// and lower priority.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Placeholders are the pods of capacity buffers, which represent room to keep free. They are placed after all real pods, and never use
	// room that a real pod needs.
	Placeholders []*corev1.Pod `json:"placeholders,omitempty"`
	// Gangs are groups of pods that are placed together or not at all. Their pending members are also in Pods.
	Gangs []Gang `json:"gangs,omitempty"`
	// DefaultTopologySpread are the cluster's default spread constraints. They apply to pods without constraints of their own, with a
	// selector derived from the Services and the controller of the pod. See ValidateDefaultTopologySpread.
	DefaultTopologySpread []corev1.TopologySpreadConstraint `json:"defaultTopologySpread,omitempty"`
	// DaemonSets whose pods each new node will have to run.
	DaemonSets []*appsv1.DaemonSet `json:"daemonSets,omitempty"`

	// Namespaces, for the namespaceSelectors of pod (anti-)affinity. Pods may be in namespaces that are not listed: these have only the
	// label with their name.
	Namespaces []*corev1.Namespace `json:"namespaces,omitempty"`
	// Services, ReplicaSets, StatefulSets and ReplicationControllers, for the selectors of DefaultTopologySpread: include those that select
	// or control a pod without constraints of its own. They are not read without default constraints.
	Services               []*corev1.Service               `json:"services,omitempty"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets,omitempty"`
	ReplicationControllers []*corev1.ReplicationController `json:"replicationControllers,omitempty"`
	// PodDisruptionBudgets say which pods may be evicted. Planners of disruption use them; placing pods uses them only to predict
	// preemptions.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`
	// PersistentVolumeClaims, PersistentVolumes and StorageClasses say where the volumes of pods exist or can be created. A pod that names
	// a missing object is refused with a reason.
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	// CSINodes say, by the Node's name, how many volumes of each CSI driver a node can attach. A driver that is not listed in a CSINode has
	// no limit. A node without a CSINode has no limits; while it is starting, it has the limits of its instance type.
	CSINodes []*storagev1.CSINode `json:"csiNodes,omitempty"`
	// VolumeAttachments say which volumes are attached to which node. A volume that no pod of the node uses still counts towards its
	// driver's limit there, until it is detached.
	VolumeAttachments []*storagev1.VolumeAttachment `json:"volumeAttachments,omitempty"`

	// ResourceClaims, ResourceClaimTemplates, DeviceClasses and ResourceSlices say which devices pods request through Dynamic Resource
	// Allocation, which devices nodes publish, and which devices are allocated. A pod that names a missing object of the first three kinds
	// is refused with a reason.
	ResourceClaims         []*resourcev1.ResourceClaim         `json:"resourceClaims,omitempty"`
	ResourceClaimTemplates []*resourcev1.ResourceClaimTemplate `json:"resourceClaimTemplates,omitempty"`
	DeviceClasses          []*resourcev1.DeviceClass           `json:"deviceClasses,omitempty"`
	ResourceSlices         []*resourcev1.ResourceSlice         `json:"resourceSlices,omitempty"`

	// UnsupportedVolumeTopologyKeys and UnsupportedVolumeDrivers are limits of the provider's nodes: label keys in a StorageClass's allowed
	// topologies that no such node has, and CSI drivers whose volumes no such node can attach. Pods that need them are refused with a
	// reason.
	UnsupportedVolumeTopologyKeys []string `json:"unsupportedVolumeTopologyKeys,omitempty"`
	UnsupportedVolumeDrivers      []string `json:"unsupportedVolumeDrivers,omitempty"`

	// Assumptions are sentences for people about what the program that made the snapshot has assumed, such as the region of the prices.
	// Planning does not read them; a program that plans from a saved snapshot can print them again.
	Assumptions []string `json:"assumptions,omitempty"`
}

// NodePool is a NodePool object with the additional data that planning needs.
type NodePool struct {
	// Key is the pool's identity. A zero Key means {GenerationV1, Object.Name}: use Identity to read it.
	Key v1.PoolKey `json:"key"`
	// Object is the pool as a v1 object, also if it was created in an earlier generation.
	Object *v1.NodePool `json:"object"`
	// Catalog names the entry of Snapshot.Catalogs with the instance types the pool may launch. Empty means that the pool has no instance
	// types and only owns nodes.
	Catalog string `json:"catalog,omitempty"`
	// NotReady says why the pool must not launch nodes now ("NodeClass not found"); empty means it may.
	NotReady string `json:"notReady,omitempty"`
}

// Identity returns the pool's complete key, as in plans: Key, with missing parts filled in. It is zero if Key is zero and Object is nil.
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
