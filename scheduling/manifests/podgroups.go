package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/podgroups"
)

// Groups of kinds that describe pods which are scheduled together, and the kinds.
const (
	groupScheduling   = "scheduling.k8s.io"
	groupCoscheduling = "scheduling.x-k8s.io"
	// groupCoschedulingOld is the name of the coscheduling API group until scheduler-plugins v0.24.
	groupCoschedulingOld = "scheduling.sigs.k8s.io"
	groupVolcano         = "scheduling.volcano.sh"

	kindPodGroup          = "PodGroup"
	kindWorkload          = "Workload"
	kindCompositePodGroup = "CompositePodGroup"
)

// podGroup is an object that describes a pod group.
type podGroup struct {
	metav1.TypeMeta `json:",inline"`
	podgroups.Object
	groupKind groupKind
}

// addGroupKinds adds the kinds of objects that describe pod groups to the kinds that planning reads.
func addGroupKinds(kinds map[groupKind]kind) {
	for _, k := range []struct {
		groupKind
		version string
		older   []string
	}{
		{groupKind{groupScheduling, kindPodGroup}, "v1beta1", []string{"v1alpha2", "v1alpha3"}},
		// From v1alpha2 on, a Workload only contains templates of PodGroups. Planning reads the PodGroups themselves.
		{groupKind{groupScheduling, kindWorkload}, "v1beta1", []string{"v1alpha1", "v1alpha2", "v1alpha3"}},
		{groupKind{groupScheduling, kindCompositePodGroup}, "v1alpha3", nil},
		{groupKind{groupCoscheduling, kindPodGroup}, "v1alpha1", nil},
		{groupKind{groupCoschedulingOld, kindPodGroup}, "v1alpha1", nil},
		{groupKind{groupVolcano, kindPodGroup}, "v1beta1", nil},
	} {
		kinds[k.groupKind] = kind{version: k.version, older: k.older, namespaced: true, decode: decodePodGroup}
	}
}

// decodePodGroup decodes an object that describes a pod group, and adds it to the loader's objects. Fields that planning does not use may
// have any value.
func decodePodGroup(l *loader, d document) {
	object := &podGroup{groupKind: d.groupKind}
	object.Object.Kind = podgroups.KindOf(d.groupKind.group, d.groupKind.kind)
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(d.text, object); err != nil {
		l.problem(d.origin, ProblemType, l.nameOf(d), "", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	if !l.accept(d, object) {
		return
	}
	name := objectName(d.groupKind.kind, qualifiedName(object))
	counts := object.Counts()
	for _, path := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[path]; n < 0 || n > int64(l.limits.Replicas) {
			l.problem(d.origin, ProblemInvalid, name, path, fmt.Sprintf("must be a whole number from 0 to %d", l.limits.Replicas))
		}
	}
	if c := object.Spec.SchedulingConstraints; c != nil {
		seen := map[string]bool{}
		for i, t := range c.Topology {
			path := fmt.Sprintf("spec.schedulingConstraints.topology[%d].key", i)
			switch {
			case i == maxGroupTopology:
				l.problem(d.origin, ProblemTooLarge, name, "spec.schedulingConstraints.topology", fmt.Sprintf("must have at most %d entries", maxGroupTopology))
			case !isLabelKey(t.Key):
				l.problem(d.origin, ProblemInvalid, name, path, fmt.Sprintf("%q is not a label key", t.Key))
			case seen[t.Key]:
				l.problem(d.origin, ProblemInvalid, name, path, "repeats "+t.Key)
			}
			seen[t.Key] = true
		}
	}
	l.objects.podGroups = append(l.objects.podGroups, entry[*podGroup]{object: object, origin: d.origin})
}

// maxGroupTopology is the maximum number of topology constraints of a group. Kubernetes allows one constraint.
const maxGroupTopology = 8

func isLabelKey(key string) bool { return len(validation.IsQualifiedName(key)) == 0 }

// fieldSchedulingGroup is a field of pods since Kubernetes v1.36 that the API library does not know.
const fieldSchedulingGroup = "schedulingGroup"

// noteGroup records the PodGroup that a pod, or a pod template of a workload, names in spec.schedulingGroup.
func (l *loader) noteGroup(d document, object any) {
	if !bytes.Contains(d.text, []byte(fieldSchedulingGroup)) {
		return
	}
	template, path := templateOf(object)
	var fields map[string]any
	if template == nil || sigsjson.UnmarshalCaseSensitivePreserveInts(d.text, &fields) != nil {
		return
	}
	name, _ := fieldAt(fields, path+"."+fieldSchedulingGroup+".podGroupName").(string)
	if name == "" {
		return
	}
	if pod, ok := object.(*corev1.Pod); ok {
		l.groupOfPod[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = name
	} else {
		l.groupOfTemplate[template] = name
	}
}

// templateOf returns the pod spec of the object and its path, or nil for an object without pod spec.
func templateOf(object any) (spec *corev1.PodSpec, path string) {
	const template = "spec.template.spec"
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.Spec, "spec"
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec, template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec, template
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec, template
	case *batchv1.Job:
		return &o.Spec.Template.Spec, template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template.Spec, "spec.jobTemplate." + template
	}
	return nil, ""
}
