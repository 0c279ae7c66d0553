package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// resolveBuffers creates the placeholders of the capacity buffers in the input, completed like pods of workloads. nodes and pending
// contain all other pods.
func (l *loader) resolveBuffers(nodes []joinedNode, pending []*corev1.Pod) []buffers.Resolved {
	if len(l.objects.capacityBuffers) == 0 {
		return nil
	}
	origins := make(map[types.NamespacedName]origin, len(l.objects.capacityBuffers))
	for _, e := range l.objects.capacityBuffers {
		origins[bufferName(e.object)] = e.origin
	}
	resolved := buffers.Resolve(buffers.Input{
		Buffers:      listOf(l.objects.capacityBuffers),
		PodTemplates: listOf(l.objects.podTemplates),
		Deployments:  listOf(l.objects.deployments),
		ReplicaSets:  listOf(l.objects.replicaSets),
		StatefulSets: listOf(l.objects.statefulSets),
		Admit: func(pod *corev1.Pod) {
			name, _ := buffers.BufferOf(pod)
			l.admission.admit(l, admissible{
				origin: origins[name], kind: autoscalingv1beta1.KindCapacityBuffer, name: name.String(),
				namespace: pod.Namespace, spec: &pod.Spec,
			}, newPod)
		},
		MaxPods: &l.limits.Replicas,
	})
	for i := range resolved {
		if r := &resolved[i]; !r.Ready() {
			name := bufferName(r.Buffer)
			l.warn(origins[name], remark{
				code: WarningCapacityBuffer, kind: autoscalingv1beta1.KindCapacityBuffer, name: name.String(), detail: name.String(),
				message: "the buffer keeps no room: " + r.Message,
			})
		}
	}
	l.refuseTakenNames(resolved, origins, takenNames(nodes, pending))
	return resolved
}

func bufferName(b *autoscalingv1beta1.CapacityBuffer) types.NamespacedName {
	return types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
}

func takenNames(nodes []joinedNode, pending []*corev1.Pod) map[types.NamespacedName]bool {
	taken := make(map[types.NamespacedName]bool, len(pending))
	add := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			taken[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = true
		}
	}
	add(pending)
	for i := range nodes {
		add(nodes[i].node.Pods)
	}
	return taken
}

// refuseTakenNames refuses a buffer whose placeholders would have the names of other pods, because a plan identifies pods by name.
func (l *loader) refuseTakenNames(resolved []buffers.Resolved, origins map[types.NamespacedName]origin, taken map[types.NamespacedName]bool) {
	for i := range resolved {
		clash := slices.IndexFunc(resolved[i].Pods, func(pod *corev1.Pod) bool {
			return taken[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
		})
		if clash < 0 {
			continue
		}
		name := bufferName(resolved[i].Buffer)
		l.problem(origins[name], ProblemDuplicate, objectName(autoscalingv1beta1.KindCapacityBuffer, name.String()), "metadata.name",
			fmt.Sprintf("its placeholder %s has the name of a pod of the input: rename the buffer or the workload", resolved[i].Pods[clash].Name))
	}
}

// addRequestKind adds ProvisioningRequest. The version v1beta1 of this kind, which is older than v1, has the same fields.
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
