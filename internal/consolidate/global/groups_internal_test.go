package global

import (
	"fmt"
	"slices"
	"testing"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// drawnFrom are the groups drawn for each of the units as seed, by what each node is like.
func drawnFrom(w way, list []*unit) [][]int64 {
	s := &search{ground: &ground{Options: &Options{MaxMembers: 16, MaxMerged: 100, MaxBins: 32}}, way: w, decided: decided{gone: map[*unit]bool{}, fixed: map[*unit]bool{}}}
	var out [][]int64
	for at := range list {
		for draw := range groupDraws {
			var group []int64
			for _, u := range s.drawGroup(list, at, draw) {
				group = append(group, u.worth)
			}
			out = append(out, group)
		}
	}
	return out
}

// unlike are nodes no two of which have pods of the same worth, named and numbered from the given number on.
func unlike(n, from int) []*unit {
	var out []*unit
	for i := range n {
		c := &decision.Candidate{Name: fmt.Sprintf("n-%d", from+i), Pool: &planning.NodePool{}, Zone: "a", Price: 0.2}
		out = append(out, &unit{Candidate: c, at: from + i, number: from + i, like: likenessOf(c), price: money.NanoUSD(c.Price), worth: int64(i) << 16})
	}
	return out
}

// Groups are drawn alike of nodes that are alike, whatever they are called and whichever others have gone; another salt draws others.
func TestDrawGroup(t *testing.T) {
	list := unlike(20, 0)
	first := drawnFrom(way{}, list)
	if renamed := drawnFrom(way{}, unlike(20, 100)); !slices.EqualFunc(first, renamed, slices.Equal) {
		t.Errorf("of the same nodes by other names %v are drawn, not %v", renamed, first)
	}
	if salted := drawnFrom(way{salt: 1}, list); slices.EqualFunc(first, salted, slices.Equal) {
		t.Error("another salt draws the same groups")
	}
	pair := first[0]
	for away := 1; away < len(list); away++ {
		if slices.Contains(pair, list[away].worth) {
			continue
		}
		if left := drawnFrom(way{}, slices.Delete(slices.Clone(list), away, away+1))[0]; !slices.Equal(left, pair) {
			t.Errorf("without the node in place %d %v are drawn, not %v", away, left, pair)
		}
	}
}
