package nodepool

import (
	"math"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Profile is a demand on a pool. It says which of the pool's nodes can meet the demand, and which open labels the demand restricts.
type Profile struct {
	Rows, Slots bitset.Set
	// Demand is the demand for which the profile was made.
	Demand match.Needs
	// Open contains requirements on keys for which the pool or a type allows several values. The requirements of a node are the
	// intersection of those of its pods. Sorted by key.
	Open []requirements.Requirement
	// Robust contains the rows that meet the pool's minValues even for full nodes: see FindRobust. It is set while the model is compiled.
	Robust bitset.Set
}

// ProfileOf returns the number of the profile for a demand on the pool, or -1 if no node of the pool can meet it.
func (p *Pool) ProfileOf(demand match.Needs) int {
	rows, slots := p.Rows.Clone(), p.Slots.Clone()
	var open []requirements.Requirement
	for _, r := range demand {
		key := r.Key()
		if !p.Admits(r) {
			return -1
		}
		p.Narrow(p.Template.Get(key).Intersect(r), rows, slots)
		if p.LeftOpen(key) {
			open = append(open, r)
		}
	}
	for i := range rows.Members {
		if !p.Table.sellable(i, slots) {
			rows.Remove(i)
		}
	}
	if rows.Empty() {
		return -1
	}
	return p.number(Profile{Rows: rows, Slots: slots, Demand: demand, Open: open})
}

// number returns the number of the pool's profile that equals f. If the pool has no such profile, number adds f to the pool.
func (p *Pool) number(f Profile) int {
	text := profileText(f.Rows, f.Slots, f.Open)
	if n, ok := p.byText[text]; ok {
		return n
	}
	n := len(p.Profiles)
	p.Profiles = append(p.Profiles, f)
	if p.byText == nil {
		p.byText = map[string]int{}
	}
	p.byText[text] = n
	return n
}

// Adopt returns the number of a profile that was made for another, equal pool. If this pool has no equal profile, Adopt adds it, with the
// given demand.
func (p *Pool) Adopt(f Profile, demand match.Needs) int {
	f.Demand = demand
	return p.number(f)
}

// WithoutProfiles returns a copy of the pool that has no profiles.
func (p *Pool) WithoutProfiles() *Pool {
	own := *p
	own.Profiles, own.byText = nil, nil
	return &own
}

// Admits reports whether one requirement of a pod agrees with the pool's own requirements. It ignores instance types and offerings.
func (p *Pool) Admits(r requirements.Requirement) bool {
	key := r.Key()
	if p.Template.Has(key) {
		return match.Meets(requirements.NewSet(p.Template.Get(key)), r)
	}
	c := p.Table.Catalog
	_, stated := c.TypeKeys[key]
	return stated || c.OfferingKeys[key] || match.AbsentMeets(r)
}

func profileText(rows, slots bitset.Set, open []requirements.Requirement) string {
	text := make([]byte, 0, 8*(len(rows)+len(slots)))
	for _, set := range []bitset.Set{rows, slots} {
		for _, w := range set {
			for i := range 8 {
				text = append(text, byte(w>>(8*i)))
			}
		}
	}
	for _, r := range open {
		text = append(append(text, r.String()...), 0)
	}
	return string(text)
}

// Holds reports whether one pod with these requests fits on some node of the profile.
func (p *Pool) Holds(profile int, requests []int64) bool {
	for r := range p.Profiles[profile].Rows.Members {
		if resources.Fits(requests, p.Table.AllocOf(r, len(requests))) {
			return true
		}
	}
	return false
}

// Mask selects rows and slots of a table.
type Mask struct{ Rows, Slots bitset.Set }

// MaskOf returns the rows and slots of the pool's table that meet a requirement.
func (p *Pool) MaskOf(r requirements.Requirement) Mask {
	out := Mask{bitset.Full(len(p.Table.Rows)), p.Table.Catalog.AllSlots.Clone()}
	p.Narrow(r, out.Rows, out.Slots)
	return out
}

// RowPrices yields the rows of a profile that can be bought, each with its lowest price.
func (p *Pool) RowPrices(n int) func(yield func(row int, price int64) bool) {
	f, c := &p.Profiles[n], p.Table.Catalog
	return func(yield func(row int, price int64) bool) {
		for row := range f.Rows.Members {
			r := &p.Table.Rows[row]
			prices, price := c.PricesOf(r.Variant), int64(math.MaxInt64)
			for s := range r.Slots.Members {
				if id := c.Slots[s].Reservation; f.Slots.Has(s) && (id == "" || c.Reservations[id] > 0) {
					price = min(price, prices[s])
				}
			}
			if price != market.NoPrice && !yield(row, price) {
				return
			}
		}
	}
}
