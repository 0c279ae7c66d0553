package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// podKind is a class as it is known from one model to the next. Classes are numbered in the order of their text, and that order
// changes with every class that comes or goes; a kind keeps its number as long as it has pods.
type podKind struct {
	// text is the class text with the numbers that topology groups have in the memo's index: they are at stakeAt to stakeEnd. The
	// model's classes are in the order of the text with the model's own numbers, which is sorted by.
	text               string
	stakeAt, stakeEnd  int
	shapeFrom, shapeTo int
	// owns and in are the kind's topology groups, by their numbers in the memo's index, ascending.
	owns, in []int32
	// members counts its pods, waiting and bound, and DaemonSets that it stands for. A kind without any is no more.
	members int32
	// sample is the first of the pods.
	sample   *corev1.Pod
	requests []int64
	// ruleErr is why its pods' topology rules can't be read.
	ruleErr     error
	placeholder bool
	// claims tells that some of the pods use volumes that other pods or objects have a say in.
	claims bool
	// class is its number in the latest model, or -1.
	class int32
}

// newKind is the kind of the pod whose class text was just written.
func newKind(pod *corev1.Pod, w *likeness.Writer, stake topology.Groups, placeholder bool, ruleErr error) podKind {
	k := podKind{
		text: string(w.Buf), stakeAt: w.GroupsAt, stakeEnd: w.GroupsEnd, shapeFrom: w.ShapeAt, shapeTo: w.ShapeEnd,
		owns: stake.Owns, in: stake.In, sample: pod, requests: slices.Clone(w.Requests), ruleErr: ruleErr,
		placeholder: placeholder, claims: likeness.UsesClaims(pod),
	}
	if match.Preferring(&pod.Spec) {
		k.shapeFrom = 0 // which preferences can be kept depends on the pod's size
	}
	return k
}

// note has the kind know of one more of its pods.
func (k *podKind) note(pod *corev1.Pod) {
	if !k.claims && len(pod.Spec.Volumes) > 0 {
		k.claims = likeness.UsesClaims(pod)
	}
}

// shapeText names the kind's shape.
func (k *podKind) shapeText() string { return k.text[k.shapeFrom:k.shapeTo] }

// newClass is a class of such pods; its shape and its topology groups are yet to be found.
func (k *podKind) newClass() *class {
	c := &class{sample: k.sample, requests: slices.Clone(k.requests), placeholder: k.placeholder, invalid: k.ruleErr}
	if k.sample.Spec.Priority != nil {
		c.priority = *k.sample.Spec.Priority
	}
	c.nominated, c.never = likeness.NominatedTo(k.sample), likeness.NeverPreempts(&k.sample.Spec)
	return c
}

// restake gives the kind other topology groups.
func (k *podKind) restake(in []int32) {
	stake := topology.Groups{Owns: k.owns, In: in}
	var w likeness.Writer
	w.Buf = []byte(k.text[:k.stakeAt])
	if !stake.Empty() {
		w.WriteGroups(&stake)
	}
	end := len(w.Buf)
	k.text = string(w.Buf) + k.text[k.stakeEnd:]
	k.stakeEnd, k.in = end, in
}

// sortedBy is the kind's class text with the given numbers of topology groups.
func (k *podKind) sortedBy(number []int32) string {
	if k.stakeAt == k.stakeEnd {
		return k.text
	}
	stake := k.stake(number)
	var w likeness.Writer
	w.Buf = append(make([]byte, 0, len(k.text)+8), k.text[:k.stakeAt]...)
	w.WriteGroups(&stake)
	return string(w.Buf) + k.text[k.stakeEnd:]
}

// stake is the kind's by the given numbers.
func (k *podKind) stake(number []int32) topology.Groups {
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
	return topology.Groups{Owns: renumbered(k.owns), In: renumbered(k.in)}
}
