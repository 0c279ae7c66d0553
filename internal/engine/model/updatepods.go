package model

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// arrival is a pod that was not there before, or in another place, and where its seat is to be written.
type arrival struct {
	pod         *corev1.Pod
	placeholder bool
	seat        *seat
	rules       int32
}

// changePods counts the pods that went, then those that came, and finds the kinds of the latter.
func (u *update) changePods() bool {
	k := u.memo
	arrivals := slices.Concat(u.comparePlaced(), u.compareWaiting())
	for _, r := range u.removed {
		if u.was.Devices != nil && u.was.Devices.Concerns(r.pod) {
			return false
		}
		k.leave(r.pod, r.seat)
		k.count(r.pod, -1, u.scratch)
	}
	for _, a := range arrivals {
		if a.pod == nil || !k.enter(a.pod) || !u.knowsResources(a.pod) {
			return false
		}
		k.count(a.pod, 1, u.scratch)
	}
	if !u.changeNamespaces() || !u.changeVolumes(arrivals) {
		return false
	}
	// All rules have to be known before it is known which of them a pod falls under.
	for i := range arrivals {
		arrivals[i].rules, _, _ = k.index.Collect(arrivals[i].pod)
	}
	u.reviseKinds()
	for _, a := range arrivals {
		*a.seat = k.join(a.pod, u.kindOf(a.pod, a.placeholder, a.rules))
		u.added = append(u.added, classedPod{a.pod, *a.seat})
	}
	return true
}

// comparePlaced finds the pods that came to nodes, and notes those that left them.
func (u *update) comparePlaced() []arrival {
	m := u.was
	for _, was := range u.gone {
		for j, pod := range m.Nodes[was].Source.Pods {
			u.removed = append(u.removed, classedPod{pod, u.memo.placed[was][j]})
		}
	}
	var arrivals []arrival
	u.placed = make([][]seat, len(u.changed))
	stay := make(map[*corev1.Pod]seat)
	for i, c := range u.changed {
		clear(stay)
		if c.was >= 0 {
			for j, pod := range m.Nodes[c.was].Source.Pods {
				stay[pod] = u.memo.placed[c.was][j]
			}
		}
		list := u.snapshot.Nodes[c.at].Pods
		u.placed[i] = make([]seat, len(list))
		for j, pod := range list {
			if was, ok := stay[pod]; ok {
				u.placed[i][j] = was
				delete(stay, pod)
				continue
			}
			u.placed[i][j].kind = noKind
			arrivals = append(arrivals, arrival{pod: pod, seat: &u.placed[i][j]})
		}
		for pod, was := range stay {
			u.removed = append(u.removed, classedPod{pod, was})
		}
	}
	return arrivals
}

// compareWaiting finds the pods that began to wait, placeholders last, and notes those that wait no more.
func (u *update) compareWaiting() []arrival {
	m, s := u.was, u.snapshot
	waiting := s.Pods
	if len(s.Placeholders) > 0 {
		waiting = slices.Concat(s.Pods, s.Placeholders)
	}
	u.next.Pods = waiting
	u.podsChanged = !slices.Equal(waiting, m.Pods) || len(s.Placeholders) != len(m.Snapshot.Placeholders)
	if !u.podsChanged {
		u.waiting = u.memo.waiting
		return nil
	}
	type place struct {
		seat
		placeholder bool
	}
	old := make(map[*corev1.Pod]place, len(m.Pods))
	for i, pod := range m.Pods {
		old[pod] = place{u.memo.waiting[i], i >= len(m.Snapshot.Pods)}
	}
	var arrivals []arrival
	u.waiting = make([]seat, len(waiting))
	u.memo.waiting = u.waiting
	for i, pod := range waiting {
		placeholder := i >= len(s.Pods)
		if was, ok := old[pod]; ok && was.placeholder == placeholder {
			u.waiting[i] = was.seat
			delete(old, pod)
			continue
		}
		u.waiting[i].kind = noKind
		arrivals = append(arrivals, arrival{pod: pod, placeholder: placeholder, seat: &u.waiting[i]})
	}
	for pod, was := range old {
		u.removed = append(u.removed, classedPod{pod, was.seat})
	}
	return arrivals
}

// knowsResources reports whether all that the pod requests is in the model.
func (u *update) knowsResources(pod *corev1.Pod) bool {
	if u.was.Devices.Concerns(pod) {
		return false
	}
	clear(u.scratch)
	likeness.ResourceNames(pod, u.scratch)
	for name := range u.scratch {
		if _, ok := u.was.Resources.At(name); !ok {
			return false
		}
	}
	return true
}

// changeNamespaces finds out which namespaces there are. Where rules select some by their labels, they must be those that were.
func (u *update) changeNamespaces() bool {
	k, s := u.memo, u.snapshot
	same := slices.Equal(u.was.Snapshot.Namespaces, s.Namespaces)
	for namespace, n := range k.namespaces {
		if !k.index.KnowsNamespace(namespace) || n == 0 && !k.listed[namespace] {
			same = false
		}
		if n == 0 {
			delete(k.namespaces, namespace)
		}
	}
	if same {
		return true
	}
	if k.index.SelectsNamespaces {
		return false
	}
	clear(k.listed)
	for _, ns := range s.Namespaces {
		k.listed[ns.Name] = true
	}
	k.index.SetNamespaces(s.Namespaces)
	for namespace := range k.namespaces {
		k.index.KnowNamespace(namespace)
	}
	return true
}

// kindOf is the pod's kind. Where its rules stand is known from topology.Index.Remember.
func (u *update) kindOf(pod *corev1.Pod, placeholder bool, rules int32) int32 {
	text, stake, err := podclass.Text(u.memo.index, u.was.Devices.Reads(), &likeness.Pattern{First: pod, Rules: rules, Placeholder: placeholder}, u.writer)
	if n, known := u.memo.kindOf[string(text)]; known {
		return n
	}
	u.regrouped = true
	return u.memo.addKind(podclass.NewKind(pod, u.writer, stake, placeholder, err))
}

// reviseKinds looks again at pods that were there before: those that rules count that came with others, and those with claims
// if volumes changed.
func (u *update) reviseKinds() {
	k, x := u.memo, u.memo.index
	if u.volumes {
		for pod := range u.claimants() {
			_, _, _ = x.Collect(pod)
		}
		for _, pod := range u.snapshot.Placeholders {
			_, _, _ = x.Collect(pod)
		}
	}
	if len(x.Fresh) == 0 && !u.volumes {
		return
	}
	groups := x.ReadFresh()
	ports := slices.ContainsFunc(groups, func(g *topology.Group) bool { return g.Kind == topology.Exclusive })
	affected := make([]bool, len(k.kinds), 2*len(k.kinds))
	selected := k.labels.SelectKinds(groups, affected)
	for n := range k.kinds {
		kd := &k.kinds[n]
		if u.volumes && kd.Claims || ports && slices.ContainsFunc(kd.Owns, func(g int32) bool { return x.Groups[g].Kind == topology.Exclusive }) {
			affected[n] = true
		}
	}
	counted := func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(x.Fresh, func(g int32) bool {
			switch x.Groups[g].Kind {
			case topology.Exclusive:
				return slices.Contains(x.PortMembership(&pod.Spec), g)
			case topology.Together:
				return false // their members use claims
			}
			return x.Groups[g].Selects(pod)
		})
	}
	if slices.Contains(affected, true) {
		became := make(map[seat]int32)
		u.eachPlace(func(pod *corev1.Pod, at *seat, was int32, placeholder bool) {
			switch {
			case !affected[at.kind]:
			case ports && topology.HasHostPorts(&pod.Spec) && counted(pod), u.volumes && k.kinds[at.kind].Claims:
				u.revise(pod, at, was, u.kindOf(pod, placeholder, x.Remember(pod)))
			case !selected[at.labels]:
			case k.kinds[at.kind].Claims || ports:
				u.revise(pod, at, was, u.kindOf(pod, placeholder, x.Remember(pod)))
			default: // pods with the same labels that were of one kind are so again
				now, known := became[*at]
				if !known {
					now = u.kindOf(pod, placeholder, x.Remember(pod))
					became[*at] = now
				}
				u.revise(pod, at, was, now)
			}
		})
	}
	for i := range u.was.DaemonSets {
		if sample := u.was.DaemonSets[i].Sample; counted(sample) || u.volumes && k.kinds[k.ofDaemons[i]].Claims {
			was := k.ofDaemons[i]
			now := u.kindOf(sample, false, x.Remember(sample))
			k.kinds[was].Members--
			k.kinds[now].Members++
			k.ofDaemons[i] = now
			u.removed, u.added = append(u.removed, classedPod{sample, seat{kind: was}}), append(u.added, classedPod{sample, seat{kind: now}})
		}
	}
	x.ForgetFresh()
}

// revise makes a pod that was there before, on the node was or on none, one of the kind now.
func (u *update) revise(pod *corev1.Pod, at *seat, was, now int32) {
	k := u.memo
	if now == at.kind {
		return
	}
	u.removed, u.added = append(u.removed, classedPod{pod, *at}), append(u.added, classedPod{pod, seat{now, at.labels}})
	k.kinds[at.kind].Members--
	k.kinds[now].Members++
	if old := &k.kinds[at.kind]; old.Claims {
		k.kinds[now].Note(pod)
	}
	k.labels.AddKind(at.labels, now)
	at.kind = now
	if was >= 0 {
		u.touched[was] = true
	}
}

// eachPlace calls f with the pods that were there before and stayed where they were: with their seats, the
// unchanged node that they are on or -1, and whether they are placeholders.
func (u *update) eachPlace(f func(pod *corev1.Pod, at *seat, was int32, placeholder bool)) {
	for i, pod := range u.next.Pods {
		if u.waiting[i].kind != noKind {
			f(pod, &u.waiting[i], -1, i >= len(u.snapshot.Pods))
		}
	}
	for i, was := range u.kept {
		if was >= 0 {
			seats := u.memo.placed[was]
			for j, pod := range u.snapshot.Nodes[i].Pods {
				f(pod, &seats[j], was, false)
			}
		}
	}
	for i, c := range u.changed {
		for j, pod := range u.snapshot.Nodes[c.at].Pods {
			if u.placed[i][j].kind != noKind {
				f(pod, &u.placed[i][j], -1, false)
			}
		}
	}
}

// changeDaemons finds the pods that stand for DaemonSets now. They must be like those before.
func (u *update) changeDaemons() bool {
	m := u.next
	if len(m.DaemonSets) == 0 {
		return true
	}
	daemons := make([][]*corev1.Pod, 0, len(u.snapshot.Nodes))
	for i, was := range u.kept {
		if was >= 0 {
			daemons = append(daemons, u.memo.daemons[was])
		} else {
			daemons = append(daemons, daemonPodsOf(&u.snapshot.Nodes[i]))
		}
	}
	newest := daemonset.Newest(daemons)
	old := daemonset.Newest(u.memo.daemons)
	byName := make(map[planning.PodKey]*appsv1.DaemonSet, len(u.snapshot.DaemonSets))
	for _, set := range u.snapshot.DaemonSets {
		byName[planning.PodKey{Namespace: set.Namespace, Name: set.Name}] = set
	}
	m.DaemonSets = slices.Clone(m.DaemonSets)
	for i := range m.DaemonSets {
		d := &m.DaemonSets[i]
		d.Object = byName[planning.PodKey{Namespace: d.Object.Namespace, Name: d.Object.Name}]
		if newest[d.Object.UID] == old[d.Object.UID] {
			continue
		}
		sample, kind := daemonset.Representative(d.Object, newest), u.memo.ofDaemons[i]
		if !u.knowsResources(sample) || likeness.UsesClaims(sample) || u.kindOf(sample, false, u.memo.index.Remember(sample)) != kind {
			return false
		}
		u.swapped = append(u.swapped, swappedSample{kind, d.Sample, sample})
		d.Sample, d.Tolerations = sample, sample.Spec.Tolerations
	}
	return len(byName) >= len(u.snapshot.DaemonSets)
}

// settle drops kinds that are no more, and the rules that they alone stated.
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

// merge makes pods of the kinds those of others, which they have become like.
func (u *update) merge(into map[int32]int32) {
	k := u.memo
	for n := range k.kinds { // in the order of their numbers
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

// changeClasses finds out which pods of each class wait.
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

// readSamples has classes read from the first of their pods, where that is another one.
func (u *update) readSamples() {
	m := u.next
	if len(u.resampled) == 0 || u.regrouped {
		return
	}
	if sameList(m.Classes, u.was.Classes) {
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

// changeSamples finds the first pod of each kind that lost or gained some.
func (u *update) changeSamples() bool {
	k := u.memo
	lost := make(map[int32]bool)
	for _, r := range u.removed {
		if k.kinds[r.kind].Sample == r.pod {
			lost[r.kind] = true
		}
	}
	for _, d := range u.swapped {
		if k.kinds[d.kind].Sample == d.old {
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
		candidate(d.kind, d.new)
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
			return false // what is wrong is told of the sample
		}
		u.resampled = append(u.resampled, kind)
	}
	return true
}

// findSamples looks for the first pod of kinds that lost theirs.
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
