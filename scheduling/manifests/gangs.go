package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/podgroups"
	"github.com/drawknife/drawknife/scheduling"
)

// Labels and annotations of pods that are scheduled together.
const (
	// Coscheduling: sigs.k8s.io/scheduler-plugins, apis/scheduling/v1alpha1; the second until v0.24.
	labelPodGroup    = "scheduling.x-k8s.io/pod-group"
	labelPodGroupOld = "pod-group.scheduling.sigs.k8s.io"
	// Volcano: volcano.sh/apis, scheduling/v1beta1 KubeGroupNameAnnotationKey and VolcanoGroupNameAnnotationKey.
	annotationKubeGroup    = "scheduling.k8s.io/group-name"
	annotationVolcanoGroup = "scheduling.volcano.sh/group-name"
	// Kueue: "Run a group of plain Pods" and "Topology Aware Scheduling" of its documentation.
	labelKueueGroup         = "kueue.x-k8s.io/pod-group-name"
	annotationKueueTotal    = "kueue.x-k8s.io/pod-group-total-count"
	annotationKueueRequired = "kueue.x-k8s.io/podset-required-topology"
	annotationKueuePrefers  = "kueue.x-k8s.io/podset-preferred-topology"
	// LeaderWorkerSet, see Options.InferGangs: "Labels, Annotations and Environment Variables" of its documentation.
	labelLWS              = "leaderworkerset.sigs.k8s.io/name"
	labelLWSGroup         = "leaderworkerset.sigs.k8s.io/group-index"
	annotationLWSSize     = "leaderworkerset.sigs.k8s.io/size"
	annotationLWSTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	// JobSet, likewise: api/jobset/v1alpha2.
	labelJobSet              = "jobset.sigs.k8s.io/jobset-name"
	labelJobSetJobs          = "jobset.sigs.k8s.io/replicatedjob-name"
	labelJobSetJob           = "jobset.sigs.k8s.io/job-index"
	annotationJobSetTopology = "alpha.jobset.sigs.k8s.io/exclusive-topology"
)

// gangKey identifies a group: what kind of thing makes the group, and what it is called.
type gangKey struct{ system, namespace, name string }

// gangTerms are the terms of a group.
type gangTerms struct {
	source   string
	minimum  int
	priority *int32
	topology []scheduling.GangTopology
}

// gangs are the groups of the pods that wait or are bound. Groups that any number of pods may be placed of, wherever, are none.
func (l *loader) gangs(s *scheduling.Snapshot) []scheduling.Gang {
	b := &gangReader{l: l, known: map[gangKey]*podGroup{}, members: map[gangKey][]*corev1.Pod{}, terms: map[gangKey]gangTerms{}}
	for _, e := range l.objects.podGroups {
		o := e.object
		b.known[gangKey{systemOf(o.groupKind), o.Namespace, o.Name}] = o
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			b.add(pod)
		}
	}
	for _, pod := range s.Pods {
		b.add(pod)
	}
	return b.gangs()
}

// systemOf names the objects that a pod may mean.
func systemOf(g groupKind) string {
	if g.group == groupCoschedulingOld {
		g.group = groupCoscheduling
	}
	return g.String()
}

type gangReader struct {
	l       *loader
	known   map[gangKey]*podGroup
	members map[gangKey][]*corev1.Pod
	terms   map[gangKey]gangTerms
}

// add makes the pod a member of the first group that it names.
func (b *gangReader) add(pod *corev1.Pod) {
	finders := []func(*corev1.Pod) (gangKey, gangTerms, bool){b.ofPodGroup, b.ofWorkload, b.ofSchedulers, ofKueue}
	if b.l.opts.InferGangs {
		finders = append(finders, ofLeaderWorkerSet, ofJobSet)
	}
	for _, find := range finders {
		key, terms, ok := find(pod)
		if !ok {
			continue
		}
		if _, known := b.terms[key]; !known {
			b.terms[key] = terms
		}
		b.members[key] = append(b.members[key], pod)
		return
	}
}

// ofPodGroup reads spec.schedulingGroup.
func (b *gangReader) ofPodGroup(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	name, ok := b.l.groupOfPod[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
	if !ok {
		return gangKey{}, gangTerms{}, false
	}
	return b.object(pod, groupKind{groupScheduling, kindPodGroup}, name)
}

// ofWorkload reads spec.workloadRef of Kubernetes v1.35.
func (b *gangReader) ofWorkload(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	// By the names of its fields: API libraries from v0.36 on don't have it.
	workload, group, replica := podgroups.NewReader(false).WorkloadRef(pod)
	if workload == "" {
		return gangKey{}, gangTerms{}, false
	}
	kind := groupKind{groupScheduling, kindWorkload}
	o := b.known[gangKey{systemOf(kind), pod.Namespace, workload}]
	if o == nil {
		b.missing(pod, kind, workload)
		return gangKey{}, gangTerms{}, false
	}
	name := workload + "-" + group
	if replica != "" {
		name += "-" + replica
	}
	for _, g := range o.Spec.PodGroups {
		if g.Name == group {
			terms := gangTerms{source: objectName(kindWorkload, qualifiedName(o)), minimum: minimumOf(g.Policy)}
			return gangKey{systemOf(kind), pod.Namespace, name}, terms, true
		}
	}
	return gangKey{}, gangTerms{}, false
}

// ofSchedulers reads the labels and annotations of coscheduling and Volcano.
func (b *gangReader) ofSchedulers(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	if name := cmp.Or(pod.Labels[labelPodGroup], pod.Labels[labelPodGroupOld]); name != "" {
		return b.object(pod, groupKind{groupCoscheduling, kindPodGroup}, name)
	}
	if name := cmp.Or(pod.Annotations[annotationKubeGroup], pod.Annotations[annotationVolcanoGroup]); name != "" {
		return b.object(pod, groupKind{groupVolcano, kindPodGroup}, name)
	}
	return gangKey{}, gangTerms{}, false
}

// object is the group that an object of the input describes.
func (b *gangReader) object(pod *corev1.Pod, kind groupKind, name string) (gangKey, gangTerms, bool) {
	key := gangKey{systemOf(kind), pod.Namespace, name}
	o := b.known[key]
	if o == nil {
		b.missing(pod, kind, name)
		return gangKey{}, gangTerms{}, false
	}
	terms := gangTerms{source: objectName(o.groupKind.kind, qualifiedName(o)), minimum: max(int(o.Spec.MinMember), minimumOf(o.Spec.SchedulingPolicy))}
	if c := o.Spec.SchedulingConstraints; c != nil {
		for _, t := range c.Topology {
			terms.topology = append(terms.topology, scheduling.GangTopology{Key: t.Key})
		}
	}
	terms.priority = o.Spec.Priority
	if terms.priority == nil && o.Spec.PriorityClassName != "" {
		for _, e := range b.l.objects.priorityClasses {
			if e.object.Name == o.Spec.PriorityClassName {
				terms.priority = &e.object.Value
			}
		}
	}
	return key, terms, true
}

// minimumOf is how many pods the policy asks for together; one for those that are scheduled one by one.
func minimumOf(p *schedulingPolicy) int {
	if p == nil || p.Gang == nil {
		return 1
	}
	return max(int(p.Gang.MinCount), 1)
}

func (b *gangReader) missing(pod *corev1.Pod, kind groupKind, name string) {
	b.l.warn(origin{}, remark{
		code: WarningPodGroup, kind: "Pod", name: qualifiedName(pod), detail: kind.String() + name,
		message: fmt.Sprintf("it names %s %s, which is not in the input: it is planned on its own", kind, name),
	})
}

// ofKueue reads a group of plain pods.
func ofKueue(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	name := pod.Labels[labelKueueGroup]
	if name == "" {
		return gangKey{}, gangTerms{}, false
	}
	terms := gangTerms{source: "Kueue pod group " + pod.Namespace + "/" + name, minimum: countOf(pod.Annotations[annotationKueueTotal])}
	if key := pod.Annotations[annotationKueueRequired]; isLabelKey(key) {
		terms.topology = []scheduling.GangTopology{{Key: key}}
	} else if key := pod.Annotations[annotationKueuePrefers]; isLabelKey(key) {
		terms.topology = []scheduling.GangTopology{{Key: key, Policy: scheduling.GangTopologyPreferred}}
	}
	return gangKey{"kueue", pod.Namespace, name}, terms, true
}

// ofLeaderWorkerSet reads a leader with its workers.
func ofLeaderWorkerSet(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	set, index := pod.Labels[labelLWS], pod.Labels[labelLWSGroup]
	if set == "" || index == "" {
		return gangKey{}, gangTerms{}, false
	}
	terms := gangTerms{source: "LeaderWorkerSet " + pod.Namespace + "/" + set, minimum: countOf(pod.Annotations[annotationLWSSize])}
	if key := pod.Annotations[annotationLWSTopology]; isLabelKey(key) {
		terms.topology = []scheduling.GangTopology{{Key: key}}
	}
	return gangKey{"leaderworkerset", pod.Namespace, set + "-" + index}, terms, true
}

// ofJobSet reads the pods of a JobSet: all together, or where each Job has a domain to itself, those of a Job.
func ofJobSet(pod *corev1.Pod) (gangKey, gangTerms, bool) {
	name := pod.Labels[labelJobSet]
	if name == "" {
		return gangKey{}, gangTerms{}, false
	}
	terms := gangTerms{source: "JobSet " + pod.Namespace + "/" + name}
	if key := pod.Annotations[annotationJobSetTopology]; isLabelKey(key) {
		terms.topology = []scheduling.GangTopology{{Key: key}}
		name += "-" + pod.Labels[labelJobSetJobs] + "-" + pod.Labels[labelJobSetJob]
	}
	return gangKey{"jobset", pod.Namespace, name}, terms, true
}

// countOf reads a number of pods; 0, for all that are there, if it is none.
func countOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxGroupPods {
		return 0
	}
	return n
}

// maxGroupPods bounds the numbers that annotations say.
const maxGroupPods = 1_000_000

// gangs are the groups in the order of their names.
func (b *gangReader) gangs() []scheduling.Gang {
	keys := make([]gangKey, 0, len(b.terms))
	for key := range b.terms {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y gangKey) int {
		return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name), cmp.Compare(x.system, y.system))
	})
	var out []scheduling.Gang
	taken := map[scheduling.GangKey]bool{}
	for _, key := range keys {
		terms := b.terms[key]
		if terms.minimum == 1 && len(terms.topology) == 0 {
			continue
		}
		g := scheduling.Gang{Namespace: key.namespace, Name: key.name, Source: terms.source, Minimum: terms.minimum, Priority: terms.priority, Topology: terms.topology}
		for taken[g.Key()] {
			system, _, _ := strings.Cut(strings.ToLower(key.system), ".")
			g.Name += "-" + system
		}
		taken[g.Key()] = true
		for _, pod := range b.members[key] {
			g.Members = append(g.Members, scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name})
		}
		slices.SortFunc(g.Members, func(x, y scheduling.PodKey) int {
			return cmp.Or(cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name))
		})
		out = append(out, g)
	}
	return out
}
