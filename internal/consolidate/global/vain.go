package global

import "github.com/drawknife/drawknife/disruption/decision"

// vainAttempts remember what a search has tried in vain since something was last changed for good: until the next step is accepted, the
// same attempt comes to the same. Where nodes are few, groups are looked at in many ways that mostly end up at the same ones.
type vainAttempts struct{ known map[question]vainAttempt }

// question is an attempt with all that its answer depends on, as long as no step is accepted.
type question struct {
	// members is a number for the set of nodes and where their pods may go: see search.state.
	members uint64
	method  decision.Method
	// refining, subsets, strict and accepting are what the search was about: see the fields of way and search. alone says that limits
	// on what may go together were not asked about.
	refining, subsets, strict, accepting, alone bool
}

// vainAttempt is why it came to nothing, and whether search.withheld was set by it.
type vainAttempt struct {
	why      *decision.Block
	withheld bool
}

// question is the one that an attempt asks now.
func (s *search) question(method decision.Method, group []*unit, where places) question {
	return question{s.state(group, where), method, s.refining, s.way.subsets, s.strict, s.accepting, false}
}

// of is what the attempt came to; nil where it was not tried.
func (v *vainAttempts) of(asked question) *vainAttempt {
	if known, has := v.known[asked]; has {
		return &known
	}
	return nil
}

func (v *vainAttempts) note(asked question, came vainAttempt) {
	if v.known == nil {
		v.known = map[question]vainAttempt{}
	}
	v.known[asked] = came
}

func (v *vainAttempts) forget() { clear(v.known) }
