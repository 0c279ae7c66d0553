package scheduling

import "context"

// PlanOf writes down what a trial did, so that tests can compare trials by their plans.
func PlanOf(ctx context.Context, t *Trial) (*Plan, error) { return t.plan(ctx) }
