package valuing

import (
	"cmp"
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Launchables contains the kinds of new nodes that can hold pods of the snapshot's nodes, considering each pod alone. A kind of node is
// included if its pool can launch it now, if it meets the requirements of its pool and of the pod, and if the pod tolerates the pool's
// taints. Preferences of pods, rules between pods, limits and minValues can only exclude further kinds. Therefore each new node of any plan
// is of one of these kinds. Launchables caches results, so several goroutines must not use it at the same time.
type Launchables struct {
	m *model.Model
	// byClass caches results by the number of the class. groups are the distinct lists of uses. groupOf maps the text of a list (see
	// number) to its index in groups.
	byClass map[int32]reach
	groups  [][]podclass.Use
	groupOf map[string]int
}

// reach describes the kinds of new nodes on which the pods of a class can be.
type reach struct {
	group    int
	cheapest int64 // market.NoPrice if no node has room for a pod
}

// FindLaunchables returns a Launchables for the model, with an empty cache.
func FindLaunchables(m *model.Model) *Launchables {
	return &Launchables{m: m, byClass: map[int32]reach{}, groupOf: map[string]int{}}
}

// Of returns the group of kinds of new nodes on which the pod could be. The group is a number that Kinds accepts. It also returns the
// price, in USD per hour, of the cheapest node that has room for the pod in addition to its DaemonSet pods. Some nodes of the group may be
// too small for the pod. The group does not include pools without any node that has room for the pod. It returns false if the node has no
// such pod, if the pod can't move, or if no node of any pool could hold the pod.
func (l *Launchables) Of(node string, pod planning.PodKey) (group int, cheapest float64, ok bool) {
	i, known := l.m.NodeIndex[node]
	if !known {
		return 0, 0, false
	}
	list := l.m.Nodes[i].Movable
	at := slices.IndexFunc(list, func(p existing.Pod) bool { return p.Pod.Name == pod.Name && p.Pod.Namespace == pod.Namespace })
	if at < 0 {
		return 0, 0, false
	}
	r := l.reachOf(list[at].Class)
	return r.group, float64(r.cheapest) / market.NanoPerUSD, r.cheapest != market.NoPrice
}

func (l *Launchables) reachOf(class int32) reach {
	if r, known := l.byClass[class]; known {
		return r
	}
	m, c := l.m, l.m.Classes[class]
	var uses []podclass.Use
	r := reach{cheapest: market.NoPrice}
	if c.Invalid == nil {
		for _, st := range c.Stages {
			uses = append(uses, m.Stages[st].Uses...)
		}
	}
	slices.SortFunc(uses, func(a, b podclass.Use) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Profile, b.Profile))
	})
	uses = slices.Compact(uses)
	r.group = l.number(uses)
	need, dims := c.Unshared(), m.Resources.Len()
	for _, u := range uses {
		t := m.Pools[u.Pool].Table
		for row, price := range m.Pools[u.Pool].RowPrices(int(u.Profile)) {
			if price < r.cheapest && resources.Fits(need, t.AllocOf(row, dims)) {
				r.cheapest = price
			}
		}
	}
	l.byClass[class] = r
	return r
}

func (l *Launchables) number(uses []podclass.Use) int {
	text := make([]byte, 0, 8*len(uses))
	for _, u := range uses {
		text = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(text, uint32(u.Pool)), uint32(u.Profile))
	}
	n, known := l.groupOf[string(text)]
	if !known {
		n = len(l.groups)
		l.groups, l.groupOf[string(text)] = append(l.groups, uses), n
	}
	return n
}

// Launchable is a kind of node that a new node may be.
type Launchable struct {
	// Pool is the pool that launches the node.
	Pool         v1.PoolKey
	InstanceType string
	// Room is the capacity that the node has for pods: its allocatable minus the requests of DaemonSet pods. Resources with the amount 0
	// are left out.
	Room corev1.ResourceList
	// Price is the lowest price at which the pool may launch the node, in USD per hour. Unavailable offerings and offerings of used-up
	// reservations do not count. With a CostModel, it is the price of a node that no commitment covers.
	Price float64
}

// Kinds returns the kinds of nodes of the groups, each kind once. They are sorted by the order in which plans prefer their pools, and then
// by instance type. Every new node that has a pod of these groups is of one of these kinds, regardless of the node's other pods. Numbers
// that Of never returned are ignored.
func (l *Launchables) Kinds(groups ...int) []Launchable {
	type kind struct {
		pool int32
		row  int
	}
	m := l.m
	prices := map[kind]int64{}
	for _, g := range groups {
		if g < 0 || g >= len(l.groups) {
			continue
		}
		for _, u := range l.groups[g] {
			for row, price := range m.Pools[u.Pool].RowPrices(int(u.Profile)) {
				k := kind{u.Pool, row}
				if have, known := prices[k]; !known || price < have {
					prices[k] = price
				}
			}
		}
	}
	kinds := make([]kind, 0, len(prices))
	for k := range prices {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Or(cmp.Compare(a.pool, b.pool), cmp.Compare(a.row, b.row)) })
	out := make([]Launchable, len(kinds))
	for i, k := range kinds {
		p := m.Pools[k.pool]
		c := p.Table.Catalog
		out[i] = Launchable{
			Pool: p.Key, InstanceType: c.Types[c.Variants[p.Table.Rows[k.row].Variant].Type].Name,
			Room: m.Resources.List(p.Table.AllocOf(k.row, m.Resources.Len())), Price: float64(prices[k]) / market.NanoPerUSD,
		}
	}
	return out
}
