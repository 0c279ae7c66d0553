package scheduling_test

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// A judge by brute force: one gang of up to five pods on up to four nodes in two zones, and new nodes of two types under a limit. It goes
// through all ways to place the pods in one domain: a zone, or a block within a zone. Nodes and types are in a block.

type judged struct {
	cores []int    // that pods request
	free  [][3]int // cores of nodes, their zone and block
	types [][3]int // cores of types, their price in cents, in each zone another, and their block
	extra int      // what zone b costs more, in cents
	limit int      // cores
	// blocks says that the gang has to be in one block of a zone.
	blocks bool
}

// domains are those that the gang could be in.
func (j *judged) domains() [][2]int {
	if !j.blocks {
		return [][2]int{{0, -1}, {1, -1}}
	}
	return [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
}

// best is what new nodes cost at least in the cheapest domain, in cents; -1 if the pods have a place in none.
func (j *judged) best() int {
	best := -1
	for _, d := range j.domains() {
		if cost := j.cheapest(d[0], d[1]); cost >= 0 && (best < 0 || cost < best) {
			best = cost
		}
	}
	return best
}

// cheapest is what new nodes in the zone, and in the block unless that is -1, cost at least for all pods, in cents; -1 if they have no
// place there.
func (j *judged) cheapest(zone, block int) int {
	room := make([]int, len(j.free))
	for i, f := range j.free {
		if f[1] == zone && (block < 0 || f[2] == block) {
			room[i] = f[0]
		}
	}
	best := math.MaxInt
	var try func(pod int, room []int, used, cost int)
	try = func(pod int, room []int, used, cost int) {
		if cost >= best {
			return
		}
		if pod == len(j.cores) {
			best = cost
			return
		}
		for i, r := range room {
			if r >= j.cores[pod] {
				room[i] -= j.cores[pod]
				try(pod+1, room, used, cost)
				room[i] += j.cores[pod]
			}
		}
		for _, it := range j.types {
			if it[0] >= j.cores[pod] && used+it[0] <= j.limit && (block < 0 || it[2] == block) {
				try(pod+1, append(room[:len(room):len(room)], it[0]-j.cores[pod]), used+it[0], cost+it[1]+zone*j.extra)
			}
		}
	}
	try(0, room, 0, 0)
	if best == math.MaxInt {
		return -1
	}
	return best
}

func (j *judged) snapshot() *scheduling.Snapshot {
	s := cluster(nodePool("p", limit(fmt.Sprintf("cpu=%d", j.limit))))
	for i, f := range j.free {
		s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel(zoneKey, string("ab"[f[1]])), nodeLabel("block", fmt.Sprint(f[2])), allocatable(fmt.Sprintf("cpu=%d", f[0]), "memory=64Gi")))
	}
	var list []*corev1.Pod
	for i, cores := range j.cores {
		list = append(list, pod(fmt.Sprintf("g-%d", i), requests(fmt.Sprintf("cpu=%d", cores), "memory=1Gi")))
	}
	s.Pods, s.Catalogs["types"] = list, nil
	for i, it := range j.types {
		t := with(typeOf(fmt.Sprintf("t-%d", i), 0, fmt.Sprintf("cpu=%d", it[0]), "memory=64Gi"), requirements.In("block", fmt.Sprint(it[2])))
		sold(t, offering("a", "on-demand", float64(it[1])/100), offering("b", "on-demand", float64(it[1]+j.extra)/100))
		s.Catalogs["types"] = append(s.Catalogs["types"], t)
	}
	if j.blocks {
		return withGangs(s, gangOf("g", list, together(zoneKey, "block")))
	}
	return withGangs(s, gangOf("g", list, together(zoneKey)))
}

func drawJudged(t *rapid.T) *judged {
	j := &judged{limit: number(t, 0, 12), extra: number(t, 0, 5), blocks: rapid.Bool().Draw(t, "blocks")}
	for range number(t, 1, 5) {
		j.cores = append(j.cores, number(t, 1, 4))
	}
	for range number(t, 0, 4) {
		j.free = append(j.free, [3]int{number(t, 1, 6), draw(t, 2), draw(t, 2)})
	}
	for range 2 {
		j.types = append(j.types, [3]int{number(t, 2, 8), number(t, 5, 30), draw(t, 2)})
	}
	return j
}

// A gang has a place in one domain exactly if brute force finds one, and is then in the domain where that costs least, for that price.
func TestGangsByBruteForce(t *testing.T) {
	tried, costlier := 0, 0
	seeded.Times(t, 500, func(t *rapid.T) {
		j := drawJudged(t)
		want, s := j.best(), j.snapshot()
		p := solved(t, s)
		tried++
		switch g := &p.Gangs[0]; {
		case want < 0:
			if g.Reason == nil {
				t.Fatalf("%+v has no place, and is placed", j)
			}
		case g.Reason != nil:
			show(t, s)
			t.Fatalf("%+v could be placed for %d: %s", j, want, g.Reason)
		default:
			if got := int(math.Round(p.HourlyCost * 100)); got < want {
				t.Fatalf("%+v costs %d at least, and %d in the plan", j, want, got)
			} else if got > want {
				t.Logf("%+v costs %d at least, and %d in the plan (%v)", j, want, got, g.Domains)
				costlier++
			}
		}
	})
	if costlier*50 > tried {
		t.Errorf("%d of %d gangs cost more than they have to", costlier, tried)
	}
	t.Logf("%d of %d gangs cost more than they have to", costlier, tried)
}

// What is said to help a gang without a place does: with the limit raised, or without its topology, it has a place.
func TestGangCuresHelp(t *testing.T) {
	raised, loose := 0, 0
	seeded.Times(t, 300, func(t *rapid.T) {
		j := drawJudged(t)
		p := solved(t, j.snapshot())
		if p.Gangs[0].Reason == nil {
			return
		}
		for _, cure := range p.Gangs[0].Reason.Cures {
			s := j.snapshot()
			if len(cure.Without) > 0 {
				loose++
				s.Gangs[0].Topology = nil
			} else {
				raised++
				cores := cure.Limits.Cpu().Value()
				s = (&judged{j.cores, j.free, j.types, j.extra, j.limit + int(cores), j.blocks}).snapshot()
			}
			after := solved(t, s).Gangs[0]
			if after.Reason != nil {
				show(t, s)
				t.Fatalf("%s is said to help, and then %s", cure.String(), after.String())
			}
		}
	})
	if raised == 0 || loose == 0 {
		t.Errorf("%d gangs were helped by higher limits, %d by being apart", raised, loose)
	}
}
