package scheduling

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// nodeNameField stands for a node's name among its labels, for matchFields on metadata.name. No label can have this key.
const nodeNameField = "field:metadata.name"

// inWords names a label, with a word before it, or the field that stands among labels.
func inWords(before, key string) string {
	if field, ok := strings.CutPrefix(key, "field:"); ok {
		return "field " + field
	}
	return before + key
}

// boundDaemon reports whether the pod is a DaemonSet's and bound. Such pods name their nodes in matchFields, each another;
// as they never move, they need not be told apart by that.
func boundDaemon(pod *corev1.Pod) bool {
	_, ok := daemonOwner(pod)
	return ok && pod.Spec.NodeName != ""
}

// errBoundDaemon is why a pod that its DaemonSet made for its node is not planned.
var errBoundDaemon = errors.New("its DaemonSet made it for the node that it is on")

// namesNode reports whether the pod's required node affinity asks for a node by name.
func namesNode(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
		func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
}

// fieldNeeds reads the matchFields of a term, which ValidatePodSpec has let pass: each is about the node's name.
func fieldNeeds(fields []corev1.NodeSelectorRequirement) needs {
	list := make([]requirements.Requirement, 0, len(fields))
	for i := range fields {
		if fields[i].Operator == corev1.NodeSelectorOpIn {
			list = append(list, requirements.In(nodeNameField, fields[i].Values...))
		} else {
			list = append(list, requirements.NotIn(nodeNameField, fields[i].Values...))
		}
	}
	return newNeeds(list...)
}

// onNewNodes is what a term asks of a node that is still to be made: it can't be any that a field excludes. A term that
// names a node stays as it is, which no new one meets.
func (n needs) onNewNodes() needs {
	excludes := func(r requirements.Requirement) bool { return r.Key() == nodeNameField && absentMeets(r) }
	if !slices.ContainsFunc(n, excludes) {
		return n
	}
	return slices.DeleteFunc(slices.Clone(n), excludes)
}

// placementTerms are the pod's alternatives where it may run: what it selects, on nodes with its operating system.
// kube-scheduler does not look at spec.os, but the kubelet of another system rejects the pod. Spread constraints count
// nodes by requiredTerms, as kube-scheduler does.
func (m *Model) placementTerms(spec *corev1.PodSpec) ([]needs, error) {
	terms, err := m.requiredTerms(spec)
	if err != nil || spec.OS == nil || spec.OS.Name == "" {
		return terms, err
	}
	system := needsOf(m.vocab.FromLabels(map[string]string{corev1.LabelOSStable: string(spec.OS.Name)}))
	out := make([]needs, len(terms))
	for i, term := range terms {
		out[i] = term.and(system)
	}
	return out, nil
}
