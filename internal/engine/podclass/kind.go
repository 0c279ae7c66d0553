package podclass

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Kind identifies a class in a sequence of models. Classes are numbered in the order of their text, so their numbers change whenever a
// class is added or removed. A kind keeps its number as long as it has pods.
type Kind struct {
	// Text is the class text in which topology groups have the numbers of the topology index that package updating keeps. These numbers are
	// the part from groupsAt to groupsEnd. The part from shapeFrom to shapeTo identifies the shape.
	Text                string
	groupsAt, groupsEnd int
	shapeFrom, shapeTo  int
	// Owns and In are the kind's topology groups, as ascending numbers of the same index.
	Owns, In []int32
	// Members is the number of the kind's pods, pending and bound, plus the number of DaemonSets that it represents. A kind with no members
	// is removed.
	Members int32
	// Sample is the first of the pods by likeness.Compare.
	Sample   *corev1.Pod
	requests []int64
	// ruleErr says why the topology rules of the kind's pods can't be parsed.
	ruleErr     error
	placeholder bool
	// Claims means that some of the pods use volumes that depend on other objects.
	Claims bool
	// Class is the number of the kind's class in the latest model, or -1.
	Class int32
}

// NewKind returns the kind of the pod whose class text was just written.
func NewKind(pod *corev1.Pod, w *likeness.Writer, groups topology.Groups, placeholder bool, ruleErr error) Kind {
	k := Kind{
		Text: string(w.Buf), groupsAt: w.GroupsAt, groupsEnd: w.GroupsEnd, shapeFrom: w.ShapeAt, shapeTo: w.ShapeEnd,
		Owns: groups.Owns, In: groups.In, Sample: pod, requests: slices.Clone(w.Requests), ruleErr: ruleErr,
		placeholder: placeholder, Claims: likeness.UsesClaims(pod),
	}
	if match.Preferring(&pod.Spec) {
		k.shapeFrom = 0 // which preferences can be kept depends on the size of the pod
	}
	return k
}

// Note adds one pod to the kind.
func (k *Kind) Note(pod *corev1.Pod) {
	if !k.Claims && len(pod.Spec.Volumes) > 0 {
		k.Claims = likeness.UsesClaims(pod)
	}
}

// ShapeText returns the text of the kind's shape.
func (k *Kind) ShapeText() string { return k.Text[k.shapeFrom:k.shapeTo] }

// NewClass returns a class for pods of the kind. Its shape and its topology groups must be set afterwards.
func (k *Kind) NewClass() *Class {
	c := &Class{Sample: k.Sample, Requests: slices.Clone(k.requests), Placeholder: k.placeholder, Invalid: k.ruleErr}
	if k.Sample.Spec.Priority != nil {
		c.Priority = *k.Sample.Spec.Priority
	}
	c.Nominated, c.Never = likeness.NominatedTo(k.Sample), likeness.NeverPreempts(&k.Sample.Spec)
	return c
}

// Regroup replaces the kind's groups In, the topology groups that count its pods, and updates the text.
func (k *Kind) Regroup(in []int32) {
	groups := topology.Groups{Owns: k.Owns, In: in}
	var w likeness.Writer
	w.Buf = []byte(k.Text[:k.groupsAt])
	if !groups.Empty() {
		w.WriteGroups(&groups)
	}
	end := len(w.Buf)
	k.Text = string(w.Buf) + k.Text[k.groupsEnd:]
	k.groupsEnd, k.In = end, in
}

// SortedBy returns the kind's class text with other numbers of topology groups: number[g] replaces the number g.
func (k *Kind) SortedBy(number []int32) string {
	if k.groupsAt == k.groupsEnd {
		return k.Text
	}
	groups := k.Renumbered(number)
	var w likeness.Writer
	w.Buf = append(make([]byte, 0, len(k.Text)+8), k.Text[:k.groupsAt]...)
	w.WriteGroups(&groups)
	return string(w.Buf) + k.Text[k.groupsEnd:]
}

// Renumbered returns the kind's topology groups with other numbers: number[g] replaces the number g.
func (k *Kind) Renumbered(number []int32) topology.Groups {
	renumbered := func(list []int32) []int32 {
		if list == nil {
			return nil
		}
		out := make([]int32, len(list))
		for i, g := range list {
			out[i] = number[g]
		}
		slices.Sort(out)
		return out
	}
	return topology.Groups{Owns: renumbered(k.Owns), In: renumbered(k.In)}
}
