package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// GangRecord records how the gangs of the latest model were read.
type GangRecord struct {
	source   []planning.Gang
	memberOf map[planning.PodKey]int32
	hosting  map[string]bool
	// domains, ranked and sold are cached by the list of keys: see gangBuilder.
	domains, ranked, sold map[string][][]string
	// variants has the variants of members by key, and list has them in the order in which they were found. A variant's number is that of
	// its kind.
	variants map[variantKey]*gangVariant
	list     []*gangVariant
}

func gangRecordOf(b *gangBuilder) *GangRecord {
	return &GangRecord{
		source: b.s.Gangs, memberOf: b.memberOf, hosting: b.hosting, domains: b.domains, ranked: b.ranked, sold: b.sold, variants: b.variants, list: b.list,
	}
}

// Rename changes the numbers that equal pods share. Variants that become equal are merged, and are then read from the first pod. It returns
// the numbers of variants that no longer exist. The index must not have classes yet.
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

// Variants yields the variants of members in domains, in the order in which they were found. It yields the variant's number and the pod
// from which it is read. It yields nothing if the record is nil.
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

// NumberedPods says which number each pod of a snapshot has. Equal pods share a number.
type NumberedPods struct {
	// Waiting returns the number of a pod of Snapshot.Pods, by index. Bound returns the number of a node's pod, by the indexes of the node
	// and of the pod.
	Waiting func(pod int32) int32
	Bound   func(node, pod int) int32
	// Variant returns the number of pods like pod, which is restricted to a domain. original states the topology rules of these pods.
	Variant func(original, pod *corev1.Pod) int32
}

func (p *NumberedPods) waiting(pod int32) int32   { return p.Waiting(pod) }
func (p *NumberedPods) bound(node, pod int) int32 { return p.Bound(node, pod) }

// readAs returns the pod itself, because a model is not updated if limits on spot nodes or run times matter.
func (p *NumberedPods) readAs(_ int32, pod *corev1.Pod) *corev1.Pod { return pod }

func (p *NumberedPods) variant(_ int32, original, pod *corev1.Pod) int32 {
	return p.Variant(original, pod)
}

// GangUpdate says how the gangs of a snapshot are read if the gangs of an earlier snapshot were read before.
type GangUpdate struct {
	Snapshot *planning.Snapshot
	Lookup   *requirements.Lookup
	Pods     *NumberedPods
	// Was is the record of the earlier snapshot, or nil if it has no record.
	Was *GangRecord
	// SameLabels means that nodes have the same labels as in the earlier snapshot, and that no node was added or removed. Unchanged reports
	// whether a node and its pods have not changed since the earlier snapshot.
	SameLabels bool
	Unchanged  func(node int) bool
}

// Read reads the gangs. The index that it returns has no classes yet.
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

// SetClasses sets the classes in the options and moves of gangs. classOf returns the class for a number that equal pods share. Call it
// once.
func (x *GangIndex) SetClasses(classOf func(like int32) int32, podClass []int32) {
	x.setClasses(classOf, podClass)
}
