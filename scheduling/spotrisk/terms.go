package spotrisk

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// The beginnings of the names of the terms. The NodePools that a term applies to follow in the name.
const (
	// LevelTerm adds the difference between the expected price and the present price, which may be negative.
	LevelTerm = "spot price level"
	// InterruptionsTerm adds the expected cost of interruptions.
	InterruptionsTerm = "spot interruptions"
)

// TermsInput contains the inputs of the terms.
type TermsInput struct {
	// Time of the snapshot.
	Time time.Time
	// Types of the NodePools.
	Types []*cloudprovider.InstanceType
	// NodePools that the terms apply to, in the form of CostSelector; empty means all.
	NodePools []string
	// Loss is the cost of an interruption of a node of these NodePools.
	Loss Loss
}

// Terms returns terms of the cost model with which all planners use the expected cost of spot nodes instead of their price. The terms
// change the choice of nodes, consolidation, prices in plans and the lower bound. Put them before commitments and fees. Offerings whose
// price does not change are left out. Amounts are whole millionths of a USD, so that a tiny change does not change the model.
func (m *Market) Terms(in TermsInput) []planning.CostTerm {
	suffix := ""
	if len(in.NodePools) > 0 {
		suffix = " of " + strings.Join(in.NodePools, ", ")
	}
	costs := map[*cloudprovider.Offering]Cost{}
	cost := func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) Cost {
		c, ok := costs[o]
		if !ok {
			c = m.Cost(t, o, in.Loss, in.Time)
			costs[o] = c
		}
		return c
	}
	level := planning.Tabulate(LevelTerm+suffix, m.levelSource(), in.Types, func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		c := cost(t, o)
		return rounded(c.ExpectedPrice - c.Price)
	})
	interruptions := planning.Tabulate(InterruptionsTerm+suffix, m.interruptionsSource(), in.Types, func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		return rounded(cost(t, o).Interruptions)
	})
	var out []planning.CostTerm
	for _, term := range []planning.CostTerm{level, interruptions} {
		if term.Where.NodePools = in.NodePools; len(term.Offerings) > 0 {
			out = append(out, term)
		}
	}
	return out
}

func rounded(usd float64) float64 { return math.Round(usd*1e6) / 1e6 }

func (m *Market) levelSource() string {
	return fmt.Sprintf("prices seen, half of a price's weight gone after %s; estimate: half of the way back in %s",
		hours(m.options.LevelHalfLife), hours(m.options.ReturnHalfLife))
}

func (m *Market) interruptionsSource() string {
	return fmt.Sprintf("interruption rates of the offerings, else %g%% a month; own history of nodes", m.options.UnknownRate*100)
}

func hours(d time.Duration) string { return fmt.Sprintf("%g h", d.Hours()) }
