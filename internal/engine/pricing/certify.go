package pricing

import (
	"cmp"
	"math"
	"slices"
)

// Certified proves a lower bound. It has a value for each item, and a price for each unit of a limited thing: a reservation or a
// commitment. No node holds items of more value than the node's price plus the price of the limited units that it uses. Therefore any nodes
// that hold all pods cost at least the value of the pods minus the price of all limited units.
type Certified struct {
	// Item is indexed like Problem.Items and has the certificate's value of one pod of each item, in nano-USD per hour. Scale is a factor
	// from 0 to 1 for the options' resource prices.
	Item   []int64
	Scale  float64
	Limits []LimitedUse
}

// LimitedUse is a reservation or a commitment in a proof, with the options that use it.
type LimitedUse struct {
	Reservation string
	Commitment  int32 // numbered from 1; 0 for a reservation
	// Left is the unused amount, in instances or in billionths of the commitment's unit. Value is the price of one of these units in
	// nano-USD per hour.
	Left  int64
	Value float64
	Draws []draw
}

// draw is an option that uses a reservation or a commitment.
type draw struct {
	Option *Option
	Used   float64
	Lambda []float64
}

// certify computes the proof of the lower bound that follows from the values. The price of a reservation or commitment is the highest
// amount, per unit used, by which the value on a node that uses it exceeds the node's price. All values are first multiplied by the factor
// with which the bound is highest: see bestScale. If the bound is not positive, all values of the proof are 0.
func (v *Values) certify(p *Problem) {
	v.Certified = Certified{Item: v.Item, Scale: 1, Limits: v.limits(p)}
	v.Bound = v.sum(p)
	if len(v.Certified.Limits) == 0 {
		return
	}
	w := NewWorths(p)
	scale := v.bestScale(w)
	item := make([]int64, len(v.Item))
	for i := range item {
		item[i] = int64(math.Floor(float64(v.Item[i]) * scale))
	}
	v.Certified.Item, v.Certified.Scale = item, scale
	v.Bound = v.sum(p)
	for i := range v.Certified.Limits {
		l := &v.Certified.Limits[i]
		for _, d := range l.Draws {
			beyond := w.Of(d.Option, item, d.Lambda, scale) - float64(d.Option.Price)
			l.Value = max(l.Value, beyond/d.Used*(1+1e-9))
		}
		v.Bound -= l.Value * float64(l.Left)
	}
	if v.Bound <= 0 {
		v.Bound = 0
		v.Certified.Item, v.Certified.Scale = make([]int64, len(v.Item)), 0
		for i := range v.Certified.Limits {
			v.Certified.Limits[i].Value = 0
		}
	}
}

// sum returns the total value of all pods.
func (v *Values) sum(p *Problem) float64 {
	sum := 0.0
	for i := range p.Items {
		sum += float64(v.Certified.Item[i]) * float64(p.Items[i].Count)
	}
	return sum
}

// limits returns the reservations and commitments that options of the problem use: first the reservations, by name.
func (v *Values) limits(p *Problem) []LimitedUse {
	var out []LimitedUse
	of := func(reservation string, commitment int32, left int64) *LimitedUse {
		at := slices.IndexFunc(out, func(l LimitedUse) bool { return l.Reservation == reservation && l.Commitment == commitment })
		if at < 0 {
			at = len(out)
			out = append(out, LimitedUse{Reservation: reservation, Commitment: commitment, Left: left})
		}
		return &out[at]
	}
	for o := range p.Options {
		if opt := &p.Options[o]; opt.Limited {
			id := p.reservation(o)
			l := of(id, 0, int64(p.Left[id]))
			l.Draws = append(l.Draws, draw{opt, 1, v.Lambda[o*p.Dims : (o+1)*p.Dims]})
		}
	}
	if v.Committed != nil {
		for o := range p.Committed {
			opt := &p.Committed[o]
			l := of("", opt.Commitment, p.CommitmentLeft[opt.Commitment-1])
			l.Draws = append(l.Draws, draw{opt, float64(opt.Used), v.Committed.Lambda[o*p.Dims : (o+1)*p.Dims]})
		}
	}
	slices.SortStableFunc(out, func(a, b LimitedUse) int {
		return cmp.Or(cmp.Compare(a.Commitment, b.Commitment), cmp.Compare(a.Reservation, b.Reservation))
	})
	return out
}

// bestScale returns the factor for all values with which the lower bound is highest. The bound is a concave function of this factor,
// because the value on each node grows with the factor and the node's price does not change.
func (v *Values) bestScale(w *Worths) float64 {
	total := v.sum(w.p)
	worth := make([][]float64, len(v.Certified.Limits))
	for i, l := range v.Certified.Limits {
		for _, d := range l.Draws {
			worth[i] = append(worth[i], w.Of(d.Option, v.Item, d.Lambda, 1))
		}
	}
	at := func(scale float64) float64 {
		bound := scale * total
		for i, l := range v.Certified.Limits {
			dual := 0.0
			for j, d := range l.Draws {
				dual = max(dual, (scale*worth[i][j]-float64(d.Option.Price))/d.Used)
			}
			bound -= dual * float64(l.Left)
		}
		return bound
	}
	const rounds = 64
	lo, hi := 0.0, 1.0
	for range rounds {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if at(a) < at(b) {
			lo = a
		} else {
			hi = b
		}
	}
	if at(1) >= at(hi) {
		return 1
	}
	return hi
}
