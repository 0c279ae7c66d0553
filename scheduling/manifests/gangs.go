package manifests

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/internal/podgroups"
	"github.com/drawknife/drawknife/scheduling"
)

// gangs returns the gangs of pending and bound pods. A group that has neither a minimum number of pods nor a topology constraint is not a
// gang.
func (l *loader) gangs(s *scheduling.Snapshot) []scheduling.Gang {
	b := &gangReader{
		l: l, reader: podgroups.NewReader(l.opts.InferGangs).WithTiers(l.opts.VolcanoTiers), known: map[podgroups.Key]*podgroups.Object{},
		first: map[podgroups.Key]podgroups.Named{}, members: map[podgroups.Key][]podgroups.Member{},
	}
	for _, e := range l.objects.podGroups {
		b.known[keyOfGroup(&e.object.Object)] = l.withPriority(&e.object.Object)
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			b.add(pod)
		}
	}
	for _, pod := range s.Pods {
		b.add(pod)
	}
	for _, e := range l.objects.pods {
		if e.object.Status.Phase == corev1.PodSucceeded {
			b.addSucceeded(e.object)
		}
	}
	return b.gangs()
}

// withPriority returns the group with the priority of the PriorityClass that it names, if the input contains this class.
func (l *loader) withPriority(o *podgroups.Object) *podgroups.Object {
	if o.Spec.Priority != nil || o.Spec.PriorityClassName == "" {
		return o
	}
	for _, e := range l.objects.priorityClasses {
		if e.object.Name == o.Spec.PriorityClassName {
			with := *o
			with.Spec.Priority = &e.object.Value
			return &with
		}
	}
	return o
}

type gangReader struct {
	l      *loader
	reader *podgroups.Reader
	known  map[podgroups.Key]*podgroups.Object
	// first has, for each group, the group as its first member names it.
	first   map[podgroups.Key]podgroups.Named
	members map[podgroups.Key][]podgroups.Member
	// origins has the position of each pod in the input. It is nil until originOf is called.
	origins map[scheduling.PodKey]origin
}

// add makes the pod a member of a group. This is the first group among the groups that the pod names for which an object exists, or which
// needs no object.
func (b *gangReader) add(pod *corev1.Pod) {
	group := b.l.groupOfPod[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
	for _, named := range b.reader.NamedIn(pod, group) {
		object := b.known[named.Object]
		if !named.Described(object) {
			if object == nil {
				b.missing(pod, named.Object)
			}
			continue
		}
		if _, known := b.first[named.Group]; !known {
			b.first[named.Group] = named
		}
		b.members[named.Group] = append(b.members[named.Group], podgroups.Member{PodKey: scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}, Task: named.Task})
		return
	}
}

// addSucceeded adds a succeeded pod to its group if the group counts succeeded pods and has other members.
func (b *gangReader) addSucceeded(pod *corev1.Pod) {
	for _, named := range podgroups.OfSucceeded(b.reader.NamedIn(pod, "")) {
		if len(b.members[named.Group]) > 0 {
			b.members[named.Group] = append(b.members[named.Group], podgroups.Member{PodKey: scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}, Succeeded: true})
		}
	}
}

func (b *gangReader) missing(pod *corev1.Pod, object podgroups.Key) {
	b.l.warn(b.originOf(pod), remark{
		code: WarningPodGroup, kind: "Pod", name: qualifiedName(pod), detail: string(object.Kind) + object.Name,
		message: fmt.Sprintf("it names %s %s, which is not in the input: it is planned on its own", object.Kind, object.Name),
	})
}

// originOf returns the position of the pod in the input. For a pod that is made from a workload, it returns the position of the workload.
func (b *gangReader) originOf(pod *corev1.Pod) origin {
	if b.origins == nil {
		b.origins = make(map[scheduling.PodKey]origin, len(b.l.objects.pods))
		for _, e := range b.l.objects.pods {
			b.origins[scheduling.PodKey{Namespace: e.object.Namespace, Name: e.object.Name}] = e.origin
		}
	}
	return b.origins[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]
}

// gangs returns the gangs that are made from the groups, in the order of the groups' names.
func (b *gangReader) gangs() []scheduling.Gang {
	keys := make([]podgroups.Key, 0, len(b.first))
	for key := range b.first {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, podgroups.Compare)
	var parts []podgroups.Part
	for _, key := range keys {
		named := b.first[key]
		if p, ok := named.Part(b.known[named.Object], b.members[key]); ok {
			parts = append(parts, p)
		}
	}
	b.warnOfTiers(keys)
	gangs, missing := podgroups.Gangs(parts, func(key podgroups.Key) *podgroups.Object { return b.known[key] })
	for _, key := range missing {
		names := func(o *podgroups.Object) bool {
			parent := o.Spec.ParentCompositePodGroupName
			return parent != nil && o.Namespace == key.Namespace && *parent == key.Name
		}
		b.warn(key, b.originWhere(names), "it is not in the input: each of its groups is planned by itself")
	}
	return gangs
}

// warnOfTiers adds warnings about Volcano's PodGroups that require a network tier whose label is not known.
func (b *gangReader) warnOfTiers(keys []podgroups.Key) {
	for _, key := range keys {
		object := b.known[key]
		if podgroups.Tiers(b.l.opts.VolcanoTiers).KnowsTiers(object) {
			continue
		}
		b.l.warn(b.originWhere(func(o *podgroups.Object) bool { return keyOfGroup(o) == key }), remark{
			code: WarningPodGroup, kind: "PodGroup", name: key.Namespace + "/" + key.Name,
			message: "no node label is known for the tier of spec.networkTopology: its pods are planned without it",
		})
	}
}

func keyOfGroup(o *podgroups.Object) podgroups.Key {
	return podgroups.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// originWhere returns the position in the input of the first PodGroup that satisfies the condition.
func (b *gangReader) originWhere(is func(*podgroups.Object) bool) origin {
	for _, e := range b.l.objects.podGroups {
		if is(&e.object.Object) {
			return e.origin
		}
	}
	return origin{}
}

// warn adds a warning about a CompositePodGroup.
func (b *gangReader) warn(key podgroups.Key, o origin, message string) {
	b.l.warn(o, remark{code: WarningPodGroup, kind: kindCompositePodGroup, name: key.Namespace + "/" + key.Name, message: message})
}
