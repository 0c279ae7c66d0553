package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// reader answers the scheduler's requests to the API server, from memory. Like the cache of a controller, it returns copies. It embeds a
// nil client: planning writes nothing, and a call that is not implemented below must not go unnoticed.
type reader struct {
	client.Client

	pods       []*corev1.Pod
	podsOnNode map[string][]*corev1.Pod
	namespaces []*corev1.Namespace
	nodePools  []*v1.NodePool
	daemonSets []*appsv1.DaemonSet
	budgets    []*policyv1.PodDisruptionBudget
	objects    map[objectKey]client.Object
}

type objectKey struct {
	kind string
	name types.NamespacedName
}

func newReader(w *workload) *reader {
	r := &reader{podsOnNode: make(map[string][]*corev1.Pod), objects: make(map[objectKey]client.Object), namespaces: w.Namespaces,
		daemonSets: w.DaemonSets, budgets: w.PodDisruptionBudgets}
	for _, p := range w.NodePools {
		r.nodePools = append(r.nodePools, p.Object)
	}
	r.pods = append(r.pods, w.Pods...)
	for _, n := range w.Nodes {
		r.pods = append(r.pods, n.Pods...)
		if n.Object != nil {
			r.objects[keyOf("nodes", n.Object)] = n.Object
			r.podsOnNode[n.Object.Name] = n.Pods
		}
	}
	for _, o := range w.PersistentVolumeClaims {
		r.objects[keyOf("persistentvolumeclaims", o)] = o
	}
	for _, o := range w.PersistentVolumes {
		r.objects[keyOf("persistentvolumes", o)] = o
	}
	for _, o := range w.StorageClasses {
		r.objects[keyOf("storageclasses", o)] = o
	}
	for _, o := range w.CSINodes {
		r.objects[keyOf("csinodes", o)] = o
	}
	return r
}

func keyOf(kind string, o client.Object) objectKey {
	return objectKey{kind, client.ObjectKeyFromObject(o)}
}

// Get returns a copy of one object.
func (r *reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *corev1.Node:
		return get(r, "nodes", key, into)
	case *corev1.PersistentVolumeClaim:
		return get(r, "persistentvolumeclaims", key, into)
	case *corev1.PersistentVolume:
		return get(r, "persistentvolumes", key, into)
	case *storagev1.StorageClass:
		return get(r, "storageclasses", key, into)
	case *storagev1.CSINode:
		return get(r, "csinodes", key, into)
	}
	return fmt.Errorf("getting a %T is not expected of the scheduler", into)
}

func get[T any, P interface {
	*T
	client.Object
	DeepCopyInto(*T)
}](r *reader, kind string, key client.ObjectKey, into P) error {
	found, ok := r.objects[objectKey{kind, key}].(P)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.String())
	}
	found.DeepCopyInto((*T)(into))
	return nil
}

// List returns copies of the pods in a namespace or on a node, or of the namespaces, that match the selector.
func (r *reader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	matches := func(object client.Object) bool {
		return (o.Namespace == "" || object.GetNamespace() == o.Namespace) &&
			(o.LabelSelector == nil || o.LabelSelector.Matches(labelSet(object.GetLabels())))
	}
	switch list := list.(type) {
	case *corev1.PodList:
		pods := r.pods
		if o.FieldSelector != nil {
			name, byNode := strings.CutPrefix(o.FieldSelector.String(), "spec.nodeName=")
			if !byNode {
				return fmt.Errorf("listing pods by %s is not expected of the scheduler", o.FieldSelector)
			}
			pods = r.podsOnNode[name]
		}
		list.Items = list.Items[:0:0]
		for _, pod := range pods {
			if matches(pod) {
				list.Items = append(list.Items, *pod.DeepCopy())
			}
		}
		return nil
	case *corev1.NamespaceList:
		list.Items = copies(r.namespaces, matches)
		return nil
	case *v1.NodePoolList:
		list.Items = copies(r.nodePools, matches)
		return nil
	case *appsv1.DaemonSetList:
		list.Items = copies(r.daemonSets, matches)
		return nil
	case *policyv1.PodDisruptionBudgetList:
		list.Items = copies(r.budgets, matches)
		return nil
	}
	return fmt.Errorf("listing %T is not expected of the scheduler", list)
}

// copies returns copies of the matching objects.
func copies[T any, P interface {
	*T
	client.Object
	DeepCopyInto(*T)
}](objects []P, matches func(client.Object) bool) []T {
	var out []T
	for _, o := range objects {
		if matches(o) {
			var c T
			o.DeepCopyInto(&c)
			out = append(out, c)
		}
	}
	return out
}

// labelSet implements the interface that selectors use.
type labelSet map[string]string

func (l labelSet) Has(label string) bool              { _, ok := l[label]; return ok }
func (l labelSet) Get(label string) string            { return l[label] }
func (l labelSet) Lookup(label string) (string, bool) { v, ok := l[label]; return v, ok }

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
