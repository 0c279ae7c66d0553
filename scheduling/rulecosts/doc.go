// Package rulecosts computes the cost of the rules of pods and NodePools: it plans a snapshot without each rule, and compares the plans.
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
// A rule of a pod is removed from all waiting pods of its workload, because these share their rules. Each rule needs one plan, and
// Options.MaxPlans limits the number of plans.
//
// # What the numbers mean
//
// A plan that keeps a rule is also valid without the rule. So removing a rule makes nothing more expensive, unless it lets more pods be
// placed. Planning is a search with a bound on its work, so a saving that is smaller than the gap between a plan and its lower bound may be
// due to chance. Savings of two rules can't be added: without the first rule, the second rule may cost nothing, or may cost more than
// before.
//
// Stability: beta.
package rulecosts
