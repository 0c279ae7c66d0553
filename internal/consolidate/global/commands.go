package global

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// commands are those made without a trial, then those of the steps: nodes that share a new one go together, others apart
// where each is worth it without the rest. Families have nothing to do with each other and are written side by side.
func (s *search) commands() []*decision.Command {
	out := slices.Clone(s.made)
	w := s.newCommandWriter()
	families := w.families()
	written := make([]writtenFamily, len(families))
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(s.Parallelism, 1+len(families)/familiesApart) {
		all.Go(func() {
			own := w.apart()
			for i := int(next.Add(1)) - 1; i < len(families); i = int(next.Add(1)) - 1 {
				written[i] = own.write(families[i])
			}
		})
	}
	all.Wait()
	for i := range written {
		out = append(out, written[i].commands...)
		for _, u := range written[i].later {
			s.later[u] = true
			s.pass.Waiting = true
		}
	}
	return out
}

// familiesApart is how many families are worth a goroutine more.
const familiesApart = 8

// commandWriter turns steps into commands, in their order.
type commandWriter struct {
	s *search
	// pass knows the types that commands may launch.
	pass *pass
	// members are the nodes that go, in the order in which they were found.
	members []*unit
	// method that found a member, and receivers, the nodes that take its pods, by name; both by unit.at.
	method    []decision.Method
	receivers [][]planning.ExistingNode
	// bins are the new nodes with all types that would hold their pods, as far as a command lists them; openedFor are the first
	// members that they were opened for, and from are those that their pods come from, nil for pods that wait anyway.
	bins      []planning.NewNode
	openedFor []*unit
	from      [][]*unit
}

func (s *search) newCommandWriter() *commandWriter {
	w := &commandWriter{s: s, pass: s.pass, method: make([]decision.Method, len(s.units)), receivers: make([][]planning.ExistingNode, len(s.units))}
	for _, st := range s.steps {
		for _, u := range standing(st.members) {
			w.members = append(w.members, u)
			w.method[u.at] = st.method
		}
	}
	assigned := s.trial.Assigned()
	hidden := make([]*unit, len(assigned.Hidden))
	for i, name := range assigned.Hidden {
		hidden[i] = s.byName[name]
	}
	for i := range assigned.Existing {
		w.receive(&assigned.Existing[i], assigned.ExistingFrom[i], hidden)
	}
	w.bins = s.trial.written.Planned(s.start, max(typesToList, s.pass.SpotTypes()))
	numbers := map[v1.PoolKey]int{}
	for i, number := range s.trial.Filled(0) {
		bin := &w.bins[i]
		numbers[bin.Pool]++
		bin.Name, bin.Pods = fmt.Sprintf("%s-%d", bin.Pool, numbers[bin.Pool]), assigned.Planned[number]
		w.openedFor = append(w.openedFor, s.families.opener[number])
		w.from = append(w.from, cameFrom(assigned.PlannedFrom[number], hidden))
	}
	return w
}

// cameFrom are the units that pods come from, in their order; each as often as others come between.
func cameFrom(from []int32, hidden []*unit) []*unit {
	var out []*unit
	for i, k := range from {
		if k >= 0 && (i == 0 || k != from[i-1]) {
			out = append(out, hidden[k])
		}
	}
	return out
}

// receive shares the pods that a node receives out to the units they come from.
func (w *commandWriter) receive(e *planning.ExistingNode, from []int32, hidden []*unit) {
	for i := 0; i < len(from); {
		end := i + 1
		for end < len(from) && from[end] == from[i] {
			end++
		}
		if from[i] >= 0 {
			list, pods := &w.receivers[hidden[from[i]].at], e.Pods[i:end:end]
			if n := len(*list); n > 0 && (*list)[n-1].Name == e.Name {
				(*list)[n-1].Pods = append((*list)[n-1].Pods, pods...)
			} else {
				*list = append(*list, planning.ExistingNode{Name: e.Name, Pods: pods})
			}
		}
		i = end
	}
}

// apart is a writer for a goroutine of its own: what its pass remembers on the way is not shared, all else is only read.
func (w *commandWriter) apart() *commandWriter {
	return &commandWriter{
		s: w.s, pass: w.pass.apart(), members: w.members, method: w.method, receivers: w.receivers, bins: w.bins, openedFor: w.openedFor, from: w.from,
	}
}

// writtenFamily is what came of a family: its commands, and the members that are left for the next plan.
type writtenFamily struct {
	commands []*decision.Command
	later    []*unit
}

func (w *commandWriter) write(f *part) writtenFamily {
	steps := w.viable(w.split(f))
	if steps == nil {
		return writtenFamily{later: f.members}
	}
	out := writtenFamily{commands: make([]*decision.Command, len(steps))}
	for i, st := range steps {
		out.commands[i] = w.command(st)
	}
	return out
}

// part is a set of members and new nodes that belong together, those by number in the writer's bins.
type part struct {
	members []*unit
	bins    []int
	// openers of the new nodes, while they are still to be parted.
	opener []*unit
}

// families are what was exchanged for one another, with all new nodes that came of it.
func (w *commandWriter) families() []*part {
	all := &part{members: w.members, bins: make([]int, len(w.bins)), opener: w.openedFor}
	for i := range all.bins {
		all.bins[i] = i
	}
	return grouped(all, &w.s.families.kin)
}

// split takes a family apart into members that share no new node. A new node of pods that wait anyway goes with those that it
// was opened for.
func (w *commandWriter) split(f *part) []*part {
	together := &sets{}
	alone := *f
	alone.opener = slices.Clone(f.opener)
	for i, number := range f.bins {
		for k, u := range w.from[number] {
			if k == 0 {
				alone.opener[i] = u
			} else {
				together.join(w.from[number][0], u)
			}
		}
	}
	return grouped(&alone, together)
}

func grouped(f *part, by *sets) []*part {
	if len(f.members) == 1 {
		return []*part{f}
	}
	at := make(map[*unit]*part, len(f.members))
	var out []*part
	for _, u := range f.members {
		root := by.find(u)
		if at[root] == nil {
			at[root] = &part{}
			out = append(out, at[root])
		}
		at[root].members = append(at[root].members, u)
	}
	for i, number := range f.bins {
		p := at[by.find(f.opener[i])]
		p.bins, p.opener = append(p.bins, number), append(p.opener, f.opener[i])
	}
	return out
}

// viable are the parts of a family as commands that are good without each other, as steps: one that is not worth it by
// itself goes with the one that saves most. Nil if it is not even worth it as a whole: it is left for the next plan.
func (w *commandWriter) viable(parts []*part) []*step {
	out := make([]*step, len(parts))
	for i, p := range parts {
		out[i] = w.stepOf(p)
	}
	for {
		bad := slices.Index(out, nil)
		if bad < 0 {
			return out
		}
		if len(parts) == 1 {
			return nil
		}
		best := -1
		for i := range parts {
			if i != bad && (best < 0 || cmp.Or(boolRank(out[i] != nil)-boolRank(out[best] != nil), cmp.Compare(savingOf(out[i]), savingOf(out[best]))) > 0) {
				best = i
			}
		}
		into, from := min(bad, best), max(bad, best)
		parts[into] = &part{append(parts[into].members, parts[from].members...), append(parts[into].bins, parts[from].bins...), nil}
		out[into] = w.stepOf(parts[into])
		parts, out = slices.Delete(parts, from, from+1), slices.Delete(out, from, from+1)
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func savingOf(st *step) int64 {
	if st == nil {
		return 0
	}
	return st.saving
}

// stepOf is the part as one step, with the types that its new nodes may be launched as; nil if it is not worth it.
func (w *commandWriter) stepOf(p *part) *step {
	method := w.method[p.members[0].at]
	if method != decision.MethodDrift {
		method = methodFor(p.members)
	}
	st := &step{method: method, members: p.members, saving: priceOf(p.members)}
	if len(p.bins) > 0 {
		bins := make([]planning.NewNode, len(p.bins))
		for i, number := range p.bins {
			bins[i] = w.bins[number]
		}
		bins, why := w.pass.flexible(method, p.members, bins, st.saving, w.s.mostFor(method, p.members, st.saving), max(typesToList, w.pass.SpotTypes()), false)
		if why != nil {
			return nil
		}
		st.bins = bins
	}
	for i := range st.bins {
		st.saving -= money.NanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	st.value = w.s.valueOf(st)
	if w.s.pays(w.pass, st) != nil {
		return nil
	}
	return st
}

func (w *commandWriter) command(st *step) *decision.Command {
	cmd := reference.NewCommand(st.method, candidates(st.members), w.s.fleet.Now)
	for i := range st.bins {
		cmd.Replacements = append(cmd.Replacements, decision.Replacement{Node: &st.bins[i], Pool: st.bins[i].Pool})
	}
	cmd.Receivers = w.receiversOf(st.members)
	cmd.Savings = money.USD(st.saving)
	return w.pass.Finish(cmd)
}

// receiversOf are the nodes that take pods of the members, by name.
func (w *commandWriter) receiversOf(members []*unit) []planning.ExistingNode {
	if len(members) == 1 {
		return w.receivers[members[0].at]
	}
	at := map[string]int{}
	var out []planning.ExistingNode
	for _, u := range members {
		for _, e := range w.receivers[u.at] {
			i, has := at[e.Name]
			if !has {
				at[e.Name] = len(out)
				out = append(out, e)
				continue
			}
			out[i].Pods = append(out[i].Pods, e.Pods...)
		}
	}
	slices.SortFunc(out, func(a, b planning.ExistingNode) int { return strings.Compare(a.Name, b.Name) })
	return out
}
