package searching

import (
	"fmt"
	"slices"
	"testing"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// drawnFrom are the groups drawn for each of the candidates as seed, by what each node is like.
func drawnFrom(st strategy, list []*searchcontext.Candidate) [][]int64 {
	s := &Search{
		attempts: attempts{Trier: removing.Trier{Limits: removing.Limits{MaxMembers: 16, MaxMerged: 100, MaxNewNodes: 32}}, decided: newDecided()},
		strategy: st,
	}
	var out [][]int64
	for at := range list {
		for draw := range groupDraws {
			var group []int64
			for _, c := range s.drawGroup(list, at, draw) {
				group = append(group, c.PodWorth)
			}
			out = append(out, group)
		}
	}
	return out
}

// unlike are nodes no two of which have pods of the same worth, named and numbered from the given number on.
func unlike(n, from int) []*searchcontext.Candidate {
	var out []*searchcontext.Candidate
	for i := range n {
		c := &decision.Candidate{Name: fmt.Sprintf("n-%d", from+i), Pool: &planning.NodePool{}, Zone: "a", Price: 0.2}
		out = append(out, &searchcontext.Candidate{Candidate: c, Number: from + i, Likeness: searchcontext.LikenessOf(c), NanoPrice: money.NanoUSD(c.Price), PodWorth: int64(i) << 16})
	}
	return out
}

// Groups are drawn alike of nodes that are alike, whatever they are called and whichever others have gone; another seed draws others.
func TestDrawGroup(t *testing.T) {
	list := unlike(20, 0)
	first := drawnFrom(strategy{}, list)
	if renamed := drawnFrom(strategy{}, unlike(20, 100)); !slices.EqualFunc(first, renamed, slices.Equal) {
		t.Errorf("of the same nodes by other names %v are drawn, not %v", renamed, first)
	}
	if reseeded := drawnFrom(strategy{seed: 1}, list); slices.EqualFunc(first, reseeded, slices.Equal) {
		t.Error("another seed draws the same groups")
	}
	pair := first[0]
	for away := 1; away < len(list); away++ {
		if slices.Contains(pair, list[away].PodWorth) {
			continue
		}
		if left := drawnFrom(strategy{}, slices.Delete(slices.Clone(list), away, away+1))[0]; !slices.Equal(left, pair) {
			t.Errorf("without the node in place %d %v are drawn, not %v", away, left, pair)
		}
	}
}
