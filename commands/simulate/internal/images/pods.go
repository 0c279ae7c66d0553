package images

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Annotation of a pod, or of its template, lists the architectures for which all of its images are built: "amd64" or "amd64,arm64".
const Annotation = "drawknife.dev/architectures"

// ConflictError says that there is no architecture for which all images of a pod are built.
type ConflictError struct {
	// Pod is "namespace/name".
	Pod string
	// Image is an image that has no architecture in common with the pod's other images.
	Image string
}

// Error names the pod and the image, and says what to do.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("pod %s: no architecture that image %.200q is built for is one of its other images: build them for a common one, or correct --images", e.Pod, e.Image)
}

// Restrict returns the snapshot with an added requirement on pods: their node must have an architecture for which all images of the pod are
// built. Images of unknown architectures add no requirement. The snapshot passed to Restrict stays unchanged. The error is a
// *ConflictError, or names an annotation that is not a list of architectures.
func Restrict(snapshot *scheduling.Snapshot, known Known) (*scheduling.Snapshot, error) {
	r := &restricter{known: known}
	out := *snapshot
	var err error
	if out.Pods, err = r.pods(snapshot.Pods); err != nil {
		return nil, err
	}
	out.Nodes = slices.Clone(snapshot.Nodes)
	for i := range out.Nodes {
		if out.Nodes[i].Pods, err = r.pods(out.Nodes[i].Pods); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// Stated reports whether the pod itself chooses the architecture of its nodes, by a node selector or a required node affinity.
func Stated(pod *corev1.Pod) bool {
	if pod.Spec.NodeSelector[corev1.LabelArchStable] != "" {
		return true
	}
	for _, term := range requiredTerms(pod) {
		if slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return e.Key == corev1.LabelArchStable }) {
			return true
		}
	}
	return false
}

func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

// restricter restricts the pods of a snapshot.
type restricter struct {
	known Known
	// last is the previous pod, and affinity is its new affinity. The following pods of the same template get the same affinity. A nil
	// affinity means that the pod is unchanged.
	last     *corev1.Pod
	affinity *corev1.Affinity
}

func (r *restricter) pods(pods []*corev1.Pod) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	for i, pod := range pods {
		if r.last == nil || !sameTemplate(r.last, pod) {
			list, err := r.architectures(pod)
			if err != nil {
				return nil, err
			}
			r.affinity = nil
			if list != nil {
				r.affinity = withArchitectures(pod, list)
			}
		}
		if r.last = pod; r.affinity == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(pods)
		}
		restricted := *pod
		restricted.Spec.Affinity = r.affinity
		out[i] = &restricted
	}
	if out == nil {
		return pods, nil
	}
	return out, nil
}

// sameTemplate reports whether two pods share the containers and annotations of one template.
func sameTemplate(a, b *corev1.Pod) bool {
	owners := func(x, y []metav1.OwnerReference) bool { return len(x) > 0 && len(x) == len(y) && &x[0] == &y[0] }
	return owners(a.OwnerReferences, b.OwnerReferences) && len(a.Spec.Containers) > 0 && len(b.Spec.Containers) > 0 &&
		&a.Spec.Containers[0] == &b.Spec.Containers[0] && a.Spec.Affinity == b.Spec.Affinity
}

// architectures returns the architectures of the pod's annotation or, without it, those that suit all images of the pod, sorted. Images
// with unknown architectures are ignored; if the architectures of all images are unknown, the result is nil.
func (r *restricter) architectures(pod *corev1.Pod) ([]string, error) {
	var all []string
	if text := pod.Annotations[Annotation]; text != "" {
		for name := range strings.SplitSeq(text, ",") {
			all = append(all, strings.TrimSpace(name))
		}
		all, err := checked(all)
		if err != nil {
			return nil, fmt.Errorf("pod %s/%s: annotation %s: %w", pod.Namespace, pod.Name, Annotation, err)
		}
		return all, nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			list, known := r.known[normal(containers[i].Image)]
			if !known || containers[i].Image == "" {
				continue
			}
			if all == nil {
				all = slices.Clone(list)
			}
			all = slices.DeleteFunc(all, func(a string) bool { return !slices.Contains(list, a) })
			if len(all) == 0 {
				return nil, &ConflictError{Pod: pod.Namespace + "/" + pod.Name, Image: containers[i].Image}
			}
		}
	}
	return all, nil
}

// withArchitectures returns the affinity of the pod, plus the requirement that the node has one of the architectures.
func withArchitectures(pod *corev1.Pod, list []string) *corev1.Affinity {
	affinity := pod.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	added := required == nil
	if added {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		if !added && len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			continue // a term without expressions matches no node
		}
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: list})
	}
	return affinity
}
