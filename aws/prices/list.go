package prices

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Source reads prices. Implementations must be safe for concurrent use, return when the context ends, and return either a complete list or
// an error.
type Source interface {
	Prices(ctx context.Context) (*List, error)
}

// SourceFunc is a function that implements Source.
type SourceFunc func(ctx context.Context) (*List, error)

// Prices implements Source.
func (f SourceFunc) Prices(ctx context.Context) (*List, error) {
	if f == nil {
		return nil, option.Missing("SourceFunc.Prices", "the function")
	}
	return f(ctx)
}

// Pair is an instance type in a zone.
type Pair struct {
	// InstanceType such as "m5.large".
	InstanceType string
	// Zone is the zone's name.
	Zone string
}

// Price is one price of a List.
type Price struct {
	// PerHour in the list's currency.
	PerHour float64
	// Since is when the price took this value; zero if the source doesn't know.
	Since time.Time
	// Source says where this price comes from, for people; empty means the list's Source.
	Source string
	// Confidence says how reliable the price is; empty means the Confidence of the list.
	Confidence cloudprovider.PriceConfidence
}

// List is the answer of a source. It is not changed after it was returned.
type List struct {
	// Source says where the prices come from, for people: "AWS price list". Required.
	Source string
	// AsOf is the day of the prices, if they are older than the moment of reading, such as the prices of a file; zero means now.
	AsOf time.Time
	// Confidence says how reliable the prices are; empty means current.
	Confidence cloudprovider.PriceConfidence
	// Currency of all prices, for instance "USD" or "CNY"; empty means USD.
	Currency string
	// OnDemand prices by instance type.
	OnDemand map[string]Price
	// Dedicated are on-demand prices of Dedicated Instances, by instance type.
	Dedicated map[string]Price
	// Local are on-demand prices in zones that have their own prices, such as Local Zones, by instance type and zone.
	Local map[Pair]Price
	// Spot prices by instance type and zone.
	Spot map[Pair]Price
	// Skipped counts unusable records of the source.
	Skipped int
}

// maxPerHour is more than any instance costs, in any currency.
const maxPerHour = 1e9

// usable reports whether an amount can be a price. A price of 0 is invalid: planners would put every pod on instances that cost nothing.
func usable(perHour float64) bool {
	return perHour > 0 && perHour <= maxPerHour && !math.IsNaN(perHour)
}

// ListError says why a list of prices can't be used.
type ListError struct {
	// Source of the list; empty if the list names no source.
	Source string
	// Problem says what is wrong with the list.
	Problem string
}

func (e *ListError) Error() string {
	if e.Source == "" {
		return "prices: " + e.Problem
	}
	return fmt.Sprintf("prices of %q: %s", e.Source, e.Problem)
}

// check checks the form of a list.
func (l *List) check() error {
	switch {
	case l == nil:
		return &ListError{Problem: "there is no list"}
	case l.Source == "":
		return &ListError{Problem: "the list must say where its prices come from"}
	case len(l.OnDemand)+len(l.Dedicated)+len(l.Local)+len(l.Spot) == 0:
		return &ListError{Source: l.Source, Problem: "it contains no price"}
	}
	return nil
}
