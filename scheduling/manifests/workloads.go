package manifests

import (
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		for _, part := range e.object.parts {
			add(e.origin, e.object.Kind, e.object, part.path, part.template)
		}
	}
	for _, e := range l.objects.podTemplates {
		add(e.origin, kindPodTemplate, e.object, "template", &e.object.Template)
	}
	return list
}

// workload is an object that creates pods, reduced to the fields that are needed for it.
type workload struct {
	origin   origin
	kind     string
	object   metav1.Object
	template *corev1.PodTemplateSpec
	// count is the desired number of pods; their ordinals begin at first.
	count, first int
	// countPath is the field that contains count.
	countPath string
	// owner is put on every pod.
	owner metav1.OwnerReference
	// labels are put on every pod in addition to those of the template.
	labels map[string]string
	// claims are the volume claims that every pod of a StatefulSet gets a copy of.
	claims []corev1.PersistentVolumeClaim
	// indexed says that pods have labels with their number.
	indexLabels func(name string, index int) map[string]string
}

func newWorkload(o origin, kind, apiVersion string, object metav1.Object, template *corev1.PodTemplateSpec) workload {
	return workload{
		origin: o, kind: kind, object: object, template: template,
		countPath: "spec.replicas",
		owner:     ownerReference(apiVersion, kind, object.GetName(), object),
	}
}

// admissible returns the workload's template as the API server would see a pod made from it.
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

// workloadsToExpand lists the workloads whose pods must be created, StatefulSets first: the names of their pods are fixed, so other
// workloads must use different names.
//
// A workload with pods in the input is not expanded: the input is then a copy of a cluster, and pods that are missing from it are also
// missing in the cluster. The ReplicaSets of a Deployment in the input make its pods, and the Jobs of a CronJob make the CronJob's pods.
func (l *loader) workloadsToExpand() []workload {
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
		group, _, _ := strings.Cut(e.object.APIVersion, "/")
		present := owners.pods(group, e.object.Kind, e.object)
		for _, w := range e.object.workloads(e.origin) {
			if present == 0 {
				add(w, 0)
			}
		}
	}
	return list
}

// jobPods sets the number of pods of a Job: its parallelism, but at most the number of missing completions. It reports whether the Job
// still has pods to run.
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
}

// isScaler reports whether objects of the kind scale workloads.
func isScaler(g groupKind) bool {
	return g == groupKind{"autoscaling", "HorizontalPodAutoscaler"} || g == groupKind{"keda.sh", "ScaledObject"}
}

// readScaler notes the bounds of an autoscaler. It returns false for an unreadable autoscaler.
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

// autoscale sets how many pods of a workload with an autoscaler are planned, and adds a warning that says so.
func (l *loader) autoscale(w *workload) {
	group := ""
	if before, _, grouped := strings.Cut(w.owner.APIVersion, "/"); grouped {
		group = before
	}
	s, ok := l.scalers[keyOf(group, w.kind, w.object)]
	if !ok {
		return
	}
	switch l.opts.Autoscaling {
	case AutoscalingMin:
		w.count = s.min
	case AutoscalingMax:
		w.count = s.max
	default:
		if w.count > 0 { // with 0 replicas autoscaling is off
			w.count = min(max(w.count, s.min), s.max)
		}
	}
	l.warn(w.origin, remark{
		code: WarningAutoscaled, kind: w.kind, name: qualifiedName(w.object), path: w.countPath, detail: qualifiedName(w.object),
		message: fmt.Sprintf("%s scales it from %d to %d pods: planned with %d", s.name, s.min, s.max, w.count),
	})
}
