package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// An Update reads gangs again after all pods have their kinds. The variants of members in domains count as members of their kinds. So kinds
// of variants that are not needed any more are removed, like kinds without pods. Data that most updates leave unchanged is reused: which
// pods are members, the nodes without members, which domains are sold, and variants.

// gangMemo is how the gangs of the latest model were read.
type gangMemo struct {
	source   []planning.Gang
	memberOf map[planning.PodKey]int32
	hosting  map[string]bool
	// domains, ranked and sold are those of lists of keys.
	domains, ranked, sold map[string][][]string
	// variants have the numbers of kinds.
	variants map[variantKey]*gangVariant
	list     []*gangVariant
}

func gangMemoOf(b *gangBuilder) *gangMemo {
	return &gangMemo{
		source: b.s.Gangs, memberOf: b.memberOf, hosting: b.hosting, domains: b.domains, ranked: b.ranked, sold: b.sold, variants: b.variants, list: b.list,
	}
}

// keepGangs remembers how the gangs were read when the model was compiled. Several patterns of the roster may have the same class, and so
// may several variants.
func (k *memo) keepGangs(b *gangBuilder, classOf func(like int32) int32) {
	k.gangs = gangMemoOf(b)
	k.gangs.rename(func(like *int32) { *like = classOf(*like) }, &GangIndex{})
	for _, v := range k.gangs.list {
		k.kinds[v.like].Members++
		k.kinds[v.like].Note(v.pod)
	}
}

// rename gives pods that are alike other numbers. Variants that become equal are merged, and are read from the first pod. It returns the
// numbers of variants that no longer exist. The index has no classes yet.
func (g *gangMemo) rename(rename func(like *int32), x *GangIndex) (gone []int32) {
	list := g.list
	g.list, g.variants = nil, make(map[variantKey]*gangVariant, len(list))
	for _, v := range list {
		rename(&v.key.like)
		rename(&v.like)
		was := g.variants[v.key]
		if was == nil {
			g.variants[v.key], g.list = v, append(g.list, v)
			continue
		}
		gone = append(gone, v.like)
		if likeness.Compare(v.original, was.original) < 0 {
			was.original, was.pod = v.original, v.pod
		}
	}
	for number := range x.List {
		gang := &x.List[number]
		for o := range gang.Options {
			for i := range o.likes {
				rename(&o.likes[i])
			}
		}
		for i := range gang.Moves {
			likes := make(map[int32]int32, len(gang.Moves[i].likes))
			for from, to := range gang.Moves[i].likes {
				rename(&from)
				rename(&to)
				likes[from] = to
			}
			gang.Moves[i].likes = likes
		}
	}
	return gone
}

// updatedPods are the pods of an update.
type updatedPods struct {
	u *update
	// changed is the place in update.changed of nodes that changed.
	changed map[int]int
}

func (p *updatedPods) waiting(pod int32) int32 { return p.u.waiting[pod].kind }

func (p *updatedPods) bound(node, pod int) int32 {
	if was := p.u.kept[node]; was >= 0 {
		return p.u.memo.placed[was][pod].kind
	}
	return p.u.placed[p.changed[node]][pod].kind
}

// readAs is the pod itself: models with limits on spot nodes or run times that matter are not updated.
func (p *updatedPods) readAs(_ int32, pod *corev1.Pod) *corev1.Pod { return pod }

func (p *updatedPods) variant(_ int32, original, pod *corev1.Pod) int32 {
	u, k := p.u, p.u.memo
	rules := k.index.Remember(original)
	text, rulesOf, err := podclass.Text(k.index, u.was.Devices.Reads(), &likeness.Pattern{First: pod, RuledAs: original, Rules: rules}, u.writer)
	if n, known := k.kindOf[string(text)]; known {
		return n
	}
	u.regrouped = true
	return k.addKind(podclass.NewKind(pod, u.writer, rulesOf, false, err))
}

// changeGangs reads the gangs of the update's snapshot. It reports false if they have to be compiled.
func changeGangs(u *update) bool {
	k, s, was := u.memo, u.snapshot, u.memo.gangs
	u.next.Gangs = nil
	if was != nil {
		for _, v := range was.list {
			k.kinds[v.like].Members--
		}
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
	b := newGangBuilder(s, pods, u.was.Vocab)
	if was != nil {
		b.sold, b.earlier = was.sold, was.variants
		if sameLabels(u) {
			b.domains, b.ranked = was.domains, was.ranked
		}
		if slices.EqualFunc(was.source, s.Gangs, func(a, b planning.Gang) bool { return slices.Equal(a.Members, b.Members) }) {
			b.memberOf = was.memberOf
			b.settled = func(node int) bool { return u.kept[node] >= 0 && !was.hosting[s.Nodes[node].Name] }
		}
	}
	b.build()
	if b.err != nil {
		return false
	}
	k.gangs, u.next.Gangs = gangMemoOf(b), b.index
	for _, v := range b.list {
		k.kinds[v.like].Members++
		k.kinds[v.like].Note(v.pod)
	}
	swapVariants(u, was, k.gangs)
	return true
}

// sameLabels reports whether nodes still have the same labels, and no node was added or removed.
func sameLabels(u *update) bool {
	return len(u.gone) == 0 && !slices.ContainsFunc(u.changed, func(c changedNode) bool {
		return c.was < 0 || !maps.Equal(existing.LabelsOf(u.was.Nodes[c.was].Source), existing.LabelsOf(&u.snapshot.Nodes[c.at]))
	})
}

// swapVariants records the pods from which variants are no longer read, and those from which they are read now. Either memo may be nil.
func swapVariants(u *update, was, now *gangMemo) {
	is := map[*corev1.Pod]int32{}
	if now != nil {
		for _, v := range now.list {
			is[v.pod] = v.like
		}
	}
	if was != nil {
		for _, v := range was.list {
			if kind, ok := is[v.pod]; ok && kind == v.like {
				delete(is, v.pod)
				continue
			}
			u.swapped = append(u.swapped, swappedSample{v.like, v.pod, nil})
		}
	}
	if now != nil {
		for _, v := range now.list {
			if _, ok := is[v.pod]; ok {
				u.swapped = append(u.swapped, swappedSample{v.like, nil, v.pod})
			}
		}
	}
}
