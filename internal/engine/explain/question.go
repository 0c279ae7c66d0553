package explain

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// question is a demand on a pool, or on a changed copy of a pool. It does not depend on the pods' requests, so all classes of a shape share
// one question.
type question struct {
	p  *nodepool.Pool
	at int32
	// rows and slots are the rows of the pool's table and the slots of its catalog that meet the demand. assigned has the combinations of
	// values for open labels that meet the demand.
	rows, slots bitset.Set
	assigned    []nodepool.Assignment
	// changed means that the pod's demands or the pool are not those of the plan, so spread rules may count other nodes than in the plan.
	changed bool
	// plain means that all types are in the same cell if they are bought in the same slot with the same assignment.
	plain bool
}

// questionKey identifies a question by the pool, the shape, the index of the shape's demand, the code of the change that is tried, and the
// label that the change leaves out, if there is one.
type questionKey struct {
	at, shape int32
	demand    int
	code      planning.MissCode
	key       string
}

// candidate is a node that could be bought. It is given by a row (the kind of node), a slot (where and how it is bought) and one of the
// question's assignments.
type candidate struct {
	row, slot, assign int
	price             int64
}

// ask finds the nodes of a pool that meet the demand, ignoring resources. It returns nil if the pool itself excludes the demand. If the
// answer is not cached, ask calls demand(), which returns the demand and the pool to examine. This pool is the pool of the key or a changed
// copy. If demand() returns no pool, ask returns nil.
func (x *explainer) ask(key questionKey, demand func() (match.Needs, *nodepool.Pool)) *question {
	key.shape = x.c.Shape
	if q, ok := x.questions[key]; ok {
		return q
	}
	var q *question
	if n, p := demand(); p != nil && n.Conflict() == "" && refusedBy(x.m, p, n) == nil {
		q = &question{p: p, at: key.at, changed: key.code != ""}
		q.plain = !layout.TypeDecides(x.m.TopologyKeys, p.Table.Catalog)
		x.narrow(q, n, key.code == planning.MissNodePool, key.key)
	}
	x.questions[key] = q
	return q
}

// narrow sets the question's nodes to those that meet the demand and the pool's requirements. If letOff is set, it ignores the pool's
// requirement on key.
func (x *explainer) narrow(q *question, demand match.Needs, letOff bool, key string) {
	p := q.p
	q.rows, q.slots = bitset.Full(len(p.Table.Rows)), p.Table.Catalog.AllSlots.Clone()
	for k, stated := range x.factsOf(q.at).stated {
		if !letOff || k != key {
			q.rows.And(stated.Rows)
			q.slots.And(stated.Slots)
		}
	}
	for _, r := range demand {
		p.Narrow(p.Template.Get(r.Key()).Intersect(r), q.rows, q.slots)
	}
	q.assigned = x.assignments(p, demand)
	some := bitset.New(len(p.Table.Rows))
	for i := range q.assigned {
		if q.assigned[i].Rows == nil {
			return
		}
		some.Or(q.assigned[i].Rows)
	}
	q.rows.And(some)
}

// assignments returns the combinations of values for the pool's open labels with which a node meets the demand. For a topology key, it uses
// each value; for any other label, it uses one suitable value.
func (x *explainer) assignments(p *nodepool.Pool, demand match.Needs) []nodepool.Assignment {
	sets := []requirements.Set{{}}
	seen := map[string]bool{}
	widen := func(key string, choices []requirements.Requirement) {
		if seen[key] {
			return
		}
		seen[key] = true
		wanted := demand.About(key)
		var next []requirements.Set
		for _, s := range sets {
			for _, r := range choices {
				if len(next) < nodepool.MaxAssignments && wanted.MetBy(requirements.NewSet(r)) {
					next = append(next, s.With(r))
				}
			}
		}
		sets = next
	}
	for _, key := range x.m.TopologyKeys {
		if p.LeftOpen(key) {
			widen(key, p.Candidates(key, nil, x.m.Domains()))
		}
	}
	for _, r := range demand {
		if !p.LeftOpen(r.Key()) {
			continue
		}
		wanted := p.Template.Get(r.Key())
		for _, d := range demand.About(r.Key()) {
			wanted = wanted.Intersect(d)
		}
		choices := []requirements.Requirement{p.Decide(r.Key(), wanted)}
		if p.MayStayOpen(wanted) {
			choices = append(choices, wanted)
		}
		widen(r.Key(), choices)
	}
	return p.WithRows(sets)
}
