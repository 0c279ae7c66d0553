package scheduling_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/scheduling"
)

// What is written part by part is what would be written in one piece, lists of more than one part among it.
func TestEncodeInParts(t *testing.T) {
	large := fullCluster()
	for range 150 {
		large.Pods = append(large.Pods, &corev1.Pod{Spec: corev1.PodSpec{Hostname: strings.Repeat("a long text ", 30) + "\nwith: lines\n"}})
	}
	large.Assumptions = []string{"a: b", "", "- c", strings.Repeat("word ", 60)}
	large.CostModel = &scheduling.CostModel{}
	for _, s := range []*scheduling.Snapshot{nil, {}, fullCluster(), large} {
		var got bytes.Buffer
		if err := s.Encode(&got); err != nil {
			t.Fatal(err)
		}
		want, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("(-in one piece +in parts):\n%s", diff)
		}
	}
}

// Memory grows with the text of a part, not of the whole: 4,000 pods take no more at a time than 400.
func TestEncodeKeepsNothing(t *testing.T) {
	encode := func(n int) float64 {
		s := &scheduling.Snapshot{}
		for range n {
			s.Pods = append(s.Pods, &corev1.Pod{})
		}
		most := 0
		if err := s.Encode(writerFunc(func(p []byte) (int, error) { most = max(most, len(p)); return len(p), nil })); err != nil {
			t.Fatal(err)
		}
		return float64(most)
	}
	if few, many := encode(400), encode(4000); many > few {
		t.Errorf("%v bytes at a time, of a tenth %v", many, few)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
