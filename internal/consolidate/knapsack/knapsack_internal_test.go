package knapsack

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// bestOfAll tries all subsets.
func bestOfAll(list []Choice, room []int64) int64 {
	best := int64(0)
	for set := range 1 << len(list) {
		left, value := append([]int64(nil), room...), int64(0)
		fits := true
		for i := range list {
			if set&(1<<i) == 0 {
				continue
			}
			value += list[i].Value
			for b, n := range list[i].Takes {
				left[b] -= n
				fits = fits && left[b] >= 0
			}
		}
		if fits {
			best = max(best, value)
		}
	}
	return best
}

// The selection keeps all budgets. With one binding budget it is optimal; with several it is close, and never worse than taking one choice
// after another.
func TestChoose(t *testing.T) {
	sum, sumBest, exact, total := int64(0), int64(0), 0, 0
	seeded.Check(t, func(rt *rapid.T) {
		budgets := rapid.IntRange(0, 3).Draw(rt, "budgets")
		room := make([]int64, budgets)
		for b := range room {
			room[b] = int64(rapid.IntRange(0, 12).Draw(rt, "room"))
		}
		list := make([]Choice, rapid.IntRange(0, 10).Draw(rt, "choices"))
		for i := range list {
			list[i] = Choice{Value: int64(rapid.IntRange(-2, 40).Draw(rt, "value")), Takes: make([]int64, budgets)}
			for b := range list[i].Takes {
				list[i].Takes[b] = int64(rapid.IntRange(0, 5).Draw(rt, "takes"))
			}
		}
		got, left, last := int64(0), append([]int64(nil), room...), -1
		for _, i := range Choose(list, room) {
			if i <= last {
				rt.Fatalf("choice %d comes after %d", i, last)
			}
			last = i
			got += list[i].Value
			for b, n := range list[i].Takes {
				if left[b] -= n; left[b] < 0 {
					rt.Fatalf("budget %d is exceeded", b)
				}
			}
		}
		var open []int
		for i := range list {
			if list[i].Value > 0 && within(list[i].Takes, room) {
				open = append(open, i)
			}
		}
		greedy := int64(0)
		p := &picker{list: list, room: append([]int64(nil), room...), in: make([]bool, len(list)), open: open}
		p.rank(room)
		greedy, _ = p.fill()
		best := bestOfAll(list, room)
		sum, sumBest, total = sum+got, sumBest+best, total+1
		if got == best {
			exact++
		} else if len(bindingBudgets(list, open, room)) < 2 {
			rt.Errorf("worth %d, and %d could be had under the one budget that binds", got, best)
		}
		if got < greedy || 3*got < 2*best {
			rt.Errorf("worth %d where one after another is %d and the best %d", got, greedy, best)
		}
	})
	t.Logf("%d of %d the best; %.4f of it in sum", exact, total, float64(sum)/float64(max(sumBest, 1)))
}

// A table that would be too large is not made: what is chosen keeps the budget all the same.
func TestChooseManyUnits(t *testing.T) {
	var list []Choice
	for i := range int64(50) {
		list = append(list, Choice{Value: 100 + i%7, Takes: []int64{1_000_003 + 17*i}})
	}
	got := Choose(list, []int64{10_000_500})
	if len(got) != 9 {
		t.Errorf("%d are chosen, want the 9 that there is room for", len(got))
	}
}
