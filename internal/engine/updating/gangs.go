package updating

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/podclass"
)

// An Update reads gangs again after the kinds of all pods are known. For each domain, a gang's members have variants: pods that also
// require the domain. The variants are counted as members of their kinds. If only variants belonged to a kind and none of them is needed
// any more, the kind is removed like a kind without pods. Data that most updates leave unchanged are reused: which pods are members, the
// nodes without members, the domains that new nodes could be in, and the variants.

// countVariants counts the variants of gang members as members of their kinds.
func (k *memo) countVariants() {
	for like, pod := range k.gangs.Variants {
		k.kinds[like].Members++
		k.kinds[like].Note(pod)
	}
}

// updatedPods implements model.NumberedPods for the pods of an update.
type updatedPods struct {
	u *update
	// changed has the index in update.changed of each node that changed.
	changed map[int]int
}

func (p *updatedPods) waiting(pod int32) int32 { return p.u.waiting[pod].kind }

func (p *updatedPods) bound(node, pod int) int32 {
	if was := p.u.kept[node]; was >= 0 {
		return p.u.memo.placed[was][pod].kind
	}
	return p.u.placed[p.changed[node]][pod].kind
}

func (p *updatedPods) variant(original, pod *corev1.Pod) int32 {
	u, k := p.u, p.u.memo
	rules := k.index.Remember(original)
	text, rulesOf, err := podclass.Text(k.index, u.was.Devices.Reads(), &likeness.Pattern{First: pod, RuledAs: original, Rules: rules}, u.writer)
	if n, known := k.kindOf[string(text)]; known {
		return n
	}
	u.regrouped = true
	return k.addKind(podclass.NewKind(pod, u.writer, rulesOf, false, err))
}

// changeGangs reads the gangs of the update's snapshot. It returns false if the snapshot must be compiled.
func changeGangs(u *update) bool {
	k, s, was := u.memo, u.snapshot, u.memo.gangs
	u.next.Gangs = nil
	for like := range was.Variants {
		k.kinds[like].Members--
	}
	if len(s.Gangs) == 0 {
		k.gangs = nil
		swapVariants(u, was, nil)
		return true
	}
	pods := &updatedPods{u: u, changed: make(map[int]int, len(u.changed))}
	for i, c := range u.changed {
		pods.changed[c.at] = i
	}
	reading := model.GangUpdate{
		Snapshot: s, Lookup: u.was.Vocab, Pods: &model.NumberedPods{Waiting: pods.waiting, Bound: pods.bound, Variant: pods.variant}, Was: was,
		SameLabels: sameLabels(u), Unchanged: func(node int) bool { return u.kept[node] >= 0 },
	}
	record, index, err := reading.Read()
	if err != nil {
		return false
	}
	k.gangs, u.next.Gangs = record, index
	k.countVariants()
	swapVariants(u, was, k.gangs)
	return true
}

// sameLabels reports whether all nodes have the same labels as in the previous snapshot, and no node was added or removed.
func sameLabels(u *update) bool {
	return len(u.gone) == 0 && !slices.ContainsFunc(u.changed, func(c changedNode) bool {
		return c.was < 0 || !maps.Equal(existing.LabelsOf(u.was.Nodes[c.was].Source), existing.LabelsOf(&u.snapshot.Nodes[c.at]))
	})
}

// swapVariants records the changed variants of gang members: variants that only the old record was has, and variants that only the new
// record now has. Both records may be nil.
func swapVariants(u *update, was, now *model.GangRecord) {
	is := map[*corev1.Pod]int32{}
	for like, pod := range now.Variants {
		is[pod] = like
	}
	for like, pod := range was.Variants {
		if kind, ok := is[pod]; ok && kind == like {
			delete(is, pod)
			continue
		}
		u.swapped = append(u.swapped, swappedSample{like, pod, nil})
	}
	for like, pod := range now.Variants {
		if _, ok := is[pod]; ok {
			u.swapped = append(u.swapped, swappedSample{like, nil, pod})
		}
	}
}
