package podtext_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/podtext"
)

// Texts are equal for equal content, in whichever order maps have it, and differ otherwise.
func TestTextsOfContents(t *testing.T) {
	text := func(write func(w *podtext.Writer)) string {
		var w podtext.Writer
		write(&w)
		return string(w.Buf)
	}
	spread := func(change func(c *corev1.TopologySpreadConstraint)) func(w *podtext.Writer) {
		c := &corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"version"}}
		change(c)
		return func(w *podtext.Writer) { w.Spread(c, map[string]string{"version": "1"}) }
	}
	seen := map[string]string{}
	for name, write := range map[string]func(w *podtext.Writer){
		"no labels":         func(w *podtext.Writer) { w.Labels(nil) },
		"labels":            func(w *podtext.Writer) { w.Labels(map[string]string{"a": "b", "c": "d", "e": "f"}) },
		"other labels":      func(w *podtext.Writer) { w.Labels(map[string]string{"a": "d", "c": "b", "e": "f"}) },
		"texts cut at once": func(w *podtext.Writer) { w.Text("ab"); w.Text("c") },
		"texts cut later":   func(w *podtext.Writer) { w.Text("a"); w.Text("bc") },
		"a spread":          spread(func(*corev1.TopologySpreadConstraint) {}),
		"a wider spread":    spread(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 2 }),
		"no selector":       spread(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }),
		"no keys":           spread(func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = nil }),
		"a toleration": func(w *podtext.Writer) {
			w.Tolerations([]corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}})
		},
	} {
		first := text(write)
		if again := text(write); again != first {
			t.Errorf("%s is %q and %q", name, first, again)
		}
		if other, has := seen[first]; has {
			t.Errorf("%s and %s have one text", name, other)
		}
		seen[first] = name
	}
}

// A writer that has written other labels before writes the same text as a new one.
func TestLabelsOneAfterTheOther(t *testing.T) {
	var w podtext.Writer
	for i, labels := range []map[string]string{
		{"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "2", "c": "1"}, {"b": "1"}, nil, {"b": "2"}, {"c": "", "d": "1"}, {"d": "1", "c": "x"},
		{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "2"}, {"a": "", "x": ""},
	} {
		var alone podtext.Writer
		alone.Labels(labels)
		w.Buf = w.Buf[:0]
		w.Labels(labels)
		if string(w.Buf) != string(alone.Buf) {
			t.Errorf("labels %d, %v: %q, and %q alone", i, labels, w.Buf, alone.Buf)
		}
	}
}
