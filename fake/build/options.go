package build

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/quantities"
)

// PodOption changes the pod that a function of this package builds.
type PodOption interface{ toPod(pod *corev1.Pod) }

// NodeOption changes the Node that a function of this package builds.
type NodeOption interface{ toNode(node *corev1.Node) }

// PoolOption changes the NodePool that a function of this package builds.
type PoolOption interface{ toPool(pool *v1.NodePool) }

// ClaimOption changes the NodeClaim that a function of this package builds.
type ClaimOption interface{ toClaim(claim *v1.NodeClaim) }

// TypeOption changes the instance type that a function of this package builds.
type TypeOption interface {
	toType(it *cloudprovider.InstanceType)
}

// PodFunc makes any function a PodOption.
type PodFunc func(*corev1.Pod)

// NodeFunc makes any function a NodeOption.
type NodeFunc func(*corev1.Node)

// PoolFunc makes any function a PoolOption.
type PoolFunc func(*v1.NodePool)

// ClaimFunc makes any function a ClaimOption.
type ClaimFunc func(*v1.NodeClaim)

// TypeFunc makes any function a TypeOption.
type TypeFunc func(*cloudprovider.InstanceType)

// MetaOption changes the metadata of any object.
type MetaOption func(*metav1.ObjectMeta)

func (o PodFunc) toPod(p *corev1.Pod)                    { call(o, p) }
func (o NodeFunc) toNode(n *corev1.Node)                 { call(o, n) }
func (o PoolFunc) toPool(p *v1.NodePool)                 { call(o, p) }
func (o ClaimFunc) toClaim(c *v1.NodeClaim)              { call(o, c) }
func (o TypeFunc) toType(it *cloudprovider.InstanceType) { call(o, it) }
func (o MetaOption) toPod(p *corev1.Pod)                 { call(o, &p.ObjectMeta) }
func (o MetaOption) toNode(n *corev1.Node)               { call(o, &n.ObjectMeta) }
func (o MetaOption) toPool(p *v1.NodePool)               { call(o, &p.ObjectMeta) }
func (o MetaOption) toClaim(c *v1.NodeClaim)             { call(o, &c.ObjectMeta) }

func call[T any](f func(*T), on *T) {
	if f != nil {
		f(on)
	}
}

// Labels adds labels, given as pairs: key, value, key, value. If the last key has no value, its value is empty.
func Labels(pairs ...string) MetaOption {
	return func(m *metav1.ObjectMeta) { m.Labels = merge(m.Labels, pairs) }
}

// Annotations adds annotations, given as pairs: key, value, key, value.
func Annotations(pairs ...string) MetaOption {
	return func(m *metav1.ObjectMeta) { m.Annotations = merge(m.Annotations, pairs) }
}

// UID sets the UID, like an API server does for every stored object.
func UID(uid string) MetaOption {
	return func(m *metav1.ObjectMeta) { m.UID = types.UID(uid) }
}

// Created sets the creation time of the object.
func Created(at time.Time) MetaOption {
	return func(m *metav1.ObjectMeta) { m.CreationTimestamp = metav1.NewTime(at) }
}

// Deleted sets the deletion timestamp, which is the time at which the deletion of the object began.
func Deleted(at time.Time) MetaOption {
	return func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: at} }
}

// Finalizers adds finalizers.
func Finalizers(names ...string) MetaOption {
	return func(m *metav1.ObjectMeta) { m.Finalizers = append(m.Finalizers, names...) }
}

// OwnedBy sets the controller of the object; the controller's UID is its name with the prefix "uid-".
func OwnedBy(apiVersion, kind, name string) MetaOption {
	return func(m *metav1.ObjectMeta) {
		controller := true
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &controller,
		})
	}
}

// OfPool sets the NodePool of a Node or NodeClaim.
func OfPool(name string) MetaOption { return Labels(v1.NodePoolLabelKey, name) }

func merge(into map[string]string, pairs []string) map[string]string {
	if into == nil {
		into = make(map[string]string, (len(pairs)+1)/2)
	}
	for pair := range slices.Chunk(pairs, 2) {
		into[pair[0]] = strings.Join(pair[1:], "")
	}
	return into
}

// AmountOption sets the amount of one resource: the request of a pod's first container, the request of a NodeClaim for its pods, the
// capacity and allocatable of a Node, or the capacity of an instance type.
type AmountOption struct {
	name   corev1.ResourceName
	amount resource.Quantity
}

// CPU sets an amount of cpu: "500m", "2". For an invalid text see Amount.
func CPU(amount string) AmountOption { return Amount(corev1.ResourceCPU, amount) }

// Memory sets an amount of memory: "512Mi", "4Gi".
func Memory(amount string) AmountOption { return Amount(corev1.ResourceMemory, amount) }

// MaxPods sets the pod limit of a Node or an instance type.
func MaxPods(n int64) AmountOption {
	return AmountOption{corev1.ResourcePods, *resource.NewQuantity(n, resource.DecimalSI)}
}

// Amount sets an amount of any resource. An invalid text becomes -1, which planners refuse.
func Amount(name corev1.ResourceName, amount string) AmountOption {
	return AmountOption{name, quantity(amount)}
}

// Amounts returns a list of resources. The arguments are pairs: name, amount, name, amount. An invalid or missing amount becomes -1.
func Amounts(pairs ...string) corev1.ResourceList {
	list := make(corev1.ResourceList, (len(pairs)+1)/2)
	for pair := range slices.Chunk(pairs, 2) {
		list[corev1.ResourceName(pair[0])] = quantity(strings.Join(pair[1:], ""))
	}
	return list
}

func quantity(text string) resource.Quantity {
	q, err := quantities.Parse(text)
	if err != nil {
		return *resource.NewQuantity(-1, resource.DecimalSI)
	}
	return q
}

func (o AmountOption) toPod(p *corev1.Pod) {
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	o.addTo(&p.Spec.Containers[0].Resources.Requests)
}

func (o AmountOption) toClaim(c *v1.NodeClaim) { o.addTo(&c.Spec.Resources.Requests) }

func (o AmountOption) toNode(n *corev1.Node) {
	o.addTo(&n.Status.Capacity)
	o.addTo(&n.Status.Allocatable)
}

func (o AmountOption) toType(it *cloudprovider.InstanceType) { o.addTo(&it.Capacity) }

func (o AmountOption) addTo(list *corev1.ResourceList) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[o.name] = o.amount.DeepCopy()
}

// TaintsOption adds taints to a Node, a NodeClaim, or the template of a NodePool.
type TaintsOption []string

// Taints adds taints, for instance "key=value:NoSchedule" or "key:NoExecute". If the effect is missing, it is NoSchedule.
func Taints(taints ...string) TaintsOption { return slices.Clone(taints) }

// Taint parses one taint in the form of Taints.
func Taint(text string) corev1.Taint {
	name, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(name, "=")
	if effect == "" {
		effect = string(corev1.TaintEffectNoSchedule)
	}
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func (o TaintsOption) addTo(list *[]corev1.Taint) {
	for _, text := range o {
		*list = append(*list, Taint(text))
	}
}

func (o TaintsOption) toNode(n *corev1.Node)    { o.addTo(&n.Spec.Taints) }
func (o TaintsOption) toClaim(c *v1.NodeClaim)  { o.addTo(&c.Spec.Taints) }
func (o TaintsOption) toPool(pool *v1.NodePool) { o.addTo(&pool.Spec.Template.Spec.Taints) }
