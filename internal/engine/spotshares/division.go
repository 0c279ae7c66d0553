package spotshares

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// Place is where a pod is.
type Place uint8

const (
	// Waiting: on no node.
	Waiting Place = iota
	// OffSpot: on a node that is not spot.
	OffSpot
	// OnSpot: on a spot node.
	OnSpot
)

// Pool is a spot pool.
type Pool struct{ InstanceType, Zone string }

// Compare orders pools by instance type, then by zone.
func (p Pool) Compare(o Pool) int {
	return cmp.Or(cmp.Compare(p.InstanceType, o.InstanceType), cmp.Compare(p.Zone, o.Zone))
}

// Pod is a pod of a workload.
type Pod struct {
	Place Place
	// Pool of a pod on spot.
	Pool Pool
}

// Sale is a spot pool that is on sale. Holds is how many pods of the workload an empty node holds, at least 1, and PriceShare the price as a
// share of the price on demand, 0 where nothing is sold on demand.
type Sale struct {
	Pool
	Price, Holds, PriceShare float64
}

// NotOnSpot is the part of pods that may not be on spot nodes.
const NotOnSpot = -1

// Division says which pods may be where.
type Division struct {
	// Parts are the spot pools of each part, in order; a nil list is all of them.
	Parts [][]Pool
	// Of is the part of each pod, or NotOnSpot, indexed like the pods.
	Of []int32
	// Most is how many of the pods may be on spot nodes, MostOnPool on one pool.
	Most, MostOnPool int
}

// Free reports whether the pods may be anywhere.
func (d *Division) Free() bool {
	return len(d.Parts) == 1 && d.Parts[0] == nil && !slices.Contains(d.Of, NotOnSpot)
}

// divider makes a division.
type divider struct {
	pods         []Pod
	most, onPool int
	division     Division
	// load is how many pods each part has, those included that are on its pools and belong to no part; partOf are the pools in use.
	load   []int
	partOf map[Pool]int
	placed []int
}

// New divides the pods of a workload, which are in the order in which they may be on spot where their places do not decide, and the pools.
func New(limits spotlimits.Limits, pods []Pod, sales []Sale) Division {
	d := &divider{pods: pods, most: limits.MostOnSpot(len(pods)), onPool: limits.MostOnPool(len(pods)), partOf: map[Pool]int{}}
	d.division = Division{Of: make([]int32, len(pods)), Most: d.most, MostOnPool: d.onPool}
	for i := range d.division.Of {
		d.division.Of[i] = NotOnSpot
	}
	d.countUsed()
	d.assignUsers()
	d.assignOthers()
	d.assignPools(limits, sales)
	return d.division
}

// countUsed gives each pool in use to a part, those with most pods first. Pools of one part have no more pods together than may be on one.
func (d *divider) countUsed() {
	count := map[Pool]int{}
	for i := range d.pods {
		if d.pods[i].Place == OnSpot {
			count[d.pods[i].Pool]++
		}
	}
	pools := make([]Pool, 0, len(count))
	for pool := range count {
		pools = append(pools, pool)
	}
	slices.SortFunc(pools, func(a, b Pool) int { return cmp.Or(cmp.Compare(count[b], count[a]), a.Compare(b)) })
	for _, pool := range pools {
		at := slices.IndexFunc(d.load, func(load int) bool { return load+count[pool] <= d.onPool })
		if at < 0 {
			at = d.newPart()
		}
		d.load[at] += count[pool]
		d.partOf[pool] = at
	}
}

func (d *divider) newPart() int {
	d.load, d.placed, d.division.Parts = append(d.load, 0), append(d.placed, 0), append(d.division.Parts, nil)
	return len(d.load) - 1
}

// put makes the pod one of the part.
func (d *divider) put(pod, at int) {
	d.division.Of[pod] = int32(at)
	d.placed[at]++
}

// assignUsers gives pods on spot to the parts of their pools, as many as may be on spot and on the pool. Those that are too many on
// their pool go to other parts: they stay where they are, and may move to other pools.
func (d *divider) assignUsers() {
	left := d.most
	kept := map[Pool]int{}
	var over []int
	for i := range d.pods {
		p := &d.pods[i]
		switch {
		case p.Place != OnSpot || left == 0:
			continue
		case kept[p.Pool] < d.onPool:
			kept[p.Pool]++
			d.put(i, d.partOf[p.Pool])
		default:
			over = append(over, i)
		}
		left--
	}
	for _, i := range over {
		d.join(i)
	}
}

// assignOthers gives pods that wait, then pods on other nodes, to parts, while fewer than may be on spot are.
func (d *divider) assignOthers() {
	left := d.most
	for i := range d.pods {
		if d.pods[i].Place == OnSpot {
			left--
		}
	}
	for _, place := range []Place{Waiting, OffSpot} {
		for i := range d.pods {
			if d.pods[i].Place == place && left > 0 {
				d.join(i)
				left--
			}
		}
	}
}

// join puts the pod into the first part that has room, or into a new one.
func (d *divider) join(pod int) {
	at := slices.IndexFunc(d.load, func(load int) bool { return load < d.onPool })
	if at < 0 {
		at = d.newPart()
	}
	d.load[at]++
	d.put(pod, at)
}

// assignPools gives the parts that have pods the pools that they may use, those in use included.
func (d *divider) assignPools(limits spotlimits.Limits, sales []Sale) {
	var parts []int
	for at, n := range d.placed {
		if n > 0 {
			parts = append(parts, at)
		}
	}
	if len(parts) == 0 {
		return
	}
	if limits.MaxPoolShare == nil && limits.MaxPrice == nil || len(d.load) == 1 && limits.MaxPrice == nil && d.load[0] <= d.onPool {
		return // one part has all of them
	}
	for at := range d.division.Parts {
		d.division.Parts[at] = []Pool{}
	}
	at := 0
	for _, s := range d.inOrder(limits, sales) {
		pools := s.pools
		// Each round begins with another zone, so that each part has pools in each zone.
		for i := range pools {
			pool := pools[(i+at/len(parts))%len(pools)]
			to, used := d.partOf[pool]
			if !used {
				to = parts[(at+i)%len(parts)]
			}
			d.division.Parts[to] = append(d.division.Parts[to], pool)
		}
		at += len(pools)
	}
	for at := range d.division.Parts {
		slices.SortFunc(d.division.Parts[at], Pool.Compare)
	}
}

// typeSale is an instance type with the pools of its zones, in order, and what the pods of a part cost on it in the zone where that is least.
type typeSale struct {
	name        string
	cost, share float64
	pools       []Pool
}

// inOrder are the instance types that the limits allow, the ones first on which the pods of a part cost least if they are alone, then the ones on
// which one pod does.
func (d *divider) inOrder(limits spotlimits.Limits, sales []Sale) []*typeSale {
	byName := map[string]*typeSale{}
	var out []*typeSale
	pods := float64(max(min(d.onPool, d.most), 1))
	for i := range sales {
		s := &sales[i]
		if limits.MaxPrice != nil && (s.PriceShare == 0 || s.PriceShare > *limits.MaxPrice*(1+1e-9)) {
			continue
		}
		t := byName[s.InstanceType]
		if t == nil {
			t = &typeSale{name: s.InstanceType, cost: math.Inf(1), share: math.Inf(1)}
			byName[s.InstanceType] = t
			out = append(out, t)
		}
		if !slices.Contains(t.pools, s.Pool) {
			t.pools = append(t.pools, s.Pool)
		}
		t.cost, t.share = min(t.cost, math.Ceil(pods/s.Holds)*s.Price), min(t.share, s.Price/s.Holds)
	}
	for _, t := range out {
		slices.SortFunc(t.pools, Pool.Compare)
	}
	slices.SortFunc(out, func(a, b *typeSale) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.share, b.share), cmp.Compare(a.name, b.name))
	})
	return out
}
