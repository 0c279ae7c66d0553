package cluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/podgroups"
)

// Kind is a kind of object that State keeps, by its name in the API.
type Kind string

// The kinds that State keeps, with the Go type of their objects.
const (
	KindPod                   Kind = "Pod"                   // *corev1.Pod
	KindNode                  Kind = "Node"                  // *corev1.Node
	KindNodeClaim             Kind = "NodeClaim"             // *v1.NodeClaim
	KindNodePool              Kind = "NodePool"              // *v1.NodePool
	KindNodeOverlay           Kind = "NodeOverlay"           // *v1.NodeOverlay
	KindDaemonSet             Kind = "DaemonSet"             // *appsv1.DaemonSet
	KindPersistentVolume      Kind = "PersistentVolume"      // *corev1.PersistentVolume
	KindPersistentVolumeClaim Kind = "PersistentVolumeClaim" // *corev1.PersistentVolumeClaim
	KindStorageClass          Kind = "StorageClass"          // *storagev1.StorageClass
	KindCSINode               Kind = "CSINode"               // *storagev1.CSINode
	// Attachments of volumes that no pod uses also take up room for volumes. State does not wait for them unless Options.Kinds says so.
	KindVolumeAttachment Kind = "VolumeAttachment" // *storagev1.VolumeAttachment
	// Claims of devices, and the devices that nodes publish. State does not wait for them unless Options.Kinds says so.
	KindResourceClaim         Kind = "ResourceClaim"         // *resourcev1.ResourceClaim
	KindResourceClaimTemplate Kind = "ResourceClaimTemplate" // *resourcev1.ResourceClaimTemplate
	KindDeviceClass           Kind = "DeviceClass"           // *resourcev1.DeviceClass
	KindResourceSlice         Kind = "ResourceSlice"         // *resourcev1.ResourceSlice
	KindNamespace             Kind = "Namespace"             // *corev1.Namespace
	KindPodDisruptionBudget   Kind = "PodDisruptionBudget"   // *policyv1.PodDisruptionBudget
	// These four kinds are only read for default topology spread.
	KindService               Kind = "Service"               // *corev1.Service
	KindReplicaSet            Kind = "ReplicaSet"            // *appsv1.ReplicaSet
	KindStatefulSet           Kind = "StatefulSet"           // *appsv1.StatefulSet
	KindReplicationController Kind = "ReplicationController" // *corev1.ReplicationController
	// Objects from which gangs are made. Each is an *unstructured.Unstructured with any apiVersion, because these kinds are newer than the
	// API library, or do not belong to Kubernetes. State does not wait for them unless Options.Kinds says so.
	KindPodGroup             Kind = "PodGroup"                       // of scheduling.k8s.io
	KindWorkload             Kind = "Workload"                       // of scheduling.k8s.io
	KindCompositePodGroup    Kind = "CompositePodGroup"              // of scheduling.k8s.io
	KindCoschedulingPodGroup Kind = "PodGroup.scheduling.x-k8s.io"   // of the scheduler plugin coscheduling
	KindVolcanoPodGroup      Kind = "PodGroup.scheduling.volcano.sh" // of Volcano
)

// KindOf returns the kind of the object; empty if State does not keep it.
func KindOf(object metav1.Object) Kind {
	switch object := object.(type) {
	case *corev1.Pod:
		return KindPod
	case *corev1.Node:
		return KindNode
	case *v1.NodeClaim:
		return KindNodeClaim
	case *v1.NodePool:
		return KindNodePool
	case *v1.NodeOverlay:
		return KindNodeOverlay
	case *appsv1.DaemonSet:
		return KindDaemonSet
	case *corev1.PersistentVolume:
		return KindPersistentVolume
	case *corev1.PersistentVolumeClaim:
		return KindPersistentVolumeClaim
	case *storagev1.StorageClass:
		return KindStorageClass
	case *storagev1.CSINode:
		return KindCSINode
	case *storagev1.VolumeAttachment:
		return KindVolumeAttachment
	case *resourcev1.ResourceClaim:
		return KindResourceClaim
	case *resourcev1.ResourceClaimTemplate:
		return KindResourceClaimTemplate
	case *resourcev1.DeviceClass:
		return KindDeviceClass
	case *resourcev1.ResourceSlice:
		return KindResourceSlice
	case *corev1.Namespace:
		return KindNamespace
	case *policyv1.PodDisruptionBudget:
		return KindPodDisruptionBudget
	case *corev1.Service:
		return KindService
	case *appsv1.ReplicaSet:
		return KindReplicaSet
	case *appsv1.StatefulSet:
		return KindStatefulSet
	case *corev1.ReplicationController:
		return KindReplicationController
	case *unstructured.Unstructured:
		return groupKindOf(object)
	}
	return ""
}

// groupKindOf returns the kind of an object from which gangs are made.
func groupKindOf(object *unstructured.Unstructured) Kind {
	if object == nil {
		return KindPodGroup // Apply returns an error for the nil object
	}
	kind := object.GroupVersionKind()
	for name, of := range groupKinds() {
		if of == podgroups.KindOf(kind.Group, kind.Kind) {
			return name
		}
	}
	return ""
}

// groupKinds returns the kinds of objects from which gangs are made.
func groupKinds() map[Kind]podgroups.Kind {
	return map[Kind]podgroups.Kind{
		KindPodGroup: podgroups.PodGroup, KindWorkload: podgroups.Workload, KindCompositePodGroup: podgroups.CompositePodGroup,
		KindCoschedulingPodGroup: podgroups.CoschedulingPodGroup, KindVolcanoPodGroup: podgroups.VolcanoPodGroup,
	}
}

func allKinds() []Kind {
	return []Kind{
		KindPod, KindNode, KindNodeClaim, KindNodePool, KindNodeOverlay, KindDaemonSet, KindPersistentVolume,
		KindPersistentVolumeClaim, KindStorageClass, KindCSINode, KindVolumeAttachment, KindResourceClaim, KindResourceClaimTemplate,
		KindDeviceClass, KindResourceSlice, KindNamespace, KindPodDisruptionBudget, KindService,
		KindReplicaSet, KindStatefulSet, KindReplicationController,
		KindPodGroup, KindWorkload, KindCompositePodGroup, KindCoschedulingPodGroup, KindVolcanoPodGroup,
	}
}

// ObjectKey names an object of the API. Namespace is empty for kinds without one.
type ObjectKey struct {
	Kind Kind
	types.NamespacedName
}

// String returns "Kind name" or "Kind namespace/name".
func (k ObjectKey) String() string {
	if k.Namespace == "" {
		return fmt.Sprintf("%s %s", k.Kind, k.Name)
	}
	return fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, k.Name)
}
