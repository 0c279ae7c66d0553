package packing

import (
	"slices"
)

// best returns the item of the next pod to move, and its taker. It chooses the pod and taker with the highest ratio of relief for the giver
// to burden on the taker. item is -1 if no pod can move.
func (h *handover) best() (item int32, taker int) {
	item, taker = -1, -1
	most := 0.0
	for i, n := range h.count[h.giver] {
		if n == 0 {
			continue
		}
		relief := h.relief(int32(i))
		if relief == 0 {
			continue
		}
		for to := range h.option {
			if h.s.f.steps--; to == h.giver || !h.holds(to, h.option[to], int32(i)) {
				continue
			}
			if score := relief / h.burden(int32(i), to); score > most {
				item, taker, most = int32(i), to, score
			}
		}
	}
	return item, taker
}

// relief returns which share of the giver's excess load is removed if one pod of the item moves. The excess load is the load for which the
// giver's new option has no room.
func (h *handover) relief(item int32) float64 {
	p := h.s.p
	need, has := p.Items[item].Need, h.used[h.giver]
	if h.option[h.giver] < 0 {
		return 1 + h.burdenOf(need, has)
	}
	opt, sum := &p.Options[h.option[h.giver]], 0.0
	if !opt.open(p.Items[item].Place) {
		return 1
	}
	for d, used := range has {
		if over := used - opt.Alloc[d]; over > 0 {
			sum += float64(min(need[d], over)) / float64(over)
		}
	}
	return sum
}

// burden returns the share of the taker's free room that a pod takes.
func (h *handover) burden(item int32, taker int) float64 {
	p := h.s.p
	opt, sum := &p.Options[h.option[taker]], 1e-6
	for _, d := range p.Scarce {
		if need := p.Items[item].Need[d]; need > 0 {
			sum += float64(need) / float64(opt.Alloc[d]-h.used[taker][d])
		}
	}
	return sum
}

// burdenOf returns the share of the given amounts that a pod with the need takes.
func (h *handover) burdenOf(need, of []int64) float64 {
	sum := 0.0
	for _, d := range h.s.p.Scarce {
		if need[d] > 0 {
			sum += float64(need[d]) / float64(of[d])
		}
	}
	return sum
}

// holds reports whether a node of the option could hold the node's pods and one more pod of the item. If item is -1, there is no additional
// pod.
func (h *handover) holds(node int, option, item int32) bool {
	p := h.s.p
	if option < 0 {
		return !slices.ContainsFunc(h.count[node], func(n int32) bool { return n > 0 })
	}
	opt := &p.Options[option]
	for d, used := range h.used[node] {
		if item >= 0 {
			used += p.Items[item].Need[d]
		}
		if used > opt.Alloc[d] {
			return false
		}
	}
	if item >= 0 && (!opt.open(p.Items[item].Place) || int(h.count[node][item]) >= p.Items[item].PerNode) {
		return false
	}
	if option == h.option[node] && (item < 0 || !p.Items[item].Ruled) && node != h.giver {
		return true // the node is valid without the additional pod, and no rule concerns this pod
	}
	for i, n := range h.count[node] {
		if n > 0 && !opt.open(p.Items[i].Place) {
			return false
		}
	}
	return p.Fits == nil || p.Fits(option, h.load(node, item))
}

// load returns the node's pods plus one pod of the item. If item is -1, it returns only the node's pods.
func (h *handover) load(node int, item int32) []Load {
	var out []Load
	for i, n := range h.count[node] {
		if int32(i) == item {
			n++
		}
		if n > 0 {
			out = append(out, Load{int32(i), n})
		}
	}
	return out
}
