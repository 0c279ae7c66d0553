package disruption

import "context"

// Validate looks at a command again in the fleet as it is now, as Reference.Validate does.
func (g *Global) Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error) {
	return g.reference().Validate(ctx, f, cmd)
}
