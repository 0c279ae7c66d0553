package solving

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// kindsFor lists the nodes that could be bought for a pod of the class: the best node of each kind. Nodes of one pool are of the same kind
// if rules can't distinguish them. A node is replaced by a larger node of its kind when more pods need it.
func (s *search) kindsFor(class int32) []offers.Site {
	if list, ok := s.kinds[class]; ok {
		return list
	}
	t, m := s.t, s.t.M
	c := m.Classes[class]
	list := []offers.Site{}
	at := map[string]int{}
	for _, st := range t.StagesFor(c) {
		t.SitesOf(t.Cells, st, t.Sites) // computes t.Assignments
		placing.SitesOf(t).EachOfStage(c, st, func(o offers.Site) {
			kind := s.kindOf(&o)
			if i, ok := at[kind]; !ok {
				at[kind] = len(list)
				list = append(list, o)
			} else if list[i].Stage == o.Stage && s.better(&o, &list[i]) {
				list[i] = o
			}
		})
	}
	slices.SortStableFunc(list, func(a, b offers.Site) int { return pricing.CompareOptions(&a.Option, &b.Option) })
	s.kinds[class] = list
	return list
}

// better reports whether node a is a better choice than node b for the first node of their kind. If the pool has limits, the node that uses
// less of the limits is better, because a larger node may replace it later. If the pool has no limits, or if both nodes use the same
// amount, the cheaper node is better.
func (s *search) better(a, b *offers.Site) bool {
	if p := s.t.M.Pools[a.Pool]; p.Limits != nil {
		takes := func(o *offers.Site) float64 {
			sum := 0.0
			for i, n := range p.RowCost(int(o.Row)) {
				sum += float64(n) / float64(max(p.Limits.Max[i], 1))
			}
			return sum
		}
		if c := cmp.Compare(takes(a), takes(b)); c != 0 {
			return c < 0
		}
	}
	return pricing.CompareOptions(&a.Option, &b.Option) < 0
}

// kindOf describes the properties of a node that rules can see: its pool, its DaemonSets, and the labels that rules use. If the pool has
// limits or the node uses a reservation, it also includes the stage for which the node is bought.
func (s *search) kindOf(o *offers.Site) string {
	t, m := s.t, s.t.M
	as := &t.Assignments[o.Stage][o.Pool][o.Assign]
	table := m.Pools[o.Pool].Table
	way := kindKey{o.Stage, o.Pool, o.Slot, o.Assign, table.Rows[o.Row].Resident, topology.NoDomain}
	if slices.ContainsFunc(m.PinnedKeys, func(key string) bool { _, stated := table.Catalog.TypeKeys[key]; return stated }) {
		way.variant = int32(table.Rows[o.Row].Variant)
	}
	if text, ok := s.kindTexts[way]; ok {
		return text
	}
	text := fmt.Sprint(o.Pool, table.Rows[o.Row].Resident, o.Limited)
	if o.Limited || m.Pools[o.Pool].Limits != nil {
		text += fmt.Sprint(" ", o.Stage) // the stage matters, because limits may allow the pod at one stage and not at another
	}
	for _, key := range m.PinnedKeys {
		text += " " + m.Pools[o.Pool].Label(int(o.Row), int(o.Slot), as, key)
	}
	s.kindTexts[way] = text
	return text
}

// kindKey has the properties that determine a node's kind.
type kindKey struct{ stage, pool, slot, assign, resident, variant int32 }
