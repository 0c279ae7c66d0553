package pricing

import "slices"

// Worths computes upper bounds on the value of the pods that nodes can hold. It uses the same arithmetic with which certificates are
// checked.
type Worths struct {
	p  *Problem
	at []int // the index of each item's place
}

// NewWorths returns a Worths for the problem's items.
func NewWorths(p *Problem) *Worths {
	w := &Worths{p: p, at: make([]int, len(p.Items))}
	places := PlacesInUse(p.Items)
	for i := range p.Items {
		w.at[i] = slices.Index(places, p.Items[i].Place)
	}
	return w
}

// Of returns an upper bound on the value that one node of the option holds, by weak duality. The bound is the price of the node's resources
// plus, for each pod whose value exceeds the price of its resources, the difference. The resource prices are l multiplied by scale; the
// items' values are not multiplied.
func (w *Worths) Of(o *Option, item []int64, l []float64, scale float64) float64 {
	total := 0.0
	for d, amount := range o.Alloc {
		total += scale * l[d] * float64(max(amount, 0))
	}
	for i := range w.p.Items {
		it := &w.p.Items[i]
		excess := float64(item[i])
		for d, need := range it.Need {
			excess -= scale * l[d] * float64(need)
		}
		if excess > 0 {
			total += excess * float64(w.p.PerOption(it, w.at[i], o))
		}
	}
	return total
}
