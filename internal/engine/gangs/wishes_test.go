package gangs_test

import (
	"errors"
	"testing"

	"github.com/drawknife/drawknife/internal/engine/gangs"
)

// The place with the most wishes is taken that costs no more than the premium allows; one that costs nothing is worth no premium. Without a
// place that keeps no wishes there is none.
func TestMostWishes(t *testing.T) {
	const none = -1
	for name, tt := range map[string]struct {
		// costs of the places by the number of kept wishes.
		costs   []int64
		premium float64
		want    int64
	}{
		"no wishes":                    {[]int64{10}, 3, 10},
		"all, at the premium":          {[]int64{10, 20, 40}, 3, 40},
		"the last is given up":         {[]int64{10, 20, 41}, 3, 20},
		"no place with the first":      {[]int64{10, none, 30}, 3, 30},
		"no premium":                   {[]int64{10, 11, 10}, 0, 10},
		"beyond the premium":           {[]int64{10, 41, 41}, 3, 10},
		"nothing costs less than much": {[]int64{0, 1}, 3, 0},
		"room keeps all":               {[]int64{0, 0}, 3, 0},
		"no place":                     {[]int64{none, 10}, 3, none},
	} {
		cost := func(at *int) int64 { return tt.costs[*at] }
		got, err := gangs.MostWishes(len(tt.costs)-1, tt.premium, func(kept int) (*int, error) {
			if tt.costs[kept] == none {
				return nil, nil
			}
			return &kept, nil
		}, cost)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil && tt.want != none || got != nil && cost(got) != tt.want {
			t.Errorf("%s: %v, want the one for %d", name, got, tt.want)
		}
		if name == "room keeps all" && *got != 1 {
			t.Errorf("%s: keeps %d wishes", name, *got)
		}
	}
	broken := errors.New("broken")
	for bad := range 3 {
		if _, err := gangs.MostWishes(2, 0, func(kept int) (*int, error) {
			if kept == bad {
				return nil, broken
			}
			return &[]int{1 + kept}[0], nil
		}, func(at *int) int64 { return int64(*at) }); !errors.Is(err, broken) {
			t.Errorf("an error for %d wishes: %v", bad, err)
		}
	}
}
