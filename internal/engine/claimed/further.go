package claimed

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

// If counting is not exact, the count may say that a node has too few devices for a pod that could get enough devices if it were the only
// pod on the node. Such a pod would never get a place. So allocation is tried for each pair of claims and node whose count is below the
// upper bound (devices.Ceiling). If the allocation succeeds, the missing amount is added to the node's count. Admission later decides
// between pods that compete for this additional amount.

// furtherRoom has the amounts that addFurther finds, by type and by node. Each list is indexed like the resources of Index.Counts.
type furtherRoom struct {
	ofTypes map[Template][]int64
	ofNodes map[string][]int64
}

// addFurther computes x.further for the types and nodes of stock. It leaves the usages of the stock unchanged.
func (x *Index) addFurther(stock *deviceStock) {
	needs := x.distinctNeeds()
	x.further = furtherRoom{map[Template][]int64{}, map[string][]int64{}}
	for _, of := range stock.types {
		if f := x.furtherOf(devices.NewUsage(stock.ofTypes[of]), x.OfTypes[of], x.ceilings[of], needs); f != nil {
			x.further.ofTypes[of] = f
		}
	}
	if x.Kinds.Exact() {
		return
	}
	for _, name := range stock.nodes {
		usage := stock.ofNodes[name]
		ceiling := x.Kinds.Ceiling(usage, nil, x.matches)
		if f := x.furtherOf(usage, x.ofNodes[name], &ceiling, needs); f != nil {
			x.further.ofNodes[name] = f
		}
	}
}

// distinctNeeds returns the distinct needs that can be counted, in a fixed order.
func (x *Index) distinctNeeds() []deviceNeeds {
	byText := map[string]deviceNeeds{}
	for _, n := range x.needs {
		if n.err == nil && len(n.Claims) > 0 {
			byText[n.Needs.Text()] = n
		}
	}
	texts := make([]string, 0, len(byText))
	for text := range byText {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	out := make([]deviceNeeds, 0, len(texts))
	for _, text := range texts {
		out = append(out, byText[text])
	}
	return out
}

// furtherOf finds the needs that the node can meet if they are the only needs on it, although the node's count is too small for them. It
// returns, for each resource, the largest amount that is missing in the count, or nil if no amount is missing.
func (x *Index) furtherOf(usage *devices.Usage, units devices.Units, ceiling *devices.Ceiling, needs []deviceNeeds) []int64 {
	room, most := x.Counts.Room(units, nil), x.Counts.Most(ceiling, nil)
	if slices.Equal(room, most) {
		return nil
	}
	var out []int64
	for i := range needs {
		of := x.Counts.Of(needs[i].Needs)
		if fitsIn(of, room) || !fitsIn(of, most) {
			continue
		}
		a, _ := devices.Allocate([]devices.Source{{Usage: usage}}, needs[i].Claims, x.matches)
		if a == nil {
			continue
		}
		a.Release()
		if out == nil {
			out = make([]int64, len(room))
		}
		for d := range of {
			out[d] = max(out[d], of[d]-room[d])
		}
	}
	return out
}

func fitsIn(amounts, room []int64) bool {
	for i, n := range amounts {
		if n > room[i] {
			return false
		}
	}
	return true
}
