package updating

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// kindOf returns the pod's kind. rules is the result of topology.Index.Remember for the pod.
func (u *update) kindOf(pod *corev1.Pod, placeholder bool, rules int32) int32 {
	text, groups, err := podclass.Text(u.memo.index, u.was.Devices.Reads(), &likeness.Pattern{First: pod, Rules: rules, Placeholder: placeholder}, u.writer)
	if n, known := u.memo.kindOf[string(text)]; known {
		return n
	}
	u.regrouped = true
	return u.memo.addKind(podclass.NewKind(pod, u.writer, groups, placeholder, err))
}

// reviseKinds determines the kinds of some existing pods again, because they may have changed. These are pods that new rules count and, if
// volumes have changed, pods with claims.
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
				return false // the members of such a group use claims, and kinds with claims are checked separately
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
			default: // pods with equal labels that had the same kind also have the same kind now
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

// revise changes the kind of an existing pod to the kind with the number now. The parameter was is the index of the pod's unchanged node in
// u.was.Nodes, or -1.
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

// eachPlace calls f for the existing pods that have not moved. It passes the pod's seat, the index of its unchanged node or -1, and whether
// the pod is a placeholder.
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
