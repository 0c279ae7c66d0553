package global

import (
	"cmp"
	"context"
	"slices"
)

// exchangeAfresh exchanges groups of nodes, as large as a command may be, for what provisioning would launch for all their pods: its
// search weighs all of them at once, where groups that are exchanged for few nodes one after another leave something over each
// time. Groups are units of one zone, pool and capacity type as far as these go, those first that waste most, about as large as
// each other.
func (s *search) exchangeAfresh(ctx context.Context) error {
	list := s.free()
	slices.SortStableFunc(list, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Pool.Key.Compare(b.Pool.Key), cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(s.waste(b), s.waste(a)))
	})
	for len(list) > 0 {
		n := s.together(list)
		if err := s.tryGroup(ctx, list[:n:n], afresh); err != nil {
			return err
		}
		if list = list[n:]; s.work > s.most {
			return nil
		}
	}
	return nil
}

// together is how many of the first units make a group.
func (s *search) together(list []*unit) int {
	groups := (len(list) + s.MaxMembers - 1) / s.MaxMembers
	n := (len(list) + groups - 1) / groups
	for ; s.refining && n > 1; n-- {
		if _, size := s.families.parties(list[:n]); size.members <= s.MaxMembers {
			break
		}
	}
	return n
}
