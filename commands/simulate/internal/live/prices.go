package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/prices"
)

const dollars = "USD"

// quotes are the prices that AWS returned. If a list could not be read, it is nil, and the error says why.
type quotes struct {
	onDemand, spot       *prices.List
	onDemandErr, spotErr error
	// day is the day on which the prices were read.
	day string
}

// on returns a copy of facts with prices. If AWS returned no on-demand price for a type, the built-in price is used, if there is one.
func (q quotes) on(facts, builtIn *catalog.Catalog) (*catalog.Catalog, []Note, error) {
	w := &writer{
		quotes: q, builtIn: builtIn, currency: dollars, static: prices.Static(builtIn, facts.Region), keys: map[string]string{},
		out: catalog.Catalog{Region: facts.Region, Zones: facts.Zones, Types: slices.Clone(facts.Types), Sources: map[string]string{}, PriceFacts: map[string]catalog.PriceFacts{}},
	}
	for key, text := range facts.Sources {
		w.out.Sources[key] = text
	}
	if q.onDemand != nil {
		w.currency = cmp.Or(q.onDemand.Currency, dollars)
	}
	// Spot prices in another currency than on-demand prices can't be compared with them, so they are left out.
	if q.spot != nil && cmp.Or(q.spot.Currency, dollars) != w.currency {
		w.spotErr = fmt.Errorf("spot prices are in %s, but on-demand prices are available only in %s", q.spot.Currency, w.currency)
		w.spot = nil
	}
	for i := range w.out.Types {
		w.price(&w.out.Types[i])
	}
	c, err := catalog.New(w.out)
	return c, w.notes(), err
}

// writer sets the prices of types one after the other.
type writer struct {
	quotes
	builtIn  *catalog.Catalog
	static   *prices.List
	currency string
	out      catalog.Catalog
	keys     map[string]string // keys in catalog.Sources, by text
	// unlisted are the types that got a built-in price, because AWS's price list has no price for them. This is possible only if prices are
	// in dollars.
	unlisted []string
	// unpriced are the types without an on-demand price.
	unpriced []string
}

func (w *writer) price(t *catalog.Type) {
	w.priceOnDemand(t)
	w.priceSpot(t)
}

func (w *writer) priceOnDemand(t *catalog.Type) {
	t.OnDemandUSD, t.OnDemandFrom, t.OnDemandTenancy = 0, "", ""
	if w.onDemand != nil {
		if p, ok := w.onDemand.OnDemand[t.Name]; ok {
			t.OnDemandUSD, t.OnDemandFrom = p.PerHour, w.key(cmp.Or(p.Source, w.onDemand.Source)+", "+w.day, w.current())
			return
		}
	}
	p, ok := w.static.OnDemand[t.Name]
	if !ok || w.currency != dollars {
		w.unpriced = append(w.unpriced, t.Name)
		return
	}
	t.OnDemandUSD, t.OnDemandFrom = p.PerHour, w.key(cmp.Or(p.Source, w.static.Source), staticFacts(p))
	if w.onDemand != nil {
		w.unlisted = append(w.unlisted, t.Name)
	}
}

// priceSpot writes a price for each zone. If EC2's list has no price for a zone, the type is not offered as spot there, and has no spot
// price. If EC2's list is missing, built-in prices of the same region are used. If these are missing as well, the on-demand price is used,
// which is higher than any spot price.
func (w *writer) priceSpot(t *catalog.Type) {
	t.SpotUSD, t.SpotFrom, t.SpotInterruption = nil, "", ""
	amounts := make([]float64, len(t.Zones))
	if w.spot != nil {
		for i, zone := range t.Zones {
			amounts[i] = w.spot.Spot[prices.Pair{InstanceType: t.Name, Zone: w.out.Zones[zone].Name}].PerHour
		}
		w.setSpot(t, amounts, w.spot.Source+", "+w.day, w.current())
		return
	}
	if known := w.knownSpot(t.Name); len(known) > 0 {
		highest := 0.0
		for _, amount := range known {
			highest = max(highest, amount)
		}
		for i, zone := range t.Zones {
			// A zone that the table lacks gets the highest price of the table.
			amounts[i] = cmp.Or(known[w.out.Zones[zone].Name], highest)
		}
		builtIn, _ := w.builtIn.Lookup(t.Name)
		w.setSpot(t, amounts, w.builtIn.SpotSource(builtIn), w.builtIn.SpotFacts(builtIn))
		return
	}
	for i := range amounts {
		amounts[i] = t.OnDemandUSD
	}
	w.setSpot(t, amounts, "on-demand price, because spot prices are missing; "+w.out.Sources[t.OnDemandFrom], catalog.PriceFacts{Kind: catalog.PriceEstimated})
}

// knownSpot returns the built-in spot prices of a type by zone, or none if the region or currency differs from those of the built-in
// catalogue.
func (w *writer) knownSpot(name string) map[string]float64 {
	t, ok := w.builtIn.Lookup(name)
	if !ok || w.out.Region != w.builtIn.Region || w.currency != dollars {
		return nil
	}
	known := map[string]float64{}
	for i, zone := range t.Zones {
		if amount := t.SpotPrice(i); amount > 0 {
			known[w.builtIn.Zones[zone].Name] = amount
		}
	}
	return known
}

// setSpot sets the spot prices of a type if any of them is above 0.
func (w *writer) setSpot(t *catalog.Type, amounts []float64, source string, facts catalog.PriceFacts) {
	if slices.ContainsFunc(amounts, func(amount float64) bool { return amount > 0 }) {
		t.SpotUSD, t.SpotFrom = amounts, w.key(source, facts)
	}
}

// key returns the key of text in w.out.Sources, and adds text with its facts if it is new.
func (w *writer) key(text string, facts catalog.PriceFacts) string {
	key, ok := w.keys[text]
	if !ok {
		key = fmt.Sprintf("price-%d", len(w.keys)+1)
		w.keys[text], w.out.Sources[key], w.out.PriceFacts[key] = key, text, facts
	}
	return key
}

// current returns the facts about the prices that AWS returned.
func (w *writer) current() catalog.PriceFacts {
	return catalog.PriceFacts{Day: w.day, Kind: catalog.PriceCurrent}
}

// staticFacts returns the facts about a built-in price.
func staticFacts(p prices.Price) catalog.PriceFacts {
	facts := catalog.PriceFacts{Kind: cmp.Or(catalog.PriceKind(p.Confidence), catalog.PriceDated)}
	if !p.Since.IsZero() {
		facts.Day = p.Since.Format(time.DateOnly)
	}
	return facts
}

func (w *writer) notes() []Note {
	var notes []Note
	add := func(code, format string, args ...any) {
		notes = append(notes, Note{code, fmt.Sprintf(format, args...)})
	}
	if w.currency != dollars {
		add(NoteCurrency, "prices of %s are in %s: read every amount as %[2]s", w.out.Region, w.currency)
	}
	if w.onDemandErr != nil {
		add(NoteOnDemandPrices, "on-demand prices are those built in, which are older and may be of another region: %s", oneLine(w.onDemandErr))
	}
	if n := len(w.unlisted); n > 0 {
		add(NoteOnDemandPrices, "AWS's price list lacks %s: built-in on-demand prices count, which are older", someOf(w.unlisted))
	}
	if n := len(w.unpriced); n > 0 {
		add(NoteUnpriced, "no on-demand price is known of %s: nothing is launched on demand of them", someOf(w.unpriced))
	}
	switch {
	case w.spotErr == nil:
	case w.out.Region == w.builtIn.Region && w.currency == dollars:
		add(NoteSpotPrices, "spot prices are those built in, which are older, or on-demand prices where there is none: %s", oneLine(w.spotErr))
	default:
		add(NoteSpotPrices, "spot nodes are planned at on-demand prices, which they stay below: %s", oneLine(w.spotErr))
	}
	return notes
}

// someOf returns the first names, and the number of the other names.
func someOf(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more instance types", strings.Join(names[:shown], ", "), len(names)-shown)
}
