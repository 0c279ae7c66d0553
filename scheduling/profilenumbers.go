package scheduling

import "github.com/drawknife/drawknife/internal/engine/nodepool"

// profileNumbers are the numbers that profiles of some pools have in others made of them.
type profileNumbers struct {
	was, next []*nodepool.Pool
	numbers   [][]int32
}

func newProfileNumbers(was, next []*nodepool.Pool) *profileNumbers {
	n := &profileNumbers{was: was, next: next, numbers: make([][]int32, len(was))}
	for i, p := range was {
		n.numbers[i] = make([]int32, len(p.Profiles))
		for j := range n.numbers[i] {
			n.numbers[i][j] = -1
		}
	}
	return n
}

// touch is the profile's new number. The first shape that comes upon it gives it its demand.
func (n *profileNumbers) touch(t touch) use {
	at := &n.numbers[t.pool][t.profile]
	if *at < 0 {
		*at = int32(n.next[t.pool].Adopt(n.was[t.pool].Profiles[t.profile], t.demand))
	}
	return use{t.pool, *at}
}

// stage is the stage with the new numbers of its profiles, all of which were touched.
func (n *profileNumbers) stage(s stage) stage {
	uses := make([]use, len(s.uses))
	for i, u := range s.uses {
		uses[i] = use{u.pool, n.numbers[u.pool][u.profile]}
	}
	s.uses = uses
	return s
}
