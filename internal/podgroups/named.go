package podgroups

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Labels and annotations that name the group of a pod.
const (
	// The names of coscheduling: sigs.k8s.io/scheduler-plugins, apis/scheduling/v1alpha1. labelPodGroupOld was used until v0.24.
	labelPodGroup    = "scheduling.x-k8s.io/pod-group"
	labelPodGroupOld = "pod-group.scheduling.sigs.k8s.io"
	// The names of Volcano: KubeGroupNameAnnotationKey and VolcanoGroupNameAnnotationKey in volcano.sh/apis, scheduling/v1beta1.
	annotationKubeGroup    = "scheduling.k8s.io/group-name"
	annotationVolcanoGroup = "scheduling.volcano.sh/group-name"
	annotationVolcanoTask  = "volcano.sh/task-spec"
	// The names of Kueue: "Run a group of plain Pods" and "Topology Aware Scheduling" in its documentation.
	labelKueueGroup         = "kueue.x-k8s.io/pod-group-name"
	annotationKueueTotal    = "kueue.x-k8s.io/pod-group-total-count"
	annotationKueueRequired = "kueue.x-k8s.io/podset-required-topology"
	annotationKueuePrefers  = "kueue.x-k8s.io/podset-preferred-topology"
	// The names of LeaderWorkerSet: "Labels, Annotations and Environment Variables" in its documentation.
	labelLWS              = "leaderworkerset.sigs.k8s.io/name"
	labelLWSGroup         = "leaderworkerset.sigs.k8s.io/group-index"
	annotationLWSSize     = "leaderworkerset.sigs.k8s.io/size"
	annotationLWSTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	// JobSet: api/jobset/v1alpha2.
	labelJobSet              = "jobset.sigs.k8s.io/jobset-name"
	labelJobSetJobs          = "jobset.sigs.k8s.io/replicatedjob-name"
	labelJobSetJob           = "jobset.sigs.k8s.io/job-index"
	annotationJobSetTopology = "alpha.jobset.sigs.k8s.io/exclusive-topology"
)

// Named is a group that a pod names in a field, a label or an annotation.
type Named struct {
	// Group is the group.
	Group Key
	// Object is the object that describes the group. Object is the zero Key for groups that need no object. If the object does not exist,
	// the pod does not belong to the group.
	Object Key
	// part is the name of the pod group within a Workload.
	part string
	// Task is the pod's task within the group. Only Volcano has tasks.
	Task string
	// terms are the conditions of a group that no object describes.
	terms terms
	// tiers has the node labels of Volcano's network tiers.
	tiers Tiers
}

// terms are the conditions of a group for its pods.
type terms struct {
	source   string
	minimum  int
	priority *int32
	topology []planning.GangTopology
	mode     planning.GangDisruptionMode
	// tasks has the number of pods of each task that the group needs. It is nil for a group without tasks.
	tasks map[string]int64
}

// Named lists the groups that the pod names, in the order of precedence. The pod belongs to the first of them for which Described is true.
func (r *Reader) Named(pod *corev1.Pod) []Named { return r.NamedIn(pod, r.SchedulingGroup(pod)) }

// NamedIn is Named for a pod with that PodGroup in spec.schedulingGroup, even if the API library lacks the field. An empty schedulingGroup
// means no PodGroup.
func (r *Reader) NamedIn(pod *corev1.Pod, schedulingGroup string) []Named {
	out := byObject(nil, PodGroup, pod, schedulingGroup)
	if workload, group, replica := r.WorkloadRef(pod); workload != "" {
		name := workload + "-" + group
		if replica != "" {
			name += "-" + replica
		}
		out = append(out, Named{Group: Key{Workload, pod.Namespace, name}, Object: Key{Workload, pod.Namespace, workload}, part: group})
	}
	if len(pod.Labels)+len(pod.Annotations) == 0 {
		return out
	}
	out = byObject(out, CoschedulingPodGroup, pod, cmp.Or(pod.Labels[labelPodGroup], pod.Labels[labelPodGroupOld]))
	volcano := len(out)
	out = byObject(out, VolcanoPodGroup, pod, cmp.Or(pod.Annotations[annotationKubeGroup], pod.Annotations[annotationVolcanoGroup]))
	for i := volcano; i < len(out); i++ {
		out[i].Task, out[i].tiers = pod.Annotations[annotationVolcanoTask], r.tiers
	}
	if named, ok := ofKueue(pod); ok {
		return append(out, named)
	}
	if !r.inferred {
		return out
	}
	if named, ok := ofLeaderWorkerSet(pod); ok {
		return append(out, named)
	}
	if named, ok := ofJobSet(pod); ok {
		return append(out, named)
	}
	return out
}

// OfSucceeded returns the groups that still count a pod that has ended successfully. These are groups of Kueue and groups of Volcano. The
// total of a Kueue group includes all pods that ever existed. All other groups count only running and pending pods, as their schedulers do.
func OfSucceeded(named []Named) []Named {
	return slices.DeleteFunc(named, func(n Named) bool { return n.Group.Kind != Kueue && n.Group.Kind != VolcanoPodGroup })
}

// byObject appends to the given list the group that the object with this kind and name describes. It appends nothing if the name is empty.
func byObject(out []Named, kind Kind, pod *corev1.Pod, name string) []Named {
	if name == "" {
		return out
	}
	key := Key{kind, pod.Namespace, name}
	return append(out, Named{Group: key, Object: key})
}

// ofKueue returns the Kueue group of a plain pod, or false if the pod has no Kueue group.
func ofKueue(pod *corev1.Pod) (Named, bool) {
	name := pod.Labels[labelKueueGroup]
	if name == "" {
		return Named{}, false
	}
	t := terms{source: "Kueue pod group " + pod.Namespace + "/" + name, minimum: countOf(pod.Annotations[annotationKueueTotal])}
	if required := pod.Annotations[annotationKueueRequired]; required != "" {
		t.within(required, "")
	} else {
		t.within(pod.Annotations[annotationKueuePrefers], planning.GangTopologyPreferred)
	}
	return Named{Group: Key{Kueue, pod.Namespace, name}, terms: t}, true
}

// ofLeaderWorkerSet returns the group of a LeaderWorkerSet that the pod belongs to, which is one leader with its workers. It returns false
// if the pod belongs to no such group.
func ofLeaderWorkerSet(pod *corev1.Pod) (Named, bool) {
	set, index := pod.Labels[labelLWS], pod.Labels[labelLWSGroup]
	if set == "" || index == "" {
		return Named{}, false
	}
	t := terms{source: "LeaderWorkerSet " + pod.Namespace + "/" + set, minimum: countOf(pod.Annotations[annotationLWSSize])}
	t.within(pod.Annotations[annotationLWSTopology], "")
	return Named{Group: Key{LeaderWorkerSet, pod.Namespace, set + "-" + index}, terms: t}, true
}

// ofJobSet returns the group of a JobSet that the pod belongs to. The group has all pods of the JobSet. If each Job must be in one domain,
// the group has only the pods of the pod's Job.
func ofJobSet(pod *corev1.Pod) (Named, bool) {
	name := pod.Labels[labelJobSet]
	if name == "" {
		return Named{}, false
	}
	t := terms{source: "JobSet " + pod.Namespace + "/" + name}
	if t.within(pod.Annotations[annotationJobSetTopology], "") {
		name += "-" + pod.Labels[labelJobSetJobs] + "-" + pod.Labels[labelJobSetJob]
	}
	return Named{Group: Key{JobSet, pod.Namespace, name}, terms: t}, true
}

// within sets the group's only topology constraint. The policy says whether the pods must be in one domain of the label, or only should be.
// within returns false, and changes nothing, if the parameter key is not a valid label key.
func (t *terms) within(key string, policy planning.GangTopologyPolicy) bool {
	if !isLabelKey(key) {
		return false
	}
	t.topology = []planning.GangTopology{{Key: key, Policy: policy}}
	return true
}

// countOf parses a number of pods. For an invalid text it returns 0. The number 0 means all existing pods.
func countOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > mostPods {
		return 0
	}
	return n
}

// termsOf returns the conditions of the group. If an object describes the group, it reads them from that object. It returns false if the
// object is missing, can't be read, or does not describe the group.
func (n *Named) termsOf(o *Object) (terms, bool) {
	switch {
	case n.Object == Key{}:
		return n.terms, true
	case o == nil || o.unreadable:
		return terms{}, false
	}
	name := o.Namespace + "/" + o.Name
	if n.Object.Kind == Workload {
		for _, g := range o.Spec.PodGroups {
			if g.Name == n.part {
				return terms{source: "Workload " + name, minimum: minimumOf(g.Policy)}, true
			}
		}
		return terms{}, false
	}
	t := terms{source: "PodGroup " + name, minimum: max(int(o.Spec.MinMember), minimumOf(o.Spec.SchedulingPolicy)), priority: o.Spec.Priority}
	if n.Object.Kind == VolcanoPodGroup && len(o.Spec.MinTaskMember) > 0 {
		t.tasks = o.Spec.MinTaskMember
	}
	if o.Kind == PodGroup && (o.Spec.DisruptionMode == nil || o.Spec.DisruptionMode.All == nil) {
		t.mode = planning.GangDisruptedSingly // the API's default
	}
	if n.Object.Kind == VolcanoPodGroup {
		t.topology, _ = n.tiers.topology(o.Spec.NetworkTopology)
	}
	if c := o.Spec.SchedulingConstraints; c != nil {
		for _, level := range c.Topology {
			t.topology = append(t.topology, planning.GangTopology{Key: level.Key})
		}
	}
	return t, true
}

// minimumOf returns how many pods the policy requires to be scheduled together. The result is 1 if the policy schedules pods one by one.
func minimumOf(p *Policy) int {
	if p == nil || p.Gang == nil {
		return 1
	}
	return max(int(p.Gang.MinCount), 1)
}
