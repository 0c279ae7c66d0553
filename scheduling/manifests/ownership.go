package manifests

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// API groups in owner references.
const (
	groupApps  = "apps"
	groupBatch = "batch"
)

// ownership knows which objects of the input have pods, ReplicaSets or Jobs there. Objects are known by kind and
// name: a dump that was cleaned of UIDs still says who owns whom.
type ownership struct {
	// count is how many pods of the input name the owner.
	count map[objectKey]int
	// orphans are pods whose owner is a ReplicaSet or Job outside of the input, by the owner's key, with the name of the Deployment or
	// CronJob from which the owner would be created.
	orphans map[objectKey][]*corev1.Pod
	// running are Deployments with a ReplicaSet in the input that has or wants pods; jobs are CronJobs with Jobs.
	running, jobs map[objectKey]bool
}

func (l *loader) ownership() *ownership {
	own := &ownership{
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
			continue // an old revision, kept to roll back to
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
	return own
}

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

// hasReplicaSets reports whether ReplicaSets in the input answer for the pods of a Deployment.
func (own *ownership) hasReplicaSets(d *appsv1.Deployment) bool {
	return own.running[keyOf(groupApps, kindDeployment, d)]
}

// podsOfDeployment counts the pods of a Deployment whose ReplicaSets are not in the input: their owner's name starts with the Deployment's
// name, and the Deployment selects them.
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

// hasJobs reports whether the input has a Job of a CronJob, or a pod of a Job named after it.
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

// deploymentSelector selects the pods of a Deployment. Without a selector, as old API versions allow, the labels of its template are the
// selector. A selector that is no selector matches nothing.
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
