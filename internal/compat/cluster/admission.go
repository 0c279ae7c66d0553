package cluster

import (
	"context"
	"sort"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mutate does what the admission plug-ins of an API server do when an object is created, as far as planning needs it.
func (c *Client) mutate(ctx context.Context, obj client.Object) error {
	switch o := obj.(type) {
	case *corev1.Node: // TaintNodesByCondition
		for _, t := range o.Spec.Taints {
			if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
				return nil
			}
		}
		o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	case *corev1.Pod: // RuntimeClass
		if o.Spec.RuntimeClassName == nil {
			return nil
		}
		class := &nodev1.RuntimeClass{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: *o.Spec.RuntimeClassName}, class); err != nil {
			return client.IgnoreNotFound(err)
		}
		if class.Overhead != nil && o.Spec.Overhead == nil {
			o.Spec.Overhead = class.Overhead.PodFixed
		}
	case *corev1.PersistentVolumeClaim: // DefaultStorageClass
		if o.Spec.StorageClassName != nil {
			return nil
		}
		return c.defaultStorageClass(ctx, o)
	}
	return nil
}

func (c *Client) defaultStorageClass(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	classes := &storagev1.StorageClassList{}
	if err := c.List(ctx, classes); err != nil {
		return err
	}
	var defaults []storagev1.StorageClass
	for _, class := range classes.Items {
		if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			defaults = append(defaults, class)
		}
	}
	sort.SliceStable(defaults, func(i, j int) bool {
		a, b := defaults[i], defaults[j]
		if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return a.Name < b.Name
		}
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	})
	if len(defaults) > 0 {
		claim.Spec.StorageClassName = &defaults[0].Name
	}
	return nil
}

// graceFinalizer keeps an evicted pod until its grace period is over. In a test, the grace period never ends.
const graceFinalizer = "compat.drawknife.dev/grace"

// SubResource returns a client for sub-resources. Evicted pods are kept and marked as terminating, as on a real node.
func (c *Client) SubResource(name string) client.SubResourceClient {
	if name == "eviction" {
		return evictions{c.Client.SubResource(name), c}
	}
	return c.Client.SubResource(name)
}

type evictions struct {
	client.SubResourceClient
	c *Client
}

func (e evictions) Create(ctx context.Context, obj, _ client.Object, _ ...client.SubResourceCreateOption) error {
	pod := &corev1.Pod{}
	if err := e.c.Client.Get(ctx, client.ObjectKeyFromObject(obj), pod); err != nil {
		return err
	}
	pod.Finalizers = append(pod.Finalizers, graceFinalizer)
	if err := e.c.Client.Update(ctx, pod); err != nil {
		return err
	}
	return e.c.Client.Delete(ctx, pod)
}

// endGrace removes the finalizer of evicted pods. Deleting the pods in a test calls it.
func (c *Client) endGrace(ctx context.Context) error {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		for j, f := range p.Finalizers {
			if f == graceFinalizer {
				p.Finalizers = append(p.Finalizers[:j:j], p.Finalizers[j+1:]...)
				if err := client.IgnoreNotFound(c.Client.Update(ctx, p)); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
