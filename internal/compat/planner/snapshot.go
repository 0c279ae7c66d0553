package planner

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	dkv1 "github.com/drawknife/drawknife/api/v1"
	dkcp "github.com/drawknife/drawknife/cloudprovider"
	dk "github.com/drawknife/drawknife/scheduling"
)

// snapshotOf converts Karpenter's state to a Snapshot of this project. It also returns the pending pods by namespace/name.
func snapshotOf(ctx context.Context, q *Question) (*dk.Snapshot, map[string]*corev1.Pod, error) {
	s := &dk.Snapshot{
		Time: q.Now, Vocabulary: vocabulary(), Catalogs: map[string][]*dkcp.InstanceType{},
		UnsupportedVolumeTopologyKeys: q.UnsupportedKeys, UnsupportedVolumeDrivers: q.UnsupportedCSI,
	}
	for _, np := range q.NodePools {
		pool, err := convert[dkv1.NodePool](np)
		if err != nil {
			return nil, nil, err
		}
		if s.Catalogs[np.Name], err = catalog(q.InstanceTypes[np.Name]); err != nil {
			return nil, nil, err
		}
		s.NodePools = append(s.NodePools, dk.NodePool{Object: pool, Catalog: np.Name})
	}
	waiting := map[string]*corev1.Pod{}
	for _, p := range q.Pods {
		waiting[p.Namespace+"/"+p.Name] = p
		pod := p.DeepCopy()
		pod.Spec.NodeName = ""
		if q.Placeholder(p) {
			s.Placeholders = append(s.Placeholders, pod)
		} else {
			s.Pods = append(s.Pods, pod)
		}
	}
	pods, err := list(ctx, q.Client, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items })
	if err != nil {
		return nil, nil, err
	}
	if s.Nodes, err = nodesOf(q, pods, waiting); err != nil {
		return nil, nil, err
	}
	if err := deviceObjects(ctx, q, s); err != nil {
		return nil, nil, err
	}
	return s, waiting, surroundings(ctx, q, pods, s)
}

// surroundings reads the objects to which the pods refer.
func surroundings(ctx context.Context, q *Question, pods []*corev1.Pod, s *dk.Snapshot) (err error) {
	c := q.Client
	if s.DaemonSets, err = list(ctx, c, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }); err != nil {
		return err
	}
	for _, ds := range s.DaemonSets {
		asRunning(ds, q.Cluster.GetDaemonSetPod(ds))
	}
	if s.Namespaces, err = list(ctx, c, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }); err != nil {
		return err
	}
	if s.PersistentVolumeClaims, err = list(ctx, c, &corev1.PersistentVolumeClaimList{}, func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim {
		return l.Items
	}); err != nil {
		return err
	}
	own(s.PersistentVolumeClaims, pods)
	if s.PersistentVolumes, err = list(ctx, c, &corev1.PersistentVolumeList{}, func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume {
		return l.Items
	}); err != nil {
		return err
	}
	if s.StorageClasses, err = list(ctx, c, &storagev1.StorageClassList{}, func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }); err != nil {
		return err
	}
	s.CSINodes, err = list(ctx, c, &storagev1.CSINodeList{}, func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items })
	return err
}

// asRunning changes a DaemonSet's template to the form that its pods have in the cluster after admission. Karpenter's provisioner does the
// same before it calls its scheduler. It leaves out the affinity that binds a pod to its node.
func asRunning(ds *appsv1.DaemonSet, pod *corev1.Pod) {
	if pod == nil {
		return
	}
	affinity := ds.Spec.Template.Spec.Affinity
	ds.Spec.Template.Spec = *pod.Spec.DeepCopy()
	ds.Spec.Template.Spec.NodeName = ""
	if ds.Spec.Template.Spec.Affinity == nil {
		ds.Spec.Template.Spec.Affinity = &corev1.Affinity{}
	}
	ds.Spec.Template.Spec.Affinity.NodeAffinity = nil
	if affinity != nil {
		ds.Spec.Template.Spec.Affinity.NodeAffinity = affinity.NodeAffinity
	}
}

// own makes pods the owners of the PersistentVolumeClaims of their ephemeral volumes. In a cluster, the controller that creates the claims
// does this. The suites create the claims by hand.
func own(claims []*corev1.PersistentVolumeClaim, pods []*corev1.Pod) {
	owners := map[string]*corev1.Pod{}
	for _, p := range pods {
		for _, v := range p.Spec.Volumes {
			if v.Ephemeral != nil {
				owners[p.Namespace+"/"+p.Name+"-"+v.Name] = p
			}
		}
	}
	for _, c := range claims {
		if p := owners[c.Namespace+"/"+c.Name]; p != nil && len(c.OwnerReferences) == 0 {
			c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(p, corev1.SchemeGroupVersion.WithKind("Pod"))}
		}
	}
}

func list[T any, L client.ObjectList](ctx context.Context, c client.Client, into L, items func(L) []T) ([]*T, error) {
	if err := c.List(ctx, into); err != nil {
		return nil, err
	}
	var out []*T
	all := items(into)
	for i := range all {
		out = append(out, &all[i])
	}
	return out, nil
}

// convert converts an object of one Go module's type to the type for the same kind in another Go module. Both have the same JSON form.
func convert[T any](in any) (*T, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal(data, out)
}

func claimOf(in *v1.NodeClaim) (*dkv1.NodeClaim, error) { return convert[dkv1.NodeClaim](in) }

func poolKey(name string) dkv1.PoolKey { return dkv1.NewPoolKey(name) }
