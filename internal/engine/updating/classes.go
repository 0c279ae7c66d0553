package updating

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// settle removes kinds without pods, and the rules that only these kinds stated. It returns false if no pod requests some resource of the
// model any more.
func (u *update) settle() bool {
	k := u.memo
	for at, name := range u.was.Resources.Names {
		if _, fixed := k.fixed[name]; at >= resources.Base && !fixed && !resources.Hidden(name) && k.names[name] == 0 {
			return false
		}
	}
	for n := range k.kinds {
		if k.kinds[n].Members == 0 && k.kinds[n].Sample != nil {
			k.dropKind(int32(n))
			u.regrouped = true
		}
	}
	if !u.regrouped {
		return true
	}
	into := map[int32]int32{}
	for _, n := range k.dropGroups() {
		if other, known := k.kindOf[k.kinds[n].Text]; known {
			into[n] = other
		} else {
			k.kindOf[k.kinds[n].Text] = n
		}
	}
	if len(into) > 0 {
		u.merge(into)
	}
	return true
}

// merge moves all pods of some kinds to other kinds. The map into has, for each kind that now equals another kind, this other kind.
func (u *update) merge(into map[int32]int32) {
	k := u.memo
	for n := range k.kinds {
		other, merges := into[int32(n)]
		if !merges {
			continue
		}
		kd := &k.kinds[n]
		k.kinds[other].Members += kd.Members
		u.merged = append(u.merged, mergedKind{kd.Class, other})
		for i, d := range k.ofDaemons {
			if d == int32(n) {
				k.ofDaemons[i] = other
			}
		}
		k.dropKind(int32(n))
	}
	names := make([]int32, len(k.kinds))
	for n := range names {
		names[n] = int32(n)
	}
	for n, other := range into {
		names[n] = other
	}
	rename := func(kind *int32) { *kind = names[*kind] }
	u.eachPlace(func(_ *corev1.Pod, at *seat, _ int32, _ bool) { rename(&at.kind) })
	if k.gangs != nil {
		for _, n := range k.gangs.Rename(rename, u.next.Gangs) {
			k.kinds[n].Members--
		}
	}
	for i := range u.removed {
		rename(&u.removed[i].kind)
	}
	for i := range u.added {
		rename(&u.added[i].kind)
	}
	for i := range u.swapped {
		rename(&u.swapped[i].kind)
	}
	k.labels.EachKind(rename)
}

// changeClasses finds the pending pods of each class.
func (u *update) changeClasses() {
	m := u.next
	if !u.podsChanged && !u.regrouped {
		u.readSamples()
		return
	}
	m.PodClass = u.classesOf(u.waiting)
	waiting := make([]int32, len(m.Classes))
	for _, c := range m.PodClass {
		waiting[c]++
	}
	if !u.regrouped {
		m.Classes = slices.Clone(m.Classes)
	}
	flat := make([]int32, 0, len(m.PodClass))
	for i, c := range m.Classes {
		if waiting[i] == 0 && len(c.Pending) == 0 {
			continue
		}
		own := *c
		own.Pending = flat[len(flat) : len(flat) : len(flat)+int(waiting[i])]
		flat = flat[:len(flat)+int(waiting[i])]
		m.Classes[i] = &own
	}
	for i, c := range m.PodClass {
		m.Classes[c].Pending = append(m.Classes[c].Pending, int32(i))
	}
	for i, c := range m.Classes {
		if waiting[i] > 0 {
			c.SortPending(m.Pods)
		} else {
			c.Pending = nilIfEmpty(c.Pending)
		}
	}
	u.readSamples()
}

// readSamples reads classes again whose first pod has changed.
func (u *update) readSamples() {
	m := u.next
	if len(u.resampled) == 0 || u.regrouped {
		return
	}
	if model.SameList(m.Classes, u.was.Classes) {
		m.Classes = slices.Clone(m.Classes)
	}
	for _, n := range u.resampled {
		kd := &u.memo.kinds[n]
		own := *m.Classes[kd.Class]
		own.Sample = kd.Sample
		m.Classes[kd.Class] = &own
	}
}

func nilIfEmpty(list []int32) []int32 {
	if len(list) == 0 {
		return nil
	}
	return list
}

// changeSamples finds the first pod of each kind that has lost or gained pods. It returns false if the snapshot must be compiled.
func (u *update) changeSamples() bool {
	k := u.memo
	lost := make(map[int32]bool)
	for _, r := range u.removed {
		if k.kinds[r.kind].Sample == r.pod {
			lost[r.kind] = true
		}
	}
	for _, d := range u.swapped {
		if d.old != nil && k.kinds[d.kind].Sample == d.old {
			lost[d.kind] = true
		}
	}
	for _, merged := range u.merged {
		lost[merged.into] = true
	}
	samples := make(map[int32]*corev1.Pod)
	candidate := func(kind int32, pod *corev1.Pod) {
		best := samples[kind]
		if best == nil {
			best = k.kinds[kind].Sample
		}
		if likeness.Compare(pod, best) < 0 {
			samples[kind] = pod
		}
	}
	for _, d := range u.swapped {
		if d.new != nil {
			candidate(d.kind, d.new)
		}
	}
	for _, a := range u.added {
		if k.kinds[a.kind].Members > 0 {
			candidate(a.kind, a.pod)
		}
	}
	if len(lost) > 0 {
		for kind := range lost {
			delete(samples, kind)
		}
		u.findSamples(lost, samples)
	}
	for kind, sample := range samples {
		kd := &k.kinds[kind]
		kd.Sample = sample
		if kd.Class < 0 {
			continue
		}
		if u.was.Classes[kd.Class].Invalid != nil || resources.CheckPod(sample) != nil {
			return false // the errors of the class would name the old sample pod
		}
		u.resampled = append(u.resampled, kind)
	}
	return true
}

// findSamples finds the new first pod of the kinds in the map lost, which may have lost their first pod, and stores it in samples.
func (u *update) findSamples(lost map[int32]bool, samples map[int32]*corev1.Pod) {
	k := u.memo
	want := make([]bool, len(k.kinds))
	for kind := range lost {
		want[kind] = k.kinds[kind].Members > 0
	}
	consider := func(kind int32, pod *corev1.Pod) {
		if want[kind] && (samples[kind] == nil || likeness.Compare(pod, samples[kind]) < 0) {
			samples[kind] = pod
		}
	}
	for i, pod := range u.next.Pods {
		consider(u.waiting[i].kind, pod)
	}
	for i, kind := range k.ofDaemons {
		consider(kind, u.next.DaemonSets[i].Sample)
	}
	for like, pod := range k.gangs.Variants {
		consider(like, pod)
	}
	for i, was := range u.kept {
		if was >= 0 {
			for j, at := range k.placed[was] {
				if want[at.kind] {
					consider(at.kind, u.snapshot.Nodes[i].Pods[j])
				}
			}
		}
	}
	for i, c := range u.changed {
		for j, at := range u.placed[i] {
			consider(at.kind, u.snapshot.Nodes[c.at].Pods[j])
		}
	}
}
