package spotrisk_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func newMarket(t *testing.T) *spotrisk.Market {
	t.Helper()
	m, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// spotType has 8 vCPUs, on demand for $0.40, and on spot for the price.
func spotType(name string, usd float64, rate *cloudprovider.InterruptionRate) *cloudprovider.InstanceType {
	spot := build.Offering("a", v1.CapacityTypeSpot, usd)
	spot.InterruptionRate = rate
	return build.InstanceType(name, build.CPU("8"), build.OnDemand("a", 0.4), build.Sold(spot))
}

func costOf(m *spotrisk.Market, it *cloudprovider.InstanceType, loss spotrisk.Loss, at time.Time) spotrisk.Cost {
	return m.Cost(it, &it.Offerings[1], loss, at)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Without any history a node costs its price, and the interruptions of its band.
func TestCostWithoutHistory(t *testing.T) {
	m, it := newMarket(t), spotType("m", 0.1, &cloudprovider.InterruptionRate{Low: 0.2, High: 1})
	loss := spotrisk.Loss{Restart: 6 * time.Minute, LostWork: time.Hour, Without: time.Hour, PerNode: 2, PerCPU: 0.5}
	perMonth := -math.Log(1 - 0.3)
	c := costOf(m, it, loss, start)
	want := 1.1*0.1 + 2 + 8*0.5 + 0.1*0.3
	if c.ExpectedPrice != 0.1 || !near(c.PerMonth, perMonth) || !near(c.Refused, 0.1) || !near(c.LossUSD, want) || !near(c.Total, 0.1+perMonth/730*want) {
		t.Errorf("%+v, want a loss of %v", c, want)
	}
	if onDemand := m.Cost(it, &it.Offerings[0], loss, start); onDemand.Total != 0.4 || onDemand.PerMonth != 0 {
		t.Errorf("on demand: %+v", onDemand)
	}
	if unknown := costOf(m, spotType("m", 0.1, nil), loss, start); !near(unknown.PerMonth, -math.Log(0.85)) {
		t.Errorf("without a band: %+v", unknown)
	}
	if (m.Cost(nil, nil, loss, start) != spotrisk.Cost{}) {
		t.Error("nothing costs something")
	}
}

// A price that fell a moment ago is expected to return to its level, one that has held for months is the level.
func TestExpectedPrice(t *testing.T) {
	m, it, key := newMarket(t), spotType("m", 0.05, nil), spotrisk.Key{InstanceType: "m", Zone: "a"}
	m.ObservePrice(key, start, 0.1)
	at := start.Add(60 * 24 * time.Hour)
	m.ObservePrice(key, at, 0.05)
	m.ObservePrice(key, at.Add(-time.Hour), 7) // older than the last
	m.ObservePrice(key, at.Add(time.Hour), math.NaN())
	loss := spotrisk.Loss{NodeLife: 24 * time.Hour}
	fell := costOf(m, it, loss, at)
	x := math.Ln2 / 2
	if want := 0.1 - 0.05*(1-math.Exp(-x))/x; !near(fell.Level, 0.1) || !near(fell.ExpectedPrice, want) {
		t.Errorf("fell: %+v, want %v", fell, want)
	}
	if now := costOf(m, it, spotrisk.Loss{}, at); now.ExpectedPrice != 0.05 {
		t.Errorf("of this moment: %+v", now)
	}
	if week := costOf(m, it, loss, at.Add(7*24*time.Hour)); !near(week.Level, 0.075) {
		t.Errorf("a week later the level is %v", week.Level)
	}
	if held := costOf(m, it, loss, at.Add(365*24*time.Hour)); math.Abs(held.ExpectedPrice-0.05) > 1e-6 {
		t.Errorf("a year later: %+v", held)
	}
}

// Own interruptions and refused launches count, and fade.
func TestOwnHistory(t *testing.T) {
	m, it, key := newMarket(t), spotType("m", 0.1, &cloudprovider.InterruptionRate{Low: 0.1, High: 0.1}), spotrisk.Key{InstanceType: "m", Zone: "a"}
	perHour := -math.Log(0.9) / 730
	m.ObserveNodes(key, start, 500*time.Hour)
	for range 4 {
		m.ObserveInterruption(key, start)
		m.ObserveLaunch(key, start, true)
	}
	m.ObserveLaunch(key, start, false)
	c := costOf(m, it, spotrisk.Loss{}, start)
	if want := 8 / (4/perHour + 500) * 730; !near(c.PerMonth, want) || !near(c.Refused, (0.5+4)/10) {
		t.Errorf("%+v, want %v a month", c, want)
	}
	later := costOf(m, it, spotrisk.Loss{}, start.Add(30*24*time.Hour))
	if want := 6 / (4/perHour + 250) * 730; !near(later.PerMonth, want) {
		t.Errorf("a month later %v, want %v", later.PerMonth, want)
	}
	m.ObserveInterruption(key, start.Add(-30*24*time.Hour)) // late news
	if c, want := costOf(m, it, spotrisk.Loss{}, start), 8.5/(4/perHour+500)*730; !near(c.PerMonth, want) {
		t.Errorf("with late news %v, want %v", c.PerMonth, want)
	}
	m.ObserveScore(key, start, 9)
	m.ObserveScore(key, start, 11)
	if c := costOf(m, it, spotrisk.Loss{}, start); !near(c.Refused, (0.5+4)/10) {
		t.Errorf("a score of 9 is a tenth refused: %v", c.Refused)
	}
	m.ObserveScore(key, start, 1)
	if c := costOf(m, it, spotrisk.Loss{}, start); !near(c.Refused, (4.5+4)/10) {
		t.Errorf("a score of 1: %v", c.Refused)
	}
}

// What is exported is imported the same, twice the same bytes; of another cluster, histories add up, and the later price counts.
func TestExportImport(t *testing.T) {
	a, b := newMarket(t), newMarket(t)
	x, y := spotrisk.Key{InstanceType: "m", Zone: "a"}, spotrisk.Key{InstanceType: "m", Zone: "b"}
	for _, m := range []*spotrisk.Market{a, b} {
		m.ObserveNodes(x, start, 100*time.Hour)
		m.ObserveInterruption(x, start)
	}
	a.ObservePrice(x, start, 0.1)
	b.ObservePrice(x, start.Add(time.Hour), 0.2)
	b.ObserveScore(y, start, 5)
	export := func(m *spotrisk.Market) string {
		var out bytes.Buffer
		if err := m.Export(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	restarted := newMarket(t)
	if err := restarted.Import(strings.NewReader(export(b))); err != nil {
		t.Fatal(err)
	}
	if export(restarted) != export(b) {
		t.Errorf("after a restart\n%s\nbefore\n%s", export(restarted), export(b))
	}
	if err := a.Import(strings.NewReader(export(b))); err != nil {
		t.Fatal(err)
	}
	if text := export(a); !strings.Contains(text, `"price": 0.2`) || !strings.Contains(text, `"nodeHours": 200`) || !strings.Contains(text, `"score": 5`) {
		t.Errorf("together:\n%s", text)
	}
}

func TestImportRefuses(t *testing.T) {
	const head = `{"schema": "drawknife-spot-history/1", "markets": [`
	for text, path := range map[string]string{
		`{"schema": "x", "markets": []}`:                                                             "schema",
		head + `{"instanceType": "", "zone": "a"}]}`:                                                 "markets[0].instanceType",
		head + `{"instanceType": "m", "zone": "a b"}]}`:                                              "markets[0].zone",
		head + `{"instanceType": "m", "zone": "a", "price": 1}]}`:                                    "markets[0].price",
		head + `{"instanceType": "m", "zone": "a", "nodeHours": -1}]}`:                               "markets[0].nodeHours",
		head + `{"instanceType": "m", "zone": "a", "launches": 1}]}`:                                 "markets[0].historyAt",
		head + `{"instanceType": "m", "zone": "a", "refused": 1}]}`:                                  "markets[0].refused",
		head + `{"instanceType": "m", "zone": "a", "score": 11}]}`:                                   "markets[0].score",
		head + `{"instanceType": "m", "zone": "a", "score": 1, "scoreAt": "1999-01-01T00:00:00Z"}]}`: "markets[0].scoreAt",
		head + `{"instanceType": "m", "zone": "a"}, {"instanceType": "m", "zone": "a"}]}`:            "markets[1]",
		head + `]} {}`: "the file",
	} {
		m := newMarket(t)
		err := m.Import(strings.NewReader(text))
		var wrong *spotrisk.FileError
		if !errors.As(err, &wrong) || wrong.Path != path {
			t.Errorf("%s: %v, want an error at %s", text, err, path)
		}
	}
	for _, text := range []string{"", "[]", `{"schema": 1}`, head + `{"x": 1}]}`} {
		if newMarket(t).Import(strings.NewReader(text)) == nil {
			t.Errorf("%q is read", text)
		}
	}
	var large *spotrisk.FileError
	if err := newMarket(t).Import(strings.NewReader(strings.Repeat(" ", 64<<20+1))); !errors.As(err, &large) || !strings.Contains(err.Error(), "at most 64 MiB") {
		t.Errorf("a file of more than 64 MiB: %v", err)
	}
	var missing *option.ArgumentError
	if err := newMarket(t).Import(nil); !errors.As(err, &missing) {
		t.Errorf("no reader: %v", err)
	}
	if err := newMarket(t).Export(nil); !errors.As(err, &missing) {
		t.Errorf("no writer: %v", err)
	}
}

// A time in the future would keep all that is observed before it from counting.
func TestImportRefusesTheFuture(t *testing.T) {
	text := func(field string, at time.Time) string {
		return `{"schema": "drawknife-spot-history/1", "markets": [{"instanceType": "m", "zone": "a", "price": 1, "level": 1, "priceAt": "2026-01-01T00:00:00Z", "score": 3, "scoreAt": "2026-01-01T00:00:00Z",
			"nodeHours": 1, "historyAt": "2026-01-01T00:00:00Z", "` + field + `": "` + at.Format(time.RFC3339) + `"}]}`
	}
	for _, field := range []string{"priceAt", "historyAt", "scoreAt"} {
		var typed *spotrisk.FileError
		err := newMarket(t).ImportAt(strings.NewReader(text(field, start.Add(time.Hour))), start)
		if !errors.As(err, &typed) || typed.Path != "markets[0]."+field || !strings.Contains(err.Error(), "in the future: correct the clock") {
			t.Errorf("%s: %v", field, err)
		}
		for _, now := range []time.Time{start.Add(56 * time.Minute), start.Add(2 * time.Hour), {}} {
			if err := newMarket(t).ImportAt(strings.NewReader(text(field, start.Add(time.Hour))), now); err != nil {
				t.Errorf("%s at %s: %v", field, now, err)
			}
		}
	}
	// What is observed after an import counts.
	m := newMarket(t)
	if err := m.ImportAt(strings.NewReader(text("historyAt", start)), start); err != nil {
		t.Fatal(err)
	}
	key, it := spotrisk.Key{InstanceType: "m", Zone: "a"}, spotType("m", 1, &cloudprovider.InterruptionRate{Low: 0.1, High: 0.1})
	before := costOf(m, it, spotrisk.Loss{}, start).PerMonth
	for range 10 {
		m.ObserveInterruption(key, start.Add(time.Minute))
	}
	if after := costOf(m, it, spotrisk.Loss{}, start.Add(time.Minute)).PerMonth; after < 2*before {
		t.Errorf("%v interruptions a month, %v before", after, before)
	}
}

func FuzzImport(f *testing.F) {
	f.Add(`{"schema": "drawknife-spot-history/1", "markets": [{"instanceType": "m", "zone": "a", "price": 1, "level": 1, "priceAt": "2026-01-01T00:00:00Z"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := spotrisk.New(spotrisk.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if m.ImportAt(strings.NewReader(text), start.Add(time.Hour)) != nil {
			return
		}
		// Whatever was read, what is observed from then on counts.
		key, now := spotrisk.Key{InstanceType: "m", Zone: "a"}, start.Add(2*time.Hour)
		m.ObservePrice(key, now, 0.5)
		it := spotType("m", 0.5, nil)
		if c := costOf(m, it, spotrisk.Loss{}, now.Add(10*365*24*time.Hour)); math.Abs(c.Level-0.5) > 1e-3 {
			t.Fatalf("the level is %v after ten years at 0.5", c.Level)
		}
		var out bytes.Buffer
		if err := m.Export(&out); err != nil {
			t.Fatal(err)
		}
		again, err := spotrisk.New(spotrisk.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Import(&out); err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
	})
}

func TestOptions(t *testing.T) {
	for name, spoil := range map[string]func(*spotrisk.Options){
		"LevelHalfLife":      func(o *spotrisk.Options) { o.LevelHalfLife = 0 },
		"ReturnHalfLife":     func(o *spotrisk.Options) { o.ReturnHalfLife = -1 },
		"HistoryHalfLife":    func(o *spotrisk.Options) { o.HistoryHalfLife = 0 },
		"PriorInterruptions": func(o *spotrisk.Options) { o.PriorInterruptions = math.NaN() },
		"PriorLaunches":      func(o *spotrisk.Options) { o.PriorLaunches = math.Inf(1) },
		"UnknownRate":        func(o *spotrisk.Options) { o.UnknownRate = 1 },
	} {
		o := spotrisk.DefaultOptions()
		spoil(&o)
		var wrong *option.Error
		if _, err := spotrisk.New(o); !errors.As(err, &wrong) || wrong.Option != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, loss := range map[string]spotrisk.Loss{
		"Restart": {Restart: -1}, "LostWork": {LostWork: 9000 * time.Hour}, "NodeLife": {NodeLife: -1}, "Without": {Without: -1}, "PerNode": {PerNode: math.NaN()}, "PerCPU": {PerCPU: -1},
	} {
		var wrong *option.Error
		if err := loss.Validate(); !errors.As(err, &wrong) || wrong.Option != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := spotrisk.DefaultLoss().Validate(); err != nil {
		t.Error(err)
	}
}
