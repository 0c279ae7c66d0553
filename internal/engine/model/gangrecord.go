package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// GangRecord is how the gangs of the latest model were read.
type GangRecord struct {
	source   []planning.Gang
	memberOf map[planning.PodKey]int32
	hosting  map[string]bool
	// domains, ranked and sold are those of lists of keys.
	domains, ranked, sold map[string][][]string
	// variants have the numbers of kinds.
	variants map[variantKey]*gangVariant
	list     []*gangVariant
}

func gangRecordOf(b *gangBuilder) *GangRecord {
	return &GangRecord{
		source: b.s.Gangs, memberOf: b.memberOf, hosting: b.hosting, domains: b.domains, ranked: b.ranked, sold: b.sold, variants: b.variants, list: b.list,
	}
}

// Rename gives pods that are alike other numbers. Variants that become equal are merged, and are read from the first pod. It returns the
// numbers of variants that no longer exist. The index has no classes yet.
func (g *GangRecord) Rename(rename func(like *int32), x *GangIndex) (gone []int32) {
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

// Variants yields the variants of members in domains, in the order in which they were found: their numbers, and the pods that they are read
// from. There are none without a record.
func (g *GangRecord) Variants(yield func(like int32, pod *corev1.Pod) bool) {
	if g == nil {
		return
	}
	for _, v := range g.list {
		if !yield(v.like, v.pod) {
			return
		}
	}
}

// NumberedPods are the pods of a snapshot, by numbers that pods that are alike have in common.
type NumberedPods struct {
	// Waiting is the number of a pod of Snapshot.Pods, Bound that of a pod of a node, by their indices.
	Waiting func(pod int32) int32
	Bound   func(node, pod int) int32
	// Variant is the number of pods like the pod, which is in a domain; its original states their rules.
	Variant func(original, pod *corev1.Pod) int32
}

func (p *NumberedPods) waiting(pod int32) int32   { return p.Waiting(pod) }
func (p *NumberedPods) bound(node, pod int) int32 { return p.Bound(node, pod) }

// readAs is the pod itself: models with limits on spot nodes or run times that matter are not updated.
func (p *NumberedPods) readAs(_ int32, pod *corev1.Pod) *corev1.Pod { return pod }

func (p *NumberedPods) variant(_ int32, original, pod *corev1.Pod) int32 {
	return p.Variant(original, pod)
}

// GangUpdate is how the gangs of a snapshot are read after those of an earlier one.
type GangUpdate struct {
	Snapshot *planning.Snapshot
	Lookup   *requirements.Lookup
	Pods     *NumberedPods
	// Was is the earlier record; nil without any.
	Was *GangRecord
	// SameLabels says that nodes have the labels that they had, and no node came or went. Unchanged reports whether a node and its pods are
	// as they were.
	SameLabels bool
	Unchanged  func(node int) bool
}

// Read reads the gangs. The index has no classes yet.
func (g *GangUpdate) Read() (*GangRecord, *GangIndex, error) {
	s, was := g.Snapshot, g.Was
	b := newGangBuilder(s, g.Pods, g.Lookup)
	if was != nil {
		b.sold, b.earlier = was.sold, was.variants
		if g.SameLabels {
			b.domains, b.ranked = was.domains, was.ranked
		}
		if slices.EqualFunc(was.source, s.Gangs, func(a, b planning.Gang) bool { return slices.Equal(a.Members, b.Members) }) {
			b.memberOf = was.memberOf
			b.settled = func(node int) bool { return g.Unchanged(node) && !was.hosting[s.Nodes[node].Name] }
		}
	}
	b.build()
	if b.err != nil {
		return nil, nil, b.err
	}
	return gangRecordOf(b), b.index, nil
}

// SetClasses gives the options and moves of gangs the classes of pods that are alike, once.
func (x *GangIndex) SetClasses(classOf func(like int32) int32, podClass []int32) {
	x.setClasses(classOf, podClass)
}
