package manifests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/scheduling/manifests/internal/operators"
)

func deploymentWorkload(o origin, d *appsv1.Deployment) workload {
	w := newWorkload(o, kindDeployment, "apps/v1", d, &d.Spec.Template)
	w.count = replicas(d.Spec.Replicas)
	w.labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: templateHash(&d.Spec.Template)}
	return w
}

func statefulSetWorkload(o origin, s *appsv1.StatefulSet) workload {
	w := newWorkload(o, kindStatefulSet, "apps/v1", s, &s.Spec.Template)
	w.count = replicas(s.Spec.Replicas)
	if s.Spec.Ordinals != nil {
		w.first = int(s.Spec.Ordinals.Start)
	}
	w.claims = s.Spec.VolumeClaimTemplates
	w.indexLabels = func(name string, index int) map[string]string {
		return map[string]string{appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: strconv.Itoa(index)}
	}
	return w
}

// templateHash distinguishes revisions of a Deployment, like the label that the Deployment controller sets. The value differs from the
// value in a cluster, which depends on the controller's version.
func templateHash(template *corev1.PodTemplateSpec) string {
	text, err := json.Marshal(template)
	if err != nil {
		text = []byte(template.Name) // never: a decoded template can always be encoded
	}
	hash := fnv.New64a()
	hash.Write(text) // never fails
	return strconv.FormatUint(hash.Sum64()%(1<<48), 36)
}

// expand creates the pods of workloads that have none, with their ReplicaSets and volume claims.
func (l *loader) expand() {
	list := l.workloadsToExpand()
	slices.SortStableFunc(list, func(a, b workload) int {
		// StatefulSets come before other kinds: see workloadsToExpand.
		return cmp.Or(kindOrder(a.kind)-kindOrder(b.kind), strings.Compare(a.kind, b.kind), compareNames(a.object, b.object))
	})
	if !l.countReplicas(list) {
		return
	}
	prefixes := make(map[podPrefix]bool, len(list))
	given := len(l.objects.pods)
	for i := range list {
		l.expandWorkload(&list[i], prefixes, given)
	}
}

func kindOrder(kind string) int {
	kinds := []string{kindStatefulSet, kindDeployment, kindReplicaSet, kindReplicationController, kindJob, kindCronJob}
	if i := slices.Index(kinds, kind); i >= 0 {
		return i
	}
	return len(kinds)
}

// countReplicas adds up the replicas of the workloads before any pod is made. It refuses the first workload with which the sum exceeds
// Limits.Replicas.
func (l *loader) countReplicas(list []workload) bool {
	total := 0
	for i := range list {
		w := &list[i]
		if w.count > l.limits.Replicas-total {
			l.problem(w.origin, ProblemTooLarge, objectName(w.kind, qualifiedName(w.object)), w.countPath,
				fmt.Sprintf("with %d pods the workloads of the input have more than the %d allowed", w.count, l.limits.Replicas))
			return false
		}
		total += w.count
	}
	return true
}

// podPrefix is the beginning of the names of a workload's pods.
type podPrefix struct{ namespace, prefix string }

// expandWorkload creates the pods of one workload. The parameter given is the number of pods in the input.
func (l *loader) expandWorkload(w *workload, prefixes map[podPrefix]bool, given int) {
	if w.template == nil || w.count == 0 {
		return
	}
	if w.kind == kindDeployment {
		l.addReplicaSet(w)
	}
	group := l.groupOfTemplate[&w.template.Spec]
	// The template of the workload's object stays unchanged.
	w.template = w.template.DeepCopy()
	l.admission.admit(l, w.admissible(), newPod)
	namespace, prefix := w.object.GetNamespace(), l.freePrefix(w, prefixes, given)
	shared := joinLabels(w.template.Labels, w.labels)
	owners := []metav1.OwnerReference{w.owner}
	// Pods of one workload share memory for their common parts, so callers must not change the pods of a snapshot.
	pods := make([]corev1.Pod, w.count)
	l.objects.pods = slices.Grow(l.objects.pods, w.count)
	for i := range pods {
		pod := &pods[i]
		index := w.first + i
		pod.Namespace, pod.Name = namespace, prefix+strconv.Itoa(index)
		pod.Labels, pod.Annotations = shared, w.template.Annotations
		if w.indexLabels != nil {
			pod.Labels = joinLabels(shared, w.indexLabels(pod.Name, index))
		}
		pod.OwnerReferences = owners
		pod.Spec = w.template.Spec
		pod.Status.Phase = corev1.PodPending
		if group != "" {
			l.groupOfPod[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = group
		}
		l.addClaims(w, pod, index)
		l.objects.pods = append(l.objects.pods, entry[*corev1.Pod]{object: pod, origin: w.origin})
	}
}

// freePrefix returns the prefix for the names of the workload's pods. It is the workload's name, followed by its kind as often as necessary
// to make these names different from the names of all other pods. A number follows the prefix, so two prefixes can give the same name only
// if they are equal.
func (l *loader) freePrefix(w *workload, prefixes map[podPrefix]bool, given int) string {
	namespace, name := w.object.GetNamespace(), w.object.GetName()
	for ; ; name += "-" + strings.ToLower(w.kind) {
		candidate := podPrefix{namespace, name + "-"}
		if prefixes[candidate] || given > 0 && l.podsInTheWay(w, candidate) {
			continue
		}
		prefixes[candidate] = true
		return candidate.prefix
	}
}

func (l *loader) podsInTheWay(w *workload, candidate podPrefix) bool {
	key := objectKey{groupKind{"", "Pod"}, candidate.namespace, ""}
	for i := range w.count {
		key.name = candidate.prefix + strconv.Itoa(w.first+i)
		if _, taken := l.seen[key]; taken {
			return true
		}
	}
	return false
}

// addReplicaSet makes the ReplicaSet that a Deployment would have. It owns the pods, so that default topology spread applies to them.
func (l *loader) addReplicaSet(w *workload) {
	d, ok := w.object.(*appsv1.Deployment)
	if !ok {
		return
	}
	count := int32(w.count)
	selector := d.Spec.Selector.DeepCopy()
	if selector == nil {
		selector = &metav1.LabelSelector{MatchLabels: maps.Clone(d.Spec.Template.Labels)}
	}
	selector.MatchLabels = joinLabels(selector.MatchLabels, w.labels)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + w.labels[appsv1.DefaultDeploymentUniqueLabelKey],
			Labels:          joinLabels(d.Spec.Template.Labels, w.labels),
			OwnerReferences: []metav1.OwnerReference{w.owner},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &count, Selector: selector, Template: *d.Spec.Template.DeepCopy()},
	}
	set.Spec.Template.Labels = set.Labels
	l.objects.replicaSets = append(l.objects.replicaSets, entry[*appsv1.ReplicaSet]{object: set, origin: w.origin})
	w.owner = ownerReference("apps/v1", kindReplicaSet, set.Name, set)
}

// joinLabels returns a map with the labels of both maps. If the map more is empty, it returns the map base itself.
func joinLabels(base, more map[string]string) map[string]string {
	if len(more) == 0 {
		return base
	}
	joined := make(map[string]string, len(base)+len(more))
	maps.Copy(joined, base)
	maps.Copy(joined, more)
	return joined
}

// API groups in owner references.
const (
	groupApps  = "apps"
	groupBatch = "batch"
)

// ownership says which objects of the input have pods, ReplicaSets or Jobs in the input. Objects are identified by kind and name, because a
// dump without UIDs still contains the names of owners.
type ownership struct {
	// count has, for each owner, the number of pods in the input that name this owner.
	count map[objectKey]int
	// orphans are pods whose owner is a ReplicaSet or Job that the input lacks. The key has the owner's kind, and the owner's name without
	// its last part. This is the name of the Deployment or CronJob that would have created the owner.
	orphans map[objectKey][]*corev1.Pod
	// running are Deployments with a ReplicaSet in the input that has pods or has spec.replicas above 0. jobs are CronJobs with Jobs in the
	// input.
	running, jobs map[objectKey]bool
	// members are the owners of pods of the input and of objects that make pods, by owner references and labels.
	members map[objectKey]bool
}

func (l *loader) ownership() *ownership {
	own := &ownership{
		members: make(map[objectKey]bool),
		count:   make(map[objectKey]int),
		orphans: make(map[objectKey][]*corev1.Pod),
		running: make(map[objectKey]bool),
		jobs:    make(map[objectKey]bool),
	}
	for _, e := range l.objects.pods {
		for _, ref := range e.object.OwnerReferences {
			owner := ownerKey(e.object, ref)
			own.count[owner]++
			if _, known := l.seen[owner]; !known && (owner.kind == kindReplicaSet || owner.kind == kindJob) {
				owner.name = stem(owner.name)
				own.orphans[owner] = append(own.orphans[owner], e.object)
			}
		}
	}
	for _, e := range l.objects.replicaSets {
		if replicas(e.object.Spec.Replicas) == 0 && own.pods(groupApps, kindReplicaSet, e.object) == 0 {
			continue // this ReplicaSet is an old revision, which is only needed for rollbacks
		}
		for _, ref := range e.object.OwnerReferences {
			own.running[ownerKey(e.object, ref)] = true
		}
	}
	for _, e := range l.objects.jobs {
		for _, ref := range e.object.OwnerReferences {
			own.jobs[ownerKey(e.object, ref)] = true
		}
	}
	if len(l.objects.custom) > 0 {
		l.noteMembers(own)
	}
	return own
}

// noteMembers fills in own.members. Only objects of Options.Workloads need this field.
func (l *loader) noteMembers(own *ownership) {
	labels := operators.OwnerLabels()
	noteLabels := func(object metav1.Object) {
		for kind, label := range labels {
			if name := object.GetLabels()[label]; name != "" {
				own.members[objectKey{groupKind{kind.Group, kind.Kind}, object.GetNamespace(), name}] = true
			}
		}
	}
	// Labels are read only on objects with owner references. Manifests that people write may have the same labels, but only controllers set
	// owner references.
	note := func(object metav1.Object) {
		for _, ref := range object.GetOwnerReferences() {
			own.members[ownerKey(object, ref)] = true
			noteLabels(object)
		}
	}
	for _, e := range l.objects.pods {
		note(e.object)
	}
	for _, e := range l.objects.deployments {
		note(e.object)
	}
	for _, e := range l.objects.statefulSets {
		note(e.object)
	}
	for _, e := range l.objects.jobs {
		note(e.object)
	}
	for _, e := range l.objects.custom {
		note(e.object)
	}
	for _, e := range l.objects.replicaSets {
		if replicas(e.object.Spec.Replicas) > 0 {
			note(e.object)
		}
	}
}

// hasMembers reports whether the input has pods of the owner, or objects between the owner and its pods.
func (own *ownership) hasMembers(owner objectKey) bool { return own.members[owner] }

func ownerKey(object metav1.Object, ref metav1.OwnerReference) objectKey {
	group, _, grouped := strings.Cut(ref.APIVersion, "/")
	switch {
	case !grouped:
		group = ""
	case group == "extensions":
		group = groupApps
	}
	return objectKey{groupKind{group, ref.Kind}, object.GetNamespace(), ref.Name}
}

// pods counts the pods that name the object as their owner.
func (own *ownership) pods(group, kind string, object metav1.Object) int {
	return own.count[keyOf(group, kind, object)]
}

func keyOf(group, kind string, object metav1.Object) objectKey {
	return objectKey{groupKind{group, kind}, object.GetNamespace(), object.GetName()}
}

// hasReplicaSets reports whether the pods of a Deployment come from a ReplicaSet in the input.
func (own *ownership) hasReplicaSets(d *appsv1.Deployment) bool {
	return own.running[keyOf(groupApps, kindDeployment, d)]
}

// podsOfDeployment counts the pods of a Deployment whose ReplicaSets are not in the input. Such a pod has an owner whose name starts with
// the Deployment's name, and the Deployment selects the pod.
func (own *ownership) podsOfDeployment(d *appsv1.Deployment) int {
	count := own.pods(groupApps, kindDeployment, d)
	selector := deploymentSelector(d)
	for _, pod := range own.orphans[keyOf(groupApps, kindReplicaSet, d)] {
		if selector.Matches(labels.Set(pod.Labels)) {
			count++
		}
	}
	return count
}

// hasJobs reports whether the input has a Job of the CronJob, or a pod of a Job whose name starts with the CronJob's name.
func (own *ownership) hasJobs(c *batchv1.CronJob) bool {
	return own.jobs[keyOf(groupBatch, kindCronJob, c)] || len(own.orphans[keyOf(groupBatch, kindJob, c)]) > 0
}

// stem returns a generated name without its last part.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		return name[:i]
	}
	return name
}

// deploymentSelector selects the pods of a Deployment. If the Deployment has no selector, which old API versions allow, the labels of its
// template are the selector. An invalid selector matches no pod.
func deploymentSelector(d *appsv1.Deployment) labels.Selector {
	if d.Spec.Selector == nil {
		return labels.SelectorFromSet(d.Spec.Template.Labels)
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}
