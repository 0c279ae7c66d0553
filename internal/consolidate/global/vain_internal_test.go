package global

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"testing"
)

// What was tried in vain is known until something is accepted, whatever the order of its nodes; nothing else is.
func TestVainAttemptsAreRemembered(t *testing.T) {
	s := &search{tries: tries{changed: map[identity]int{}}}
	a, b := &unit{number: 1}, &unit{number: 2}
	why := &decision.Block{Code: decision.BlockNotCheaper}
	asked := s.question(decision.MethodMultiNode, []*unit{a, b}, useRoom)
	if s.vain.of(asked) != nil {
		t.Fatal("an attempt is known that nobody made")
	}
	s.vain.note(asked, vainAttempt{why, true})
	if known := s.vain.of(s.question(decision.MethodMultiNode, []*unit{b, a}, useRoom)); known == nil || known.why != why || !known.withheld {
		t.Errorf("known is %+v", known)
	}
	others := []question{s.question(decision.MethodMultiNode, []*unit{a, b}, onlyNew), s.question(decision.MethodDrift, []*unit{a, b}, useRoom), s.question(decision.MethodMultiNode, []*unit{a}, useRoom)}
	s.strict = true
	others = append(others, s.question(decision.MethodMultiNode, []*unit{a, b}, useRoom))
	s.strict, s.way.subsets = false, true
	others = append(others, s.question(decision.MethodMultiNode, []*unit{a, b}, useRoom))
	for i, q := range others {
		if s.vain.of(q) != nil {
			t.Errorf("other question %d is taken for the same", i)
		}
	}
	if s.vain.forget(); s.vain.of(asked) != nil {
		t.Error("it is still known")
	}
}
