package disruption

import (
	"context"
	"maps"
	"slices"
)

// Looked is how often nodes were looked at again since the memory's plan, or one before it, was made from nothing.
func Looked(m *Memory) int { return m.memory.looked }

// MovesApart names the nodes of which the memory has another idea of what their pods do when they go than a look at the fleet gives, and
// says of how many nodes it has one.
func MovesApart(ctx context.Context, g *Global, fleet *Fleet, held *Memory) (apart []string, known int, err error) {
	with, err := g.newGround(ctx, fleet, held)
	if err != nil {
		return nil, 0, err
	}
	without, err := g.newGround(ctx, fleet, nil)
	if err != nil {
		return nil, 0, err
	}
	was := held.memory.knownUnits(fleet.seen())
	for i, u := range with.units {
		if v := without.units[i]; !slices.Equal(u.moving, v.moving) || !maps.Equal(u.stays, v.stays) || !slices.Equal(u.draws, v.draws) ||
			u.drain != v.drain || u.passing != v.passing || u.like != v.like {
			apart = append(apart, u.Name)
		}
		if before := was[u.Name]; before != nil && len(before.moving) > 0 && len(u.moving) > 0 && &before.moving[0] == &u.moving[0] {
			known++
		}
	}
	return apart, known, nil
}

// newGround is what searches of the fleet start from.
func (g *Global) newGround(ctx context.Context, f *Fleet, m *Memory) (*ground, error) {
	if m == nil {
		m = &Memory{}
	}
	return g.newContext(ctx, f.seen(), m.memory)
}
