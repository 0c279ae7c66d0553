package offers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Cap is a rule about single nodes, expressed as an amount. Each node offers an amount, and each pod that the rule concerns takes part of
// it. The linear program, the knapsacks and the packers handle such a rule like a resource, for example memory. In proofs, a Cap may also
// be a resource counted in whole units: see CountWhole.
type Cap struct {
	group  int32
	kind   topology.Kind
	Amount int64
	// counts means that pods which do not state the rule but are counted by it also take some of the amount.
	counts bool
	// pressing is the least number of nodes that the items need because of the rule.
	pressing int64
	// Unit is the unit in which a resource is counted, or 0 for a rule.
	Unit     int64
	Resource int
}

const (
	// maxHostCaps is the maximum number of rules that become amounts. The rules that require the most nodes are chosen. The packers check
	// all other rules pod by pod.
	maxHostCaps = 12
	// manyOnHost exceeds the number of pods on any node.
	manyOnHost = 1 << 14
)

// Caps returns the rules about single nodes that connect pods of several classes of the items. Rules that require the most nodes come
// first. A rule that concerns only one class is expressed by Item.PerNode.
func (m *Market) Caps(items []pricing.Item, proof bool) []Cap {
	type concern struct {
		cap            Cap
		class          int32
		several, plain bool
	}
	found := map[int32]*concern{}
	for i := range items {
		it := &items[i]
		if it.Topology == nil {
			continue
		}
		for _, list := range [2][]int32{it.Topology.Owns, it.Topology.In} {
			for _, g := range list {
				gr := &m.Rules[g]
				if gr.At != topology.Hostname || !gr.Hard || gr.Kind == topology.Affinity {
					continue
				}
				c := found[g]
				if c == nil {
					c = &concern{cap: Cap{group: g, kind: gr.Kind, Amount: 1}, class: it.Class, plain: true}
					found[g] = c
				}
				c.several = c.several || c.class != it.Class
				switch owns, in := topology.Contains(it.Topology.Owns, g), topology.Contains(it.Topology.In, g); {
				case gr.Kind == topology.Anti && owns && !in:
					c.plain = false // pods of this class keep other pods off their node, but not pods of their own class
				case gr.Kind == topology.Anti && !owns:
					c.cap.Amount, c.cap.counts = manyOnHost, true
				case gr.Kind == topology.Spread:
					c.cap.Amount = int64(gr.MaxSkew)
					c.cap.counts = !proof
				}
			}
		}
	}
	var caps []Cap
	for _, c := range found {
		if !c.several || !c.plain {
			continue
		}
		pods := int64(0)
		for i := range items {
			pods += int64(items[i].Count) * c.cap.taken(m.Rules, items[i].Topology)
		}
		c.cap.pressing = pods / max(c.cap.Amount, 1)
		caps = append(caps, c.cap)
	}
	slices.SortFunc(caps, func(a, b Cap) int {
		return cmp.Or(-cmp.Compare(a.pressing, b.pressing), cmp.Compare(a.group, b.group))
	})
	return caps[:min(len(caps), maxHostCaps)]
}

// taken returns the amount of the cap that a pod with these rules takes.
//
// A spread refuses only pods that state the spread, and only while the node has too many of the pods that the spread counts. Pods that
// state no spread over nodes can always be placed last, so they take no amount of the cap. All other counted pods are treated as if they
// stated this spread, so that their order does not matter.
func (c *Cap) taken(rules []topology.Group, o *topology.Groups) int64 {
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
		// Anti-affinity allows on a node either one pod that states the rule, or any number of pods that the rule only selects.
		if owns {
			return c.Amount
		}
		if in && c.counts {
			return 1
		}
	case topology.Spread:
		if in && (owns || c.counts && topology.SpreadsOnHosts(rules, o)) {
			return 1
		}
	}
	return 0
}

// Sentence describes the rule in words.
func (c *Cap) Sentence(rules []topology.Group) string {
	switch g := &rules[c.group]; c.kind {
	case topology.Exclusive:
		return "host port " + g.Key
	case topology.Spread:
		return fmt.Sprintf("spread by hostname with maxSkew %d over %s", g.MaxSkew, g.Who())
	default:
		return "anti-affinity by hostname to " + g.Who()
	}
}

// WithCaps returns the items with the caps as additional needs. It marks items whose rules about single nodes are not completely expressed
// by caps and PerNode. These are rules that also count DaemonSet pods, and rules for several classes for which caps has no entry.
func (m *Market) WithCaps(given []pricing.Item, caps []Cap) []pricing.Item {
	if !slices.ContainsFunc(given, func(it pricing.Item) bool { return topology.TiedOnHosts(m.Rules, it.Topology) }) {
		return given
	}
	items := slices.Clone(given)
	if len(caps) > 0 {
		dims := m.Dims
		needs := make([]int64, len(items)*(dims+len(caps)))
		for i := range items {
			it := &items[i]
			need := needs[i*(dims+len(caps)) : (i+1)*(dims+len(caps))]
			copy(need, it.Need[:dims])
			for k := range caps {
				need[dims+k] = caps[k].taken(m.Rules, it.Topology)
			}
			it.Need = need
		}
	}
	const several = -2
	classOf := map[int32]int32{} // for each rule: the class that the rule concerns, or the constant several
	for i := range items {
		m.eachHostRule(items[i].Topology, func(g int32) {
			if class, known := classOf[g]; known && class != items[i].Class {
				classOf[g] = several
			} else {
				classOf[g] = items[i].Class
			}
		})
	}
	said := make(map[int32]bool, len(classOf)) // for each rule: whether caps or PerNode express it completely
	for g, class := range classOf {
		said[g] = !m.resident(g) && (class != several || slices.ContainsFunc(caps, func(c Cap) bool { return c.group == g }))
	}
	for i := range items {
		it := &items[i]
		for k := range caps {
			if n := caps[k].taken(m.Rules, it.Topology); n > 0 && int64(it.PerNode) >= caps[k].Amount/n {
				it.PerNode = pricing.Unbounded // not needed: the cap limits the pods on one node at least as strictly as PerNode
			}
		}
		items[i].Ruled = false
		m.eachHostRule(items[i].Topology, func(g int32) { items[i].Ruled = items[i].Ruled || !said[g] })
	}
	return items
}

// eachHostRule calls the function do for each hard rule about single nodes that concerns pods with these topology groups, except for
// affinity.
func (m *Market) eachHostRule(o *topology.Groups, do func(g int32)) {
	if o == nil {
		return
	}
	for _, list := range [2][]int32{o.Owns, o.In} {
		for _, g := range list {
			if gr := &m.Rules[g]; gr.At == topology.Hostname && gr.Hard && gr.Kind != topology.Affinity {
				do(g)
			}
		}
	}
}

// resident reports whether the rule counts DaemonSet pods of some new node, or whether such pods state it.
func (m *Market) resident(g int32) bool {
	return slices.ContainsFunc(m.Pools, func(p *nodepool.Pool) bool {
		return p.Table != nil && slices.ContainsFunc(p.Table.Rows, func(r nodepool.Row) bool {
			return slices.ContainsFunc(r.Residents, func(class int32) bool {
				o := m.Classes[class].Topology
				return o != nil && (topology.Contains(o.Owns, g) || topology.Contains(o.In, g))
			})
		})
	})
}

// Widen adds to each option of the problem its amounts of the caps, as further dimensions of Alloc.
func (p *Choice) Widen(caps []Cap) {
	p.Caps = caps
	if len(caps) == 0 {
		return
	}
	p.Pressing = make([]int64, len(caps))
	for k := range caps {
		p.Pressing[k] = caps[k].pressing
	}
	from := p.Dims
	p.Dims += len(caps)
	wider := func(o *pricing.Option) {
		alloc := make([]int64, p.Dims)
		copy(alloc, o.Alloc)
		for k := range caps {
			alloc[from+k] = caps[k].on(o.Alloc)
		}
		o.Alloc = alloc
	}
	for i := range p.Options {
		wider(&p.Options[i])
	}
	for i := range p.Committed {
		wider(&p.Committed[i])
	}
	for i := range p.Dominated {
		wider(p.Dominated[i].Option)
	}
}
