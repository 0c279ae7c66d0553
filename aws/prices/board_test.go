package prices_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/prices"
)

func start() time.Time { return time.Date(2026, 8, 1, 10, 30, 0, 0, time.UTC) }

// desk is a clock, and a source that says what it is told to say.
type desk struct {
	mu    sync.Mutex
	now   time.Time
	list  *prices.List
	err   error
	calls int
}

func (d *desk) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) Prices(context.Context) (*prices.List, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return d.list, d.err
}

func (d *desk) at(after time.Duration) { d.now = start().Add(after) }

func onDemand(amounts map[string]float64) *prices.List {
	list := &prices.List{Source: "live", OnDemand: map[string]prices.Price{}}
	for name, amount := range amounts {
		list.OnDemand[name] = prices.Price{PerHour: amount}
	}
	return list
}

func board(t *testing.T, d *desk, o prices.Options) *prices.Board {
	t.Helper()
	o.Region, o.Clock = "eu-west-1", d
	d.now = start()
	if o.Feeds == nil {
		o.Feeds = []prices.Feed{{Name: "live", Source: d}}
	}
	b, err := prices.NewBoard(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func static(amount float64) *prices.List {
	return &prices.List{Source: "table", AsOf: time.Date(2026, 7, 20, 0, 0, 0, 0, time.UTC), OnDemand: map[string]prices.Price{"m5.large": {PerHour: amount}, "old.large": {PerHour: 9}}}
}

func refreshed(t *testing.T, b *prices.Board) time.Time {
	t.Helper()
	next, err := b.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// AWI-106, AWI-107, AWI-119, AWI-120: the table until the first answer, then what was read, and the table for the rest;
// the next reading some twelve hours later.
func TestStaticThenLive(t *testing.T) {
	d := &desk{list: onDemand(map[string]float64{"m5.large": 0.1})}
	b := board(t, d, prices.Options{Static: static(0.2)})
	if q, ok := b.Book().OnDemand("m5.large"); !ok || q.USD != 0.2 || q.Source != "table, 2026-07-20" || d.calls != 0 {
		t.Errorf("before: %+v, %t, %d calls", q, ok, d.calls)
	}
	next := refreshed(t, b)
	if wait := next.Sub(start()); wait < 10*time.Hour || wait > 12*time.Hour {
		t.Errorf("the next reading is after %s", wait)
	}
	if q, _ := b.Book().OnDemand("m5.large"); q.USD != 0.1 || q.Source != "live, 2026-08-01 10:00Z" || !q.Since.Equal(start()) {
		t.Errorf("after: %+v", q)
	}
	if q, _ := b.Book().OnDemand("old.large"); q.USD != 9 {
		t.Errorf("the table is gone: %+v", q)
	}
	if _, ok := b.Book().OnDemand("unknown"); ok {
		t.Error("an unknown type has a price")
	}
	if refreshed(t, b); d.calls != 1 {
		t.Errorf("read %d times, though not due", d.calls)
	}
}

// OPP-15: a price keeps its day for as long as it is what it is, and is confirmed by each reading.
func TestProvenance(t *testing.T) {
	d := &desk{list: onDemand(map[string]float64{"m5.large": 0.1, "c5.large": 0.2})}
	b := board(t, d, prices.Options{})
	refreshed(t, b)
	first, _ := b.Book().OnDemand("m5.large")
	d.at(13 * time.Hour)
	d.list = onDemand(map[string]float64{"m5.large": 0.1, "c5.large": 0.3})
	refreshed(t, b)
	second, _ := b.Book().OnDemand("m5.large")
	if second.Source != first.Source || !second.Since.Equal(first.Since) || second.Age(d.now) != 0 || first.Age(d.now) != 13*time.Hour {
		t.Errorf("an unchanged price went from %+v to %+v", first, second)
	}
	if changed, _ := b.Book().OnDemand("c5.large"); !changed.Since.Equal(d.now) || changed.Source != "live, 2026-08-01 23:00Z" {
		t.Errorf("a changed price is %+v", changed)
	}
}

// AWI-111, AWI-115, OPP-15: prices that vanish from an answer age and go; while a feed fails all stay.
func TestVanishedPricesAge(t *testing.T) {
	d := &desk{list: onDemand(map[string]float64{"m5.large": 0.1, "c5.large": 0.2})}
	b := board(t, d, prices.Options{Feeds: []prices.Feed{{Name: "live", Source: d, Every: ptr(time.Hour), Keep: ptr(24 * time.Hour)}}})
	refreshed(t, b)
	d.at(12 * time.Hour)
	d.list = onDemand(map[string]float64{"m5.large": 0.1})
	refreshed(t, b)
	q, ok := b.Book().OnDemand("c5.large")
	if want := "live, 2026-08-01 10:00Z, not confirmed since 2026-08-01 10:00Z"; !ok || q.Source != want {
		t.Errorf("vanished: %+v", q)
	}
	if s := b.Status()[0]; s.Vanished != 1 || s.OnDemand != 2 {
		t.Errorf("status is %+v", s)
	}
	d.at(48 * time.Hour)
	d.err = errors.New("down")
	var failed *prices.FeedError
	if _, err := b.Refresh(t.Context()); !errors.As(err, &failed) || failed.Feed != "live" {
		t.Errorf("error is %v", err)
	}
	if _, ok := b.Book().OnDemand("c5.large"); !ok {
		t.Error("a failed reading drops prices")
	}
	if s := b.Status()[0]; s.Failures != 1 || s.LastErr == nil || s.Next.Sub(d.now) > time.Second {
		t.Errorf("status is %+v", s)
	}
	d.at(49 * time.Hour)
	d.err = nil
	refreshed(t, b)
	if _, ok := b.Book().OnDemand("c5.large"); ok {
		t.Error("a price that vanished long ago is still there")
	}
}

// AWI-116: spot is the on-demand price until spot prices were read; then each zone has its own or none.
func TestSpotBeforeAndAfter(t *testing.T) {
	d := &desk{err: errors.New("down")}
	b := board(t, d, prices.Options{Static: static(0.2)})
	if _, err := b.Refresh(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if q, ok := b.Book().Spot("m5.large", "anywhere"); !ok || q.USD != 0.2 || !strings.HasPrefix(q.Source, "on-demand price, until spot prices are read; table") {
		t.Errorf("before: %+v, %t", q, ok)
	}
	d.err, d.list = nil, &prices.List{Source: "spot", Spot: map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "a"}: {PerHour: 0.05, Since: start().Add(-90 * time.Minute)}}}
	d.at(time.Minute)
	refreshed(t, b)
	if q, ok := b.Book().Spot("m5.large", "a"); !ok || q.USD != 0.05 || q.Source != "spot, 2026-08-01 09:00Z" {
		t.Errorf("after: %+v, %t", q, ok)
	}
	if q, ok := b.Book().Spot("m5.large", "b"); ok {
		t.Errorf("a zone without a price has %+v", q)
	}
	if n, m := b.Book().Len(); n != 2 || m != 1 {
		t.Errorf("has %d and %d prices", n, m)
	}
}

// AWI-118, OPP-03: lookups go on while a source takes its time, and two refreshes don't read one feed twice.
func TestLookupsDontWait(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	d := &desk{}
	slow := prices.SourceFunc(func(context.Context) (*prices.List, error) {
		close(entered) // a second call would panic
		<-release
		return onDemand(map[string]float64{"m5.large": 0.1}), nil
	})
	b := board(t, d, prices.Options{Static: static(0.2), Feeds: []prices.Feed{{Name: "slow", Source: slow}}})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := b.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-entered
	if q, _ := b.Book().OnDemand("m5.large"); q.USD != 0.2 {
		t.Errorf("meanwhile: %+v", q)
	}
	refreshed(t, b)
	b.Status()
	close(release)
	group.Wait()
	if q, _ := b.Book().OnDemand("m5.large"); q.USD != 0.1 {
		t.Errorf("afterwards: %+v", q)
	}
}

// OPP-15: later feeds win; China's prices are converted, or say that they are not.
func TestPrecedenceAndCurrency(t *testing.T) {
	yuan := onDemand(map[string]float64{"m5.large": 7, "c5.large": 14})
	yuan.Currency = "CNY"
	contract := &prices.List{Source: "contract", OnDemand: map[string]prices.Price{"c5.large": {PerHour: 1.5}}}
	say := func(list *prices.List) prices.Source {
		return prices.SourceFunc(func(context.Context) (*prices.List, error) { return list, nil })
	}
	for _, test := range []struct {
		rates  map[string]float64
		usd    float64
		source string
	}{
		{map[string]float64{"CNY": 0.14}, 0.98, "live, 2026-08-01 10:00Z, converted from CNY"},
		{nil, 7, "live, 2026-08-01 10:00Z, in CNY"},
	} {
		b := board(t, &desk{}, prices.Options{USDPer: test.rates, Feeds: []prices.Feed{{Name: "live", Source: say(yuan)}, {Name: "contract", Source: say(contract)}}})
		refreshed(t, b)
		if q, _ := b.Book().OnDemand("m5.large"); math.Abs(q.USD-test.usd) > 1e-9 || q.Source != test.source {
			t.Errorf("m5.large is %+v", q)
		}
		if q, _ := b.Book().OnDemand("c5.large"); q.USD != 1.5 {
			t.Errorf("c5.large is %+v", q)
		}
	}
}

// OPP-15: spot that saves too little is not offered.
func TestMinSpotDiscount(t *testing.T) {
	list := onDemand(map[string]float64{"m5.large": 1})
	list.Spot = map[prices.Pair]prices.Price{
		{InstanceType: "m5.large", Zone: "a"}: {PerHour: 0.7}, {InstanceType: "m5.large", Zone: "b"}: {PerHour: 0.71}, {InstanceType: "x.large", Zone: "a"}: {PerHour: 5},
	}
	d := &desk{list: list}
	b := board(t, d, prices.Options{MinSpotDiscount: 0.3})
	refreshed(t, b)
	for pair, want := range map[prices.Pair]bool{{InstanceType: "m5.large", Zone: "a"}: true, {InstanceType: "m5.large", Zone: "b"}: false, {InstanceType: "x.large", Zone: "a"}: true} {
		if _, ok := b.Book().Spot(pair.InstanceType, pair.Zone); ok != want {
			t.Errorf("%v is offered: %t", pair, ok)
		}
	}
}

// Prices that are no prices are counted and left out; lists without any are refused.
func TestUnusableLists(t *testing.T) {
	d := &desk{list: onDemand(map[string]float64{"zero": 0, "minus": -1, "nan": math.NaN(), "inf": math.Inf(1), "fine": 1})}
	b := board(t, d, prices.Options{})
	refreshed(t, b)
	if n, _ := b.Book().Len(); n != 1 || b.Status()[0].Skipped != 4 {
		t.Errorf("%d prices, status %+v", n, b.Status()[0])
	}
	for name, list := range map[string]*prices.List{"nothing": nil, "no source": {OnDemand: map[string]prices.Price{"a": {PerHour: 1}}}, "no price": {Source: "x"}} {
		d := &desk{list: list}
		var wrong *prices.ListError
		if _, err := board(t, d, prices.Options{}).Refresh(t.Context()); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var nobody *prices.Book
	if _, ok := nobody.OnDemand("m5.large"); ok {
		t.Error("no book has a price")
	}
	if _, ok := nobody.Spot("m5.large", "a"); ok {
		t.Error("no book has a price")
	}
}

// ptr is a value as options that have a default take it.
func ptr[T any](v T) *T { return &v }

func TestOptionsAreChecked(t *testing.T) {
	source := &desk{}
	for field, o := range map[string]prices.Options{
		"Region":          {},
		"MinSpotDiscount": {Region: "r", MinSpotDiscount: 2},
		"Feeds[0].Name":   {Region: "r", Feeds: []prices.Feed{{Source: source}}},
		"Feeds[1].Name":   {Region: "r", Feeds: []prices.Feed{{Name: "a", Source: source}, {Name: "a", Source: source}}},
		"Feeds[0].Source": {Region: "r", Feeds: []prices.Feed{{Name: "a"}}},
		"Feeds[0].Every":  {Region: "r", Feeds: []prices.Feed{{Name: "a", Source: source, Every: ptr(-time.Hour)}}},
		"Feeds[0].Keep":   {Region: "r", Feeds: []prices.Feed{{Name: "a", Source: source, Keep: ptr(-time.Hour)}}},
		"USDPer[CNY]":     {Region: "r", USDPer: map[string]float64{"CNY": 0}},
	} {
		var wrong *option.Error
		if _, err := prices.NewBoard(o); !errors.As(err, &wrong) || wrong.Option != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := prices.NewBoard(prices.Options{Region: "r", Static: &prices.List{}}); err == nil {
		t.Error("a table without a source is taken")
	}
}
