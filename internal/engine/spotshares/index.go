package spotshares

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// Index contains the workloads of a model that have limits for spot nodes.
type Index struct {
	List []Workload
	// Both lists are indexed like Snapshot.Pods. The slice `of` has the index in List of the pod's workload, or -1 if the pod has no
	// limits. The slice parts has the number of the pod's part.
	of, parts []int32
}

// Workload is a workload with limits.
type Workload struct {
	spotlimits.Workload
	Limits spotlimits.Limits
	// Division says which spot pools the workload's pods may use. Pods are the pods' indexes in the roster.
	Division Division
	Pods     []int32
	// waitOff are the workload's pending pods that must not be on spot nodes. waits has, for each part of the division, the pending pods.
	waitOff []planning.PodKey
	waits   [][]planning.PodKey
}

// Input contains the data from which an index is made.
type Input struct {
	Snapshot *planning.Snapshot
	Roster   *likeness.Roster
	Terms    match.Terms
	// RequirementsOf returns the requirements of a NodePool's template.
	RequirementsOf func(pool *planning.NodePool) (requirements.Set, error)
}

// Read divides the pods of workloads with limits. For each pod it sets a pattern in the roster that requires the nodes on which the pod may
// run. It returns nil if no pod has limits.
func Read(in Input) (*Index, error) {
	r := in.Roster
	first := slices.IndexFunc(r.Pods, spotlimits.Asks)
	if first < 0 {
		return nil, nil
	}
	b := &builder{Input: in, index: &Index{}, variants: map[string]int32{}, sold: map[int32][]Sale{}}
	b.refuse(first)
	b.findWorkloads(first)
	b.findPlaces()
	b.index.of, b.index.parts = make([]int32, len(in.Snapshot.Pods)), make([]int32, len(in.Snapshot.Pods))
	for i := range b.index.of {
		b.index.of[i] = -1
	}
	for number := range b.index.List {
		if err := b.divide(int32(number)); err != nil {
			return nil, err
		}
	}
	return b.index, nil
}

// builder builds an Index.
type builder struct {
	Input
	index *Index
	// place says, for each pod of the roster, whether the pod is on a spot node. node has the index of the pod's node, or -1.
	place []Pod
	node  []int32
	// variants are the patterns made for pods of a part. sold has, by pattern, the spot pools that the pattern's pods can use. market has
	// all spot offerings that NodePools may buy.
	variants map[string]int32
	sold     map[int32][]Sale
	market   []offer
}

// counts reports whether the limits count the pod. The limits don't count placeholders, pods that have ended or are being deleted,
// DaemonSet pods, and static pods.
func (b *builder) counts(at int) bool {
	const not = likeness.HasEnded | likeness.IsDeleted | likeness.OfDaemonSet | likeness.IsStatic
	waiting := len(b.Snapshot.Pods)
	return b.Roster.Marks[at]&not == 0 && (at < waiting || at >= waiting+len(b.Snapshot.Placeholders))
}

// refuse sets a separate pattern for pods whose annotations can't be parsed. Pods with this pattern are not planned.
func (b *builder) refuse(first int) {
	r := b.Roster
	for i := first; i < len(r.Pods); i++ {
		if !b.counts(i) || !spotlimits.Asks(r.Pods[i]) {
			continue
		}
		if _, err := spotlimits.Read(r.Pods[i]); err != nil {
			pattern := r.Patterns[r.Like[i]]
			pattern.First, pattern.Refused = r.Pods[i], err
			r.Like[i] = int32(len(r.Patterns))
			r.Patterns = append(r.Patterns, pattern)
		}
	}
}

// findWorkloads finds the workloads with limits, and all of their pods.
func (b *builder) findWorkloads(first int) {
	limits := map[spotlimits.Workload]spotlimits.Limits{}
	for i := first; i < len(b.Roster.Pods); i++ {
		pod := b.Roster.Pods[i]
		if !b.counts(i) || !spotlimits.Asks(pod) {
			continue
		}
		if own, err := spotlimits.Read(pod); err == nil && !own.IsZero() {
			key := spotlimits.WorkloadOf(pod)
			limits[key] = limits[key].Stricter(own)
		}
	}
	number := make(map[spotlimits.Workload]int, len(limits))
	for key, is := range limits {
		b.index.List = append(b.index.List, Workload{Workload: key, Limits: is})
	}
	slices.SortFunc(b.index.List, func(a, c Workload) int { return a.Compare(c.Workload) })
	for i := range b.index.List {
		number[b.index.List[i].Workload] = i
	}
	for i, pod := range b.Roster.Pods {
		if !b.counts(i) {
			continue
		}
		if n, ok := number[spotlimits.WorkloadOf(pod)]; ok {
			b.index.List[n].Pods = append(b.index.List[n].Pods, int32(i))
		}
	}
}

// findPlaces finds the pods on spot nodes.
func (b *builder) findPlaces() {
	r := b.Roster
	b.place, b.node = make([]Pod, len(r.Pods)), make([]int32, len(r.Pods))
	for i := range b.node {
		b.node[i] = -1
	}
	for node, span := range r.OfNodes {
		at := Pod{Place: OffSpot}
		if span.From < span.To {
			labels := b.Terms.Vocabulary.FromLabels(existing.ViewOf(&b.Snapshot.Nodes[node]).Labels)
			value := func(key string) string { return match.OnlyValue(labels.Get(key)) }
			if value(v1.CapacityTypeLabelKey) == v1.CapacityTypeSpot {
				at = Pod{OnSpot, Pool{value(corev1.LabelInstanceTypeStable), value(corev1.LabelTopologyZone)}}
			} else if b.Snapshot.Nodes[node].Leaving {
				at = Pod{Place: Waiting} // the node that is launched in place of the leaving node may already be a spot node
			}
		}
		for i := span.From; i < span.To; i++ {
			b.place[i], b.node[i] = at, int32(node)
		}
	}
}

// divide divides the pods of a workload, and sets their patterns.
func (b *builder) divide(number int32) error {
	w := &b.index.List[number]
	slices.SortFunc(w.Pods, func(a, c int32) int {
		return cmp.Or(cmp.Compare(b.nodeName(a), b.nodeName(c)), likeness.Compare(b.Roster.Pods[a], b.Roster.Pods[c]))
	})
	pods := make([]Pod, len(w.Pods))
	for i, at := range w.Pods {
		pods[i] = b.place[at]
	}
	var sales []Sale
	if w.Limits.MaxPoolShare != nil || w.Limits.MaxPrice != nil {
		var err error
		if sales, err = b.salesFor(b.Roster.Like[w.Pods[0]]); err != nil {
			return err
		}
	}
	w.Division = New(w.Limits, pods, sales)
	w.waits = make([][]planning.PodKey, len(w.Division.Parts))
	terms := make([][]corev1.NodeSelectorTerm, len(w.Division.Parts))
	for part, pools := range w.Division.Parts {
		if pools != nil {
			terms[part] = append(offSpot(), onPools(pools)...)
		}
	}
	for i, at := range w.Pods {
		part := w.Division.Of[i]
		if int(at) < len(b.index.of) {
			b.index.of[at], b.index.parts[at] = number, part
			if key := planning.KeyOf(b.Roster.Pods[at]); part == NotOnSpot {
				w.waitOff = append(w.waitOff, key)
			} else {
				w.waits[part] = append(w.waits[part], key)
			}
		}
		switch {
		case part == NotOnSpot:
			b.narrow(at, "off", offSpot())
		case terms[part] != nil:
			b.narrow(at, fmt.Sprintf("%d/%d", number, part), terms[part])
		}
	}
	return nil
}

func (b *builder) nodeName(at int32) string {
	if b.node[at] < 0 {
		return ""
	}
	return b.Snapshot.Nodes[b.node[at]].Name
}

// narrow sets a pattern for the pod that also requires a node which matches one of the alternatives.
func (b *builder) narrow(at int32, name string, alternatives []corev1.NodeSelectorTerm) {
	r := b.Roster
	was := r.Like[at]
	key := fmt.Sprintf("%d %s", was, name)
	n, known := b.variants[key]
	if !known {
		n = int32(len(r.Patterns))
		pattern := r.Patterns[was]
		pattern.RuledAs, pattern.First = pattern.Ruled(), narrowed(pattern.ReadAs(r.Pods[at]), alternatives)
		r.Patterns = append(r.Patterns, pattern)
		b.variants[key] = n
	} else if p := &r.Patterns[n]; r.Patterns[was].RuledAs == nil && likeness.Compare(r.Pods[at], p.First) < 0 {
		p.First = narrowed(r.Pods[at], alternatives)
	}
	r.Like[at] = n
}
