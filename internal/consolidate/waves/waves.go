package waves

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
)

// Evictions says how many pods of one PodDisruptionBudget must be evicted, and how many evictions the PodDisruptionBudget allows at a time.
type Evictions struct {
	Budget        types.NamespacedName
	Pods, Allowed int
}

// Times has two durations. Launch is the time until a new node is ready. Ready is the time until a pod is ready after it was bound to a
// node.
type Times struct{ Launch, Ready time.Duration }

// Drain returns the shortest time in which the pods of one PodDisruptionBudget can be evicted. The PodDisruptionBudget allows a number of
// evictions at a time. Each such batch takes until the pods are ready on other nodes. If the PodDisruptionBudget allows no eviction now,
// Drain assumes that it allows one eviction at a time.
func (t Times) Drain(pods, allowed int) time.Duration {
	allowed = max(allowed, 1)
	return time.Duration((pods+allowed-1)/allowed) * t.Ready
}

// Planner makes waves.
type Planner struct {
	Times
	// Evictions returns the evictions that the pods of a node need, with one element for each PodDisruptionBudget.
	Evictions func(node string) []Evictions
}

// Of sorts the commands by value per disruption, and groups them so that no node's drain waits for another drain of the same wave. A
// command joins the first wave in which each drain takes no longer than it would take alone. Commands are returned in the order of the
// waves. If inOrder is true, the commands keep the given order, and each command joins the last wave or a new wave.
func (p *Planner) Of(commands []*decision.Command, inOrder bool) ([]*decision.Command, []decision.Wave) {
	order := slices.Clone(commands)
	if !inOrder {
		slices.SortStableFunc(order, func(a, b *decision.Command) int {
			return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(density(b), density(a)))
		})
	}
	var drafts []*draft
	var evictions []Evictions
	for _, cmd := range order {
		evictions = p.of(cmd, evictions[:0])
		open := drafts
		if inOrder && len(open) > 1 {
			open = open[len(open)-1:]
		}
		joined := slices.ContainsFunc(open, func(d *draft) bool { return p.join(d, cmd, evictions) })
		if !joined {
			d := newDraft()
			drafts = append(drafts, d)
			p.add(d, cmd, evictions)
		}
	}
	out, list := make([]decision.Wave, len(drafts)), make([]*decision.Command, 0, len(commands))
	for i, d := range drafts {
		out[i] = p.wave(d)
		list = append(list, d.commands...)
	}
	return list, out
}

// One returns a wave with these commands.
func (p *Planner) One(commands []*decision.Command) decision.Wave {
	d := newDraft()
	for _, cmd := range commands {
		p.add(d, cmd, p.of(cmd, nil))
	}
	return p.wave(d)
}

// rankOf returns the rank of a command in the order of waves: first removals of empty nodes, then drift, then commands that save money.
func rankOf(c *decision.Command) int {
	switch c.Reason {
	case decision.ReasonEmpty:
		return 0
	case decision.ReasonDrifted:
		return 1
	}
	return 2
}

// density returns the saving per unit of disturbance, in nano-USD per hour.
func density(c *decision.Command) int64 {
	cost := 0.0
	for i := range c.Members {
		cost += c.Members[i].Cost
	}
	return int64(float64(money.NanoUSD(c.Savings)) / max(cost, 1))
}

// draft is a wave that is not complete yet.
type draft struct {
	commands []*decision.Command
	// evictions has, by PodDisruptionBudget, the sum of the evictions of all commands.
	evictions map[types.NamespacedName]*Evictions
	launches  bool
	drain     time.Duration
}

func newDraft() *draft { return &draft{evictions: map[types.NamespacedName]*Evictions{}} }

// of computes the number of pods that the command evicts under each PodDisruptionBudget, and appends these numbers to out. If out already
// has an entry for a budget, the number is added to this entry.
func (p *Planner) of(cmd *decision.Command, out []Evictions) []Evictions {
	if cmd.Reason == decision.ReasonEmpty {
		return out
	}
	for i := range cmd.Members {
		for _, e := range p.Evictions(cmd.Members[i].Node) {
			at := slices.IndexFunc(out, func(x Evictions) bool { return x.Budget == e.Budget })
			if at < 0 {
				out = append(out, e)
				continue
			}
			out[at].Pods += e.Pods
		}
	}
	return out
}

// join adds the command and its evictions to the wave. It does not add the command if drains would take longer because they wait for the
// same PodDisruptionBudget. It reports whether it added the command.
func (p *Planner) join(d *draft, cmd *decision.Command, evictions []Evictions) bool {
	limit := d.drain
	for _, e := range evictions {
		limit = max(limit, p.Drain(e.Pods, e.Allowed))
	}
	for _, e := range evictions {
		if all := d.evictions[e.Budget]; all != nil && p.Drain(all.Pods+e.Pods, e.Allowed) > limit {
			return false
		}
	}
	p.add(d, cmd, evictions)
	return true
}

func (p *Planner) add(d *draft, cmd *decision.Command, evictions []Evictions) {
	d.commands = append(d.commands, cmd)
	d.launches = d.launches || len(cmd.Replacements) > 0
	for _, e := range evictions {
		all := d.evictions[e.Budget]
		if all == nil {
			all = &Evictions{Budget: e.Budget, Allowed: e.Allowed}
			d.evictions[e.Budget] = all
		}
		all.Pods += e.Pods
		d.drain = max(d.drain, p.Drain(all.Pods, all.Allowed))
	}
}

// wave converts the draft to a wave of a plan.
func (p *Planner) wave(d *draft) decision.Wave {
	w := decision.Wave{}
	span := d.drain
	if slices.ContainsFunc(d.commands, func(c *decision.Command) bool { return c.Pods() > 0 }) {
		span = max(span, p.Ready)
	}
	if d.launches {
		span += p.Launch
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
