package disruption

import "context"

// Looked is how often nodes were looked at again since the memory's plan, or one before it, was made from nothing.
func Looked(m *Memory) int { return m.memory.Looked() }

// MovesApart names the nodes of which the memory has another idea of what their pods do when they go than a look at the fleet gives, and
// says of how many nodes it has one.
func MovesApart(ctx context.Context, g *Global, f *Fleet, m *Memory) (apart []string, known int, err error) {
	options, err := g.options()
	if err != nil {
		return nil, 0, err
	}
	return options.MovesApart(ctx, f.seen(), m.memory)
}
