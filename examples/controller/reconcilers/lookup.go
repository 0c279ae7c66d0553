package reconcilers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// These are the indexes of the manager's cache.
const (
	nodeByProviderID  = "spec.providerID"
	claimByProviderID = "status.providerID"
	claimByGroup      = "launchGroup"
	podByNode         = "spec.nodeName"
	attachmentByNode  = "spec.nodeName"
)

// addIndexes adds the indexes that this package needs to the manager's cache.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		value  func(client.Object) string
	}{
		{&corev1.Node{}, nodeByProviderID, func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{&v1.NodeClaim{}, claimByProviderID, func(o client.Object) string { return o.(*v1.NodeClaim).Status.ProviderID }},
		{&v1.NodeClaim{}, claimByGroup, func(o client.Object) string {
			group, _ := v1.LaunchGroupOf(o.(*v1.NodeClaim))
			return group.Name
		}},
		{&corev1.Pod{}, podByNode, func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
		{&storagev1.VolumeAttachment{}, attachmentByNode, func(o client.Object) string { return o.(*storagev1.VolumeAttachment).Spec.NodeName }},
	} {
		err := indexer.IndexField(ctx, index.object, index.field, func(o client.Object) []string {
			if value := index.value(o); value != "" {
				return []string{value}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing %T by %s: %w", index.object, index.field, err)
		}
	}
	return nil
}

// present returns the nodes of the round that still exist, by name.
func (r *round) present() []*corev1.Node {
	var list []*corev1.Node
	for _, n := range r.nodes {
		if n != nil {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func nodesWithProviderID(ctx context.Context, c client.Reader, id string) ([]*corev1.Node, error) {
	if id == "" {
		return nil, nil
	}
	var list corev1.NodeList
	if err := c.List(ctx, &list, client.MatchingFields{nodeByProviderID: id}); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func allNodes(ctx context.Context, c client.Reader) ([]*corev1.Node, error) {
	var list corev1.NodeList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func claimsWithProviderID(ctx context.Context, c client.Reader, id string) ([]*v1.NodeClaim, error) {
	if id == "" {
		return nil, nil
	}
	var list v1.NodeClaimList
	if err := c.List(ctx, &list, client.MatchingFields{claimByProviderID: id}); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func podsOnNode(ctx context.Context, c client.Reader, node string) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.MatchingFields{podByNode: node}); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func attachmentsTo(ctx context.Context, c client.Reader, node string) ([]*storagev1.VolumeAttachment, error) {
	var list storagev1.VolumeAttachmentList
	if err := c.List(ctx, &list, client.MatchingFields{attachmentByNode: node}); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

// poolOf returns the NodePool of a claim, or nil if the claim has no pool or the pool is deleted.
func poolOf(ctx context.Context, c client.Reader, claim *v1.NodeClaim) (*v1.NodePool, error) {
	key := v1.PoolOf(claim.Labels)
	if key.IsZero() {
		return nil, nil
	}
	pool := &v1.NodePool{}
	if err := c.Get(ctx, qualified(key.String()), pool); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	return pool, nil
}

// poolName returns the name of the pool of a node or claim for logs and metrics. labels are the labels of the node or claim. If the pool is
// of an older generation, the name contains the generation, to distinguish the pool from a newer pool of the same name.
func poolName(labels map[string]string) string { return v1.PoolOf(labels).String() }

// qualified returns the key of the object with this name, which is a result of v1.QualifiedName.
func qualified(name string) types.NamespacedName {
	if generation, rest, older := strings.Cut(name, "/"); older {
		return types.NamespacedName{Namespace: generation, Name: rest}
	}
	return types.NamespacedName{Name: name}
}

// claimWith returns the claim with the name and the UID, of any generation, or nil if there is none.
func claimWith(ctx context.Context, c client.Reader, name string, uid types.UID) (*v1.NodeClaim, error) {
	for _, generation := range []string{"", string(v1.GenerationV1Alpha5)} {
		claim := &v1.NodeClaim{}
		err := c.Get(ctx, types.NamespacedName{Namespace: generation, Name: name}, claim)
		switch {
		case err == nil && claim.UID == uid:
			return claim, nil
		case client.IgnoreNotFound(err) != nil:
			return nil, err
		}
	}
	return nil, nil
}

// deleteClaim deletes the claim with the name and the UID, even if the cache does not show it yet; a missing claim is not an error.
func deleteClaim(ctx context.Context, c client.Client, name string, uid types.UID) error {
	switch claim, err := claimWith(ctx, c, name, uid); {
	case err != nil:
		return err
	case claim != nil:
		return deleteExactly(ctx, c, claim)
	}
	for _, generation := range []v1.Generation{v1.GenerationV1, v1.GenerationV1Alpha5} {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}
		v1.SetGenerationOf(claim, generation)
		if err := deleteExactly(ctx, c, claim); err != nil {
			return err
		}
	}
	return nil
}

// volumesOf returns the names of the PersistentVolumes that each pod uses, by the pod's UID.
func volumesOf(ctx context.Context, c client.Reader, list []*corev1.Pod) (map[string][]string, error) {
	out := map[string][]string{}
	for _, pod := range list {
		for i := range pod.Spec.Volumes {
			volume := &pod.Spec.Volumes[i]
			name := ""
			switch {
			case volume.PersistentVolumeClaim != nil:
				name = volume.PersistentVolumeClaim.ClaimName
			case volume.Ephemeral != nil:
				name = pod.Name + "-" + volume.Name
			default:
				continue
			}
			claim := &corev1.PersistentVolumeClaim{}
			if err := c.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: name}, claim); err != nil {
				if apierrors.IsNotFound(err) {
					continue // no volume was ever bound to the claim, or the claim was deleted together with its pod
				}
				return nil, err
			}
			if claim.Spec.VolumeName != "" {
				out[string(pod.UID)] = append(out[string(pod.UID)], claim.Spec.VolumeName)
			}
		}
	}
	return out, nil
}

func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}
