package scheduling

import (
	"cmp"
	"math"
	"slices"
)

// certified is what proves a bound: values of the items, and a price for each unit of what is limited, such that no
// node holds more value than its price and what it uses of the limited thing. Any machines that hold all pods then cost
// at least the pods' values less the whole of what is limited at its price.
type certified struct {
	// item is what the certificate gives one pod of each item, nano-USD per hour; scale is what it multiplies the
	// options' resource prices with, 0 to 1.
	item   []int64
	scale  float64
	limits []limitedUse
}

// limitedUse is a reservation or commitment in a proof, with the options that draw on it.
type limitedUse struct {
	reservation string
	commitment  int32 // from 1 on; 0 for a reservation
	// left of it, in instances or in thousand-millionths of the commitment's unit; value of each, nano-USD per hour.
	left  int64
	value float64
	draws []draw
}

// draw is an option that draws on something limited.
type draw struct {
	option *option
	used   float64
	lambda []float64
}

// certify finds the proof of the bound that the values give. What is limited has to be paid for at what the best node of
// it is worth beyond its price; where that takes more off the bound than the pods on it add, all values are scaled down.
func (v *values) certify(p *problem) {
	v.certified = certified{item: v.item, scale: 1, limits: v.limits(p)}
	v.bound = v.sum(p)
	if len(v.certified.limits) == 0 {
		return
	}
	w := newWorths(p)
	scale := v.bestScale(w)
	item := make([]int64, len(v.item))
	for i := range item {
		item[i] = int64(math.Floor(float64(v.item[i]) * scale))
	}
	v.certified.item, v.certified.scale = item, scale
	v.bound = v.sum(p)
	for i := range v.certified.limits {
		l := &v.certified.limits[i]
		for _, d := range l.draws {
			beyond := w.of(d.option, item, d.lambda, scale) - float64(d.option.price)
			l.value = max(l.value, beyond/d.used*(1+1e-9))
		}
		v.bound -= l.value * float64(l.left)
	}
	if v.bound <= 0 {
		v.bound = 0
		v.certified.item, v.certified.scale = make([]int64, len(v.item)), 0
		for i := range v.certified.limits {
			v.certified.limits[i].value = 0
		}
	}
}

// sum is what the pods are worth together.
func (v *values) sum(p *problem) float64 {
	sum := 0.0
	for i := range p.items {
		sum += float64(v.certified.item[i]) * float64(p.items[i].count)
	}
	return sum
}

// limits are the reservations, by name, and then the commitments that options of the problem draw on.
func (v *values) limits(p *problem) []limitedUse {
	var out []limitedUse
	of := func(reservation string, commitment int32, left int64) *limitedUse {
		at := slices.IndexFunc(out, func(l limitedUse) bool { return l.reservation == reservation && l.commitment == commitment })
		if at < 0 {
			at = len(out)
			out = append(out, limitedUse{reservation: reservation, commitment: commitment, left: left})
		}
		return &out[at]
	}
	for o := range p.options {
		if opt := &p.options[o]; opt.limited {
			id := p.reservation(o)
			l := of(id, 0, int64(p.left[id]))
			l.draws = append(l.draws, draw{opt, 1, v.lambda[o*p.dims : (o+1)*p.dims]})
		}
	}
	if v.committed != nil {
		for o := range p.committed {
			opt := &p.committed[o]
			l := of("", opt.commitment, p.commitmentLeft[opt.commitment-1])
			l.draws = append(l.draws, draw{opt, float64(opt.used), v.committed.lambda[o*p.dims : (o+1)*p.dims]})
		}
	}
	slices.SortStableFunc(out, func(a, b limitedUse) int {
		return cmp.Or(cmp.Compare(a.commitment, b.commitment), cmp.Compare(a.reservation, b.reservation))
	})
	return out
}

// bestScale is the scale of all values that gives the highest bound. That is a concave function of the scale: each node's
// worth grows with it, its price does not.
func (v *values) bestScale(w *worths) float64 {
	total := v.sum(w.p)
	worth := make([][]float64, len(v.certified.limits))
	for i, l := range v.certified.limits {
		for _, d := range l.draws {
			worth[i] = append(worth[i], w.of(d.option, v.item, d.lambda, 1))
		}
	}
	at := func(scale float64) float64 {
		bound := scale * total
		for i, l := range v.certified.limits {
			dual := 0.0
			for j, d := range l.draws {
				dual = max(dual, (scale*worth[i][j]-float64(d.option.price))/d.used)
			}
			bound -= dual * float64(l.left)
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
