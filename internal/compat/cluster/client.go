// Package cluster replaces the API server that the test suites of Karpenter and its provider start. Its in-memory client sets the same
// defaults, and validates custom resources with the API server's own code. It is compiled here, and it is also copied into the patched
// copies of the releases, because the suites run there.
package cluster

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	autoscalingv1beta1 "sigs.k8s.io/karpenter/pkg/apis/autoscaling/v1beta1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	testv1alpha1 "sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// Client is an API server in memory. It is safe for concurrent use.
type Client struct {
	client.Client
	judges map[string]*judge // by group/kind
	uids   atomic.Int64
}

// New returns an empty cluster that validates objects with the definitions. extra are kinds that the test itself defines and that have a
// status.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Client, error) {
	judges, err := judgesOf(definitions)
	if err != nil {
		return nil, err
	}
	withStatus := []client.Object{
		&v1.NodePool{}, &v1.NodeClaim{}, &v1alpha1.NodeOverlay{}, &testv1alpha1.TestNodeClass{}, &autoscalingv1beta1.CapacityBuffer{},
		&corev1.Pod{}, &corev1.Node{}, &appsv1.DaemonSet{}, &appsv1.Deployment{}, &policyv1.PodDisruptionBudget{},
		&corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}, &resourcev1.ResourceClaim{},
	}
	for _, crd := range definitions {
		for _, version := range crd.Spec.Versions {
			gvk := schemaKind(crd, version.Name)
			if version.Subresources == nil || version.Subresources.Status == nil || !scheme.Scheme.Recognizes(gvk) {
				continue
			}
			if o, err := scheme.Scheme.New(gvk); err == nil {
				withStatus = append(withStatus, o.(client.Object))
			}
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(withStatus...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&v1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Status.ProviderID} }).
		WithIndex(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*storagev1.VolumeAttachment).Spec.NodeName}
		}).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.group", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Group} }).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.kind", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Kind} }).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.name", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Name} }).
		WithIndex(&v1.NodePool{}, "spec.template.spec.nodeClassRef.group", func(o client.Object) []string {
			return []string{o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef.Group}
		}).
		WithIndex(&v1.NodePool{}, "spec.template.spec.nodeClassRef.kind", func(o client.Object) []string {
			return []string{o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef.Kind}
		}).
		WithIndex(&v1.NodePool{}, "spec.template.spec.nodeClassRef.name", func(o client.Object) []string {
			return []string{o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef.Name}
		}).
		Build()
	out := &Client{Client: c, judges: judges}
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
		if err := out.Create(context.Background(), namespace); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Create adds an object like an API server: it sets namespace, identity and defaults, and validates the object.
func (c *Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if b, ok := obj.(*corev1.Binding); ok {
		return c.bind(ctx, b)
	}
	unscope(obj)
	if obj.GetUID() == "" {
		obj.SetUID(types.UID(fmt.Sprintf("uid-%08d", c.uids.Add(1))))
	}
	obj.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	setDefaults(obj)
	if err := c.mutate(ctx, obj); err != nil {
		return err
	}
	if err := c.admit(ctx, obj, nil); err != nil {
		return err
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c *Client) bind(ctx context.Context, b *corev1.Binding) error {
	pod := &corev1.Pod{}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(b), pod); err != nil {
		return err
	}
	pod.Spec.NodeName = b.Target.Name
	return c.Client.Update(ctx, pod)
}

// Get reads an object. Cluster-scoped objects are found by name alone.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if clusterScoped(obj) {
		key.Namespace = ""
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// Update replaces an object if the definition of its kind allows the new form.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	unscope(obj)
	old := &unstructured.Unstructured{}
	if gvk, err := apiutil.GVKForObject(obj, scheme.Scheme); err == nil && c.judges[gvk.GroupKind().String()] != nil {
		old.SetGroupVersionKind(gvk)
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(obj), old); err != nil {
			return err
		}
	}
	if err := c.admit(ctx, obj, old); err != nil {
		return err
	}
	return c.Client.Update(ctx, obj, opts...)
}

// Patch changes an object.
func (c *Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	unscope(obj)
	return c.Client.Patch(ctx, obj, patch, opts...)
}

// Delete removes an object. If the object has finalizers, Delete only marks it as deleted.
func (c *Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	unscope(obj)
	if _, ok := obj.(*corev1.Pod); ok {
		if err := c.endGrace(ctx); err != nil {
			return err
		}
	}
	return c.Client.Delete(ctx, obj, opts...)
}

// DeleteAllOf removes all objects of a kind.
func (c *Client) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	if _, ok := obj.(*corev1.Pod); ok {
		if err := c.endGrace(ctx); err != nil {
			return err
		}
	}
	if clusterScoped(obj) {
		var kept []client.DeleteAllOfOption
		for _, o := range opts {
			if _, ok := o.(client.InNamespace); !ok {
				kept = append(kept, o)
			}
		}
		opts = kept
	}
	return client.IgnoreNotFound(c.Client.DeleteAllOf(ctx, obj, opts...))
}

// Status writes the status of objects.
func (c *Client) Status() client.SubResourceWriter { return statusWriter{c.Client.Status()} }

type statusWriter struct{ client.SubResourceWriter }

func (w statusWriter) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	unscope(obj)
	err := w.SubResourceWriter.Update(ctx, obj, opts...)
	if errors.IsNotFound(err) { // kinds without a status, for which tests write one nevertheless
		return nil
	}
	return err
}

func (w statusWriter) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	unscope(obj)
	return w.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}
