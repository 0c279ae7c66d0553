package valuing

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Values are the dual prices of pending pods in USD per hour, and a lower bound on the cost of new nodes for these pods.
type Values struct {
	pods  map[planning.PodKey]float64
	total float64
}

// Of returns the value of a pod in USD per hour. It is 0 for pods that were not pending, and for pods that no new node could hold.
func (v *Values) Of(pod planning.PodKey) float64 { return v.pods[pod] }

// Total returns a lower bound on the cost of new nodes for all pending pods, in USD per hour: the sum of the pods' values, minus the
// maximum amount that reservations and commitments could save.
func (v *Values) Total() float64 { return v.total }

// Values computes the values of the pods that are pending in the trial: call it after Hide and before Place. If the context is cancelled,
// it returns ctx.Err().
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
