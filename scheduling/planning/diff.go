package planning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// PlanDiff contains the differences between two plans. It is plain data. All lists are sorted, so the same plans give the same PlanDiff.
type PlanDiff struct {
	// HourlyCost and LowerBound of the two plans, USD per hour.
	HourlyCost AmountChange `json:"hourlyCost"`
	LowerBound AmountChange `json:"lowerBound"`
	// NewNodes lists the kinds of planned nodes whose number differs.
	NewNodes []NodeChange `json:"newNodes,omitempty"`
	// Moved are pods that both plans place, but at different places.
	Moved []PodMove `json:"moved,omitempty"`
	// Placed are pods that only the second plan places. Unplaced are pods that only the second plan lists as Unschedulable. Gone are pods
	// that only the first plan mentions.
	Placed   []PodMove `json:"placed,omitempty"`
	Unplaced []PodMove `json:"unplaced,omitempty"`
	Gone     []PodMove `json:"gone,omitempty"`
	// GivenUp are preferences that only the second plan lists as not kept. Kept are preferences that only the first plan lists as not kept:
	// the second plan keeps them, or does not place their pods. They are sorted by pod name.
	GivenUp []Relaxation `json:"givenUp,omitempty"`
	Kept    []Relaxation `json:"kept,omitempty"`
}

// AmountChange is a number before and after.
type AmountChange struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// NodeKind describes a NewNode by its pool and by the first instance type, which the plan assumes.
type NodeKind struct {
	Pool         v1.PoolKey `json:"pool"`
	InstanceType string     `json:"instanceType"`
	Zone         string     `json:"zone"`
	CapacityType string     `json:"capacityType"`
}

// String returns "pool instance-type/zone/capacity-type".
func (k NodeKind) String() string {
	return fmt.Sprintf("%s %s/%s/%s", k.Pool, k.InstanceType, k.Zone, k.CapacityType)
}

// NodeChange is how many planned nodes of a kind each plan has.
type NodeChange struct {
	NodeKind
	Before int `json:"before"`
	After  int `json:"after"`
}

// Place is where a plan puts a pod: on a node of the snapshot or on a planned node of some kind. The zero value means no place. Planned
// nodes of one kind count as one place, because their names have no meaning outside the plan.
type Place struct {
	// Node is the name of the node of the snapshot; empty for a planned node.
	Node string `json:"node,omitempty"`
	// New is the kind of the planned node; nil for a node of the snapshot.
	New *NodeKind `json:"new,omitempty"`
}

// String returns "node NAME", "new KIND" or "nowhere".
func (p Place) String() string {
	switch {
	case p.New != nil:
		return "new " + p.New.String()
	case p.Node != "":
		return "node " + p.Node
	}
	return "nowhere"
}

func (p Place) equal(o Place) bool {
	if p.New != nil && o.New != nil {
		return *p.New == *o.New
	}
	return p.Node == o.Node && p.New == nil && o.New == nil
}

// PodMove is a pod's place before and after.
type PodMove struct {
	Pod  PodKey `json:"pod"`
	From Place  `json:"from,omitzero"`
	To   Place  `json:"to,omitzero"`
}

// Diff returns what changes from plan a to plan b. A nil plan is a plan without nodes and pods. Neither plan is changed, and the result
// shares only the pool keys with them.
func Diff(a, b *Plan) PlanDiff {
	if a == nil {
		a = &Plan{}
	}
	if b == nil {
		b = &Plan{}
	}
	d := PlanDiff{
		HourlyCost: AmountChange{a.HourlyCost, b.HourlyCost},
		LowerBound: AmountChange{a.LowerBound, b.LowerBound},
		NewNodes:   diffNewNodes(a, b),
		GivenUp:    relaxedOnlyIn(b, a),
		Kept:       relaxedOnlyIn(a, b),
	}
	d.pods(placesIn(a), placesIn(b))
	return d
}

// IsZero reports whether the plans are equal: they have equal numbers of planned nodes of each kind and the same cost, and each pod has the
// same place and the same preferences kept. Lower bounds are ignored.
func (d PlanDiff) IsZero() bool {
	return d.HourlyCost.Before == d.HourlyCost.After &&
		len(d.NewNodes)+len(d.Moved)+len(d.Placed)+len(d.Unplaced)+len(d.Gone)+len(d.GivenUp)+len(d.Kept) == 0
}

func kindOf(n *NewNode) NodeKind {
	k := NodeKind{Pool: n.Pool}
	if len(n.InstanceTypes) > 0 {
		o := &n.InstanceTypes[0]
		k.InstanceType, k.Zone, k.CapacityType = o.Name, o.Zone, o.CapacityType
	}
	return k
}

func diffNewNodes(a, b *Plan) []NodeChange {
	counts := map[NodeKind]*NodeChange{}
	of := func(n *NewNode) *NodeChange {
		k := kindOf(n)
		if counts[k] == nil {
			counts[k] = &NodeChange{NodeKind: k}
		}
		return counts[k]
	}
	for i := range a.NewNodes {
		of(&a.NewNodes[i]).Before++
	}
	for i := range b.NewNodes {
		of(&b.NewNodes[i]).After++
	}
	var out []NodeChange
	for _, c := range counts {
		if c.Before != c.After {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(x, y NodeChange) int {
		return cmp.Or(x.Pool.Compare(y.Pool), cmp.Compare(x.InstanceType, y.InstanceType), cmp.Compare(x.Zone, y.Zone), cmp.Compare(x.CapacityType, y.CapacityType))
	})
	return out
}

// placesIn returns the places of all pods that the plan mentions. A pod that the plan can't place has the zero Place.
func placesIn(p *Plan) map[PodKey]Place {
	out := make(map[PodKey]Place, len(p.Order)+len(p.Unschedulable))
	for i := range p.Existing {
		for _, key := range p.Existing[i].Pods {
			out[key] = Place{Node: p.Existing[i].Name}
		}
	}
	for i := range p.NewNodes {
		kind := kindOf(&p.NewNodes[i])
		for _, key := range p.NewNodes[i].Pods {
			out[key] = Place{New: &kind}
		}
	}
	for i := range p.Unschedulable {
		out[p.Unschedulable[i].Pod] = Place{}
	}
	return out
}

// pods fills in the lists of pods whose places differ, sorted by name.
func (d *PlanDiff) pods(before, after map[PodKey]Place) {
	all := make([]PodKey, 0, max(len(before), len(after)))
	for key := range before {
		all = append(all, key)
	}
	for key := range after {
		if _, ok := before[key]; !ok {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, comparePodKeys)
	for _, key := range all {
		from, was := before[key]
		to, is := after[key]
		had, has := !from.equal(Place{}), !to.equal(Place{})
		move := PodMove{key, from, to}
		switch {
		case was && !is:
			d.Gone = append(d.Gone, move)
		case has && !had:
			d.Placed = append(d.Placed, move)
		case !has && (had || !was):
			d.Unplaced = append(d.Unplaced, move)
		case !from.equal(to):
			d.Moved = append(d.Moved, move)
		}
	}
}

func comparePodKeys(a, b PodKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// relaxedOnlyIn lists the relaxations that only the plan p has, compared with the plan other. Each has only the pods for which other does
// not list the relaxation.
func relaxedOnlyIn(p, other *Plan) []Relaxation {
	type broken struct {
		code   RelaxationCode
		detail string
		pod    PodKey
	}
	known := map[broken]bool{}
	for _, r := range other.Relaxations {
		for _, key := range r.Pods {
			known[broken{r.Code, r.Detail, key}] = true
		}
	}
	var out []Relaxation
	for _, r := range p.Relaxations {
		fresh := Relaxation{Code: r.Code, Detail: r.Detail}
		for _, key := range r.Pods {
			if !known[broken{r.Code, r.Detail, key}] {
				fresh.Pods = append(fresh.Pods, key)
			}
		}
		if len(fresh.Pods) > 0 {
			slices.SortFunc(fresh.Pods, comparePodKeys)
			out = append(out, fresh)
		}
	}
	slices.SortFunc(out, func(a, b Relaxation) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail)) })
	return out
}

// String returns a short table for people, which ends in a newline; the JSON form contains everything.
func (d PlanDiff) String() string {
	if d.IsZero() {
		return "no difference\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row := func(what string, before, after any, change string) {
		fmt.Fprintf(w, "%s\t%v\t%v\t%s\n", what, before, after, change)
	}
	row("", "BEFORE", "AFTER", "CHANGE")
	for _, x := range []struct {
		what string
		AmountChange
	}{{"USD per hour", d.HourlyCost}, {"lower bound", d.LowerBound}} {
		row(x.what, fmt.Sprintf("%.4f", x.Before), fmt.Sprintf("%.4f", x.After), fmt.Sprintf("%+.4f", x.After-x.Before))
	}
	for _, c := range d.NewNodes {
		row(c.NodeKind.String(), c.Before, c.After, fmt.Sprintf("%+d", c.After-c.Before))
	}
	_ = w.Flush() // writing to a strings.Builder never fails
	for _, list := range []struct {
		what  string
		moves []PodMove
		route func(PodMove) string
	}{
		{"moved", d.Moved, func(m PodMove) string { return "from " + m.From.String() + " to " + m.To.String() }},
		{"placed", d.Placed, func(m PodMove) string { return "on " + m.To.String() }},
		{"unplaced", d.Unplaced, func(m PodMove) string { return "from " + m.From.String() }},
		{"gone", d.Gone, func(m PodMove) string { return "from " + m.From.String() }},
	} {
		writeMoves(&b, list.what, list.moves, list.route)
	}
	for _, r := range d.GivenUp {
		fmt.Fprintf(&b, "given up: %s %s: %s\n", r.Code, r.Detail, podNames(r.Pods))
	}
	for _, r := range d.Kept {
		fmt.Fprintf(&b, "not given up any more: %s %s: %s\n", r.Code, r.Detail, podNames(r.Pods))
	}
	return b.String()
}

// writeMoves writes one line for each different text that the function route returns. The lines are in the order of the first pods with
// these texts.
func writeMoves(b *strings.Builder, what string, moves []PodMove, route func(PodMove) string) {
	var routes []string
	pods := map[string][]PodKey{}
	for _, m := range moves {
		r := route(m)
		if pods[r] == nil {
			routes = append(routes, r)
		}
		pods[r] = append(pods[r], m.Pod)
	}
	for _, r := range routes {
		fmt.Fprintf(b, "%s %s: %s\n", what, r, podNames(pods[r]))
	}
}

// podNames counts pods and names the first three.
func podNames(keys []PodKey) string {
	const named = 3
	parts := make([]string, 0, named+1)
	for _, k := range keys[:min(len(keys), named)] {
		parts = append(parts, k.String())
	}
	if more := len(keys) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d (%s)", len(keys), strings.Join(parts, ", "))
}
