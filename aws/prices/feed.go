package prices

import (
	"cmp"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/cloudprovider"
)

// feed is a Feed with its current prices.
type feed struct {
	Feed
	keep      time.Duration
	schedule  refresh.Schedule
	reading   bool
	read      time.Time
	lastError error
	skipped   int
	vanished  int
	onDemand  map[string]Quote
	dedicated map[string]Quote
	local     map[Pair]Quote
	spot      map[Pair]Quote
}

func newFeed(f Feed, seed uint64) *feed {
	return &feed{Feed: f, keep: option.Or(f.Keep, DefaultKeep), schedule: refresh.Schedule{Every: option.Or(f.Every, DefaultEvery), Seed: seed}}
}

// take merges a list into the feed's current prices. It creates new maps, and does not change the old ones.
func (f *feed) take(list *List, now time.Time, usdPer map[string]float64) {
	t := taker{list: list, now: now, keep: f.keep, rate: 1, texts: map[provenance]string{}}
	if list.Currency != "" && list.Currency != "USD" {
		rate, ok := usdPer[list.Currency]
		if t.note = ", in " + list.Currency; ok {
			t.rate, t.note = rate, ", converted from "+list.Currency
		}
	}
	f.onDemand = take(&t, list.OnDemand, f.onDemand)
	f.dedicated = take(&t, list.Dedicated, f.dedicated)
	f.local = take(&t, list.Local, f.local)
	f.spot = take(&t, list.Spot, f.spot)
	f.read, f.skipped, f.vanished = now, list.Skipped+t.skipped, t.vanished
}

// taker contains the values that the quotes of one list share.
type taker struct {
	list     *List
	now      time.Time
	keep     time.Duration
	rate     float64
	note     string // text about the currency, which is appended to the source
	skipped  int
	vanished int
	texts    map[provenance]string
}

// provenance contains the values that determine the text of a quote. Many quotes have the same values, so each text is created once.
type provenance struct {
	source   string
	since    time.Time
	vanished time.Time
}

// take returns quotes for the prices of a list. It keeps earlier quotes that are not in the list until t.keep has passed since their last
// confirmation.
func take[K comparable](t *taker, listed map[K]Price, before map[K]Quote) map[K]Quote {
	quotes := make(map[K]Quote, max(len(listed), len(before)))
	for key, p := range listed {
		if !usable(p.PerHour) {
			t.skipped++
			continue
		}
		quotes[key] = t.quote(p, before[key])
	}
	for key, q := range before {
		if _, ok := quotes[key]; ok || t.now.Sub(q.Confirmed) > t.keep {
			continue
		}
		t.vanished++
		q.Source = t.text(provenance{source: t.list.Source, since: q.Since, vanished: q.Confirmed})
		quotes[key] = q
	}
	return quotes
}

func (t *taker) quote(p Price, before Quote) Quote {
	q := Quote{USD: p.PerHour * t.rate, Since: p.Since, Confirmed: t.now, Confidence: cmp.Or(p.Confidence, t.list.Confidence, cloudprovider.PriceCurrent)}
	if !t.list.AsOf.IsZero() {
		q.Confirmed = t.list.AsOf
	}
	switch {
	case !q.Since.IsZero():
	case before.USD == q.USD && !before.Since.IsZero():
		q.Since = before.Since
	default:
		q.Since = q.Confirmed
	}
	q.Source = t.text(provenance{source: cmp.Or(p.Source, t.list.Source), since: q.Since})
	return q
}

// text returns a sentence that says where a price comes from, and since when it is valid. It rounds times down to the hour. This is precise
// enough for people, and many quotes can share one text.
func (t *taker) text(p provenance) string {
	p.since = p.since.UTC().Truncate(time.Hour)
	if !p.vanished.IsZero() {
		p.vanished = p.vanished.UTC().Truncate(time.Hour)
	}
	text, ok := t.texts[p]
	if !ok {
		text = p.source
		if p.source == t.list.Source { // a price with its own source has the day in the text of that source
			text += ", " + day(p.since) + t.note
		}
		if !p.vanished.IsZero() {
			text += ", not confirmed since " + day(p.vanished)
		}
		t.texts[p] = text
	}
	return text
}

// day formats a time; the time of day is left out if it is midnight.
func day(at time.Time) string {
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02 15:04Z")
}
