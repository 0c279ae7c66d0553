package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// Rewrite makes manifests of the target generation. Objects of that generation pass through unchanged; for converted objects, only name,
// labels, annotations and finalizers of the metadata are kept, except the annotation of kubectl apply. Objects of other groups are left out
// with a warning.
func Rewrite(documents []Document, options Options) Result {
	options.Target = cmp.Or(options.Target, V1)
	b := newBundle(documents, options)
	b.takeIn()
	b.judge()
	for _, e := range b.entries {
		b.dropApplied(e)
		trim(e, options.Target)
	}
	b.refuseClashes()
	switch {
	case options.Target == V1Beta1:
		b.toV1Beta1()
	default:
		if !options.ReferenceCompat {
			b.moveKubelets()
		}
		b.toV1()
	}
	return b.result()
}

// Read converts live objects to v1, and keeps all their metadata and status.
func Read(documents []Document, options Options) Result {
	options.Target = V1
	b := newBundle(documents, options)
	b.live = true
	b.takeIn()
	b.refuseClashes()
	b.toV1()
	return b.result()
}

// rewritten reports whether the entry has another generation than the target, so that it doesn't pass through unchanged. Overlays and
// workloads always pass through.
func (e *entry) rewritten(target Version) bool {
	switch e.object.(type) {
	case *unstructured.Unstructured, *api.NodeOverlay:
		return false
	}
	return !e.born.Source.Empty() && e.born.Source.Version != string(target)
}

// dropApplied removes from a rewritten object the annotation with the manifest that kubectl apply was last given, and reports it. With that
// annotation, the next apply would compare with fields of the old generation: a field removed from the new manifest would then stay in the
// cluster.
func (b *bundle) dropApplied(e *entry) {
	const key = corev1.LastAppliedConfigAnnotation
	annotations := e.object.GetAnnotations()
	if _, noted := annotations[key]; !noted || b.options.ReferenceCompat || !e.rewritten(b.options.Target) {
		return
	}
	annotations = maps.Clone(annotations)
	delete(annotations, key)
	e.object.SetAnnotations(annotations)
	told := conversion.NewRecorder(e.born.Source.Kind, e.born.Name)
	told.Add(conversion.CodeAppliedDropped, field.NewPath("metadata", "annotations").Key(key))
	b.note(e.document, told.Warnings())
}

// trim removes the status of a rewritten object and the metadata that an API server wrote.
func trim(e *entry, target Version) {
	if !e.rewritten(target) {
		return
	}
	meta := metav1.ObjectMeta{
		Name: e.object.GetName(), Labels: e.object.GetLabels(), Annotations: e.object.GetAnnotations(), Finalizers: e.object.GetFinalizers(),
	}
	switch o := e.object.(type) {
	case *v1beta1.NodePool:
		o.ObjectMeta, o.Status = meta, v1beta1.NodePoolStatus{}
	case *v1beta1.NodeClaim:
		o.ObjectMeta, o.Status = meta, v1beta1.NodeClaimStatus{}
	case *awsv1beta1.EC2NodeClass:
		o.ObjectMeta, o.Status = meta, awsv1beta1.EC2NodeClassStatus{}
	case *api.NodePool:
		o.ObjectMeta, o.Status = meta, api.NodePoolStatus{}
	case *api.NodeClaim:
		o.ObjectMeta, o.Status = meta, api.NodeClaimStatus{}
	case *awsv1.EC2NodeClass:
		o.ObjectMeta, o.Status = meta, awsv1.EC2NodeClassStatus{}
	}
}

// single reports whether the conversion must check that no other object has the same kind and name. For live objects, the API server has
// already ensured this. The exception is a node template and an inline provider block: both become node classes, which may get the same
// name.
func (b *bundle) single(e *entry) bool {
	switch e.object.(type) {
	case *unstructured.Unstructured:
		return false
	case *awsv1beta1.EC2NodeClass:
		return !b.live || e.born.FirstGeneration()
	}
	return !b.live
}

// refuseClashes finds results with the same kind and name. If such results are equal, it keeps the first of them. If they differ, it
// refuses the later document.
func (b *bundle) refuseClashes() {
	first := make(map[string]*entry)
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool {
		if b.refused[e.document] || !b.single(e) {
			return false
		}
		earlier, taken := first[e.label()]
		if !taken {
			first[e.label()] = e
			return false
		}
		if meaning(earlier.object) == meaning(e.object) {
			return true
		}
		more := conversion.NewRecorder(cmp.Or(e.born.Source.Kind, e.object.GetObjectKind().GroupVersionKind().Kind), cmp.Or(e.born.Name, e.object.GetName()))
		more.Add(conversion.CodeNameClash, nil, b.describe(earlier))
		b.note(e.document, more.Warnings())
		return false
	})
}

// describe returns the object's kind and name with its origin, because the conversion may have made it from an object of another kind.
func (b *bundle) describe(e *entry) string {
	text, from := e.label(), b.documents[e.document]
	var origin []string
	if kind := from.Object.GetObjectKind().GroupVersionKind().Kind; kind+"/"+from.Object.GetName() != text {
		origin = append(origin, "made of "+kind+"/"+from.Object.GetName())
	}
	if from.Position != (Position{}) {
		origin = append(origin, from.Position.String())
	}
	if len(origin) == 0 {
		return text
	}
	return text + ", " + strings.Join(origin, ", ") + ","
}

// meaning returns the object in v1 as text, without status and without metadata that an API server adds.
func meaning(o Object) string {
	o = deepCopy(o)
	options := Options{Force: true}
	switch in := o.(type) {
	case *v1beta1.NodePool:
		hub, _ := in.ToV1(options.NodePoolOptions())
		o = hub
	case *v1beta1.NodeClaim:
		hub, _ := in.ToV1(options.NodePoolOptions())
		o = hub
	case *awsv1beta1.EC2NodeClass:
		hub, _ := in.ToV1(options.NodeClassOptions())
		o = hub
	}
	e := &entry{object: o, born: conversion.Provenance{Source: v1beta1.GroupVersion().WithKind("any")}}
	trim(e, V1)
	text, err := json.Marshal(e.object)
	if err != nil {
		return ""
	}
	return string(text)
}

// toV1Beta1 converts v1 objects back to v1beta1, as Karpenter's webhook also does.
func (b *bundle) toV1Beta1() {
	if !b.options.ReferenceCompat {
		b.returnKubelets()
	}
	for _, e := range b.entries {
		var warnings conversion.Warnings
		var out Object
		switch o := e.object.(type) {
		case *api.NodePool:
			back, w := v1beta1.NodePoolFromV1(o, b.options.NodePoolOptions())
			warnings = w
			if back != nil {
				out = back
			}
		case *api.NodeClaim:
			back, w := v1beta1.NodeClaimFromV1(o, b.options.NodePoolOptions())
			warnings = w
			if back != nil {
				out = back
			}
		case *awsv1.EC2NodeClass:
			back, w := awsv1beta1.FromV1(o, b.options.NodeClassOptions())
			warnings = w
			if back != nil {
				out = back
			}
		default:
			continue
		}
		e.object = out
		b.note(e.document, warnings)
	}
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool { return e.object == nil })
}
