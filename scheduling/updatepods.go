package scheduling

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// arrival is a pod that was not there before, or in another place, and where its class is to be written.
type arrival struct {
	pod         *corev1.Pod
	placeholder bool
	class       *int32
}

// changePods counts the pods that went, then those that came, and finds the classes of the latter.
func (u *update) changePods() bool {
	m := u.was
	arrivals := slices.Concat(u.comparePlaced(), u.compareWaiting())
	for _, r := range u.removed {
		if usesClaims(r.pod) {
			return false
		}
		u.memo.remove(m, r.pod, r.class, u.scratch)
	}
	for _, a := range arrivals {
		if a.pod == nil || usesClaims(a.pod) {
			return false
		}
		class, known := u.classOf(a.pod, a.placeholder)
		if !known || !u.memo.add(m, a.pod, class, u.scratch) {
			return false
		}
		*a.class = class
		u.added = append(u.added, classedPod{a.pod, class})
	}
	return true
}

// comparePlaced finds the pods that came to machines, and notes those that left them.
func (u *update) comparePlaced() []arrival {
	m := u.was
	for _, was := range u.gone {
		for j, pod := range m.nodes[was].source.Pods {
			u.removed = append(u.removed, classedPod{pod, u.memo.classes[was][j]})
		}
	}
	var arrivals []arrival
	u.classes = make([][]int32, len(u.changed))
	stay := make(map[*corev1.Pod]int32)
	for i, c := range u.changed {
		clear(stay)
		if c.was >= 0 {
			for j, pod := range m.nodes[c.was].source.Pods {
				stay[pod] = u.memo.classes[c.was][j]
			}
		}
		list := u.snapshot.Nodes[c.at].Pods
		u.classes[i] = make([]int32, len(list))
		for j, pod := range list {
			if class, ok := stay[pod]; ok {
				u.classes[i][j] = class
				delete(stay, pod)
				continue
			}
			arrivals = append(arrivals, arrival{pod: pod, class: &u.classes[i][j]})
		}
		for pod, class := range stay {
			u.removed = append(u.removed, classedPod{pod, class})
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
	u.next.pods = waiting
	u.podsChanged = !slices.Equal(waiting, m.pods) || len(s.Placeholders) != len(m.snapshot.Placeholders)
	if !u.podsChanged {
		return nil
	}
	type place struct {
		class       int32
		placeholder bool
	}
	old := make(map[*corev1.Pod]place, len(m.pods))
	for i, pod := range m.pods {
		old[pod] = place{m.podClass[i], i >= len(m.snapshot.Pods)}
	}
	var arrivals []arrival
	u.next.podClass = make([]int32, len(waiting))
	for i, pod := range waiting {
		placeholder := i >= len(s.Pods)
		if was, ok := old[pod]; ok && was.placeholder == placeholder {
			u.next.podClass[i] = was.class
			delete(old, pod)
			continue
		}
		arrivals = append(arrivals, arrival{pod, placeholder, &u.next.podClass[i]})
	}
	for pod, was := range old {
		u.removed = append(u.removed, classedPod{pod, was.class})
	}
	return arrivals
}

// usesClaims reports whether the pod has volumes that other pods or objects have a say in.
func usesClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.EmptyDir == nil && v.DownwardAPI == nil && v.HostPath == nil
	})
}

// classOf is the pod's class, if there is one of its kind.
func (u *update) classOf(pod *corev1.Pod, placeholder bool) (int32, bool) {
	clear(u.scratch)
	resourceNames(pod, u.scratch)
	for name := range u.scratch {
		if _, ok := u.was.resources.index[name]; !ok {
			return 0, false
		}
	}
	text, _, _ := u.memo.index.m.classText(pod, u.writer, placeholder, u.memo.index.remember(pod))
	class, known := u.memo.classOf[string(text)]
	return class, known
}

// changeDaemons finds the pods that stand for DaemonSets now (SCH-150). They must be like those before.
func (u *update) changeDaemons() bool {
	m := u.next
	if len(m.daemonSets) == 0 {
		return true
	}
	daemons := make([][]*corev1.Pod, 0, len(u.snapshot.Nodes))
	for i, was := range u.kept {
		if was >= 0 {
			daemons = append(daemons, u.memo.daemons[was])
		} else {
			daemons = append(daemons, daemonPods(u.snapshot.Nodes[i].Pods))
		}
	}
	newest := (&memo{daemons: daemons}).representatives()
	old := u.memo.representatives()
	byName := make(map[PodKey]*appsv1.DaemonSet, len(u.snapshot.DaemonSets))
	for _, set := range u.snapshot.DaemonSets {
		byName[PodKey{set.Namespace, set.Name}] = set
	}
	m.daemonSets = slices.Clone(m.daemonSets)
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		d.set = byName[PodKey{d.set.Namespace, d.set.Name}]
		if newest[d.set.UID] == old[d.set.UID] {
			continue
		}
		sample := representative(d.set, newest)
		class, known := u.classOf(sample, false)
		if !known || class != d.class || usesClaims(sample) {
			return false
		}
		u.swapped = append(u.swapped, swappedSample{d.class, d.sample, sample})
		d.sample, d.tolerations = sample, sample.Spec.Tolerations
	}
	return len(byName) >= len(u.snapshot.DaemonSets)
}

// stillAlike reports whether there are pods of all classes, and of no others, and whatever else depends on which pods
// there are is as it was: then classes, shapes, rules and all that is made of them are.
func (u *update) stillAlike() bool {
	k := u.memo
	if len(k.index.groups) > len(u.was.topology) || len(k.index.m.askedKeys) > len(u.was.askedKeys) || slices.Contains(k.members, 0) {
		return false
	}
	for at, name := range u.was.resources.names {
		if _, fixed := k.fixed[name]; at >= baseDims && !fixed && k.names[name] == 0 {
			return false
		}
	}
	for namespace, n := range k.implicit {
		if _, known := k.index.namespaceLabels[namespace]; !known || n == 0 {
			return false
		}
	}
	return true
}

// changeClasses finds anew which pods of each class wait.
func (u *update) changeClasses() {
	m := u.next
	if !u.podsChanged {
		return
	}
	waiting := make([]int32, len(m.classes))
	for _, c := range m.podClass {
		waiting[c]++
	}
	m.classes = slices.Clone(m.classes)
	flat := make([]int32, 0, len(m.podClass))
	for i, c := range m.classes {
		if waiting[i] == 0 && len(c.pending) == 0 {
			continue
		}
		own := *c
		own.pending = flat[len(flat) : len(flat) : len(flat)+int(waiting[i])]
		flat = flat[:len(flat)+int(waiting[i])]
		m.classes[i] = &own
	}
	for i, c := range m.podClass {
		m.classes[c].pending = append(m.classes[c].pending, int32(i))
	}
	for i, c := range m.classes {
		if waiting[i] > 0 {
			m.sortPending(c)
		} else {
			c.pending = nilIfEmpty(c.pending)
		}
	}
}

func nilIfEmpty(list []int32) []int32 {
	if len(list) == 0 {
		return nil
	}
	return list
}

// changeSamples sees to it that each class is read from the first of its pods.
func (u *update) changeSamples() bool {
	m := u.next
	samples := make(map[int32]*corev1.Pod)
	lost := make(map[int32]bool)
	for _, r := range u.removed {
		if m.classes[r.class].sample == r.pod {
			lost[r.class] = true
		}
	}
	candidate := func(class int32, pod *corev1.Pod) {
		best := samples[class]
		if best == nil {
			best = m.classes[class].sample
		}
		if comparePods(pod, best) < 0 {
			samples[class] = pod
		}
	}
	for _, d := range u.swapped {
		if m.classes[d.class].sample == d.old {
			lost[d.class] = true
		}
		candidate(d.class, d.new)
	}
	for _, a := range u.added {
		candidate(a.class, a.pod)
	}
	if len(lost) > 0 {
		for class := range lost {
			delete(samples, class)
		}
		u.findSamples(lost, samples)
	}
	if len(samples) == 0 {
		return true
	}
	if sameList(m.classes, u.was.classes) {
		m.classes = slices.Clone(m.classes)
	}
	for class, sample := range samples {
		own := *m.classes[class]
		if own.invalid != nil || checkPod(sample) != nil {
			return false // what is wrong is told of the sample
		}
		own.sample = sample
		m.classes[class] = &own
	}
	return true
}

// findSamples looks for the first pod of classes that lost theirs.
func (u *update) findSamples(lost map[int32]bool, samples map[int32]*corev1.Pod) {
	m := u.next
	want := make([]bool, len(m.classes))
	for class := range lost {
		want[class] = true
	}
	consider := func(class int32, pod *corev1.Pod) {
		if want[class] && (samples[class] == nil || comparePods(pod, samples[class]) < 0) {
			samples[class] = pod
		}
	}
	for i, pod := range m.pods {
		consider(m.podClass[i], pod)
	}
	for i := range m.daemonSets {
		consider(m.daemonSets[i].class, m.daemonSets[i].sample)
	}
	for i, was := range u.kept {
		if was >= 0 {
			for j, class := range u.memo.classes[was] {
				if want[class] {
					consider(class, u.snapshot.Nodes[i].Pods[j])
				}
			}
		}
	}
	for i, c := range u.changed {
		for j, class := range u.classes[i] {
			consider(class, u.snapshot.Nodes[c.at].Pods[j])
		}
	}
}
