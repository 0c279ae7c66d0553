package model

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A gang that runs can be moved as a whole. If it has to be in one domain, its bound pods are also known as what they would be in each
// domain that they could be moved to: see GangIndex.

// GangMove is a domain that a gang which runs could be moved to.
type GangMove struct {
	Domains []planning.GangDomain
	// patterns are what pods of a pattern are in the domain, and Classes what pods of a class are.
	patterns map[int32]int32
	Classes  map[int32]int32
}

// mostGangMoves bounds to how many domains a gang can be moved: its own comes first, then those with most nodes.
const mostGangMoves = 16

// addMoves finds where gangs could be moved that are moved as a whole, all of whose members run.
func (b *gangBuilder) addMoves() {
	offset := make([]int32, len(b.s.Nodes))
	next := int32(len(b.s.Pods) + len(b.s.Placeholders))
	for i := range b.s.Nodes {
		offset[i] = next
		next += int32(len(b.s.Nodes[i].Pods))
	}
	ranked := map[string][][]string{}
	for number := range b.index.List {
		g := &b.index.List[number]
		keys := requiredKeys(g.Source)
		if g.Bound == 0 || len(g.Pods) > 0 || len(keys) == 0 || g.Source.DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		patterns := b.patternsOf(g, b.hosts[number], offset)
		text := domainsText(keys)
		if _, known := ranked[text]; !known {
			ranked[text] = b.byNodes(keys)
		}
		own := b.valuesAt(b.hosts[number][0], keys)
		g.Moves = b.moves(patterns, keys, own, ranked[text])
	}
}

// moves are the first domains that the pods of the patterns could be in, the own one before the others.
func (b *gangBuilder) moves(patterns []int32, keys, own []string, domains [][]string) (out []GangMove) {
	first := func(values []string) {
		if len(out) == mostGangMoves {
			return
		}
		move := GangMove{patterns: map[int32]int32{}}
		for i, key := range keys {
			move.Domains = append(move.Domains, planning.GangDomain{Key: key, Value: values[i]})
		}
		for _, pattern := range patterns {
			variant, ok := b.variant(pattern, move.Domains)
			if !ok {
				return
			}
			move.patterns[pattern] = variant
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

// patternsOf are those of the gang's bound members, each once, in the order of its nodes.
func (b *gangBuilder) patternsOf(g *Gang, hosts []int, offset []int32) (out []int32) {
	members := make(map[planning.PodKey]bool, len(g.Source.Members))
	for _, key := range g.Source.Members {
		members[key] = true
	}
	for i, host := range hosts {
		if i > 0 && host == hosts[i-1] {
			continue
		}
		for k, pod := range b.s.Nodes[host].Pods {
			if !members[planning.KeyOf(pod)] || likeness.Ended(pod) {
				continue
			}
			if pattern := b.r.Like[offset[host]+int32(k)]; !slices.Contains(out, pattern) {
				out = append(out, pattern)
			}
		}
	}
	return out
}

// valuesAt are the node's labels; nil if it lacks one.
func (b *gangBuilder) valuesAt(node int, keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		value, ok := b.labels[node][key]
		if !ok {
			return nil
		}
		out[i] = value
	}
	return out
}

// byNodes are the domains of the keys, those with most nodes first.
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

// setMoveClasses gives the moves the classes that the roster's patterns came to be.
func (x *GangIndex) setMoveClasses(r *likeness.Roster) {
	for number := range x.List {
		for i := range x.List[number].Moves {
			move := &x.List[number].Moves[i]
			move.Classes = make(map[int32]int32, len(move.patterns))
			for from, to := range move.patterns {
				move.Classes[r.Patterns[from].Class] = r.Patterns[to].Class
			}
		}
	}
}

// requiredKeys are the labels of which all members of the gang need one value.
func requiredKeys(gang *planning.Gang) (keys []string) {
	for _, t := range gang.Topology {
		if t.Policy != planning.GangTopologyPreferred {
			keys = append(keys, t.Key)
		}
	}
	return keys
}
