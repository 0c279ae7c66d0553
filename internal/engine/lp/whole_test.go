package lp_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/lp"
)

// The best filling with whole pods is the one that trying all of them finds, and Filling is worth as much.
func TestWholeAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := [2]int{rapid.IntRange(0, 12).Draw(t, "room 0"), rapid.IntRange(0, 3).Draw(t, "room 1")}
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		need, most := make([][2]int, n), make([]int, n)
		for c := range need {
			need[c] = [2]int{rapid.IntRange(0, 6).Draw(t, "need 0"), rapid.IntRange(0, 2).Draw(t, "need 1")}
			most[c] = rapid.IntRange(0, 5).Draw(t, "most")
		}
		s := lp.NewWhole(room, need, most)
		for range 2 {
			value := rapid.SliceOfN(rapid.Float64Range(-1, 5), n, n).Draw(t, "value")
			var best func(c int, left [2]int) float64
			best = func(c int, left [2]int) float64 {
				if c == n {
					return 0
				}
				out := math.Inf(-1)
				for k := 0; k <= most[c] && k*need[c][0] <= left[0] && k*need[c][1] <= left[1]; k++ {
					out = max(out, float64(k)*value[c]+best(c+1, [2]int{left[0] - k*need[c][0], left[1] - k*need[c][1]}))
				}
				return out
			}
			want, got := best(0, room), s.Solve(value)
			if math.Abs(want-got) > 1e-9 {
				t.Fatalf("worth %v, want %v", got, want)
			}
			k := make([]float64, n)
			s.Filling(-1, value, k)
			worth, used := 0.0, [2]int{}
			for c := range k {
				worth += k[c] * value[c]
				used[0], used[1] = used[0]+int(k[c])*need[c][0], used[1]+int(k[c])*need[c][1]
				if k[c] > float64(most[c]) {
					t.Fatalf("%v pods of a class, at most %d", k[c], most[c])
				}
			}
			with := rapid.IntRange(0, n-1).Draw(t, "with")
			has := make([]float64, n)
			if s.Filling(with, value, has) {
				least := worth
				left := [2]int{room[0] - need[with][0], room[1] - need[with][1]}
				worth = 0
				for c := range has {
					worth += has[c] * value[c]
				}
				if want := value[with] + best(0, left); has[with] < 1 || worth > least+1e-9 || worth < want-1e-9 {
					t.Fatalf("with class %d: filling %v is worth %v, want %v", with, has, worth, want)
				}
				worth = least
			}
			if math.Abs(worth-got) > 1e-9 || used[0] > room[0] || used[1] > room[1] {
				t.Fatalf("filling %v is worth %v and needs %v of %v; %v was found", k, worth, used, room, got)
			}
		}
	})
}
