// Package live reads the instance types and prices of a region from AWS, once, and reports which data it could not read.
//
//	market, err := live.Read(ctx, live.Options{AWS: sdk.Config{Region: "eu-west-1"}})
//	if err != nil { … }
//	plan with market.Catalog; show market.Notes
//
// Instance types and their zones must be readable. Prices are optional: missing prices come from the tables in the library, and a note says
// so.
package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// requestTimeout limits one request, because a person waits for the result.
	requestTimeout = time.Minute
	// pricesTimeout limits reading prices, which can be replaced by built-in prices.
	pricesTimeout = 2 * time.Minute
)

// Options are the settings of Read.
type Options struct {
	// AWS contains the settings for connections to AWS. The zero value reads region, credentials and endpoints from the environment and the
	// shared configuration files, as the AWS command line does.
	AWS sdk.Config
	// Progress is called with each stage; nil for no report. Calls don't overlap.
	Progress func(stage string)
	// Clock is the clock; nil means the system clock.
	Clock option.Clock
}

// Market has the instance types, zones and prices of a region.
type Market struct {
	// Catalog has the instance types with their zones and prices.
	Catalog *catalog.Catalog
	// Notes are remarks about the market for people, in a fixed order.
	Notes []Note
}

// Note is a remark on a Market.
type Note struct {
	// Code is machine-readable, one of the constants below.
	Code string
	// Message is a sentence.
	Message string
}

// Codes of notes.
const (
	// NoteMarket says which market was read.
	NoteMarket = "LiveMarket"
	// NoteSkippedTypes says that EC2's descriptions of some types are unusable, so these types were skipped.
	NoteSkippedTypes = "InstanceTypesSkipped"
	// NoteZoneIDs says that the ids of zones could not be read.
	NoteZoneIDs = "ZoneIDsUnknown"
	// NoteOnDemandPrices says that some or all on-demand prices are not current.
	NoteOnDemandPrices = "OnDemandPricesBuiltIn"
	// NoteUnpriced says that types have no on-demand price.
	NoteUnpriced = "OnDemandPricesUnknown"
	// NoteSpotPrices says that spot prices are not today's prices.
	NoteSpotPrices = "SpotPricesBuiltIn"
	// NoteCurrency says that prices are not in US dollars.
	NoteCurrency = "Currency"
)

// reading is one run of Read.
type reading struct {
	region string
	now    func() time.Time
	// builtIn is the catalogue with the prices to use if AWS does not answer.
	builtIn *catalog.Catalog
	types   func(context.Context) (*aws.RegionTypes, error)
	sources struct{ onDemand, spot prices.Source }
	steps   steps
}

// Read reads instance types, zones and prices from AWS, all at the same time. The error is an *Error, or the error of the context.
func Read(ctx context.Context, o Options) (*Market, error) {
	now := time.Now
	if o.Clock != nil {
		now = o.Clock.Now
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.AWS.Timeout == nil {
		timeout := requestTimeout
		o.AWS.Timeout = &timeout
	}
	o.Progress("looking for the AWS region and credentials")
	clients, err := sdk.Load(ctx, o.AWS)
	if err != nil {
		return nil, explainSettings(ctx, o.AWS.Region, err)
	}
	builtIn, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	r := &reading{region: clients.Region(), now: now, builtIn: builtIn}
	api := clients.EC2(sdk.Background)
	r.types = func(ctx context.Context) (*aws.RegionTypes, error) {
		return aws.ReadInstanceTypes(ctx, api, r.region, builtIn, now)
	}
	r.sources.onDemand = onDemandSource(r.region, func() sdk.PricingAPI { return clients.Pricing(sdk.Background) })
	r.sources.spot = prices.Spot{API: api, Region: r.region, Clock: o.Clock}
	r.steps.region, r.steps.report = r.region, o.Progress
	return r.read(ctx)
}

// onDemandSource returns the price list if it has the region's prices; otherwise it returns a source whose error explains why they are
// missing.
func onDemandSource(region string, api func() sdk.PricingAPI) prices.Source {
	if ok, why := prices.Published(region, false); !ok {
		return prices.SourceFunc(func(context.Context) (*prices.List, error) { return nil, &prices.ListError{Problem: why} })
	}
	return prices.OnDemand{API: api(), Region: region}
}

// day returns the present day, as the day of the prices that are read.
func (r *reading) day() string { return r.now().UTC().Format(time.DateOnly) }

// read asks AWS for instance types and prices at the same time. If the instance types can't be read, it stops reading prices, which would
// be useless.
func (r *reading) read(ctx context.Context) (*Market, error) {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		group    sync.WaitGroup
		found    *aws.RegionTypes
		typesErr error
		paid     quotes
	)
	r.steps.begin("instance types and zones", "on-demand prices", "spot prices")
	group.Go(func() {
		if found, typesErr = r.types(asking); typesErr != nil {
			cancel()
		}
		r.steps.end("instance types and zones")
	})
	group.Go(func() {
		paid.onDemand, paid.onDemandErr = pricesOf(asking, r.sources.onDemand)
		r.steps.end("on-demand prices")
	})
	group.Go(func() {
		paid.spot, paid.spotErr = pricesOf(asking, r.sources.spot)
		r.steps.end("spot prices")
	})
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the market of %s from AWS: %w", r.region, err)
	}
	if typesErr != nil {
		return nil, explain(ctx, r.region, typesErr)
	}
	paid.day = r.day()
	return r.market(found, paid)
}

// market adds prices to the facts and returns the notes.
func (r *reading) market(found *aws.RegionTypes, paid quotes) (*Market, error) {
	priced, priceNotes, err := paid.on(found.Catalog, r.builtIn)
	if err != nil {
		return nil, &Error{Region: r.region, Cause: err, Cure: "report it: what AWS says makes no catalogue"}
	}
	m := &Market{Catalog: priced, Notes: []Note{{NoteMarket, fmt.Sprintf(
		"nodes and prices are those of %s, as AWS gives them to these credentials: %d instance types in %d zones",
		r.region, len(priced.Types), len(priced.Zones))}}}
	if n := len(found.Skipped); n > 0 {
		m.Notes = append(m.Notes, Note{NoteSkippedTypes, fmt.Sprintf(
			"%d instance types are left out, since EC2 describes them in a way that is not understood; the first: %v", n, found.Skipped[0])})
	}
	if found.ZoneIDs != nil {
		m.Notes = append(m.Notes, Note{NoteZoneIDs, fmt.Sprintf(
			"nodes are without zone ids, which pods may select by: %v", oneLine(found.ZoneIDs))})
	}
	m.Notes = append(m.Notes, priceNotes...)
	return m, nil
}

// pricesOf reads one source, for at most pricesTimeout.
func pricesOf(ctx context.Context, s prices.Source) (*prices.List, error) {
	ctx, cancel := context.WithTimeout(ctx, pricesTimeout)
	defer cancel()
	return s.Prices(ctx)
}

// The type steps reports which of several parallel steps are not finished yet.
type steps struct {
	region string
	report func(string)

	mu   sync.Mutex
	left []string
}

func (s *steps) begin(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = names
	s.say()
}

func (s *steps) end(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for _, other := range s.left {
		if other != name {
			left = append(left, other)
		}
	}
	if s.left = left; len(left) > 0 {
		s.say()
	}
}

func (s *steps) say() {
	s.report(fmt.Sprintf("asking AWS in %s for %s", s.region, strings.Join(s.left, ", ")))
}

// oneLine returns an error's text without line breaks, as notes need it.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
