package podclass

import "github.com/drawknife/drawknife/internal/engine/nodepool"

// ProfileNumbers maps profiles of old pools to their numbers in new pools. The old pools are in the field was. The new pools, which were
// made from the old pools, are in the field next.
type ProfileNumbers struct {
	was, next []*nodepool.Pool
	numbers   [][]int32
}

// NewProfileNumbers numbers the profiles of the old pools in the order in which touch is called for them. The parameter was has the old
// pools, and next has the same pools without profiles.
func NewProfileNumbers(was, next []*nodepool.Pool) *ProfileNumbers {
	n := &ProfileNumbers{was: was, next: next, numbers: make([][]int32, len(was))}
	for i, p := range was {
		n.numbers[i] = make([]int32, len(p.Profiles))
		for j := range n.numbers[i] {
			n.numbers[i][j] = -1
		}
	}
	return n
}

// touch returns the new number of t's profile. If the profile has no new number yet, touch gives it one and sets its demand to t's demand.
// Therefore the first shape that uses a profile determines the profile's demand.
func (n *ProfileNumbers) touch(t touch) Use {
	at := &n.numbers[t.Pool][t.Profile]
	if *at < 0 {
		*at = int32(n.next[t.Pool].Adopt(n.was[t.Pool].Profiles[t.Profile], t.demand))
	}
	return Use{t.Pool, *at}
}

// Stage returns the stage with the new numbers of its profiles. touch must have been called for all these profiles.
func (n *ProfileNumbers) Stage(s Stage) Stage {
	uses := make([]Use, len(s.Uses))
	for i, u := range s.Uses {
		uses[i] = Use{u.Pool, n.numbers[u.Pool][u.Profile]}
	}
	s.Uses = uses
	return s
}
