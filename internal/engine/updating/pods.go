package updating

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/runtimes"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// arrival is a pod that is new or was moved, with the position where its seat is written.
type arrival struct {
	pod         *corev1.Pod
	placeholder bool
	seat        *seat
	rules       int32
}

// changePods processes the removed pods first and then the added pods. It determines the kinds of the added pods. It returns false if the
// snapshot must be compiled.
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
		if a.pod == nil || spotlimits.Asks(a.pod) || runtimes.Concerns(u.snapshot, a.pod) || !k.enter(a.pod) || !u.knowsResources(a.pod) {
			return false
		}
		k.count(a.pod, 1, u.scratch)
	}
	if !u.changeNamespaces() || !u.changeVolumes(arrivals) {
		return false
	}
	// The rules of all pods must be known before the topology groups of a pod can be determined.
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

// comparePlaced returns the pods that were added to nodes, and records the pods that were removed from nodes.
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

// compareWaiting returns new pending pods, placeholders last, and records the pods that are no longer pending.
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

// knowsResources reports whether the model has all resources that the pod requests, and the pod needs no devices.
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

// changeNamespaces finds the namespaces of the snapshot. If rules select namespaces by their labels and the namespaces have changed, it
// returns false.
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

// changeDaemons finds the pods that now represent the DaemonSets. It returns false if such a pod is not equal to the pod that represented
// the DaemonSet before.
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
			daemons = append(daemons, model.DaemonPodsOf(&u.snapshot.Nodes[i]))
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
