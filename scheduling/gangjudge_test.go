package scheduling_test

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// A judge by brute force: one gang of up to five pods on up to four nodes in two zones, and new nodes of two types under a limit. It goes
// through all ways to place the pods in one zone.

type judged struct {
	cores []int    // that pods request
	free  [][2]int // cores of nodes, and their zone
	types [][2]int // cores of types, and their price in cents, in each zone another
	extra int      // what zone b costs more, in cents
	limit int      // cores
}

// cheapest is what new nodes in the zone cost at least for all pods, in cents; -1 if they have no place there.
func (j *judged) cheapest(zone int) int {
	room := make([]int, len(j.free))
	for i, f := range j.free {
		if f[1] == zone {
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
			if it[0] >= j.cores[pod] && used+it[0] <= j.limit {
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
		s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel(zoneKey, string("ab"[f[1]])), allocatable(fmt.Sprintf("cpu=%d", f[0]), "memory=64Gi")))
	}
	var list []*corev1.Pod
	for i, cores := range j.cores {
		list = append(list, pod(fmt.Sprintf("g-%d", i), requests(fmt.Sprintf("cpu=%d", cores), "memory=1Gi")))
	}
	s.Pods, s.Catalogs["types"] = list, nil
	for i, it := range j.types {
		t := machineType(fmt.Sprintf("t-%d", i), 0, fmt.Sprintf("cpu=%d", it[0]), "memory=64Gi")
		sold(t, offering("a", "on-demand", float64(it[1])/100), offering("b", "on-demand", float64(it[1]+j.extra)/100))
		s.Catalogs["types"] = append(s.Catalogs["types"], t)
	}
	return withGangs(s, gangOf("g", list, together(zoneKey)))
}

// A gang has a place in one zone exactly if brute force finds one, and is then in the zone where that costs least, for that price.
func TestGangsByBruteForce(t *testing.T) {
	tried, dearer := 0, 0
	seeded.Times(t, 400, func(t *rapid.T) {
		j := &judged{limit: number(t, 0, 12), extra: number(t, 0, 5)}
		for range number(t, 1, 5) {
			j.cores = append(j.cores, number(t, 1, 4))
		}
		for range number(t, 0, 4) {
			j.free = append(j.free, [2]int{number(t, 1, 6), draw(t, 2)})
		}
		for range 2 {
			j.types = append(j.types, [2]int{number(t, 2, 8), number(t, 5, 30)})
		}
		a, b := j.cheapest(0), j.cheapest(1)
		s := j.snapshot()
		p := solved(t, s)
		tried++
		switch g := &p.Gangs[0]; {
		case a < 0 && b < 0:
			if g.Reason == nil {
				t.Fatalf("%+v has no place, and is placed", j)
			}
		case g.Reason != nil:
			show(t, s)
			t.Fatalf("%+v could be placed for %d or %d: %s", j, a, b, g.Reason)
		default:
			want := a
			if a < 0 || b >= 0 && b < a {
				want = b
			}
			if got := int(math.Round(p.HourlyCost * 100)); got < want {
				t.Fatalf("%+v costs %d at least, and %d in the plan", j, want, got)
			} else if got > want {
				t.Logf("%+v costs %d at least, and %d in the plan (%v)", j, want, got, g.Domains)
				dearer++
			}
		}
	})
	if dearer*50 > tried {
		t.Errorf("%d of %d gangs cost more than they have to", dearer, tried)
	}
	t.Logf("%d of %d gangs cost more than they have to", dearer, tried)
}
