package redact

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Strip returns the snapshot without the fields that planning does not read. It shares memory with s, which is not changed. Nil stays nil.
func Strip(s *scheduling.Snapshot) *scheduling.Snapshot {
	if s == nil {
		return nil
	}
	out := &scheduling.Snapshot{
		Time: s.Time, Vocabulary: s.Vocabulary, Catalogs: s.Catalogs, CostModel: s.CostModel,
		DefaultTopologySpread: s.DefaultTopologySpread, Assumptions: s.Assumptions,
		UnsupportedVolumeTopologyKeys: s.UnsupportedVolumeTopologyKeys, UnsupportedVolumeDrivers: s.UnsupportedVolumeDrivers,
		NodeOverlays: each(s.NodeOverlays, func(in *v1.NodeOverlay) *v1.NodeOverlay {
			return &v1.NodeOverlay{TypeMeta: in.TypeMeta, ObjectMeta: metadata(&in.ObjectMeta), Spec: in.Spec, Status: v1.NodeOverlayStatus{Conditions: in.Status.Conditions}}
		}),
		Pods: each(s.Pods, stripPod), Placeholders: each(s.Placeholders, stripPod),
		DaemonSets: each(s.DaemonSets, func(in *appsv1.DaemonSet) *appsv1.DaemonSet {
			return &appsv1.DaemonSet{
				ObjectMeta: metadata(&in.ObjectMeta), Spec: appsv1.DaemonSetSpec{Selector: in.Spec.Selector, Template: template(&in.Spec.Template)},
				Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: in.Status.DesiredNumberScheduled, CurrentNumberScheduled: in.Status.CurrentNumberScheduled, NumberReady: in.Status.NumberReady},
			}
		}),
		Namespaces: each(s.Namespaces, func(in *corev1.Namespace) *corev1.Namespace {
			return &corev1.Namespace{ObjectMeta: metadata(&in.ObjectMeta)}
		}),
		Services: each(s.Services, func(in *corev1.Service) *corev1.Service {
			return &corev1.Service{ObjectMeta: metadata(&in.ObjectMeta), Spec: corev1.ServiceSpec{Selector: in.Spec.Selector}}
		}),
		ReplicaSets: each(s.ReplicaSets, func(in *appsv1.ReplicaSet) *appsv1.ReplicaSet {
			return &appsv1.ReplicaSet{ObjectMeta: metadata(&in.ObjectMeta), Spec: appsv1.ReplicaSetSpec{Selector: in.Spec.Selector, Replicas: in.Spec.Replicas}}
		}),
		StatefulSets: each(s.StatefulSets, func(in *appsv1.StatefulSet) *appsv1.StatefulSet {
			return &appsv1.StatefulSet{ObjectMeta: metadata(&in.ObjectMeta), Spec: appsv1.StatefulSetSpec{Selector: in.Spec.Selector, Replicas: in.Spec.Replicas}}
		}),
		ReplicationControllers: each(s.ReplicationControllers, func(in *corev1.ReplicationController) *corev1.ReplicationController {
			return &corev1.ReplicationController{ObjectMeta: metadata(&in.ObjectMeta), Spec: corev1.ReplicationControllerSpec{Selector: in.Spec.Selector, Replicas: in.Spec.Replicas}}
		}),
		PodDisruptionBudgets: each(s.PodDisruptionBudgets, func(in *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
			status := in.Status
			status.Conditions = nil
			return &policyv1.PodDisruptionBudget{ObjectMeta: metadata(&in.ObjectMeta), Spec: in.Spec, Status: status}
		}),
		PersistentVolumeClaims: each(s.PersistentVolumeClaims, func(in *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
			return &corev1.PersistentVolumeClaim{
				ObjectMeta: metadata(&in.ObjectMeta), Spec: claimSpec(&in.Spec),
				Status: corev1.PersistentVolumeClaimStatus{Phase: in.Status.Phase, AccessModes: in.Status.AccessModes, Capacity: in.Status.Capacity},
			}
		}),
		PersistentVolumes: each(s.PersistentVolumes, stripVolume),
		StorageClasses: each(s.StorageClasses, func(in *storagev1.StorageClass) *storagev1.StorageClass {
			return &storagev1.StorageClass{
				ObjectMeta: metadata(&in.ObjectMeta), Provisioner: in.Provisioner, VolumeBindingMode: in.VolumeBindingMode, AllowedTopologies: in.AllowedTopologies,
			}
		}),
		CSINodes: each(s.CSINodes, func(in *storagev1.CSINode) *storagev1.CSINode {
			return &storagev1.CSINode{ObjectMeta: metadata(&in.ObjectMeta), Spec: in.Spec}
		}),
		VolumeAttachments: each(s.VolumeAttachments, func(in *storagev1.VolumeAttachment) *storagev1.VolumeAttachment {
			out := &storagev1.VolumeAttachment{
				ObjectMeta: metadata(&in.ObjectMeta), Spec: storagev1.VolumeAttachmentSpec{Attacher: in.Spec.Attacher, NodeName: in.Spec.NodeName},
				Status: storagev1.VolumeAttachmentStatus{Attached: in.Status.Attached},
			}
			out.Spec.Source.PersistentVolumeName = in.Spec.Source.PersistentVolumeName
			if v := in.Spec.Source.InlineVolumeSpec; v != nil {
				out.Spec.Source.InlineVolumeSpec = &stripVolume(&corev1.PersistentVolume{Spec: *v}).Spec
			}
			return out
		}),
		ResourceClaims: each(s.ResourceClaims, stripResourceClaim),
		ResourceClaimTemplates: each(s.ResourceClaimTemplates, func(in *resourcev1.ResourceClaimTemplate) *resourcev1.ResourceClaimTemplate {
			return &resourcev1.ResourceClaimTemplate{
				ObjectMeta: metadata(&in.ObjectMeta), Spec: resourcev1.ResourceClaimTemplateSpec{ObjectMeta: metadata(&in.Spec.ObjectMeta), Spec: resourceClaimSpec(&in.Spec.Spec)},
			}
		}),
		DeviceClasses: each(s.DeviceClasses, func(in *resourcev1.DeviceClass) *resourcev1.DeviceClass {
			return &resourcev1.DeviceClass{
				ObjectMeta: metadata(&in.ObjectMeta), Spec: resourcev1.DeviceClassSpec{Selectors: in.Spec.Selectors, ExtendedResourceName: in.Spec.ExtendedResourceName},
			}
		}),
		ResourceSlices: each(s.ResourceSlices, func(in *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
			return &resourcev1.ResourceSlice{ObjectMeta: metadata(&in.ObjectMeta), Spec: in.Spec}
		}),
	}
	for i := range s.Gangs {
		out.Gangs = append(out.Gangs, stripGang(&s.Gangs[i]))
	}
	for _, p := range s.NodePools {
		kept := scheduling.NodePool{Key: p.Key, Catalog: p.Catalog, NotReady: p.NotReady}
		if in := p.Object; in != nil {
			kept.Object = &v1.NodePool{TypeMeta: in.TypeMeta, ObjectMeta: metadata(&in.ObjectMeta), Spec: in.Spec, Status: in.Status}
			kept.Object.Spec.Template.Annotations = annotations(in.Spec.Template.Annotations)
		}
		out.NodePools = append(out.NodePools, kept)
	}
	for i := range s.Nodes {
		out.Nodes = append(out.Nodes, stripNode(&s.Nodes[i]))
	}
	return out
}

// each applies the function strip to the objects of a list. A nil list or object stays nil.
func each[T any](list []*T, strip func(*T) *T) []*T {
	if list == nil {
		return nil
	}
	out := make([]*T, len(list))
	for i, in := range list {
		if in != nil {
			out[i] = strip(in)
		}
	}
	return out
}

func stripNode(in *scheduling.Node) scheduling.Node {
	out := scheduling.Node{Name: in.Name, Pool: in.Pool, Leaving: in.Leaving, Pods: each(in.Pods, stripPod)}
	if n := in.Object; n != nil {
		out.Object = &corev1.Node{
			ObjectMeta: metadata(&n.ObjectMeta),
			Spec:       corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable, ProviderID: n.Spec.ProviderID},
			Status:     corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable, Phase: n.Status.Phase},
		}
		for _, c := range n.Status.Conditions {
			out.Object.Status.Conditions = append(out.Object.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, LastTransitionTime: c.LastTransitionTime})
		}
	}
	if c := in.Claim; c != nil {
		out.Claim = &v1.NodeClaim{TypeMeta: c.TypeMeta, ObjectMeta: metadata(&c.ObjectMeta), Spec: c.Spec, Status: c.Status}
	}
	return out
}

// metadata returns a copy of the metadata with only the fields that identify, connect and select objects.
func metadata(in *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: in.Name, Namespace: in.Namespace, UID: in.UID, Generation: in.Generation,
		Labels: in.Labels, Annotations: annotations(in.Annotations), OwnerReferences: in.OwnerReferences, Finalizers: in.Finalizers,
		CreationTimestamp: in.CreationTimestamp, DeletionTimestamp: in.DeletionTimestamp, DeletionGracePeriodSeconds: in.DeletionGracePeriodSeconds,
	}
}

// annotations returns only the annotations that planning may read.
func annotations(in map[string]string) map[string]string {
	var out map[string]string
	for key, value := range in {
		if !readAnnotation(key) {
			continue
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[key] = value
	}
	return out
}

func readAnnotation(key string) bool {
	switch key {
	case corev1.MirrorPodAnnotationKey, corev1.PodDeletionCost, corev1.BetaStorageClassAnnotation,
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
		"volume.kubernetes.io/selected-node", "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
		"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/provisioned-by":
		return true
	}
	// These prefixes belong to the node autoscaling API, its providers, capacity buffers and this project.
	domain, _, _ := strings.Cut(key, "/")
	for _, own := range []string{"karpenter.sh", "karpenter.k8s.aws", "autoscaling.x-k8s.io", "drawknife.dev"} {
		if domain == own || strings.HasSuffix(domain, "."+own) {
			return true
		}
	}
	return false
}
