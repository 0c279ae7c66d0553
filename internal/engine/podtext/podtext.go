// Package podtext writes parts of pods as texts that can be compared.
//
// The question: are two pods equal for a scheduler? Two pods are equal if the texts of all parts that the scheduler reads are equal. Two
// parts are equal if their texts are equal. The input is parts of a pod's spec. The output is bytes that are only compared or used as keys
// of maps.
//
// The method: numbers have variable length, and each text is preceded by its length, so that different contents never have the same text.
// Labels are sorted, because maps have no order. The cost is the cost of copying the parts. A [Writer] allocates nothing once its buffers
// have grown.
package podtext

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Writer writes parts of pods so that equal texts mean equal contents. It reuses its buffers from pod to pod.
type Writer struct {
	// Buf contains the text written so far.
	Buf   []byte
	pairs []pair
	// Daemon is true if match.BoundDaemon returns true for the pod. In this case, the text does not contain the name of the pod's node.
	Daemon bool
}

// Number writes a number.
func (w *Writer) Number(v int64) { w.Buf = binary.AppendVarint(w.Buf, v) }

// Text writes the length of a text and then the text.
func (w *Writer) Text(s string) {
	w.Buf = binary.AppendUvarint(w.Buf, uint64(len(s)))
	w.Buf = append(w.Buf, s...)
}

func (w *Writer) texts(list []string) {
	w.Number(int64(len(list)))
	for _, s := range list {
		w.Text(s)
	}
}

// Labels writes labels, sorted by key.
func (w *Writer) Labels(labels map[string]string) {
	w.Number(int64(len(labels)))
	if len(labels) == 0 {
		return
	}
	if !w.sameKeys(labels) {
		w.pairs = w.pairs[:0]
		for k, v := range labels { // there are few labels: each is inserted in its position
			w.pairs = append(w.pairs, pair{k, v})
			for i := len(w.pairs) - 1; i > 0 && w.pairs[i].key < w.pairs[i-1].key; i-- {
				w.pairs[i], w.pairs[i-1] = w.pairs[i-1], w.pairs[i]
			}
		}
	}
	for i := range w.pairs {
		w.Text(w.pairs[i].key)
		w.Text(w.pairs[i].value)
	}
}

// sameKeys stores the values of labels in w.pairs if labels have the keys of the labels that were written last. It returns false if the
// keys differ. The pods of a workload are written one after another and have the same keys, and looking up a few keys is faster than
// iterating over a map.
func (w *Writer) sameKeys(labels map[string]string) bool {
	if len(w.pairs) != len(labels) {
		return false
	}
	for i := range w.pairs {
		value, ok := labels[w.pairs[i].key]
		if !ok {
			return false
		}
		w.pairs[i].value = value
	}
	return true
}

// pair is a label.
type pair struct{ key, value string }

// NodeAffinity writes the terms of node affinity.
func (w *Writer) NodeAffinity(a *corev1.NodeAffinity) {
	if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		w.Number(-1)
	} else {
		terms := a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		w.Number(int64(len(terms)))
		for i := range terms {
			w.term(&terms[i])
		}
	}
	w.Number(int64(len(a.PreferredDuringSchedulingIgnoredDuringExecution)))
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		p := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		w.Number(int64(p.Weight))
		w.term(&p.Preference)
	}
}

func (w *Writer) term(t *corev1.NodeSelectorTerm) {
	fields := t.MatchFields
	if w.Daemon && len(fields) > 0 {
		w.Text("its node")
		fields = nil
	}
	for _, list := range [2][]corev1.NodeSelectorRequirement{t.MatchExpressions, fields} {
		w.Number(int64(len(list)))
		for i := range list {
			w.Text(list[i].Key)
			w.Text(string(list[i].Operator))
			w.texts(list[i].Values)
		}
	}
}

// Tolerations writes the tolerations in the order of the list.
func (w *Writer) Tolerations(list []corev1.Toleration) {
	w.Number(int64(len(list)))
	for i := range list {
		t := &list[i]
		w.Text(t.Key)
		w.Text(string(t.Operator))
		w.Text(t.Value)
		w.Text(string(t.Effect))
	}
}

// PodAffinity writes the terms of pod affinity.
func (w *Writer) PodAffinity(a *corev1.Affinity, own map[string]string) {
	if a.PodAffinity != nil {
		w.podTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, own)
	} else {
		w.Number(-1)
	}
	if a.PodAntiAffinity != nil {
		w.podTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, own)
	} else {
		w.Number(-1)
	}
}

// Spread writes a spread constraint, evaluated with the pod's own labels.
func (w *Writer) Spread(c *corev1.TopologySpreadConstraint, own map[string]string) {
	w.Text(c.TopologyKey)
	w.Text(string(c.WhenUnsatisfiable))
	w.Number(int64(c.MaxSkew))
	if c.MinDomains != nil {
		w.Number(int64(*c.MinDomains))
	} else {
		w.Number(-1)
	}
	for _, policy := range [2]*corev1.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		if policy != nil {
			w.Text(string(*policy))
		} else {
			w.Text("")
		}
	}
	w.selector(c.LabelSelector)
	w.valuesOf(c.MatchLabelKeys, own)
}

func (w *Writer) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, own map[string]string) {
	w.Number(int64(len(required)))
	for i := range required {
		w.podTerm(&required[i], own)
	}
	w.Number(int64(len(preferred)))
	for i := range preferred {
		w.Number(int64(preferred[i].Weight))
		w.podTerm(&preferred[i].PodAffinityTerm, own)
	}
}

func (w *Writer) podTerm(t *corev1.PodAffinityTerm, own map[string]string) {
	w.Text(t.TopologyKey)
	w.texts(t.Namespaces)
	w.selector(t.NamespaceSelector)
	w.selector(t.LabelSelector)
	w.valuesOf(t.MatchLabelKeys, own)
	w.valuesOf(t.MismatchLabelKeys, own)
}

// selector writes a selector. A missing selector and an empty one have different texts.
func (w *Writer) selector(s *metav1.LabelSelector) {
	if s == nil {
		w.Number(-1)
		return
	}
	w.Labels(s.MatchLabels)
	w.Number(int64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		w.Text(s.MatchExpressions[i].Key)
		w.Text(string(s.MatchExpressions[i].Operator))
		w.texts(s.MatchExpressions[i].Values)
	}
}

// valuesOf writes label keys with the values that the pod has for them.
func (w *Writer) valuesOf(keys []string, own map[string]string) {
	w.Number(int64(len(keys)))
	for _, key := range keys {
		w.Text(key)
		if v, ok := own[key]; ok {
			w.Number(1)
			w.Text(v)
		} else {
			w.Number(0)
		}
	}
}
