package replay

import (
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// saves checks the prices of a command that was executed since the mark. If the command was planned to save money but no longer saves
// money, the method undoes and rejects the command. Commands wait for a wave or for approval before they begin, and prices change in the
// meantime.
func (r *Replay) saves(cmd *decision.Command, mark trial.Mark) (*decision.RejectedError, error) {
	if len(cmd.Replacements) == 0 || cmd.Savings <= 0 || cmd.Method.Reason() != decision.ReasonUnderutilized {
		return nil, nil
	}
	spent := int64(0)
	for i := range cmd.Members {
		spent += money.NanoUSD(r.Pass.Fleet.ByName[cmd.Members[i].Node].Price)
	}
	cost, known := leastCost(cmd.Replacements, r.Planned(mark, 0))
	if !known || cost < spent {
		return nil, nil
	}
	for i := range cmd.Members {
		r.Pass.Budgets.Return(cmd.Members[i].Node)
	}
	if err := r.Trial.Rollback(mark); err != nil {
		return nil, err
	}
	return &decision.RejectedError{
		Command: cmd.ID, Category: decision.RejectedScheduling, Node: cmd.Members[0].Node,
		Block: &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(spent), Detail: "prices have changed since it was planned"},
	}, nil
}

// leastCost returns the present cost of the replacements, in nano-USD per hour. The cost of a replacement is the price of the cheapest
// offering that it may be launched as. The parameter bins has the same replacements, each with all suitable offerings at present prices.
// The result known is false if bins has none of the offerings of some replacement.
func leastCost(planned []decision.Replacement, bins []planning.NewNode) (sum int64, known bool) {
	if len(planned) != len(bins) {
		return 0, false
	}
	for i := range planned {
		least := int64(-1)
		for k := range bins[i].InstanceTypes {
			o := &bins[i].InstanceTypes[k]
			if may := planned[i].Node != nil && slices.ContainsFunc(planned[i].Node.InstanceTypes, func(p planning.InstanceTypeOption) bool {
				return p.Offering() == o.Offering()
			}); may && (least < 0 || money.NanoUSD(o.Price) < least) {
				least = money.NanoUSD(o.Price)
			}
		}
		if least < 0 {
			return 0, false
		}
		sum += least
	}
	return sum, true
}
