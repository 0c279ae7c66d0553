package simulate

import (
	"github.com/drawknife/drawknife/disruption"
)

// saving is the saving of a command in USD per hour, if the prices are known.
type saving nodePrice

func (s saving) figure() *float64 { return nodePrice(s).figure() }

// cell returns the saving for a column of a table.
func (s saving) cell() string {
	var sum nodeCost
	sum.add(nodePrice(s))
	return sum.cell()
}

// waveDocument is a wave with rounded amounts.
type waveDocument struct {
	disruption.Wave
	// Savings is the sum of the known savings of the wave's commands. SavingsUnknown is the number of commands whose saving is not known.
	Savings        float64 `json:"savings"`
	SavingsUnknown int     `json:"savingsUnknown,omitempty"`
}

// count computes the savings of the commands, and the costs of the nodes before and after all commands.
func (c *consolidation) count(assumed *assumptions) {
	c.before = c.prices.cost()
	c.after = c.before
	for _, cmd := range c.plan.Commands {
		saved := c.savingOf(cmd, assumed)
		c.savings = append(c.savings, saved)
		cost := c.after.cost - saved.price
		for i := range cmd.Members {
			c.after.remove(c.prices[cmd.Members[i].Node])
		}
		for _, r := range cmd.Replacements {
			c.after.add(priceOf(r, assumed))
		}
		if saved.known { // the saving includes the effect of commitments, and the prices of single nodes don't
			c.after.cost = cost
		}
	}
}

// savingOf returns the saving of a command. The planner uses the price 0 for a node without a known price, and for a new node of a static
// pool, whose type is not known yet. For a removed node, savingOf adds the price in c.prices. If the price of any node of the command is
// not known, the saving is unknown.
func (c *consolidation) savingOf(cmd *disruption.Command, assumed *assumptions) saving {
	saved := saving{price: cmd.Savings, known: true}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		p := c.prices[m.Node]
		if m.Price == 0 { // a node without a capacity type has a price in c.prices but none in the plan
			saved.price += p.price
		}
		saved.known = saved.known && p.known
		saved.estimated = saved.estimated || p.estimated
	}
	for _, r := range cmd.Replacements {
		p := priceOf(r, assumed)
		saved.known = saved.known && p.known
		saved.estimated = saved.estimated || p.estimated
	}
	if !saved.known {
		return saving{}
	}
	return saved
}

// priceOf returns the price of a node that is launched; it is unknown for a node of a static pool.
func priceOf(r disruption.Replacement, assumed *assumptions) nodePrice {
	if r.Node == nil {
		return nodePrice{}
	}
	kind := kindOf(r.Node)
	return nodePrice{price: kind.price, known: true, estimated: assumed.isEstimated(kind.instanceType, kind.capacityType)}
}

// waves returns the waves of the plan, never nil.
func (c *consolidation) waves() []waveDocument {
	byID := make(map[string]saving, len(c.savings))
	for i, cmd := range c.plan.Commands {
		byID[cmd.ID] = c.savings[i]
	}
	waves := make([]waveDocument, 0, len(c.plan.Waves))
	for _, wave := range c.plan.Waves {
		w := waveDocument{Wave: wave}
		w.Overlap = roundDollars(wave.Overlap)
		for _, id := range wave.Commands {
			if s := byID[id]; s.known {
				w.Savings += s.price
			} else {
				w.SavingsUnknown++
			}
		}
		w.Savings = roundDollars(w.Savings)
		waves = append(waves, w)
	}
	return waves
}

// saved adds up the savings of commands for a column of a table.
func (c *consolidation) saved(commands []string) string {
	var sum nodeCost
	for i, cmd := range c.plan.Commands {
		for _, id := range commands {
			if id == cmd.ID {
				sum.add(nodePrice(c.savings[i]))
			}
		}
	}
	return sum.cell()
}
