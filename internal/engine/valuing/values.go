package valuing

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Values are, of waiting pods, dual prices in USD per hour, and their sum.
type Values struct {
	pods  map[planning.PodKey]float64
	total float64
}

// Of is the value of a pod, USD per hour; 0 for pods that did not wait, and for those no new node could take.
func (v *Values) Of(pod planning.PodKey) float64 { return v.pods[pod] }

// Total is a lower bound on what new nodes for all waiting pods would cost, USD per hour: the sum of their values, less
// what nodes from reservations, or covered by commitments, could save at most.
func (v *Values) Total() float64 { return v.total }

// Values prices the pods that wait now, after Hide and before Place. A cancelled context gives ctx.Err().
func (t Valuing) Values(ctx context.Context) (*Values, error) {
	m := t.M
	out := &Values{pods: map[planning.PodKey]float64{}}
	var items []pricing.Item
	for i, c := range m.Classes {
		if stages := t.StagesFor(c); t.S.Waiting[i] > 0 && len(stages) > 0 {
			items = append(items, Provable(m, int32(i), stages[0], int(t.S.Waiting[i])))
		}
	}
	if len(items) == 0 {
		return out, ctx.Err()
	}
	v := pricing.Find(ctx, &t.NewProblem(items, nil).Problem).Best()
	out.total = v.Bound / market.NanoPerUSD
	q := trial.NewPodQueues(t.Trial)
	for _, b := range t.S.Placed.All {
		q.Next[b.Class] += int(b.Count)
	}
	for i, it := range items {
		value := float64(v.Item[i]) / market.NanoPerUSD
		for _, pod := range q.Take(nil, it.Class, it.Count) {
			out.pods[pod] = value
		}
	}
	return out, ctx.Err()
}
