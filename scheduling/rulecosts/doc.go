// Package rulecosts says what the rules of pods and NodePools cost: it plans a snapshot without each of them, and compares the plans.
//
//	base, err := rulecosts.New(ctx, snapshot, rulecosts.DefaultOptions())
//	if err != nil {
//		return err
//	}
//	report, err := base.Without(ctx, rulecosts.OfPod(snapshot, pod))
//	for _, c := range report.Costs {
//		fmt.Printf("without %s: $%.2f an hour less\n", c.Rule, c.Saving)
//	}
//
// A rule of a pod is taken from all waiting pods of its workload, since a workload's pods have their rules together. Each rule takes one plan,
// and Options.MaxPlans bounds them.
//
// # What the numbers mean
//
// A plan that keeps a rule is also a plan without it, so nothing gets more expensive without a rule, except that pods which had no place get
// one. Planning is a search with a bound on its work: a saving below the gap between a plan and its lower bound may be luck. Savings of two
// rules don't add up: the first may make the second worthless, or worth more.
//
// Stability: beta.
package rulecosts
