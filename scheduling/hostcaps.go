package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// hostCap is a rule about single nodes as an amount: a node has so much of it, and each pod that the rule concerns takes some.
// Where it can be put like that, the linear program, the knapsacks and the packers keep the rule as they keep memory. In proofs it may
// also be a resource in whole units: see countWhole.
type hostCap struct {
	group  int32
	kind   topology.Kind
	amount int64
	// counts says that pods take some that the rule only counts.
	counts bool
	// pressing is at least how many nodes the items need because of it.
	pressing int64
	// unit in which a resource is counted; 0 for a rule.
	unit     int64
	resource int
}

const (
	// maxHostCaps bounds how many rules become amounts: the most pressing ones. The packers ask for the others pod by pod.
	maxHostCaps = 12
	// manyOnHost is more pods than a node has room for.
	manyOnHost = 1 << 14
)

// hostCaps are the rules about single nodes that tie pods of several of the items' classes together, the most pressing first. A rule
// of one class alone is in item.perMachine.
func (m *Model) hostCaps(items []item, proof bool) []hostCap {
	type concern struct {
		cap            hostCap
		class          int32
		several, plain bool
	}
	found := map[int32]*concern{}
	for i := range items {
		it := &items[i]
		if it.topology == nil {
			continue
		}
		for _, list := range [2][]int32{it.topology.Owns, it.topology.In} {
			for _, g := range list {
				gr := &m.topology[g]
				if gr.At != topology.Hostname || !gr.Hard || gr.Kind == topology.Affinity {
					continue
				}
				c := found[g]
				if c == nil {
					c = &concern{cap: hostCap{group: g, kind: gr.Kind, amount: 1}, class: it.class, plain: true}
					found[g] = c
				}
				c.several = c.several || c.class != it.class
				switch owns, in := topology.Contains(it.topology.Owns, g), topology.Contains(it.topology.In, g); {
				case gr.Kind == topology.Anti && owns && !in:
					c.plain = false // such pods keep others away, but not each other
				case gr.Kind == topology.Anti && !owns:
					c.cap.amount, c.cap.counts = manyOnHost, true
				case gr.Kind == topology.Spread:
					c.cap.amount = int64(gr.MaxSkew)
					c.cap.counts = !proof
				}
			}
		}
	}
	var caps []hostCap
	for _, c := range found {
		if !c.several || !c.plain {
			continue
		}
		pods := int64(0)
		for i := range items {
			pods += int64(items[i].count) * c.cap.taken(m, items[i].topology)
		}
		c.cap.pressing = pods / max(c.cap.amount, 1)
		caps = append(caps, c.cap)
	}
	slices.SortFunc(caps, func(a, b hostCap) int {
		return cmp.Or(-cmp.Compare(a.pressing, b.pressing), cmp.Compare(a.group, b.group))
	})
	return caps[:min(len(caps), maxHostCaps)]
}

// taken is what a pod with the stake takes of the cap.
//
// A spread refuses only pods that state it, and only while the node has too many of those that it counts. Pods that state no such
// rule can always come last, and take nothing. All others count as if they stated it, so that they can come in any order.
func (c *hostCap) taken(m *Model, o *topology.Groups) int64 {
	if o == nil {
		return 0
	}
	owns, in := topology.Contains(o.Owns, c.group), topology.Contains(o.In, c.group)
	switch c.kind {
	case topology.Exclusive:
		if in {
			return 1
		}
	case topology.Anti:
		// A node has one pod that states the rule, or any number of those that it only counts.
		if owns {
			return c.amount
		}
		if in && c.counts {
			return 1
		}
	case topology.Spread:
		if in && (owns || c.counts && m.spreadsOnHosts(o)) {
			return 1
		}
	}
	return 0
}

// sentence says the rule in words.
func (c *hostCap) sentence(m *Model) string {
	switch g := &m.topology[c.group]; c.kind {
	case topology.Exclusive:
		return "host port " + g.Key
	case topology.Spread:
		return fmt.Sprintf("spread by hostname with maxSkew %d over %s", g.MaxSkew, g.Who())
	default:
		return "anti-affinity by hostname to " + g.Who()
	}
}

// spreadsOnHosts reports whether pods with the stake state a hard spread over single nodes.
func (m *Model) spreadsOnHosts(o *topology.Groups) bool {
	return o != nil && slices.ContainsFunc(o.Owns, func(g int32) bool {
		return m.topology[g].At == topology.Hostname && m.topology[g].Hard && m.topology[g].Kind == topology.Spread
	})
}

// capItems returns the items with what they take of the caps as further needs, and notes which are under rules about single nodes
// that neither caps nor perMachine say everything about: DaemonSet pods count as well, or a rule ties classes together that is no
// amount.
func (m *Model) capItems(given []item, caps []hostCap) []item {
	if !slices.ContainsFunc(given, func(it item) bool { return m.tied(it.topology) }) {
		return given
	}
	items := slices.Clone(given)
	if len(caps) > 0 {
		dims := m.resources.Len()
		needs := make([]int64, len(items)*(dims+len(caps)))
		for i := range items {
			it := &items[i]
			need := needs[i*(dims+len(caps)) : (i+1)*(dims+len(caps))]
			copy(need, it.need[:dims])
			for k := range caps {
				need[dims+k] = caps[k].taken(m, it.topology)
			}
			it.need = need
		}
	}
	const several = -2
	classOf := map[int32]int32{} // of the rule's pods, or several
	for i := range items {
		m.eachHostRule(items[i].topology, func(g int32) {
			if class, known := classOf[g]; known && class != items[i].class {
				classOf[g] = several
			} else {
				classOf[g] = items[i].class
			}
		})
	}
	said := make(map[int32]bool, len(classOf)) // whether caps or perMachine say everything
	for g, class := range classOf {
		said[g] = !m.resident(g) && (class != several || slices.ContainsFunc(caps, func(c hostCap) bool { return c.group == g }))
	}
	for i := range items {
		it := &items[i]
		for k := range caps {
			if n := caps[k].taken(m, it.topology); n > 0 && int64(it.perMachine) >= caps[k].amount/n {
				it.perMachine = unbounded // the cap says as much
			}
		}
		items[i].ruled = false
		m.eachHostRule(items[i].topology, func(g int32) { items[i].ruled = items[i].ruled || !said[g] })
	}
	return items
}

// eachHostRule calls do with the hard rules about single nodes that concern pods with the stake, affinity aside.
func (m *Model) eachHostRule(o *topology.Groups, do func(g int32)) {
	if o == nil {
		return
	}
	for _, list := range [2][]int32{o.Owns, o.In} {
		for _, g := range list {
			if gr := &m.topology[g]; gr.At == topology.Hostname && gr.Hard && gr.Kind != topology.Affinity {
				do(g)
			}
		}
	}
}

// resident reports whether the rule counts DaemonSet pods of some new node, or is stated by them.
func (m *Model) resident(g int32) bool {
	return slices.ContainsFunc(m.pools, func(p *nodepool.Pool) bool {
		return p.Table != nil && slices.ContainsFunc(p.Table.Rows, func(r nodepool.Row) bool {
			return slices.ContainsFunc(r.Residents, func(class int32) bool {
				o := m.classes[class].Topology
				return o != nil && (topology.Contains(o.Owns, g) || topology.Contains(o.In, g))
			})
		})
	})
}

// widen gives the problem's options the amounts of the caps.
func (p *problem) widen(caps []hostCap) {
	p.caps = caps
	if len(caps) == 0 {
		return
	}
	from := p.dims
	p.dims += len(caps)
	wider := func(o *option) {
		alloc := make([]int64, p.dims)
		copy(alloc, o.alloc)
		for k := range caps {
			alloc[from+k] = caps[k].on(o.alloc)
		}
		o.alloc = alloc
	}
	for i := range p.options {
		wider(&p.options[i])
	}
	for i := range p.committed {
		wider(&p.committed[i])
	}
	for i := range p.dominated {
		wider(p.dominated[i].option)
	}
}
