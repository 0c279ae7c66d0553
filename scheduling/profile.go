package scheduling

import (
	"math"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// profile is a demand on a pool: which of its machines can meet it, and the labels left open that it narrows.
type profile struct {
	rows, slots bitset.Set
	// demand it was made for.
	demand match.Needs
	// open are requirements on keys for which the pool or a type leaves several values: machines carry the
	// intersection of all their pods'. Sorted by key.
	open []requirements.Requirement
	// robust are the rows that meet the pool's minValues: see findRobust. Filled while the model is compiled.
	robust bitset.Set
}

// profileOf is the number of the profile for a demand on the pool, or -1 if no node of the pool can meet it.
func (p *pool) profileOf(demand match.Needs) int {
	rows, slots := p.rows.Clone(), p.slots.Clone()
	var open []requirements.Requirement
	for _, r := range demand {
		key := r.Key()
		if !p.admits(r) {
			return -1
		}
		p.narrow(p.template.Get(key).Intersect(r), rows, slots)
		if p.leftOpen(key) {
			open = append(open, r)
		}
	}
	for i := range rows.Members {
		if !p.table.sellable(i, slots) {
			rows.Remove(i)
		}
	}
	if rows.Empty() {
		return -1
	}
	text := profileText(rows, slots, open)
	if n, ok := p.byText[text]; ok {
		return n
	}
	n := len(p.profiles)
	p.profiles = append(p.profiles, profile{rows: rows, slots: slots, demand: demand, open: open})
	p.byText[text] = n
	return n
}

// admits checks one requirement of a pod against what the pool says of the key, instance types and offerings aside.
func (p *pool) admits(r requirements.Requirement) bool {
	key := r.Key()
	if p.template.Has(key) {
		return match.Meets(requirements.NewSet(p.template.Get(key)), r)
	}
	c := p.table.catalog
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

// holds reports whether some machine of the profile holds one pod.
func (p *pool) holds(profile int, requests []int64) bool {
	for r := range p.profiles[profile].rows.Members {
		if resources.Fits(requests, p.table.allocOf(r, len(requests))) {
			return true
		}
	}
	return false
}

type mask struct{ rows, slots bitset.Set }

// maskOf are the rows and slots of the pool's table that meet a requirement.
func (p *pool) maskOf(r requirements.Requirement) mask {
	out := mask{bitset.Full(len(p.table.rows)), p.table.catalog.AllSlots.Clone()}
	p.narrow(r, out.rows, out.slots)
	return out
}

// rowPrices yields the rows of a profile that can be bought, each with its lowest price.
func (p *pool) rowPrices(n int) func(yield func(row int, price int64) bool) {
	f, c := &p.profiles[n], p.table.catalog
	return func(yield func(row int, price int64) bool) {
		for row := range f.rows.Members {
			r := &p.table.rows[row]
			prices, price := c.PricesOf(r.variant), int64(math.MaxInt64)
			for s := range r.slots.Members {
				if id := c.Slots[s].Reservation; f.slots.Has(s) && (id == "" || c.Reservations[id] > 0) {
					price = min(price, prices[s])
				}
			}
			if price != market.NoPrice && !yield(row, price) {
				return
			}
		}
	}
}
