package disruption

import (
	"cmp"
	"fmt"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// commands are those made without a trial, then those of the steps: nodes that share a new one go together, others apart
// where each is worth it without the rest.
func (s *search) commands() []*Command {
	out := slices.Clone(s.made)
	w := s.newCommandWriter()
	for _, f := range w.families() {
		for _, p := range w.viable(w.split(f)) {
			out = append(out, w.command(p))
		}
	}
	return out
}

// commandWriter turns steps into commands, in their order.
type commandWriter struct {
	s *search
	// members are the nodes that go, in the order in which they were found; of tells whose pod a pod is.
	members []*unit
	of      map[scheduling.PodKey]*unit
	// method that found a member.
	method map[*unit]Method
	// bins are the new nodes with all types that would hold their pods, as far as a command lists them; opener are the first
	// members that they were opened for.
	bins   []scheduling.NewNode
	opener []*unit
	// receivers are the nodes that take a unit's pods.
	receivers map[*unit][]scheduling.ExistingNode
}

func (s *search) newCommandWriter() *commandWriter {
	pods := 0
	for _, st := range s.steps {
		for _, u := range standing(st.members) {
			pods += len(u.moving)
		}
	}
	w := &commandWriter{s: s, of: make(map[scheduling.PodKey]*unit, pods), method: map[*unit]Method{}, receivers: map[*unit][]scheduling.ExistingNode{}}
	for _, st := range s.steps {
		for _, u := range standing(st.members) {
			w.members = append(w.members, u)
			w.method[u] = st.method
			for _, pod := range u.moving {
				w.of[keyOf(pod)] = u
			}
		}
	}
	existing, planned := s.trial.Assigned()
	for i := range existing {
		w.receive(&existing[i])
	}
	w.bins = s.trial.Planned(s.start, max(typesToList, s.pass.spotTypes()))
	numbers := map[v1.PoolKey]int{}
	for i, number := range s.trial.Filled(0) {
		bin := &w.bins[i]
		numbers[bin.Pool]++
		bin.Name, bin.Pods = fmt.Sprintf("%s-%d", bin.Pool, numbers[bin.Pool]), planned[number]
		w.opener = append(w.opener, s.families.opener[number])
	}
	return w
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
	opener  []*unit
}

// families are what was exchanged for one another, with all new nodes that came of it.
func (w *commandWriter) families() []*part {
	return grouped(&part{w.members, w.bins, w.opener}, &w.s.families.kin)
}

// split takes a family apart into members that share no new node. A new node of pods that wait anyway goes with those that it
// was opened for.
func (w *commandWriter) split(f *part) []*part {
	together := &sets{}
	alone := *f
	alone.opener = slices.Clone(f.opener)
	for i := range f.bins {
		var first *unit
		for _, key := range f.bins[i].Pods {
			if u := w.of[key]; u != nil && first == nil {
				first = u
			} else if u != nil {
				together.join(first, u)
			}
		}
		if first != nil {
			alone.opener[i] = first
		}
	}
	return grouped(&alone, together)
}

func grouped(f *part, by *sets) []*part {
	at := map[*unit]*part{}
	var out []*part
	for _, u := range f.members {
		root := by.find(u)
		if at[root] == nil {
			at[root] = &part{}
			out = append(out, at[root])
		}
		at[root].members = append(at[root].members, u)
	}
	for i := range f.bins {
		p := at[by.find(f.opener[i])]
		p.bins, p.opener = append(p.bins, f.bins[i]), append(p.opener, f.opener[i])
	}
	return out
}

// viable are the parts of a family as commands that are good without each other, as steps: one that is not worth it by
// itself goes with the one that saves most. What is not even worth it as a whole is left for the next plan.
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
			for _, u := range parts[0].members {
				w.s.later[u] = true
			}
			w.s.pass.waiting = true
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
	method := w.method[p.members[0]]
	if method != MethodDrift {
		method = methodFor(p.members)
	}
	st := &step{method: method, members: p.members, saving: priceOf(p.members)}
	if len(p.bins) > 0 {
		bins, why := w.s.pass.flexible(method, p.members, p.bins, st.saving, w.s.mostFor(method, p.members, st.saving), max(typesToList, w.s.pass.spotTypes()))
		if why != nil {
			return nil
		}
		st.bins = bins
	}
	for i := range st.bins {
		st.saving -= nanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	st.value = w.s.valueOf(st)
	if w.s.pays(st) != nil {
		return nil
	}
	return st
}

func (w *commandWriter) command(st *step) *Command {
	cmd := newCommand(st.method, candidates(st.members), w.s.fleet.now)
	for i := range st.bins {
		cmd.Replacements = append(cmd.Replacements, Replacement{Node: &st.bins[i], Pool: st.bins[i].Pool})
	}
	cmd.Receivers = w.receiversOf(st.members)
	cmd.Savings = usd(st.saving)
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
