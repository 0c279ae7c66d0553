package convert

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// oldDisruptionTaintKey is the key of v1beta1's taint of nodes that are being disrupted.
const oldDisruptionTaintKey = "karpenter.sh/disruption"

// templateOf returns the path of the pods' metadata and spec in o; ok is false for kinds without pods.
func templateOf(o *unstructured.Unstructured) (path []string, ok bool) {
	switch o.GetKind() {
	case "Pod":
		return nil, true
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController":
		return []string{"spec", "template"}, true
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}, true
	case "PodTemplate":
		return []string{"template"}, true
	}
	return nil, false
}

func hasPods(o *unstructured.Unstructured) bool {
	_, ok := templateOf(o)
	return ok
}

// workload rewrites the pods of one object.
type workload struct {
	options  Options
	warnings *conversion.Recorder
}

// Workload converts the node selection of a pod, or of the pods of a workload, to the target generation, and returns all changes. It
// renames the annotation that prevents eviction, changes selectors, affinities and spreads by a Provisioner's label to the pool's label,
// and makes pods that avoid nodes of Provisioners also avoid nodes of pools. For v1 it adds a toleration with the new name of the
// disruption taint. Objects without pods are returned unchanged. The argument is not changed.
func Workload(o *unstructured.Unstructured, options Options) (*unstructured.Unstructured, conversion.Warnings) {
	if o == nil {
		return nil, nil
	}
	out := o.DeepCopy()
	path, ok := templateOf(o)
	if !ok {
		return out, nil
	}
	template := out.Object
	var at *field.Path
	for _, name := range path {
		template, ok = template[name].(map[string]any)
		if !ok {
			return out, nil
		}
		at = child(at, name)
	}
	options.Target = cmp.Or(options.Target, V1)
	w := &workload{options: options, warnings: conversion.NewRecorder(o.GetKind(), o.GetName())}
	if metadata, ok := template["metadata"].(map[string]any); ok {
		w.annotations(metadata, child(at, "metadata").Child("annotations"))
	}
	if spec, ok := template["spec"].(map[string]any); ok {
		w.spec(spec, child(at, "spec"))
	}
	return out, w.warnings.Warnings()
}

func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

func (w *workload) annotations(metadata map[string]any, path *field.Path) {
	annotations, _ := metadata["annotations"].(map[string]any)
	const old = v1beta1.DoNotEvictAnnotationKey
	value, ok := annotations[old]
	if !ok {
		return
	}
	delete(annotations, old)
	if _, taken := annotations[api.DoNotDisruptAnnotationKey]; !taken || value == "true" {
		annotations[api.DoNotDisruptAnnotationKey] = value
	}
	w.warnings.Add(conversion.CodeWorkloadKeyRenamed, path.Key(old), old, api.DoNotDisruptAnnotationKey)
}

func (w *workload) spec(spec map[string]any, path *field.Path) {
	if selector, ok := spec["nodeSelector"].(map[string]any); ok {
		if value, ok := selector[v1alpha5.ProvisionerNameLabelKey]; ok {
			delete(selector, v1alpha5.ProvisionerNameLabelKey)
			selector[api.NodePoolLabelKey] = value
			w.renamed(path.Child("nodeSelector").Key(v1alpha5.ProvisionerNameLabelKey))
		}
	}
	if affinity, ok := spec["affinity"].(map[string]any); ok {
		w.affinity(affinity, path.Child("affinity"))
	}
	w.topologyKeys(spec["topologySpreadConstraints"], path.Child("topologySpreadConstraints"))
	if w.options.Target == V1 {
		w.tolerations(spec, path.Child("tolerations"))
	}
}

func (w *workload) renamed(path *field.Path) {
	w.warnings.Add(conversion.CodeWorkloadKeyRenamed, path, v1alpha5.ProvisionerNameLabelKey, api.NodePoolLabelKey)
}

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (w *workload) affinity(affinity map[string]any, path *field.Path) {
	if node, ok := affinity["nodeAffinity"].(map[string]any); ok {
		at := path.Child("nodeAffinity")
		if selector, ok := node[required].(map[string]any); ok {
			for i, term := range objects(selector["nodeSelectorTerms"]) {
				w.expressions(term, at.Child(required, "nodeSelectorTerms").Index(i))
			}
		}
		for i, weighted := range objects(node[preferred]) {
			if term, ok := weighted["preference"].(map[string]any); ok {
				w.expressions(term, at.Child(preferred).Index(i).Child("preference"))
			}
		}
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		pods, ok := affinity[name].(map[string]any)
		if !ok {
			continue
		}
		w.topologyKeys(pods[required], path.Child(name, required))
		for i, weighted := range objects(pods[preferred]) {
			if term, ok := weighted["podAffinityTerm"].(map[string]any); ok {
				w.topologyKey(term, path.Child(name, preferred).Index(i).Child("podAffinityTerm"))
			}
		}
	}
}

// expressions renames the key of the Provisioner label to that of the NodePool label in term. An expression that requires the absence of
// the Provisioner label stays, and the same expression for the NodePool label is added to it.
func (w *workload) expressions(term map[string]any, path *field.Path) {
	list, _ := term["matchExpressions"].([]any)
	var out []any
	for i, item := range list {
		out = append(out, item)
		expression, ok := item.(map[string]any)
		if !ok || expression["key"] != v1alpha5.ProvisionerNameLabelKey {
			continue
		}
		at := path.Child("matchExpressions").Index(i).Child("key")
		if expression["operator"] != "DoesNotExist" {
			expression["key"] = api.NodePoolLabelKey
			w.renamed(at)
			continue
		}
		if slices.ContainsFunc(objects(list), func(o map[string]any) bool {
			return o["key"] == api.NodePoolLabelKey && o["operator"] == "DoesNotExist"
		}) {
			continue
		}
		out = append(out, map[string]any{"key": api.NodePoolLabelKey, "operator": "DoesNotExist"})
		w.renamed(at)
	}
	if list != nil {
		term["matchExpressions"] = out
	}
}

func (w *workload) topologyKeys(list any, path *field.Path) {
	for i, o := range objects(list) {
		w.topologyKey(o, path.Index(i))
	}
}

func (w *workload) topologyKey(o map[string]any, path *field.Path) {
	if o["topologyKey"] == v1alpha5.ProvisionerNameLabelKey {
		o["topologyKey"] = api.NodePoolLabelKey
		w.renamed(path.Child("topologyKey"))
	}
}

// tolerations adds a toleration of v1's taint, which has no value, to tolerations of v1beta1's taint.
func (w *workload) tolerations(spec map[string]any, path *field.Path) {
	list, _ := spec["tolerations"].([]any)
	if slices.ContainsFunc(objects(list), func(o map[string]any) bool { return o["key"] == api.DisruptedTaintKey }) {
		return
	}
	for i, o := range objects(list) {
		if o["key"] != oldDisruptionTaintKey {
			continue
		}
		added := map[string]any{"key": api.DisruptedTaintKey, "operator": "Exists"}
		if effect, ok := o["effect"]; ok {
			added["effect"] = effect
		}
		spec["tolerations"] = append(list, added)
		w.warnings.Add(conversion.CodeTolerationAdded, path.Index(i))
		return
	}
}

// objects returns the entries of a list that are objects; other entries become nil, so that the indexes stay.
func objects(list any) []map[string]any {
	items, _ := list.([]any)
	out := make([]map[string]any, len(items))
	for i, item := range items {
		out[i], _ = item.(map[string]any)
	}
	return out
}
