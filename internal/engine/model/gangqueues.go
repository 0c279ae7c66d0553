package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Plannable reports whether the gang can be placed.
func (g *Gang) Plannable(s *planning.Snapshot) bool {
	return g.There >= g.Source.Needs() && (g.Source.Deadline.IsZero() || s.Time.Before(g.Source.Deadline))
}

// Option returns the gang's option that has this pending state, or nil if no option has it.
func (g *Gang) Option(way int32) *GangOption {
	for o := range g.Options {
		if o.Way == way&^1 {
			return o
		}
	}
	return nil
}

// NeededOf returns the members of the class that the gang needs for the option, in the order in which they are placed.
func (g *Gang) NeededOf(o *GangOption, class int32) []int32 {
	var out []int32
	for i, pod := range g.Pods[:min(g.Needed, len(g.Pods))] {
		if o.Classes[i] == class {
			out = append(out, pod)
		}
	}
	return out
}

// Queues returns, for each class with members, its pods in the order in which they are placed. ways has the pending state of each gang.
func (x *GangIndex) Queues(m *Model, ways []int32) map[int32][]int32 {
	out := map[int32][]int32{}
	add := func(number int32, from, to int) {
		g := &x.List[number]
		o := g.Option(ways[number])
		for i := from; o != nil && i < to; i++ {
			out[o.Classes[i]] = append(out[o.Classes[i]], g.Pods[i])
		}
	}
	for _, number := range x.Order {
		add(number, 0, min(x.List[number].Needed, len(x.List[number].Pods)))
	}
	for _, number := range x.Order {
		if g := &x.List[number]; ways[number] >= GangOptions && ways[number]%2 == 1 {
			add(number, g.Needed, len(g.Pods))
		}
	}
	base := map[int32]bool{}
	for i, of := range x.Of {
		if of >= 0 {
			base[m.PodClass[i]] = true
		}
	}
	for class := range base {
		list := out[class]
		for _, i := range m.Classes[class].Pending {
			if of := x.Of[i]; of < 0 || ways[of] == GangAsPods {
				list = append(list, i)
			}
		}
		out[class] = list
	}
	return out
}

// Singles returns the pods of the class that are in no gang.
func (m *Model) Singles(class int32) []int32 {
	pending := m.Classes[class].Pending
	if m.Gangs == nil {
		return pending
	}
	return slices.DeleteFunc(slices.Clone(pending), func(i int32) bool { return m.Gangs.Of[i] >= 0 })
}

// A running gang can be moved as a whole. If the gang requires or prefers one domain, its bound pods have additional classes, one for each
// domain to which they could be moved: see GangIndex.

// GangMove is a domain to which a running gang could be moved.
type GangMove struct {
	// Domains has the domains of the labels that the gang requires, then the domains of the first Kept labels that it prefers. It is empty
	// if the gang may be anywhere.
	Domains []planning.GangDomain
	Kept    int
	// Classes maps each class to the class that its pods have in the domain. Classes is made from likes, which has the numbers that equal
	// pods share: see gangPods.
	Classes, likes map[int32]int32
}

// mostGangMoves is the maximum number of domains to which a gang can be moved, for each number of kept preferences. The gang's current
// domain comes first, then the domains with the most nodes.
const mostGangMoves = 16

// addMoves finds the domains to which gangs could be moved. It considers only gangs that are moved as a whole and whose members all run.
func (b *gangBuilder) addMoves() {
	for number := range b.index.List {
		g := &b.index.List[number]
		keys, wishes := topologyKeys(g.Source)
		if g.Bound == 0 || len(g.Pods) > 0 || len(keys)+len(wishes) == 0 || g.Source.DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		members := b.running(int32(number))
		for kept := 0; kept <= len(wishes); kept++ {
			all := append(slices.Clone(keys), wishes[:kept]...)
			text := domainsText(all)
			if _, known := b.ranked[text]; !known {
				b.ranked[text] = b.byNodes(all)
			}
			own := b.valuesAt(b.hosts[number][0], all)
			g.Moves = append(g.Moves, b.moves(members, all, own, g.within(own, b.ranked[text]), kept)...)
		}
	}
}

// within returns the domains to which the gang could be moved while its family stays: the domains with the label values that the gang must
// share with the family.
func (g *Gang) within(own []string, domains [][]string) [][]string {
	shared := g.Source.Shared
	if g.Family < 0 || shared == 0 || own == nil {
		return domains
	}
	return slices.DeleteFunc(slices.Clone(domains), func(values []string) bool { return !slices.Equal(values[:shared], own[:shared]) })
}

// moves returns the domains that the members could be in, at most mostGangMoves. The members' current domain comes first.
func (b *gangBuilder) moves(members []runningMember, keys, own []string, domains [][]string, kept int) (out []GangMove) {
	first := func(values []string) {
		if len(out) == mostGangMoves {
			return
		}
		move := GangMove{Kept: kept, likes: map[int32]int32{}}
		for i, key := range keys {
			move.Domains = append(move.Domains, planning.GangDomain{Key: key, Value: values[i]})
		}
		for _, m := range members {
			if !open(m.pod, move.Domains) {
				return
			}
		}
		in := planning.DomainsString(move.Domains)
		for _, m := range members {
			move.likes[m.like] = b.variant(m.like, m.pod, move.Domains, in)
		}
		out = append(out, move)
	}
	if own != nil {
		first(own)
	}
	for _, values := range domains {
		if !slices.Equal(values, own) {
			first(values)
		}
	}
	return out
}

// runningMember is a member on a node, with the number that it shares with equal pods.
type runningMember struct {
	pod  *corev1.Pod
	like int32
}

// running returns the members of the gang that are on nodes.
func (b *gangBuilder) running(number int32) (out []runningMember) {
	hosts := b.hosts[number]
	for i, host := range hosts {
		if i > 0 && host == hosts[i-1] {
			continue
		}
		for k, pod := range b.s.Nodes[host].Pods {
			if of, ok := b.memberOf[planning.KeyOf(pod)]; ok && of == number && !likeness.Ended(pod) {
				out = append(out, runningMember{pod, b.pods.bound(host, k)})
			}
		}
	}
	return out
}

// valuesAt returns the node's values of the labels, or nil if the node lacks one of the labels.
func (b *gangBuilder) valuesAt(node int, keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		value, ok := b.labelsOf(node)[key]
		if !ok {
			return nil
		}
		out[i] = value
	}
	return out
}

// byNodes returns the domains of the keys. The domains with the most nodes come first.
func (b *gangBuilder) byNodes(keys []string) [][]string {
	count := map[string]int{}
	for i := range b.labels {
		if values := b.valuesAt(i, keys); values != nil {
			count[domainsText(values)]++
		}
	}
	out := slices.Clone(b.domainsOf(keys))
	slices.SortStableFunc(out, func(a, c []string) int { return cmp.Compare(count[domainsText(c)], count[domainsText(a)]) })
	return out
}

// setClasses sets Classes from likes. classOf returns the class of the pods with the given number.
func (m *GangMove) setClasses(classOf func(like int32) int32) {
	m.Classes = make(map[int32]int32, len(m.likes))
	for from, to := range m.likes {
		m.Classes[classOf(from)] = classOf(to)
	}
	m.likes = nil
}

// topologyKeys returns the labels for which all members of the gang require the same value, and those for which they prefer the same value.
func topologyKeys(gang *planning.Gang) (keys, wishes []string) {
	for _, t := range gang.Topology {
		if t.Policy == planning.GangTopologyPreferred {
			wishes = append(wishes, t.Key)
		} else {
			keys = append(keys, t.Key)
		}
	}
	return keys, wishes
}
