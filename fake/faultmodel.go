package fake

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Defaults of FaultModel.
const (
	DefaultReclaimNotice = 2 * time.Minute
	DefaultThrottleWait  = time.Second
)

// FaultModel makes random faults. The zero value makes no faults. The faults depend only on the seed and the order of calls, so calls from
// a single goroutine get the same faults each time. Shares are in the range from 0 to 1.
type FaultModel struct {
	// Seed of chance.
	Seed uint64
	// Throttled, Failed and Lost are shares of all calls. Throttled calls return a throttling error, failed calls return a temporary error,
	// and lost calls succeed but return an error. Their sum is at most 1.
	Throttled, Failed, Lost float64
	// ThrottleWait is the waiting time in the error of a throttled call. Nil is DefaultThrottleWait.
	ThrottleWait *time.Duration
	// OutOfStock is the share of launches that find their first offering out of stock. This offering stays out of stock for EmptyFor. Nil
	// is Options.StockOutMemory.
	OutOfStock float64
	EmptyFor   *time.Duration
	// Stillborn is the share of instances that never boot: they are launched and then terminated.
	Stillborn float64
	// MeanLife is how long an instance runs on average before it fails without a warning; zero means forever.
	MeanLife time.Duration
	// MeanSpotLife is how long a spot instance runs on average before it is reclaimed; zero means forever. ReclaimNotice is the time
	// between the warning and the reclaim. Nil means DefaultReclaimNotice; 0 means that the warning comes only when the instance is
	// reclaimed.
	MeanSpotLife  time.Duration
	ReclaimNotice *time.Duration
	// Duplicated is the share of interruptions that are sent twice.
	Duplicated float64
	// PriceEvery is how often spot prices change; zero means never. PriceMove is the largest change of a price at a time, as a share of the
	// price. Prices stay between a third and three times the initial price.
	PriceEvery time.Duration
	PriceMove  float64
}

func (w FaultModel) validate() error {
	var faults []error
	for _, share := range []struct {
		name  string
		value float64
	}{
		{"Throttled", w.Throttled}, {"Failed", w.Failed}, {"Lost", w.Lost}, {"Throttled + Failed + Lost", w.Throttled + w.Failed + w.Lost},
		{"OutOfStock", w.OutOfStock}, {"Stillborn", w.Stillborn}, {"Duplicated", w.Duplicated}, {"PriceMove", w.PriceMove},
	} {
		if !(share.value >= 0 && share.value <= 1) {
			faults = append(faults, outOfBounds(share.name, "is %v; it must be from 0 to 1", share.value))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"ThrottleWait", option.Or(w.ThrottleWait, 0)}, {"EmptyFor", option.Or(w.EmptyFor, 0)}, {"MeanLife", w.MeanLife}, {"MeanSpotLife", w.MeanSpotLife},
		{"ReclaimNotice", option.Or(w.ReclaimNotice, 0)}, {"PriceEvery", w.PriceEvery},
	} {
		if d.value < 0 {
			faults = append(faults, outOfBounds(d.name, "is %s; it must not be negative", d.value))
		}
	}
	return errors.Join(faults...)
}

// outOfBounds returns the error for an invalid field, or for several fields that don't fit together.
func outOfBounds(field, rule string, value any) error {
	return &option.Error{Package: "fake", Option: "FaultModel." + field, Rule: fmt.Sprintf(rule, value)}
}

func (w FaultModel) withDefaults(o Options) FaultModel {
	wait, empty, notice := option.Or(w.ThrottleWait, DefaultThrottleWait), option.Or(w.EmptyFor, option.Or(o.StockOutMemory, DefaultStockOutMemory)), option.Or(w.ReclaimNotice, DefaultReclaimNotice)
	w.ThrottleWait, w.EmptyFor, w.ReclaimNotice = &wait, &empty, &notice
	return w
}

// chance makes the random decisions of the fault model. The lock of the account guards it.
type chance struct {
	FaultModel
	source *rand.Rand
}

func newChance(w FaultModel) chance {
	return chance{FaultModel: w, source: rand.New(rand.NewPCG(w.Seed, 0x6472_6177_6b6e_6966))}
}

// is returns true with probability share. For a share of zero, it does not draw a random number.
func (c *chance) is(share float64) bool { return share > 0 && c.source.Float64() < share }

// one returns 1 with probability share, and otherwise 0.
func (c *chance) one(share float64) int {
	if c.is(share) {
		return 1
	}
	return 0
}

// after draws a random duration with the given mean. It returns false if the mean is zero, which means never.
func (c *chance) after(mean time.Duration) (time.Duration, bool) {
	if mean <= 0 {
		return 0, false
	}
	// The limit of a century is longer than any simulation and prevents an overflow.
	return time.Duration(min(c.source.ExpFloat64()*float64(mean), float64(100*365*24*time.Hour))), true
}

// strike returns the fault that the model makes for a call, or nil if it makes no fault.
func (c *chance) strike(method Method) *Fault {
	if c.Throttled+c.Failed+c.Lost == 0 {
		return nil
	}
	switch drawn := c.source.Float64(); {
	case drawn < c.Throttled:
		return &Fault{Method: method, Err: cloudprovider.NewThrottledError("fake:"+string(method), *c.ThrottleWait, nil)}
	case drawn < c.Throttled+c.Failed:
		return &Fault{Method: method, Err: cloudprovider.NewTransientError(errors.New("the cloud has a temporary failure"))}
	case drawn < c.Throttled+c.Failed+c.Lost:
		return &Fault{Method: method, Err: cloudprovider.NewTransientError(errors.New("the answer was lost")), Lost: true}
	}
	return nil
}

// forecast plans the random events in the life of a launched instance. A planned event stores only the provider ID, so that an instance
// that is gone needs no memory.
func (a *account) forecast(m *instance) {
	id := m.ProviderID
	if life, ends := a.chance.after(a.chance.MeanLife); ends {
		a.timeline.plan(m.RunningAt.Add(life), func(at time.Time) {
			if m := a.instances[id]; m != nil && m.live() {
				a.happened("Failed", m, at)
				a.shutDown(m, at)
			}
		})
	}
	if m.Offering.CapacityType != v1.CapacityTypeSpot {
		return
	}
	if life, ends := a.chance.after(a.chance.MeanSpotLife); ends {
		a.timeline.plan(m.RunningAt.Add(life), func(at time.Time) {
			if m := a.instances[id]; m != nil && m.live() && m.ReclaimAt.IsZero() {
				a.announce(m, cloudprovider.InterruptionSpotReclaim, *a.chance.ReclaimNotice, at)
			}
		})
	}
}

// movePrices moves the prices of spot offerings, and plans the next move.
func (a *account) movePrices(at time.Time) {
	prices := map[cloudprovider.OfferingKey]float64{}
	for i, t := range a.catalog.types {
		for j := range t.Offerings {
			state := a.catalog.states[i][j]
			if t.Offerings[j].CapacityType() != v1.CapacityTypeSpot {
				continue
			}
			moved := t.Offerings[j].Price * (1 + a.chance.PriceMove*(2*a.chance.source.Float64()-1))
			prices[cloudprovider.KeyOf(t, &t.Offerings[j])] = roundPrice(math.Max(state.firstPrice/3, math.Min(moved, 3*state.firstPrice)))
		}
	}
	a.catalog.reprice(prices)
	a.record(Event{At: at, Kind: EventHappening, Name: "PricesMoved", Number: len(prices)})
	a.timeline.plan(at.Add(a.chance.PriceEvery), a.movePrices)
}
