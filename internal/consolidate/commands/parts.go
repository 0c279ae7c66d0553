package commands

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// part is a set of members, and of the new nodes that replace them. The new nodes are indices in writer.planned.
type part struct {
	members []*searchcontext.Candidate
	nodes   []int
	// openedFor has, for each element of the field nodes, the member that the new node was opened for. It is used only until the parts are
	// separated.
	openedFor []*searchcontext.Candidate
}

// parts returns one part for each component of Found.Components, with its members and its new nodes.
func (w *writer) parts() []*part {
	all := &part{members: w.members, nodes: make([]int, len(w.planned)), openedFor: w.openedFor}
	for i := range all.nodes {
		all.nodes[i] = i
	}
	return grouped(all, &w.Components.Connected)
}

// split divides a component into the smallest parts that share no new node and no gang that is moved as a whole. If all pods of a new node
// were pending, the node belongs to the part of the member that it was opened for.
func (w *writer) split(f *part) []*part {
	together := &components.Sets{}
	for _, c := range f.members {
		if c.Tie != nil {
			together.Join(w.ByName[c.Tie.Members[0].Name], c)
		}
	}
	alone := *f
	alone.openedFor = slices.Clone(f.openedFor)
	for i, number := range f.nodes {
		for k, c := range w.from[number] {
			if k == 0 {
				alone.openedFor[i] = c
			} else {
				together.Join(w.from[number][0], c)
			}
		}
	}
	return grouped(&alone, together)
}

func grouped(f *part, by *components.Sets) []*part {
	if len(f.members) == 1 {
		return []*part{f}
	}
	at := make(map[*searchcontext.Candidate]*part, len(f.members))
	var out []*part
	for _, c := range f.members {
		root := by.Find(c)
		if at[root] == nil {
			at[root] = &part{}
			out = append(out, at[root])
		}
		at[root].members = append(at[root].members, c)
	}
	for i, number := range f.nodes {
		p := at[by.Find(f.openedFor[i])]
		p.nodes, p.openedFor = append(p.nodes, number), append(p.openedFor, f.openedFor[i])
	}
	return out
}

// viable returns the parts as exchanges, each of which is worth it without the others. A part that is not worth it alone is joined with
// another part: preferably one that is worth it alone, and of these the part that saves most. If all parts together are not worth it
// either, viable returns nil, and the next plan decides about their nodes.
func (w *writer) viable(parts []*part) []*paying.Exchange {
	out := make([]*paying.Exchange, len(parts))
	for i, p := range parts {
		out[i] = w.exchangeOf(p)
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
		parts[into] = &part{append(parts[into].members, parts[from].members...), append(parts[into].nodes, parts[from].nodes...), nil}
		out[into] = w.exchangeOf(parts[into])
		parts, out = slices.Delete(parts, from, from+1), slices.Delete(out, from, from+1)
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func savingOf(e *paying.Exchange) int64 {
	if e == nil {
		return 0
	}
	return e.Saving
}

// exchangeOf makes an exchange of the part's members for its new nodes, with their allowed types. It returns nil if the exchange is not
// worth it.
func (w *writer) exchangeOf(p *part) *paying.Exchange {
	method := w.method[p.members[0].Number]
	if method != decision.MethodDrift {
		method = searchcontext.MethodFor(p.members)
	}
	out := &paying.Exchange{Method: method, Members: p.members}
	if len(p.nodes) > 0 {
		nodes := make([]planning.NewNode, len(p.nodes))
		for i, number := range p.nodes {
			nodes[i] = w.planned[number]
		}
		if w.Narrow(w.types, out, nodes, w.types.ToList(), false) != nil {
			return nil
		}
	}
	if w.Weigh(w.types.Pass, out) != nil {
		return nil
	}
	return out
}
