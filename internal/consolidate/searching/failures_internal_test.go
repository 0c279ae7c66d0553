package searching

import (
	"testing"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// What came to nothing is known until something is accepted, whatever the order of its nodes; nothing else is.
func TestFailuresAreRemembered(t *testing.T) {
	s := &attempts{decided: newDecided()}
	a, b := &searchcontext.Candidate{Number: 1}, &searchcontext.Candidate{Number: 2}
	why := &decision.Block{Code: decision.BlockNotCheaper}
	asked := s.attemptKey(removing.Consolidating([]*searchcontext.Candidate{a, b}, removing.UseRoom))
	if s.failed.of(asked) != nil {
		t.Fatal("an attempt is known that nobody made")
	}
	s.failed.note(asked, failure{why, true})
	if known := s.failed.of(s.attemptKey(removing.Consolidating([]*searchcontext.Candidate{b, a}, removing.UseRoom))); known == nil || known.why != why || !known.withheld {
		t.Errorf("known is %+v", known)
	}
	others := []attemptKey{
		s.attemptKey(removing.Consolidating([]*searchcontext.Candidate{a, b}, removing.OnlyNew)),
		s.attemptKey(removing.Removal{Method: decision.MethodDrift, Members: []*searchcontext.Candidate{a, b}, Where: removing.UseRoom}),
		s.attemptKey(removing.Removal{Method: decision.MethodMultiNode, Members: []*searchcontext.Candidate{a}, Where: removing.UseRoom}),
	}
	s.Strict = true
	others = append(others, s.attemptKey(removing.Consolidating([]*searchcontext.Candidate{a, b}, removing.UseRoom)))
	s.Strict, s.Subsets = false, true
	others = append(others, s.attemptKey(removing.Consolidating([]*searchcontext.Candidate{a, b}, removing.UseRoom)))
	for i, q := range others {
		if s.failed.of(q) != nil {
			t.Errorf("other question %d is taken for the same", i)
		}
	}
	if s.failed.forget(); s.failed.of(asked) != nil {
		t.Error("it is still known")
	}
}
