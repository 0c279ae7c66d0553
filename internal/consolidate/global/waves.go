package global

import (
	"cmp"
	"slices"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"k8s.io/apimachinery/pkg/types"
)

// load is what the commands of a wave ask of one PodDisruptionBudget.
type load struct{ pods, allowed int }

// waveDraft is a wave in the making.
type waveDraft struct {
	commands []*decision.Command
	loads    map[types.NamespacedName]*load
	launches bool
	drain    time.Duration
}

func newWaveDraft() *waveDraft { return &waveDraft{loads: map[types.NamespacedName]*load{}} }

// waves puts the commands in an order, what is worth most for its disturbance first, and in waves such that no drain waits
// for another of the same wave: a command goes to the first wave whose drains, with it, take no longer than its own and
// theirs did alone. Commands are returned in the order of the waves. Where rules about how pods are spread make places
// depend on the order, it is the one in which they were found, in which all have their places.
func (s *search) waves(commands []*decision.Command) ([]*decision.Command, []decision.Wave) {
	order := slices.Clone(commands)
	ruled := s.trial.Ruled()
	if !ruled {
		slices.SortStableFunc(order, func(a, b *decision.Command) int {
			return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(density(b), density(a)))
		})
	}
	var drafts []*waveDraft
	var draws []draw
	for _, cmd := range order {
		draws = s.drawsOf(cmd, draws[:0])
		placed := false
		open := drafts
		if ruled && len(open) > 1 {
			open = open[len(open)-1:]
		}
		for _, d := range open {
			if placed = s.join(d, cmd, draws); placed {
				break
			}
		}
		if !placed {
			d := newWaveDraft()
			drafts = append(drafts, d)
			s.add(d, cmd, draws)
		}
	}
	out, list := make([]decision.Wave, len(drafts)), make([]*decision.Command, 0, len(commands))
	for i, d := range drafts {
		out[i] = s.waveOf(d)
		list = append(list, d.commands...)
	}
	return list, out
}

// rankOf puts first what disturbs nobody, then what has to go, then what saves.
func rankOf(c *decision.Command) int {
	switch c.Reason {
	case decision.ReasonEmpty:
		return 0
	case decision.ReasonDrifted:
		return 1
	}
	return 2
}

// density is the saving for each unit of disturbance, in nano-USD per hour.
func density(c *decision.Command) int64 {
	cost := 0.0
	for i := range c.Members {
		cost += c.Members[i].Cost
	}
	return int64(float64(money.NanoUSD(c.Savings)) / max(cost, 1))
}

// drawsOf appends to out what the command's pods take of PodDisruptionBudgets.
func (s *search) drawsOf(cmd *decision.Command, out []draw) []draw {
	if cmd.Reason == decision.ReasonEmpty {
		return out
	}
	for i := range cmd.Members {
		u := s.byName[cmd.Members[i].Node]
		for _, d := range u.draws {
			at := slices.IndexFunc(out, func(x draw) bool { return x.budget == d.budget })
			if at < 0 {
				out = append(out, d)
				continue
			}
			out[at].pods += d.pods
		}
	}
	return out
}

// drainOf is how long such drains take by themselves.
func (s *search) drainOf(draws []draw) time.Duration {
	longest := time.Duration(0)
	for _, d := range draws {
		longest = max(longest, s.drainTime(d.pods, d.allowed))
	}
	return longest
}

// join adds the command, which draws on budgets so, to the wave if nobody waits for it.
func (s *search) join(d *waveDraft, cmd *decision.Command, draws []draw) bool {
	limit := max(d.drain, s.drainOf(draws))
	for _, x := range draws {
		if l := d.loads[x.budget]; l != nil && s.drainTime(l.pods+x.pods, x.allowed) > limit {
			return false
		}
	}
	s.add(d, cmd, draws)
	return true
}

func (s *search) add(d *waveDraft, cmd *decision.Command, draws []draw) {
	d.commands = append(d.commands, cmd)
	d.launches = d.launches || len(cmd.Replacements) > 0
	for _, x := range draws {
		l := d.loads[x.budget]
		if l == nil {
			l = &load{allowed: x.allowed}
			d.loads[x.budget] = l
		}
		l.pods += x.pods
		d.drain = max(d.drain, s.drainTime(l.pods, l.allowed))
	}
}

func (s *search) waveOf(d *waveDraft) decision.Wave {
	w := decision.Wave{}
	span := d.drain
	if slices.ContainsFunc(d.commands, func(c *decision.Command) bool { return c.Pods() > 0 }) {
		span = max(span, s.ReadyTime)
	}
	if d.launches {
		span += s.LaunchTime
	}
	w.Seconds = span.Seconds()
	overlap, savings := int64(0), int64(0)
	for _, cmd := range d.commands {
		w.Commands = append(w.Commands, cmd.ID)
		w.Pods += cmd.Pods()
		savings += money.NanoUSD(cmd.Savings)
		for _, r := range cmd.Replacements {
			if r.Node != nil {
				overlap += money.NanoUSD(r.Node.InstanceTypes[0].Price)
			}
		}
	}
	w.Overlap, w.Savings = money.USD(int64(float64(overlap)*span.Hours())), money.USD(savings)
	return w
}
