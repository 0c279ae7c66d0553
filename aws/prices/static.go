package prices

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Static returns a table of on-demand prices for a region. The table is used until better prices are read. For the catalogue's own region
// it contains the catalogue's prices; for other regions it contains the prices of Regional. For types without such a price, it contains
// estimates from the catalogue's prices (catalog.Estimator), and their source says so.
func Static(c *catalog.Catalog, region string) *List {
	if c == nil {
		return nil
	}
	list := &List{Source: "built-in table", Confidence: cloudprovider.PriceDated, OnDemand: make(map[string]Price, len(c.Types)), Local: builtInLocal(region)}
	estimator, err := catalog.NewEstimator(c.Region, region)
	if err != nil {
		estimator = nil // use the prices of the catalogue's region unchanged, because they are better than no prices
	}
	texts := map[string]string{}
	for i := range c.Types {
		t := &c.Types[i]
		if !usable(t.OnDemandUSD) {
			continue
		}
		source := c.OnDemandSource(t)
		text, ok := texts[source]
		if !ok {
			text = source
			if region != c.Region {
				text = source + " (of " + c.Region + ")"
				if estimator != nil {
					text = source + ", " + estimator.Source()
				}
			}
			texts[source] = text
		}
		p := Price{PerHour: t.OnDemandUSD, Source: text}
		if at, err := time.Parse(time.DateOnly, c.OnDemandFacts(t).Day); err == nil {
			p.Since = at
		}
		if region != c.Region {
			p.Confidence = cloudprovider.PriceEstimated
			if estimator != nil {
				p.PerHour = estimator.Price(t.Name, t.OnDemandUSD)
			}
		}
		list.OnDemand[t.Name] = p
	}
	if region == c.Region {
		return list
	}
	regional, err := Regional(region)
	if err != nil || regional == nil {
		return list // each price in the list already has its source
	}
	source := regional.Source + ", " + regional.AsOf.Format(time.DateOnly)
	for name, p := range regional.OnDemand {
		list.OnDemand[name] = Price{PerHour: p.PerHour, Source: source, Since: regional.AsOf}
	}
	return list
}

// builtInLocal returns the built-in prices in the region's Local Zones. A group has up to two zones: us-west-2-lax-1a and us-west-2-lax-1b.
func builtInLocal(region string) map[Pair]Price {
	groups, err := catalog.LocalZonePrices(region)
	if err != nil || len(groups) == 0 {
		return nil // Local Zones then have the prices of the region, as estimates
	}
	local := map[Pair]Price{}
	for group, list := range groups {
		source := list.Source + ", " + list.AsOf.Format(time.DateOnly)
		for name, usd := range list.OnDemand {
			for _, letter := range []string{"a", "b"} {
				local[Pair{InstanceType: name, Zone: group + letter}] = Price{PerHour: usd, Source: source, Since: list.AsOf}
			}
		}
	}
	return local
}

// File reads a prices file in the format of catalog.Prices repeatedly, so that a replaced file takes effect. It is for isolated networks
// and for negotiated prices. open is called for each reading.
func File(open func() (io.ReadCloser, error)) Source {
	return SourceFunc(func(ctx context.Context) (*List, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, err := open()
		if err != nil {
			return nil, fmt.Errorf("opening the prices file: %w", err)
		}
		defer file.Close()
		p, err := catalog.LoadPrices(file)
		if err != nil {
			return nil, err
		}
		return fromFile(p)
	})
}

// FileAt is like File, for the file at a path.
func FileAt(path string) Source {
	return File(func() (io.ReadCloser, error) { return os.Open(path) })
}

func fromFile(p *catalog.Prices) (*List, error) {
	list := &List{Source: p.Source, Confidence: cloudprovider.PriceGiven, OnDemand: map[string]Price{}, Dedicated: map[string]Price{}, Local: map[Pair]Price{}, Spot: map[Pair]Price{}}
	if p.AsOf != "" {
		at, err := time.Parse(time.DateOnly, p.AsOf)
		if err != nil {
			return nil, &ListError{Source: p.Source, Problem: fmt.Sprintf("asOf must be a day such as 2026-08-01, is %q", p.AsOf)}
		}
		list.AsOf = at
	}
	for name, t := range p.Types {
		if t.OnDemand != 0 {
			list.OnDemand[name] = Price{PerHour: t.OnDemand}
		}
		if t.Dedicated != 0 {
			list.Dedicated[name] = Price{PerHour: t.Dedicated}
		}
		for zone, amount := range t.Local {
			list.Local[Pair{InstanceType: name, Zone: zone}] = Price{PerHour: amount}
		}
		for zone, amount := range t.Spot {
			list.Spot[Pair{InstanceType: name, Zone: zone}] = Price{PerHour: amount}
		}
	}
	return list, nil
}

// Item identifies the instances to which a price applies.
type Item struct {
	// InstanceType such as "m5.large".
	InstanceType string
	// Zone is the zone's name for spot prices, and for on-demand prices of zones that have prices of their own. It is empty for other
	// on-demand prices, which apply to all zones.
	Zone string
	// Dedicated is true for the price of a Dedicated Instance.
	Dedicated bool
	// Spot is true for a spot price.
	Spot bool
}

// Adjust returns a source that applies a function to each price of another source, in the list's currency. Use it for negotiated discounts,
// remaining prices under a commitment, or premiums. note is added to the source of the prices: "less 8 % by contract". A price that becomes
// zero, negative or not a number is skipped.
func Adjust(s Source, note string, adjust func(Item, float64) float64) Source {
	return SourceFunc(func(ctx context.Context) (*List, error) {
		from, err := s.Prices(ctx)
		if err != nil || from == nil {
			return nil, err
		}
		list := *from
		list.Source += ", " + note
		list.OnDemand, list.Spot = maps.Clone(from.OnDemand), maps.Clone(from.Spot)
		list.Dedicated, list.Local = maps.Clone(from.Dedicated), maps.Clone(from.Local)
		for name, p := range list.OnDemand {
			list.OnDemand[name] = p.adjusted(note, adjust(Item{InstanceType: name}, p.PerHour))
		}
		for name, p := range list.Dedicated {
			list.Dedicated[name] = p.adjusted(note, adjust(Item{InstanceType: name, Dedicated: true}, p.PerHour))
		}
		for pair, p := range list.Local {
			list.Local[pair] = p.adjusted(note, adjust(Item{InstanceType: pair.InstanceType, Zone: pair.Zone}, p.PerHour))
		}
		for pair, p := range list.Spot {
			list.Spot[pair] = p.adjusted(note, adjust(Item{InstanceType: pair.InstanceType, Zone: pair.Zone, Spot: true}, p.PerHour))
		}
		return &list, nil
	})
}

func (p Price) adjusted(note string, perHour float64) Price {
	p.PerHour = perHour
	if p.Source != "" {
		p.Source += ", " + note
	}
	return p
}
