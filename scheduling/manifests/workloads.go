package manifests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/manifests/internal/operators"
)

// These are kinds of workloads in owner references.
const (
	kindDeployment            = "Deployment"
	kindReplicaSet            = "ReplicaSet"
	kindStatefulSet           = "StatefulSet"
	kindDaemonSet             = "DaemonSet"
	kindReplicationController = "ReplicationController"
	kindJob                   = "Job"
	kindCronJob               = "CronJob"
	kindPodTemplate           = "PodTemplate"
)

// podTemplate is a pod template and the object that contains it.
type podTemplate struct {
	origin   origin
	kind     string
	object   metav1.Object
	path     string
	template *corev1.PodTemplateSpec
}

// templates lists the pod templates of all workloads and single PodTemplates, in the order of their kinds and of the input.
func (l *loader) templates() []podTemplate {
	var list []podTemplate
	add := func(o origin, kind string, object metav1.Object, path string, template *corev1.PodTemplateSpec) {
		if template != nil {
			list = append(list, podTemplate{o, kind, object, path, template})
		}
	}
	const path = "spec.template"
	for _, e := range l.objects.statefulSets {
		add(e.origin, kindStatefulSet, e.object, path, &e.object.Spec.Template)
	}
	for _, e := range l.objects.deployments {
		add(e.origin, kindDeployment, e.object, path, &e.object.Spec.Template)
	}
	for _, e := range l.objects.replicaSets {
		add(e.origin, kindReplicaSet, e.object, path, &e.object.Spec.Template)
	}
	for _, e := range l.objects.replicationControllers {
		add(e.origin, kindReplicationController, e.object, path, e.object.Spec.Template)
	}
	for _, e := range l.objects.daemonSets {
		add(e.origin, kindDaemonSet, e.object, path, &e.object.Spec.Template)
	}
	for _, e := range l.objects.jobs {
		add(e.origin, kindJob, e.object, path, &e.object.Spec.Template)
	}
	for _, e := range l.objects.cronJobs {
		add(e.origin, kindCronJob, e.object, "spec.jobTemplate.spec.template", &e.object.Spec.JobTemplate.Spec.Template)
	}
	for _, e := range l.objects.custom {
		for i := range e.object.pods.Templates {
			t := &e.object.pods.Templates[i]
			add(e.origin, e.object.Kind, e.object, t.Path, t.Pod)
		}
	}
	for _, e := range l.objects.podTemplates {
		add(e.origin, kindPodTemplate, e.object, "template", &e.object.Template)
	}
	return list
}

// workload is an object that creates pods. It has only the fields that are needed to create them.
type workload struct {
	origin   origin
	kind     string
	object   metav1.Object
	template *corev1.PodTemplateSpec
	// count is the desired number of pods. The ordinals of the pods begin at the value of first.
	count, first int
	// perReplica is the number of pods in what an autoscaler counts as one replica. scale is the range of replicas of a workload that
	// scales itself. It is nil for other workloads.
	perReplica int
	scale      *operators.Scale
	// countPath is the path of the field from which count was read.
	countPath string
	// owner is the owner reference of every pod of the workload.
	owner metav1.OwnerReference
	// labels are added to every pod in addition to the labels of the template.
	labels map[string]string
	// claims are the volume claim templates of a StatefulSet. Every pod gets its own copy of each of these claims.
	claims []corev1.PersistentVolumeClaim
	// indexLabels returns the labels that depend on a pod's name and number. It is nil if pods have no such labels.
	indexLabels func(name string, index int) map[string]string
}

func newWorkload(o origin, kind, apiVersion string, object metav1.Object, template *corev1.PodTemplateSpec) workload {
	return workload{
		origin: o, kind: kind, object: object, template: template,
		countPath: "spec.replicas", perReplica: 1,
		owner: ownerReference(apiVersion, kind, object.GetName(), object),
	}
}

// admissible returns the workload's template in the form in which the API server admits a pod that is made from the template.
func (w *workload) admissible() admissible {
	return admissible{
		origin: w.origin, kind: w.kind, name: qualifiedName(w.object), namespace: w.object.GetNamespace(),
		spec: &w.template.Spec,
	}
}

func ownerReference(apiVersion, kind, name string, object metav1.Object) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: apiVersion, Kind: kind, Name: name, UID: object.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// replicas returns count, or the API's default of one if count is nil.
func replicas(count *int32) int {
	if count == nil {
		return 1
	}
	return int(*count)
}

// workloadsToExpand lists the workloads whose pods must be created. StatefulSets come first, because the names of their pods are fixed, so
// other workloads must use different names.
//
// A workload with pods in the input is not expanded, because the input is then a copy of a cluster, and pods that the input lacks don't
// exist in the cluster either. A Deployment is not expanded if the input has its ReplicaSets, which make its pods. A CronJob is not
// expanded if the input has its Jobs.
func (l *loader) workloadsToExpand() []workload {
	l.scaleDownReferenced()
	owners := l.ownership()
	var list []workload
	add := func(w workload, present int) {
		switch {
		case present == 0:
			l.autoscale(&w)
			if w.count == 0 {
				l.warn(w.origin, remark{
					code: WarningNoReplicas, kind: w.kind, name: qualifiedName(w.object), path: w.countPath, message: "it asks for no pods: nothing is planned for it",
				})
			}
			list = append(list, w)
		case present < w.count:
			l.warn(w.origin, remark{
				code: WarningFewerPods, kind: w.kind, name: qualifiedName(w.object), path: w.countPath,
				message: fmt.Sprintf("%d pods are wanted and %d are in the input; the missing pods are not planned", w.count, present),
			})
		}
	}
	for _, e := range l.objects.statefulSets {
		add(statefulSetWorkload(e.origin, e.object), owners.pods(groupApps, kindStatefulSet, e.object))
	}
	for _, e := range l.objects.deployments {
		if !owners.hasReplicaSets(e.object) {
			add(deploymentWorkload(e.origin, e.object), owners.podsOfDeployment(e.object))
		}
	}
	for _, e := range l.objects.replicaSets {
		w := newWorkload(e.origin, kindReplicaSet, "apps/v1", e.object, &e.object.Spec.Template)
		w.count = replicas(e.object.Spec.Replicas)
		add(w, owners.pods(groupApps, kindReplicaSet, e.object))
	}
	for _, e := range l.objects.replicationControllers {
		w := newWorkload(e.origin, kindReplicationController, "v1", e.object, e.object.Spec.Template)
		w.count = replicas(e.object.Spec.Replicas)
		add(w, owners.pods("", kindReplicationController, e.object))
	}
	for _, e := range l.objects.jobs {
		w := newWorkload(e.origin, kindJob, "batch/v1", e.object, &e.object.Spec.Template)
		if l.jobPods(&w, "spec", &e.object.Spec, &e.object.Status) {
			add(w, owners.pods(groupBatch, kindJob, e.object))
		}
	}
	for _, e := range l.objects.cronJobs {
		if owners.hasJobs(e.object) {
			continue
		}
		w := newWorkload(e.origin, kindCronJob, "batch/v1", e.object, &e.object.Spec.JobTemplate.Spec.Template)
		w.owner.Kind, w.owner.UID = kindJob, "" // its pods belong to the Job that the CronJob would create
		if l.suspended(w, "spec.suspend", e.object.Spec.Suspend) {
			continue
		}
		if l.jobPods(&w, "spec.jobTemplate.spec", &e.object.Spec.JobTemplate.Spec, &batchv1.JobStatus{}) {
			l.warn(w.origin, remark{
				code: WarningCronJob, kind: w.kind, name: qualifiedName(w.object), message: "it is planned as if one of its runs were under way",
			})
			list = append(list, w)
		}
	}
	for _, e := range l.objects.custom {
		l.addCustom(e, owners, add)
	}
	return list
}

// jobPods sets the number of pods of a Job. This is the Job's parallelism, but at most the number of missing completions. It reports
// whether the Job still has pods to run.
func (l *loader) jobPods(w *workload, path string, spec *batchv1.JobSpec, status *batchv1.JobStatus) bool {
	for _, c := range status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	if l.suspended(*w, path+".suspend", spec.Suspend) {
		return false
	}
	w.countPath = path + ".parallelism"
	w.count = replicas(spec.Parallelism)
	if spec.Completions != nil {
		w.count = min(w.count, max(int(*spec.Completions)-int(status.Succeeded), 0))
	}
	w.labels = map[string]string{batchv1.JobNameLabel: w.object.GetName(), "job-name": w.object.GetName()}
	if spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion {
		w.indexLabels = func(_ string, index int) map[string]string {
			return map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)}
		}
	}
	return true
}

func (l *loader) suspended(w workload, path string, suspend *bool) bool {
	if suspend == nil || !*suspend {
		return false
	}
	l.warn(w.origin, remark{
		code: WarningSuspended, kind: w.kind, name: qualifiedName(w.object), path: path,
		message: "it is suspended and runs no pods",
	})
	return true
}

// Autoscaling says how many pods of a workload are planned if a HorizontalPodAutoscaler, or a ScaledObject of KEDA, scales it.
type Autoscaling string

const (
	// AutoscalingCurrent plans the current replicas of the workload, or the nearest number within the autoscaler's bounds. The zero value
	// means the same.
	AutoscalingCurrent Autoscaling = "current"
	// AutoscalingMin plans the autoscaler's minimum number of replicas.
	AutoscalingMin Autoscaling = "min"
	// AutoscalingMax plans the autoscaler's maximum number of replicas.
	AutoscalingMax Autoscaling = "max"
)

// scaler contains the fields of an autoscaler that concern the workload that it scales.
type scaler struct {
	name     string
	min, max int
	// unbounded is true for an autoscaler without a maximum.
	unbounded bool
}

// isScaler reports whether objects of the kind scale workloads.
func isScaler(g groupKind) bool {
	return g == groupKind{"autoscaling", "HorizontalPodAutoscaler"} || g == groupKind{"keda.sh", "ScaledObject"}
}

// readScaler records the minimum and maximum of an autoscaler. It returns false for an unreadable autoscaler.
func (l *loader) readScaler(d document) bool {
	var object struct {
		Metadata struct{ Namespace, Name, UID, CreationTimestamp string }
		Spec     struct {
			ScaleTargetRef                   struct{ APIVersion, Kind, Name string }
			MinReplicas, MaxReplicas         *int32
			MinReplicaCount, MaxReplicaCount *int32
		}
	}
	if json.Unmarshal(d.text, &object) != nil || object.Spec.ScaleTargetRef.Name == "" {
		return false
	}
	s := scaler{name: d.groupKind.kind + " " + object.Metadata.Name, min: 1, max: 1}
	lower, upper := object.Spec.MinReplicas, object.Spec.MaxReplicas
	kind, group := object.Spec.ScaleTargetRef.Kind, ""
	if d.groupKind.group == "keda.sh" {
		lower, upper = object.Spec.MinReplicaCount, object.Spec.MaxReplicaCount
		s.min, s.max = 0, 100
		if kind == "" {
			kind = kindDeployment
		}
	}
	if before, _, grouped := strings.Cut(object.Spec.ScaleTargetRef.APIVersion, "/"); grouped {
		group = before
	} else if kind == kindDeployment || kind == kindStatefulSet || kind == kindReplicaSet {
		group = groupApps
	}
	if lower != nil {
		s.min = max(int(*lower), 0)
	}
	if upper != nil {
		s.max = int(*upper)
	}
	s.max = max(s.max, s.min)
	namespace := object.Metadata.Namespace
	if namespace == "" {
		namespace = l.opts.Namespace
	}
	key := objectKey{groupKind{group, kind}, namespace, object.Spec.ScaleTargetRef.Name}
	if l.isFormer(d.origin, object.Metadata.UID, object.Metadata.CreationTimestamp) {
		return true
	}
	if _, given := l.scalers[key]; !given || !l.live(d.origin) {
		l.scalers[key] = s
	}
	return true
}

// ScaledWorkload is a workload whose number of pods an autoscaler decides.
type ScaledWorkload struct {
	// Kind, Namespace and Name are those of the workload.
	Kind, Namespace, Name string
	// Scaler names what scales it: an autoscaler of the input, or a mechanism of the workload's own project.
	Scaler string
	// Min, Max and Planned are numbers of pods. Planned is the number in the snapshot.
	Min, Max, Planned int
	// Unbounded reports that the autoscaler has no maximum. Max is then at least Planned and has no other meaning.
	Unbounded bool `json:",omitempty"`
}

// scalerOf returns the autoscaler of a workload.
func (l *loader) scalerOf(w *workload) (scaler, bool) {
	group := ""
	if before, _, grouped := strings.Cut(w.owner.APIVersion, "/"); grouped {
		group = before
	}
	if s, ok := l.scalers[keyOf(group, w.kind, w.object)]; ok {
		return s, true
	}
	if w.scale == nil {
		return scaler{}, false
	}
	return scaler{name: w.scale.By, min: w.scale.Min, max: w.scale.Max, unbounded: w.scale.Unbounded}, true
}

// autoscale sets the planned number of pods of a workload with an autoscaler, and adds a warning that states this number.
func (l *loader) autoscale(w *workload) {
	s, ok := l.scalerOf(w)
	if !ok {
		return
	}
	// Autoscalers count replicas. In a workload with groups of pods, one replica has several pods.
	replicas := w.count / w.perReplica
	if s.unbounded {
		s.max = max(replicas, s.min)
	}
	switch l.opts.Autoscaling {
	case AutoscalingMin:
		replicas = s.min
	case AutoscalingMax:
		replicas = s.max
	default:
		if replicas > 0 { // autoscalers do not act on a workload with 0 replicas
			replicas = min(max(replicas, s.min), s.max)
		}
	}
	pods := func(replicas int) int { return int(min(float64(replicas)*float64(w.perReplica), 1<<53)) }
	w.count = pods(replicas)
	l.noteScaled(ScaledWorkload{
		Kind: w.kind, Namespace: w.object.GetNamespace(), Name: w.object.GetName(), Scaler: s.name,
		Min: pods(s.min), Max: pods(s.max), Planned: w.count, Unbounded: s.unbounded,
	})
	scales := fmt.Sprintf("scales it from %d to %d pods", pods(s.min), pods(s.max))
	if s.unbounded {
		scales = fmt.Sprintf("scales it to %d pods or more, without a maximum", pods(s.min))
	}
	l.warn(w.origin, remark{
		code: WarningAutoscaled, kind: w.kind, name: qualifiedName(w.object), path: w.countPath, detail: fmt.Sprint(qualifiedName(w.object), w.perReplica),
		message: fmt.Sprintf("%s %s: planned with %d", s.name, scales, w.count),
	})
}

// noteScaled adds an entry for a workload to the list of scaled workloads. If the last entry is for the same workload, it adds the numbers
// to that entry. This is the case for a workload with several pod templates.
func (l *loader) noteScaled(w ScaledWorkload) {
	if n := len(l.scaled); n > 0 {
		if last := &l.scaled[n-1]; last.Kind == w.Kind && last.Namespace == w.Namespace && last.Name == w.Name {
			last.Min, last.Max, last.Planned = last.Min+w.Min, last.Max+w.Max, last.Planned+w.Planned
			last.Unbounded = last.Unbounded || w.Unbounded
			return
		}
	}
	l.scaled = append(l.scaled, w)
}

func (w ScaledWorkload) compare(o ScaledWorkload) int {
	return cmp.Or(strings.Compare(w.Namespace, o.Namespace), strings.Compare(w.Name, o.Name), strings.Compare(w.Kind, o.Kind))
}
