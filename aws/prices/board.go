package prices

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// DefaultEvery is the default interval for reading a feed.
	DefaultEvery = 12 * time.Hour
	// DefaultSpotEvery is the default interval for reading spot prices, which change all day.
	DefaultSpotEvery = 15 * time.Minute
	// DefaultKeep is how long a price is kept by default after its feed no longer contains it.
	DefaultKeep = 7 * 24 * time.Hour
)

// Feed is a source of prices that is read repeatedly.
type Feed struct {
	// Name for status and errors: "spot". Required, unique.
	Name string
	// Source to read. Required.
	Source Source
	// Every is the interval; 0 means that the feed is read once. Nil means DefaultEvery.
	Every *time.Duration
	// Keep is how long a price is kept after the last answer that contained it; 0 drops it at once. Nil means DefaultKeep. If reading the
	// whole feed fails, its prices remain.
	Keep *time.Duration
}

// Options are the settings of a Board.
type Options struct {
	// Region is used in messages, and is part of the seed of the feeds' schedules. Required.
	Region string
	// Static has prices that are used if no feed has a price. It may be nil. See Static.
	Static *List
	// Feeds in ascending precedence: a price of a later feed overrides prices of earlier feeds.
	Feeds []Feed
	// USDPer converts currencies: {"CNY": 0.14}. Prices in a currency that is not listed stay unchanged.
	USDPer map[string]float64
	// MinSpotDiscount is the fraction, from 0 to 1, by which a spot price must be below the on-demand price: other spot prices are not
	// offered. 0 means no minimum.
	MinSpotDiscount float64
	// Seed is the seed for the jitter of refreshes.
	Seed uint64
	// Clock is the clock; nil means the system clock.
	Clock option.Clock
}

func (o *Options) check() error {
	if o.Region == "" {
		return &option.Error{Package: "prices", Option: "Region", Rule: "must not be empty"}
	}
	if !(o.MinSpotDiscount >= 0 && o.MinSpotDiscount <= 1) {
		return &option.Error{Package: "prices", Option: "MinSpotDiscount", Rule: fmt.Sprintf("must be a fraction from 0 to 1, is %g", o.MinSpotDiscount)}
	}
	names := map[string]bool{}
	for i, f := range o.Feeds {
		path := fmt.Sprintf("Feeds[%d].", i)
		switch {
		case f.Name == "":
			return &option.Error{Package: "prices", Option: path + "Name", Rule: "must not be empty"}
		case names[f.Name]:
			return &option.Error{Package: "prices", Option: path + "Name", Rule: fmt.Sprintf("%q is there twice", f.Name)}
		case f.Source == nil:
			return &option.Error{Package: "prices", Option: path + "Source", Rule: "must be given"}
		case option.Or(f.Every, 0) < 0:
			return &option.Error{Package: "prices", Option: path + "Every", Rule: fmt.Sprintf("is %s: 0 reads it once, nil every %s", *f.Every, DefaultEvery)}
		case option.Or(f.Keep, 0) < 0:
			return &option.Error{Package: "prices", Option: path + "Keep", Rule: fmt.Sprintf("is %s: 0 drops prices at once, nil after %s", *f.Keep, DefaultKeep)}
		}
		names[f.Name] = true
	}
	for currency, rate := range o.USDPer {
		if !usable(rate) || math.IsInf(rate, 0) {
			return &option.Error{Package: "prices", Option: "USDPer[" + currency + "]", Rule: fmt.Sprintf("must be more than 0, is %g", rate)}
		}
	}
	return nil
}

// nowOf returns the clock's time, or that of the system clock if clock is nil.
func nowOf(clock option.Clock) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock.Now()
}

// Board reads prices repeatedly and publishes them. It is safe for concurrent use: Book never blocks, and no lock is held while a source
// is read.
type Board struct {
	options Options
	book    atomic.Pointer[Book]

	mu    sync.Mutex
	feeds []*feed
}

// NewBoard makes a board with the static prices. It reads nothing yet.
func NewBoard(o Options) (*Board, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b := &Board{options: o}
	if o.Static != nil {
		if err := o.Static.check(); err != nil {
			return nil, err
		}
		static := newFeed(Feed{Name: "static", Every: new(time.Duration)}, 0)
		static.take(o.Static, nowOf(o.Clock), o.USDPer)
		b.feeds = append(b.feeds, static)
	}
	for _, f := range o.Feeds {
		b.feeds = append(b.feeds, newFeed(f, seedOf(o, f.Name)))
	}
	b.publish()
	return b, nil
}

func seedOf(o Options, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(o.Region + "/" + name))
	return h.Sum64() ^ o.Seed
}

// Book returns the current prices. Book returns the same pointer until a refresh changes or confirms a price.
func (b *Board) Book() *Book { return b.book.Load() }

// FeedError means that a feed could not be read. The earlier prices of the feed remain.
type FeedError struct {
	// Feed is the name of the feed.
	Feed string
	// Cause is the underlying error.
	Cause error
}

func (e *FeedError) Error() string { return fmt.Sprintf("price feed %q: %v", e.Feed, e.Cause) }

// Unwrap returns the cause.
func (e *FeedError) Unwrap() error { return e.Cause }

// Refresh reads the feeds that are due in parallel, and publishes their prices. next is the time for the next call of Refresh; the zero
// time means never. The error joins a *FeedError for each feed that failed; these feeds are retried with back-off. Concurrent calls don't
// read a feed twice.
func (b *Board) Refresh(ctx context.Context) (next time.Time, err error) {
	var (
		due   = b.claim()
		group sync.WaitGroup
		errs  = make([]error, len(due))
	)
	for i, f := range due {
		group.Go(func() {
			list, err := f.Source.Prices(ctx)
			if err == nil {
				err = list.check()
			}
			if err != nil {
				errs[i] = &FeedError{Feed: f.Name, Cause: err}
			}
			b.done(f, list, errs[i])
		})
	}
	group.Wait()
	return b.next(), errors.Join(errs...)
}

// claim returns the feeds that are due and that no other call is reading, and marks them as being read.
func (b *Board) claim() []*feed {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := nowOf(b.options.Clock)
	var due []*feed
	for _, f := range b.feeds {
		if f.Source != nil && !f.reading && f.schedule.Due(now) {
			f.reading = true
			due = append(due, f)
		}
	}
	return due
}

func (b *Board) done(f *feed, list *List, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := nowOf(b.options.Clock)
	f.reading = false
	f.schedule.Done(now, err)
	f.lastError = err
	if err != nil {
		return
	}
	f.take(list, now, b.options.USDPer)
	b.publish()
}

func (b *Board) next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next time.Time
	for _, f := range b.feeds {
		if at, ok := f.schedule.Next(); ok && f.Source != nil && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// publish builds the book from all feeds. The caller holds the lock.
func (b *Board) publish() {
	book := &Book{
		onDemand: map[string]Quote{}, dedicated: map[string]Quote{}, local: map[Pair]Quote{}, spot: map[Pair]Quote{},
		minSpotDiscount: b.options.MinSpotDiscount,
	}
	for _, f := range b.feeds {
		maps.Copy(book.onDemand, f.onDemand)
		maps.Copy(book.dedicated, f.dedicated)
		maps.Copy(book.local, f.local)
		maps.Copy(book.spot, f.spot)
	}
	if len(book.spot) == 0 {
		book.asSpot = make(map[string]Quote, len(book.onDemand))
		for name, q := range book.onDemand {
			q.Source, q.Confidence = untilSpotIsRead+q.Source, cloudprovider.PriceEstimated
			book.asSpot[name] = q
		}
	}
	b.book.Store(book)
}

// Status is the state of a feed.
type Status struct {
	// Feed is the name of the feed; "static" for the static list.
	Feed string
	// Read is when the feed last answered; zero if it never has.
	Read time.Time
	// Next is when the feed will be read again; zero means never.
	Next time.Time
	// OnDemand and Spot are the numbers of the feed's prices. Vanished is the number of prices that are kept although the feed's last
	// answer lacks them.
	OnDemand, Spot, Vanished int
	// Skipped is the number of unusable records in the feed's last answer.
	Skipped int
	// Failures is the number of failed reads in a row, and LastErr is the last error. After a successful read they are 0 and nil.
	Failures int
	LastErr  error
}

// Status returns the states of all feeds, in ascending precedence.
func (b *Board) Status() []Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Status, len(b.feeds))
	for i, f := range b.feeds {
		out[i] = Status{
			Feed: f.Name, Read: f.read, OnDemand: len(f.onDemand), Spot: len(f.spot), Vanished: f.vanished,
			Skipped: f.skipped, Failures: f.schedule.Failures(), LastErr: f.lastError,
		}
		if at, ok := f.schedule.Next(); ok && f.Source != nil {
			out[i].Next = at
		}
	}
	return out
}
