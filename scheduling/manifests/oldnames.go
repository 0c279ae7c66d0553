package manifests

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// oldNames renames annotations of pods from older generations, and reports pods that select the v1alpha5 label if no node has it.
func (l *loader) oldNames() {
	inUse := l.firstGenerationInUse()
	look := func(o origin, kind, name, metadata, path string, meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
		l.renameDoNotEvict(o, kind, name, metadata, meta)
		if at := askedForProvisioner(spec); at != "" && !inUse {
			l.warn(o, remark{
				code: WarningOldLabel, kind: kind, name: name, path: path + "." + at, detail: at,
				message: fmt.Sprintf("no node of the input's pools bears %s: theirs is %s; rename it (examples/convert --workloads does)",
					v1alpha5.ProvisionerNameLabelKey, v1.NodePoolLabelKey),
			})
		}
	}
	for _, e := range l.objects.pods {
		look(e.origin, "Pod", qualifiedName(e.object), "metadata", "spec", &e.object.ObjectMeta, &e.object.Spec)
	}
	for _, t := range l.templates() {
		look(t.origin, t.kind, qualifiedName(t.object), t.path+".metadata", t.path+".spec", &t.template.ObjectMeta, &t.template.Spec)
	}
}

// firstGenerationInUse reports whether the v1alpha5 label can have an effect: if a pool was created as v1alpha5, or a node has the label.
func (l *loader) firstGenerationInUse() bool {
	for _, e := range l.objects.nodePools {
		if e.born == v1.GenerationV1Alpha5 {
			return true
		}
	}
	for _, e := range l.objects.nodes {
		if e.object.Labels[v1alpha5.ProvisionerNameLabelKey] != "" {
			return true
		}
	}
	return false
}

// renameDoNotEvict has a pod that must not be evicted say so in the present words.
func (l *loader) renameDoNotEvict(o origin, kind, name, path string, meta *metav1.ObjectMeta) {
	const old = v1beta1.DoNotEvictAnnotationKey
	value, ok := meta.Annotations[old]
	if !ok {
		return
	}
	meta.Annotations = maps.Clone(meta.Annotations)
	delete(meta.Annotations, old)
	if _, taken := meta.Annotations[v1.DoNotDisruptAnnotationKey]; !taken || value == "true" {
		meta.Annotations[v1.DoNotDisruptAnnotationKey] = value
	}
	l.warn(o, remark{
		code: WarningCode(conversion.CodeWorkloadKeyRenamed), kind: kind, name: name, path: path + ".annotations[" + old + "]",
		message: old + " renamed to " + v1.DoNotDisruptAnnotationKey,
	})
}

// askedForProvisioner returns the field in which a pod selects nodes of a Provisioner, or spreads over them, or "" if there is none. That
// the label be absent it may ask anywhere.
func askedForProvisioner(spec *corev1.PodSpec) string {
	const key = v1alpha5.ProvisionerNameLabelKey
	if _, ok := spec.NodeSelector[key]; ok {
		return "nodeSelector[" + key + "]"
	}
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		if required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			const path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
			for i, term := range required.NodeSelectorTerms {
				for j, e := range term.MatchExpressions {
					if e.Key == key && e.Operator != corev1.NodeSelectorOpDoesNotExist && e.Operator != corev1.NodeSelectorOpNotIn {
						return fmt.Sprintf("%s[%d].matchExpressions[%d].key", path, i, j)
					}
				}
			}
		}
	}
	for i := range spec.TopologySpreadConstraints {
		if spec.TopologySpreadConstraints[i].TopologyKey == key {
			return fmt.Sprintf("topologySpreadConstraints[%d].topologyKey", i)
		}
	}
	return ""
}
