package topology

import (
	"hash/maphash"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// LabelSets are the distinct label sets of a model's pods. There are far fewer label sets than pods, so a new rule is compared with each
// label set to find the pods that it counts.
type LabelSets struct {
	seed   maphash.Seed
	byHash map[uint64][]int32
	sets   []labelSet
	vacant []int32
}

type labelSet struct {
	namespace string
	labels    map[string]string
	pods      int32
	// kinds are the kinds of pods with these labels. They may include kinds of pods that were removed.
	kinds []int32
}

// NewLabelSets returns an empty LabelSets.
func NewLabelSets() *LabelSets {
	return &LabelSets{seed: maphash.MakeSeed(), byHash: make(map[uint64][]int32)}
}

// find returns the number of the pod's label set, or -1 if there is no such set, and the hash of the pod's labels.
func (l *LabelSets) find(pod *corev1.Pod) (int32, uint64) {
	hash := maphash.String(l.seed, pod.Namespace)
	for key, value := range pod.Labels { // in any order
		hash += maphash.String(l.seed, key) * (2*maphash.String(l.seed, value) + 1)
	}
	for _, n := range l.byHash[hash] {
		if s := &l.sets[n]; s.namespace == pod.Namespace && maps.Equal(s.labels, pod.Labels) {
			return n, hash
		}
	}
	return -1, hash
}

// Add adds a pod of the given kind and returns the number of the pod's label set.
func (l *LabelSets) Add(pod *corev1.Pod, kind int32) int32 {
	n, hash := l.find(pod)
	if n < 0 {
		n = int32(len(l.sets))
		s := labelSet{namespace: pod.Namespace, labels: pod.Labels}
		if free := len(l.vacant); free > 0 {
			n, l.vacant = l.vacant[free-1], l.vacant[:free-1]
			l.sets[n] = s
		} else {
			l.sets = append(l.sets, s)
		}
		l.byHash[hash] = append(l.byHash[hash], n)
	}
	s := &l.sets[n]
	s.pods++
	if !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
	}
	return n
}

// Remove removes a pod with the label set n.
func (l *LabelSets) Remove(pod *corev1.Pod, n int32) {
	if l.sets[n].pods--; l.sets[n].pods > 0 {
		return
	}
	_, hash := l.find(pod)
	l.sets[n] = labelSet{}
	l.vacant = append(l.vacant, n)
	if rest := slices.DeleteFunc(l.byHash[hash], func(m int32) bool { return m == n }); len(rest) > 0 {
		l.byHash[hash] = rest
	} else {
		delete(l.byHash, hash)
	}
}

// AddKind records that a pod of the label set n now has another kind.
func (l *LabelSets) AddKind(n, kind int32) {
	if !slices.Contains(l.sets[n].kinds, kind) {
		l.sets[n].kinds = append(l.sets[n].kinds, kind)
	}
}

// equality returns a label for which the selector requires one of a few values, and these values. key is empty if the selector has no such
// requirement.
func equality(s labels.Selector) (key string, values []string) {
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			return r.Key(), r.ValuesUnsorted()
		}
	}
	return "", nil
}

// SelectKinds returns, by number, which label sets belong to pods that some of the groups count. It ignores groups of the kinds Exclusive
// and Together. In the list kinds it sets the kinds of these pods to true, and possibly further kinds.
func (l *LabelSets) SelectKinds(groups []*Group, kinds []bool) (sets []bool) {
	sets = make([]bool, len(l.sets))
	type wanted map[string][]*Group
	byKey := make(map[string]wanted)
	var others []*Group
	for _, g := range groups {
		if g.Kind == Exclusive || g.Kind == Together {
			continue
		}
		indexed := false
		for _, s := range g.selectors {
			key, values := equality(s)
			if len(values) == 0 {
				continue
			}
			if byKey[key] == nil {
				byKey[key] = wanted{}
			}
			for _, v := range values {
				byKey[key][v] = append(byKey[key][v], g)
			}
			indexed = true
			break
		}
		if !indexed {
			others = append(others, g)
		}
	}
	if len(byKey)+len(others) == 0 {
		return sets
	}
	var pod corev1.Pod
	for i := range l.sets {
		s := &l.sets[i]
		if s.pods == 0 {
			continue
		}
		pod.Namespace, pod.Labels = s.namespace, s.labels
		selects := func(g *Group) bool { return g.Selects(&pod) }
		found := slices.ContainsFunc(others, selects)
		for key, values := range byKey {
			if found {
				break
			}
			if value, has := s.labels[key]; has {
				found = slices.ContainsFunc(values[value], selects)
			}
		}
		if sets[i] = found; found {
			for _, kind := range s.kinds {
				kinds[kind] = true
			}
		}
	}
	return sets
}

// EachKind calls the callback change for each kind. change may set the kind to another number.
func (l *LabelSets) EachKind(change func(kind *int32)) {
	for i := range l.sets {
		s := &l.sets[i]
		for j := range s.kinds {
			change(&s.kinds[j])
		}
	}
}
