package disruption

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/scheduling"
)

// plan writes the search down: commands, what becomes of each node, and in which order to go about it.
func (s *search) plan(ctx context.Context) (*Plan, error) {
	out := &Plan{Time: s.fleet.now}
	if err := s.order(ctx, out); err != nil {
		return nil, err
	}
	s.noteBlocks()
	if s.floor != nil {
		out.FloorPrices = s.floor.list
	}
	cost := int64(0)
	for _, u := range s.units {
		cost += u.price
	}
	out.Cost, out.Floor = usd(cost), s.worth.Total()
	out.Verdicts = s.pass.verdicts(out.Commands)
	for i := range out.Verdicts {
		for _, b := range out.Verdicts[i].Blocks {
			s.pass.later(b.Block.Until)
		}
	}
	out.Waiting, out.Again = s.pass.waiting, s.pass.again
	return out, ctx.Err()
}

// order puts the commands in waves. Where rules about how pods are spread make places depend on the order, it is gone through
// once more: what has no place in it is left for the next plan.
func (s *search) order(ctx context.Context, out *Plan) error {
	list := s.commands()
	for {
		out.Commands, out.Waves = s.waves(list)
		if !s.trial.Ruled() || len(list) == 0 {
			return nil
		}
		good, rejected, err := s.Restrict(ctx, s.fleet, out.Commands)
		if err != nil || len(rejected) == 0 {
			return err
		}
		for _, cmd := range out.Commands {
			if !slices.ContainsFunc(good, func(c *Command) bool { return c.ID == cmd.ID }) {
				s.putOff(cmd)
			}
		}
		list = good
	}
}

// putOff keeps the members of a command for the next plan.
func (s *search) putOff(cmd *Command) {
	for i := range cmd.Members {
		s.later[s.byName[cmd.Members[i].Node]] = true
	}
	s.pass.waiting = true
}

// proven is the block with a proof, if what is in the way is money and there is one.
func (s *search) proven(u *unit, why *Block) *Block {
	switch why.Code {
	case BlockUnschedulable, BlockNotCheaper, BlockNoGain, BlockManyNodes:
	default:
		return why
	}
	required := max(int64(s.share()*float64(u.price)), nanoUSD(s.MinSaving))
	proof := s.floor.prove(u, required)
	if proof == nil {
		return why
	}
	return &Block{Code: BlockFloor, Price: u.Price, Floor: proof.Floor, Required: usd(required), Proof: proof}
}

// noteBlocks notes for each unit that stays what keeps it from being consolidated.
func (s *search) noteBlocks() {
	for _, u := range s.units {
		why := u.blocked
		switch {
		case s.later[u]:
			why = &Block{Code: BlockLater}
		case s.gone[u]:
			continue
		case why != nil:
		case s.fixed[u]:
			why = &Block{Code: BlockReceiver}
		case s.why[u.Name] != nil:
			why = s.proven(u, s.why[u.Name])
		default:
			why = &Block{Code: BlockNotReached}
		}
		for _, m := range []Method{MethodMultiNode, MethodSingleNode} {
			s.pass.block(m, u.Candidate, why)
		}
	}
}

// commands are those made without a trial, then one for each step, or for each part of a step that has nothing to do with
// the rest of it.
func (s *search) commands() []*Command {
	out := slices.Clone(s.made)
	placed := s.trial.Placed()
	w := &commandWriter{s: s, of: map[scheduling.PodKey]*unit{}, bins: placed.NewNodes, receivers: map[*unit][]scheduling.ExistingNode{}}
	for _, st := range s.steps {
		for _, u := range st.members {
			for _, pod := range u.moving {
				w.of[keyOf(pod)] = u
			}
		}
	}
	for i := range placed.Existing {
		w.receive(&placed.Existing[i])
	}
	for _, st := range s.steps {
		out = append(out, w.write(st)...)
	}
	return out
}

// commandWriter turns steps into commands, in their order.
type commandWriter struct {
	s *search
	// of tells whose pod a pod is; bins are the new nodes of the steps to come; receivers are the nodes that take a unit's
	// pods.
	of        map[scheduling.PodKey]*unit
	bins      []scheduling.NewNode
	receivers map[*unit][]scheduling.ExistingNode
}

// receive shares the pods that a node receives out to the units they come from.
func (w *commandWriter) receive(e *scheduling.ExistingNode) {
	for _, key := range e.Pods {
		u := w.of[key]
		if u == nil {
			continue
		}
		list := w.receivers[u]
		if n := len(list); n == 0 || list[n-1].Name != e.Name {
			list = append(list, scheduling.ExistingNode{Name: e.Name})
		}
		list[len(list)-1].Pods = append(list[len(list)-1].Pods, key)
		w.receivers[u] = list
	}
}

// part is a set of members and new nodes that belong together.
type part struct {
	members []*unit
	bins    []scheduling.NewNode
	saving  int64
}

// write is the step as commands.
func (w *commandWriter) write(st *step) []*Command {
	bins := make([]scheduling.NewNode, len(st.bins))
	full := w.s.fullTypes(st)
	for i := range bins {
		bins[i] = full[i]
		bins[i].Name, bins[i].Pods = w.bins[i].Name, w.bins[i].Pods
	}
	w.bins = w.bins[len(bins):]
	parts := w.split(st, bins)
	var out []*Command
	for i := range parts {
		out = append(out, w.command(st.method, &parts[i]))
	}
	return out
}

// split takes a step apart where none of its parts needs the others: members that share no new node. A step whose parts
// would not all be worth it by themselves stays whole.
func (w *commandWriter) split(st *step, bins []scheduling.NewNode) []part {
	whole := []part{{members: st.members, bins: bins, saving: st.saving}}
	if len(st.members) < 2 {
		return whole
	}
	group := make(map[*unit]int, len(st.members))
	for i, u := range st.members {
		group[u] = i
	}
	join := func(a, b int) {
		for u, g := range group {
			if g == b {
				group[u] = a
			}
		}
	}
	owner := make([]*unit, len(bins))
	for i := range bins {
		for _, key := range bins[i].Pods {
			u := w.of[key]
			if owner[i] == nil {
				owner[i] = u
			} else if group[u] != group[owner[i]] {
				join(group[owner[i]], group[u])
			}
		}
	}
	byGroup := map[int]*part{}
	var parts []*part
	for _, u := range st.members {
		p := byGroup[group[u]]
		if p == nil {
			p = &part{}
			byGroup[group[u]] = p
			parts = append(parts, p)
		}
		p.members = append(p.members, u)
		p.saving += u.price
	}
	for i := range bins {
		p := byGroup[group[owner[i]]]
		p.bins = append(p.bins, bins[i])
		p.saving -= nanoUSD(bins[i].InstanceTypes[0].Price)
	}
	out := make([]part, len(parts))
	for i, p := range parts {
		spent := p.spent()
		alone := &step{method: st.method, members: p.members, bins: p.bins, saving: p.saving}
		alone.value = w.s.valueOf(alone)
		if w.s.pays(alone, spent) != nil {
			return whole
		}
		out[i] = *p
	}
	return out
}

func (p *part) spent() int64 {
	sum := int64(0)
	for _, u := range p.members {
		sum += u.price
	}
	return sum
}

func (w *commandWriter) command(m Method, p *part) *Command {
	if m == MethodMultiNode && len(p.members) == 1 {
		m = MethodSingleNode
	}
	members := make([]*Candidate, len(p.members))
	for i, u := range p.members {
		members[i] = u.Candidate
	}
	cmd := newCommand(m, members, w.s.fleet.now)
	for i := range p.bins {
		cmd.Replacements = append(cmd.Replacements, Replacement{Node: &p.bins[i], Pool: p.bins[i].Pool})
	}
	cmd.Receivers = w.receiversOf(p.members)
	cmd.Savings = usd(p.saving)
	return w.s.pass.finish(cmd)
}

// receiversOf are the nodes that take pods of the members, by name.
func (w *commandWriter) receiversOf(members []*unit) []scheduling.ExistingNode {
	at := map[string]int{}
	var out []scheduling.ExistingNode
	for _, u := range members {
		for _, e := range w.receivers[u] {
			i, has := at[e.Name]
			if !has {
				i = len(out)
				at[e.Name] = i
				out = append(out, scheduling.ExistingNode{Name: e.Name})
			}
			out[i].Pods = append(out[i].Pods, e.Pods...)
		}
	}
	slices.SortFunc(out, func(a, b scheduling.ExistingNode) int { return compareStrings(a.Name, b.Name) })
	return out
}

// fullTypes are the step's new nodes with all types that may be launched, of which the search looked at a few.
func (s *search) fullTypes(st *step) []scheduling.NewNode {
	spent := int64(0)
	for _, u := range st.members {
		spent += u.price
	}
	bins, why := s.pass.flexible(st.method, st.members, st.planned, spent, s.mostFor(st.method, st.members, spent), max(typesToList, s.pass.spotTypes()))
	if why != nil {
		return st.bins
	}
	return bins
}
