package manifests

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

// addRequestKind adds ProvisioningRequest. The fields of its version before are the same.
func addRequestKind(kinds map[groupKind]kind) {
	kinds[groupKind{autoscalingv1.Group, autoscalingv1.KindProvisioningRequest}] = kind{
		version: autoscalingv1.Version, older: []string{"v1beta1"}, namespaced: true, ours: true,
		upgrade: func(object any) {
			if request, ok := object.(*autoscalingv1.ProvisioningRequest); ok {
				request.APIVersion = autoscalingv1.APIVersion
			}
		},
		decode: decodeInto(func(o *objects) *[]entry[*autoscalingv1.ProvisioningRequest] { return &o.requests }),
	}
}

// requests returns the ProvisioningRequests of the input, and the PodTemplates that they refer to, completed as pods of workloads are.
func (l *loader) requests() ([]*autoscalingv1.ProvisioningRequest, []*corev1.PodTemplate) {
	if len(l.objects.requests) == 0 {
		return nil, nil
	}
	meant := map[types.NamespacedName]bool{}
	for _, e := range l.objects.requests {
		for _, set := range e.object.Spec.PodSets {
			meant[types.NamespacedName{Namespace: e.object.Namespace, Name: set.PodTemplateRef.Name}] = true
		}
	}
	var templates []*corev1.PodTemplate
	for _, e := range l.objects.podTemplates {
		if !meant[types.NamespacedName{Namespace: e.object.Namespace, Name: e.object.Name}] {
			continue
		}
		t := e.object.DeepCopy()
		l.admission.admit(l, admissible{
			origin: e.origin, kind: kindPodTemplate, name: qualifiedName(t), namespace: t.Namespace, spec: &t.Template.Spec,
		}, newPod)
		templates = append(templates, t)
	}
	slices.SortFunc(templates, func(a, b *corev1.PodTemplate) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	sortEntries(l.objects.requests)
	return listOf(l.objects.requests), templates
}
