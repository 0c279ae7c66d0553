package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Worth says what pods of the snapshot's nodes are worth: dual prices as Values gives them for pods that wait, of all pods
// that would need another place if every node went. No node that a pool could launch holds pods worth more than it
// costs. It is read-only.
type Worth struct {
	w *valuing.Worth
	// from is what they came from; nil where they were found without.
	from *KnownWorth
}

// inner is what the worth holds; nil for none.
func (w *Worth) inner() *valuing.Worth {
	if w == nil {
		return nil
	}
	return w.w
}

// Worth prices the pods of the nodes. A cancelled context gives ctx.Err().
func (m *Model) Worth(ctx context.Context, q Query) (*Worth, error) {
	w, err := valuing.FindWorth(ctx, m.c, q)
	if w == nil {
		return nil, err
	}
	return &Worth{w: w}, err
}

// Total is a lower bound on what new nodes for all those pods would cost, USD per hour.
func (w *Worth) Total() float64 {
	return w.w.Total()
}

// Node is what the pods of a node that could move are worth together, USD per hour; 0 for a name the snapshot lacks.
func (w *Worth) Node(name string) float64 {
	return w.w.Node(name)
}

// Waiting is what the pods that wait in a trial of the model are worth together, USD per hour: new nodes for them cost at
// least that.
func (w *Worth) Waiting(t *Trial) float64 {
	return w.w.Waiting(t.t)
}

// Loads are what the trial has put on nodes of the snapshot, by name, and on new ones, by number.
func (w *Worth) Loads(t *Trial) (received map[string]Load, planned []Load) {
	return w.w.Loads(t.t)
}

// KnownWorth is what pods were worth at one time, by what decides it: what they ask for, and which new nodes they may go on. It is
// plain data that nobody changes, and no larger than the kinds of pods that there were. A nil one knows nothing.
type KnownWorth struct{ w *valuing.KnownWorth }

// inner is what is known; nil for nothing.
func (k *KnownWorth) inner() *valuing.KnownWorth {
	if k == nil {
		return nil
	}
	return k.w
}

// Known is what the prices are, for another time; of prices that came from there, what was known then, so that prices get no
// worse each time.
func (w *Worth) Known() *KnownWorth {
	switch {
	case w == nil:
		return nil
	case w.from != nil:
		return w.from
	}
	return &KnownWorth{w.w.Known()}
}

// WorthFrom is Worth with what is known from another time, which saves most of the work where few pods have changed: prices that
// pods had are proven again, and those of new kinds of pods found to go with them. Where that proves less than all by leastProven of
// what the prices came to, or many kinds are new, all are found as by Worth. The prices are as sound as those of Worth, though not the same.
func (m *Model) WorthFrom(ctx context.Context, q Query, known *KnownWorth) (*Worth, error) {
	w, err := valuing.WorthFrom(ctx, m.c, q, known.inner())
	if w == nil {
		return nil, err
	}
	out := &Worth{w: w}
	if known != nil && w.From() == known.w {
		out.from = known
	}
	return out, err
}

// Values say what places are worth: for each waiting pod of a trial the share it has in the least that new nodes for
// all of them could cost. They are dual prices: no node that a pool could launch holds pods of more value than it
// costs, so that whoever finds room for a pod elsewhere saves about its value.
type Values struct{ v *valuing.Values }

// Of is the value of a pod, USD per hour; 0 for pods that did not wait, and for those no new node could take.
func (v *Values) Of(pod PodKey) float64 {
	return v.v.Of(pod)
}

// Total is a lower bound on what new nodes for all waiting pods would cost, USD per hour: the sum of their values, less
// what nodes from reservations, or covered by commitments, could save at most.
func (v *Values) Total() float64 {
	return v.v.Total()
}

// Values prices the pods that wait now, after Hide and before Place. A cancelled context gives ctx.Err().
func (t *Trial) Values(ctx context.Context) (*Values, error) {
	v, err := valuing.Of(t.t).Values(ctx)
	if v == nil {
		return nil, err
	}
	return &Values{v}, err
}
