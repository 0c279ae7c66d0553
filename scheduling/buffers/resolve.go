package buffers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/option"
)

// DefaultMaxPods is the default limit on placeholders, which is more than the number of pods in the largest clusters.
const DefaultMaxPods = 100_000

// Input contains the objects for resolving buffers, as an API server returns them. The lists may be in any order; no object is changed.
type Input struct {
	// Buffers to resolve. An invalid buffer is resolved to no pods, and does not affect other buffers.
	Buffers []*v1beta1.CapacityBuffer
	// PodTemplates, Deployments, ReplicaSets and StatefulSets are the objects that buffers may refer to, also in other namespaces.
	PodTemplates []*corev1.PodTemplate
	Deployments  []*appsv1.Deployment
	ReplicaSets  []*appsv1.ReplicaSet
	StatefulSets []*appsv1.StatefulSet
	// Admit completes a pod like the cluster's admission would if the pod was created: defaults of LimitRanges, overhead of RuntimeClasses.
	// It is called once per buffer before pods are counted, with a copy of the pod that it may change. With nil, pods stay unchanged.
	Admit func(pod *corev1.Pod)
	// MaxPods bounds the pods of all buffers together, so that a mistyped number (replicas: 2000000000) does not fill the memory. The
	// buffer that exceeds it is not resolved. Nil means DefaultMaxPods.
	MaxPods *int
}

// Resolved is a buffer with its placeholders.
type Resolved struct {
	// Buffer is the given buffer, unchanged.
	Buffer *v1beta1.CapacityBuffer
	// Reason is the reason of the condition ReadyForProvisioning: v1beta1.ReasonResolved, or why no placeholder can be planned.
	Reason string
	// Message is a sentence for people: what limited the buffer, or what is wrong and what to do. Empty if no message is needed.
	Message string
	// PodTemplate is the template of the pods; nil for a buffer of a workload.
	PodTemplate *corev1.PodTemplate
	// Pods are the placeholders, in the order of their numbers; the list is empty unless Reason is v1beta1.ReasonResolved. The pods share
	// memory for the parts that are equal.
	Pods []*corev1.Pod
}

// Ready reports whether it is known which pods the buffer stands for.
func (r *Resolved) Ready() bool { return r.Reason == v1beta1.ReasonResolved }

// Resolve finds out which pods each buffer stands for. The result is sorted by the buffers' namespaces and names.
func Resolve(in Input) []Resolved {
	buffers := slices.DeleteFunc(slices.Clone(in.Buffers), func(b *v1beta1.CapacityBuffer) bool { return b == nil })
	slices.SortStableFunc(buffers, func(a, b *v1beta1.CapacityBuffer) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	resolver := newResolver(in)
	resolved := make([]Resolved, len(buffers))
	for i, b := range buffers {
		resolved[i] = resolver.resolve(b)
	}
	return resolved
}

// Placeholders returns the pods of all buffers, in the order of the buffers, for Snapshot.Placeholders.
func Placeholders(resolved []Resolved) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range resolved {
		pods = append(pods, resolved[i].Pods...)
	}
	return pods
}

// Record writes the result at the current time to the status of b, which must not be shared: the condition ReadyForProvisioning, the number
// of pods, the template and the strategy. It reports whether b has changed.
func (r *Resolved) Record(b *v1beta1.CapacityBuffer, now time.Time) bool {
	if b == nil {
		return false
	}
	before := b.Status.DeepCopy()
	status := metav1.ConditionFalse
	b.Status.Replicas, b.Status.PodTemplateRef, b.Status.PodTemplateGeneration, b.Status.ProvisioningStrategy = nil, nil, nil, nil
	if r.Ready() {
		status = metav1.ConditionTrue
		count, strategy := int32(len(r.Pods)), r.Buffer.Strategy()
		b.Status.Replicas, b.Status.ProvisioningStrategy = &count, &strategy
	}
	if t := r.PodTemplate; t != nil {
		generation := t.Generation
		b.Status.PodTemplateRef = &v1beta1.LocalObjectRef{Name: t.Name}
		b.Status.PodTemplateGeneration = &generation
	}
	b.SetCondition(v1beta1.ConditionReadyForProvisioning, status, r.Reason, r.Message, now)
	return !equality.Semantic.DeepEqual(before, &b.Status)
}

// object identifies a workload or PodTemplate that a buffer may refer to.
type object struct{ kind, namespace, name string }

// mould contains the common parts of a buffer's pods.
type mould struct {
	template *corev1.PodTemplateSpec
	// replicas is the number of replicas in the workload's spec.
	replicas int32
	// source is the PodTemplate. It is nil if the buffer refers to a workload.
	source *corev1.PodTemplate
}

const kindPodTemplate = "PodTemplate"

type resolver struct {
	moulds map[object]mould
	admit  func(*corev1.Pod)
	// room is the number of further placeholders that MaxPods allows.
	room int
	max  int
}

func newResolver(in Input) *resolver {
	r := &resolver{moulds: make(map[object]mould), admit: in.Admit, room: max(0, option.Or(in.MaxPods, DefaultMaxPods))}
	r.max = r.room
	for _, t := range in.PodTemplates {
		if t != nil {
			r.moulds[object{kindPodTemplate, t.Namespace, t.Name}] = mould{template: &t.Template, source: t}
		}
	}
	for _, d := range in.Deployments {
		if d != nil {
			r.moulds[object{v1beta1.KindDeployment, d.Namespace, d.Name}] = mould{template: &d.Spec.Template, replicas: wanted(d.Spec.Replicas)}
		}
	}
	for _, s := range in.ReplicaSets {
		if s != nil {
			r.moulds[object{v1beta1.KindReplicaSet, s.Namespace, s.Name}] = mould{template: &s.Spec.Template, replicas: wanted(s.Spec.Replicas)}
		}
	}
	for _, s := range in.StatefulSets {
		if s != nil {
			r.moulds[object{v1beta1.KindStatefulSet, s.Namespace, s.Name}] = mould{template: &s.Spec.Template, replicas: wanted(s.Spec.Replicas)}
		}
	}
	return r
}

// wanted returns the number of replicas, or the API's default of one if the pointer is nil.
func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

func (r *resolver) resolve(b *v1beta1.CapacityBuffer) Resolved {
	failed := func(reason, message string) Resolved { return Resolved{Buffer: b, Reason: reason, Message: message} }
	if errs := b.Validate(); len(errs) > 0 {
		return failed(v1beta1.ReasonResolutionFailed, errs.ToAggregate().Error())
	}
	if b.DeletionTimestamp != nil {
		return failed(v1beta1.ReasonResolutionFailed, "the buffer is being deleted")
	}
	m, reason, message := r.find(b)
	if m.template == nil {
		return failed(reason, message)
	}
	prototype := newPrototype(b, m.template)
	if r.admit != nil {
		r.admit(prototype)
		mark(prototype, b)
	}
	count, message, err := countPods(&b.Spec, m.replicas, prototype)
	if err != nil {
		return failed(v1beta1.ReasonResolutionFailed, err.Error())
	}
	if count > int64(r.room) {
		return failed(v1beta1.ReasonResolutionFailed, fmt.Sprintf(
			"the buffer stands for %d pods, and with those of the buffers before it there would be more than the %d allowed: lower its size or its limits", count, r.max))
	}
	r.room -= int(count)
	return Resolved{
		Buffer: b, Reason: v1beta1.ReasonResolved, Message: message, PodTemplate: m.source,
		Pods: placeholders(b, prototype, int(count)),
	}
}

// find looks up the object that a valid buffer refers to. If this object does not exist, find returns a reason and a message.
func (r *resolver) find(b *v1beta1.CapacityBuffer) (m mould, reason, message string) {
	key := object{kindPodTemplate, b.Namespace, ""}
	if ref := b.Spec.PodTemplateRef; ref != nil {
		key.name, reason = ref.Name, v1beta1.ReasonPodTemplateNotFound
	} else {
		ref := b.Spec.ScalableRef
		key.kind, key.name, reason = ref.Kind, ref.Name, v1beta1.ReasonScalableRefNotFound
	}
	m, ok := r.moulds[key]
	if !ok {
		return mould{}, reason, fmt.Sprintf("there is no %s %q in namespace %q: create it or correct the reference", key.kind, key.name, key.namespace)
	}
	return m, "", ""
}
