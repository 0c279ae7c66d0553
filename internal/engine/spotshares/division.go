package spotshares

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// Place says where a pod is.
type Place uint8

const (
	// Waiting means that the pod is on no node.
	Waiting Place = iota
	// OffSpot means that the pod is on a node that is not a spot node.
	OffSpot
	// OnSpot means that the pod is on a spot node.
	OnSpot
)

// Pool is a spot pool: an instance type in a zone.
type Pool struct{ InstanceType, Zone string }

// Compare compares pools by instance type, then by zone.
func (p Pool) Compare(o Pool) int {
	return cmp.Or(cmp.Compare(p.InstanceType, o.InstanceType), cmp.Compare(p.Zone, o.Zone))
}

// Pod is a pod of a workload.
type Pod struct {
	Place Place
	// Pool is the spot pool of the pod. It is set if the pod is on a spot node.
	Pool Pool
}

// Sale is a spot pool from which nodes can be bought. Holds is the number of pods of the workload that an empty node can hold, at least 1.
// PriceShare is the price as a share of the on-demand price, or 0 if there is no on-demand price.
type Sale struct {
	Pool
	Price, Holds, PriceShare float64
}

// NotOnSpot is the part number of pods that must not be on spot nodes.
const NotOnSpot = -1

// Division says which pods of a workload may be on which spot pools.
type Division struct {
	// Parts has, for each part, the sorted list of spot pools that its pods may use. A nil list means all spot pools.
	Parts [][]Pool
	// Of has the part number of each pod, or NotOnSpot. It is indexed like the list of pods given to New.
	Of []int32
	// Most is the number of pods that may be on spot nodes. MostOnPool is the number of pods that may be on one spot pool.
	Most, MostOnPool int
}

// Free reports whether the limits do not restrict any pod.
func (d *Division) Free() bool {
	return len(d.Parts) == 1 && d.Parts[0] == nil && !slices.Contains(d.Of, NotOnSpot)
}

// divider has the state while a division is computed.
type divider struct {
	pods         []Pod
	most, onPool int
	division     Division
	// load has the number of pods in each part, including pods that are on the part's pools and belong to no part. partOf has the part of
	// each spot pool on which the workload has pods.
	load   []int
	partOf map[Pool]int
	placed []int
}

// New divides the pods of a workload and the spot pools into parts. If the current places of the pods don't decide which pods may be on
// spot nodes, pods that are earlier in the list come first.
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

// countUsed assigns each spot pool on which the workload has pods to a part, the pools with the most pods first. The pools of one part
// together have at most the number of pods that is allowed on one pool. The only exception is a part with a single pool that already has
// more pods.
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

// put adds the pod to the part with the index at.
func (d *divider) put(pod, at int) {
	d.division.Of[pod] = int32(at)
	d.placed[at]++
}

// assignUsers assigns pods on spot nodes to the parts of their pools. It respects the allowed numbers of pods on spot nodes and on one
// pool. If a pool has too many pods, the excess pods are assigned to other parts. The excess pods stay on their nodes, but may move to
// nodes of other pools.
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

// assignOthers assigns pending pods to parts, and then pods on nodes that are not spot nodes. It stops when the allowed number of pods may
// be on spot nodes.
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

// join adds the pod to the first part that has room, or to a new part.
func (d *divider) join(pod int) {
	at := slices.IndexFunc(d.load, func(load int) bool { return load < d.onPool })
	if at < 0 {
		at = d.newPart()
	}
	d.load[at]++
	d.put(pod, at)
}

// assignPools assigns spot pools to the parts that have pods, including the pools on which the workload already has pods.
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
		return // no pool is excluded: all parts get all pools
	}
	for at := range d.division.Parts {
		d.division.Parts[at] = []Pool{}
	}
	at := 0
	for _, s := range d.inOrder(limits, sales) {
		pools := s.pools
		// Each round begins with a different zone, so that each part gets pools in each zone.
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

// typeSale is an instance type with its sorted spot pools, and with the cost of a part's pods on this type in the cheapest zone.
type typeSale struct {
	name        string
	cost, share float64
	pools       []Pool
}

// inOrder returns the instance types that the limits allow. The types are sorted by the cost of all pods of a part, on nodes without other
// pods. Types of equal cost are sorted by the cost of a single pod.
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
