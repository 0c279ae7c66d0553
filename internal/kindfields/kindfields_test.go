package kindfields

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type part struct {
	Name string `json:"name"`
}

type whole struct {
	metav1.TypeMeta `json:",inline"`
	Parts           []part            `json:"parts"`
	ByName          map[string]*part  `json:"byName"`
	At              *metav1.Time      `json:"at"`
	Words           map[string]string `json:"words"`
	Own             *part             `json:"own"`
	On              *bool             `json:"on"`
	hidden          int
}

// reported is a test that keeps what it is told.
type reported struct {
	testing.TB
	lines []string
}

func (r *reported) Helper() {}
func (r *reported) Errorf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// A field that no object had is reported, wherever it is, and so is an exception that is none.
func TestSeen(t *testing.T) {
	var f Seen
	now := metav1.Now()
	f.Note(&whole{Parts: []part{{}, {"a"}}, At: &now, Words: map[string]string{"a": "b"}, hidden: 1})
	f.Note(&whole{ByName: map[string]*part{"a": {}}, On: new(bool)})
	got := &reported{TB: t}
	f.Complete(got, &whole{}, "own", "words", "kind", "apiVersion")
	want := []string{
		"*kindfields.whole: no object of the test has byName[].name",
		"*kindfields.whole: words is excepted, and an object of the test has it",
		"*kindfields.whole: words[] is excepted, and an object of the test has it",
	}
	if diff := cmp.Diff(want, got.lines); diff != "" {
		t.Error(diff)
	}
}
