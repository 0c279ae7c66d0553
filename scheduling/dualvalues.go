package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// Values say what places are worth: for each waiting pod of a trial the share it has in the least that new nodes for
// all of them could cost. They are dual prices: no node that a pool could launch holds pods of more value than it
// costs, so that whoever finds room for a pod elsewhere saves about its value.
type Values struct {
	pods  map[PodKey]float64
	total float64
}

// Of is the value of a pod, USD per hour; 0 for pods that did not wait, and for those no new node could take.
func (v *Values) Of(pod PodKey) float64 { return v.pods[pod] }

// Total is a lower bound on what new nodes for all waiting pods would cost, USD per hour: the sum of their values, less
// what nodes from reservations, or covered by commitments, could save at most.
func (v *Values) Total() float64 { return v.total }

// Values prices the pods that wait now, after Hide and before Place. A cancelled context gives ctx.Err().
func (t *Trial) Values(ctx context.Context) (*Values, error) {
	m := t.m
	out := &Values{pods: map[PodKey]float64{}}
	var items []pricing.Item
	for i, c := range m.c.Classes {
		if stages := t.stagesFor(c); t.s.Waiting[i] > 0 && len(stages) > 0 {
			items = append(items, m.provable(int32(i), stages[0], int(t.s.Waiting[i])))
		}
	}
	if len(items) == 0 {
		return out, ctx.Err()
	}
	v := pricing.Find(ctx, &t.newProblem(items, nil).Problem).Best()
	out.total = v.Bound / market.NanoPerUSD
	q := newPodQueues(t)
	for _, b := range t.s.Placed {
		q.next[b.Class] += int(b.Count)
	}
	for i, it := range items {
		value := float64(v.Item[i]) / market.NanoPerUSD
		for _, pod := range q.take(nil, it.Class, it.Count) {
			out.pods[pod] = value
		}
	}
	return out, ctx.Err()
}
