package progress

import (
	"bytes"
	"testing"
	"time"
)

// A run that nobody looks at has no progress, and stages are entered all the same.
func TestProgressNobodyLooksAt(t *testing.T) {
	var p *Line
	p.Enter("nothing")
	p.Stop()
	p.Stop()
}

// A run that is over before a message could be read leaves no trace.
func TestProgressOfAShortRun(t *testing.T) {
	var b bytes.Buffer
	p := Start(&b)
	p.Enter("planning")
	p.Stop()
	p.Stop()
	if b.Len() > 0 {
		t.Errorf("a run of no length wrote %q", b.String())
	}
}

func TestSpinner(t *testing.T) {
	if got, want := spinner(5, "planning 3 pods", 2500*time.Millisecond), "/ planning 3 pods (2 s)"; got != want {
		t.Errorf("spinner is %q, want %q", got, want)
	}
}
