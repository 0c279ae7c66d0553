package provisioning

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
)

// StockEstimateOptions configure the stock estimate. Start from DefaultStockEstimateOptions.
type StockEstimateOptions struct {
	// HalfLife is the time after which an observation has half its weight; more than 0.
	HalfLife time.Duration
	// Threshold is the probability of success below which an offering is closed, that is, made unavailable; 0 closes no offering.
	Threshold float64
	// ProbeEvery is how often a closed offering may be tried once; 0 means at any time.
	ProbeEvery time.Duration
	// Hardware are the labels of offerings on different hardware, with the ordinary values: see cloudprovider.Capabilities.HardwareLabels.
	// Results of launches on one kind of hardware don't count for another. Nil means that all offerings have one kind.
	Hardware map[string]string
}

// DefaultStockEstimateOptions returns a half-life of ten minutes, a threshold of 0.3, and a probe every five minutes.
func DefaultStockEstimateOptions() StockEstimateOptions {
	return StockEstimateOptions{HalfLife: 10 * time.Minute, Threshold: 0.3, ProbeEvery: 5 * time.Minute}
}

// StockEstimate is the stock estimate: for each offering, the probability that a launch finds capacity. It learns from results of launches,
// and forgets them with time. It also applies a stock-out to similar offerings, so that a wave of pods does not run into the same stock-out
// a hundred times.
//
// The probability is 1/(1+e^-x), where x = 3 + Σ w·e·2^(-age/half-life) over all observations. e is -6 for a launch that found no capacity,
// and +3 for a launch that found capacity. w is 1 for the offering itself, ½ for the other sizes of its family in the same zone and
// capacity type, ¼ for the same type in other zones, and 0 for all others. Without observations, the probability is 95 %. After one
// stock-out, it is 5 % for the offering, and 50 % for other sizes of its family in the zone. (These numbers are our own choice: one failure
// closes an offering, two failures close a family in a zone, and a success opens again what a single failure closed.)
//
// A provider remembers stock-outs itself (CP-CREATE-07); the estimate adds the probable stock-outs of similar offerings, which single
// failures don't show. It is safe for concurrent use.
type StockEstimate struct {
	options StockEstimateOptions

	mu sync.Mutex
	// own has the observations of each offering. family and types have the observations of neighbouring offerings. An entry of family is
	// for one instance family, zone and capacity type. An entry of types is for one instance type and capacity type.
	own    map[cloudprovider.OfferingKey]evidence
	family map[cloudprovider.OfferingKey]evidence
	types  map[cloudprovider.OfferingKey]evidence
	probes map[cloudprovider.OfferingKey]time.Time
	copies map[*cloudprovider.InstanceType]*overridden
}

// evidence is a sum of observations, computed for a point in time. Its value decays after that time.
type evidence struct {
	sum float64
	at  time.Time
}

// overridden is the copy of a type that Apply returned last, in which some offerings are unavailable.
type overridden struct {
	closed string
	typ    *cloudprovider.InstanceType
	used   time.Time
}

// copiesKept is how long an overridden copy of a type is kept after its last use.
const copiesKept = time.Hour

// Weights of the estimate: see StockEstimate.
const (
	estimatePrior   = 3.0
	evidenceFailure = -6.0
	evidenceSuccess = 3.0
	weightFamily    = 0.5
	weightType      = 0.25
	// evidenceMost is the largest absolute value of a sum of observations. With this limit, the estimate still follows a change soon after
	// many equal observations.
	evidenceMost = 12.0
)

// NewStockEstimate returns an estimate without observations. The error is an *option.Error.
func NewStockEstimate(o StockEstimateOptions) (*StockEstimate, error) {
	switch {
	case o.HalfLife <= 0:
		return nil, &option.Error{Package: "provisioning", Option: "StockEstimate.HalfLife", Rule: fmt.Sprintf("is %s: it must be more than 0; start from DefaultStockEstimateOptions", o.HalfLife)}
	case o.ProbeEvery < 0:
		return nil, &option.Error{Package: "provisioning", Option: "StockEstimate.ProbeEvery", Rule: fmt.Sprintf("is %s: it must not be negative", o.ProbeEvery)}
	case !(o.Threshold >= 0 && o.Threshold < 1):
		return nil, &option.Error{Package: "provisioning", Option: "StockEstimate.Threshold", Rule: "a probability is at least 0 and less than 1"}
	}
	o.Hardware = maps.Clone(o.Hardware)
	return &StockEstimate{
		options: o, own: map[cloudprovider.OfferingKey]evidence{}, family: map[cloudprovider.OfferingKey]evidence{},
		types: map[cloudprovider.OfferingKey]evidence{}, probes: map[cloudprovider.OfferingKey]time.Time{},
		copies: map[*cloudprovider.InstanceType]*overridden{},
	}, nil
}

// Exhausted records that a launch found no capacity in these offerings (see cloudprovider.ExhaustedOfferings).
func (b *StockEstimate) Exhausted(keys []cloudprovider.OfferingKey, now time.Time) {
	b.see(keys, evidenceFailure, now)
}

// Launched records that a launch found capacity in the offering. The key may lack labels of the offering that are not about hardware: keys
// made from a NodeClaim's labels (cloudprovider.Capabilities.OfferingOf) lack them. Then the success counts for each observed offering that
// fits the key.
func (b *StockEstimate) Launched(key cloudprovider.OfferingKey, now time.Time) {
	b.see([]cloudprovider.OfferingKey{key}, evidenceSuccess, now)
}

// see adds the evidence e once to each of the offerings, once to each of their families, and once to each of their types. So if a launch
// finds several offerings without capacity, this counts as one observation for their neighbouring offerings.
func (b *StockEstimate) see(keys []cloudprovider.OfferingKey, e float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	families, types := map[cloudprovider.OfferingKey]bool{}, map[cloudprovider.OfferingKey]bool{}
	for _, key := range keys {
		families[b.familyOf(key)], types[b.typeOf(key)] = true, true
		for _, key := range b.observed(key, e) {
			b.own[key] = b.own[key].plus(e, now, b.options.HalfLife)
			if e > 0 {
				delete(b.probes, key)
			}
		}
	}
	for key := range families {
		b.family[key] = b.family[key].plus(e, now, b.options.HalfLife)
	}
	for key := range types {
		b.types[key] = b.types[key].plus(e, now, b.options.HalfLife)
	}
	b.tidy(now)
}

// observed returns the offerings to which evidence for an offering applies. These are the offering itself and, after a success, also known
// offerings that differ from it only in labels that are not about hardware.
func (b *StockEstimate) observed(key cloudprovider.OfferingKey, e float64) []cloudprovider.OfferingKey {
	keys := []cloudprovider.OfferingKey{key}
	if e < 0 || key.Others != key.Hardware(b.options.Hardware) {
		return keys
	}
	for known := range b.own {
		plain := known
		if plain.Others = known.Hardware(b.options.Hardware); known != key && plain == key {
			keys = append(keys, known)
		}
	}
	return keys
}

// Probability returns the estimated probability, between 0 and 1, that a launch of the offering finds capacity now.
func (b *StockEstimate) Probability(key cloudprovider.OfferingKey, now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.probability(key, now)
}

func (b *StockEstimate) probability(key cloudprovider.OfferingKey, now time.Time) float64 {
	h := b.options.HalfLife
	own := b.own[key].value(now, h)
	// family and types also contain the observations of the offering itself, which must count only once.
	x := estimatePrior + own
	x += weightFamily * apart(b.family[b.familyOf(key)].value(now, h), own)
	x += weightType * apart(b.types[b.typeOf(key)].value(now, h), own)
	return 1 / (1 + math.Exp(-x))
}

// apart subtracts the evidence of an offering (own) from the evidence of the offering and its neighbours (all). The result never has the
// opposite sign of the parameter all.
func apart(all, own float64) float64 {
	if all < 0 {
		return min(0, all-min(own, 0))
	}
	return max(0, all-max(own, 0))
}

// Apply returns the list for planners, in which offerings that are probably out of stock are closed, except for those that are due for a
// probe. Unchanged types are returned as the same pointers in each call; others are copied once. The caller owns the list.
func (b *StockEstimate) Apply(list []*cloudprovider.InstanceType, now time.Time) []*cloudprovider.InstanceType {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.family) == 0 {
		clear(b.copies)
		return slices.Clone(list)
	}
	out := make([]*cloudprovider.InstanceType, len(list))
	for i, t := range list {
		out[i] = b.applied(t, now)
	}
	for t, c := range b.copies {
		if now.Sub(c.used) > copiesKept {
			delete(b.copies, t)
		}
	}
	return out
}

func (b *StockEstimate) applied(t *cloudprovider.InstanceType, now time.Time) *cloudprovider.InstanceType {
	var closed []int
	var text strings.Builder
	for i := range t.Offerings {
		o := &t.Offerings[i]
		key := cloudprovider.KeyOf(t, o)
		// The number of free instances of a reservation is known, so it need not be estimated.
		if !o.Available || o.Reserved() || b.probability(key, now) >= b.options.Threshold || b.mayProbe(key, now) {
			continue
		}
		closed = append(closed, i)
		text.WriteString(key.String())
		text.WriteByte(';')
	}
	if len(closed) == 0 {
		delete(b.copies, t)
		return t
	}
	if known := b.copies[t]; known != nil && known.closed == text.String() {
		known.used = now
		return known.typ
	}
	own := *t
	own.Offerings = slices.Clone(t.Offerings)
	for _, i := range closed {
		own.Offerings[i].Available = false
	}
	b.copies[t] = &overridden{closed: text.String(), typ: &own, used: now}
	return &own
}

// Begin records that a launch will try the offerings. For closed offerings this is the probe, and other launches don't use them until the
// next probe is due.
func (b *StockEstimate) Begin(keys []cloudprovider.OfferingKey, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		if b.probability(key, now) < b.options.Threshold {
			b.probes[key] = now
		}
	}
}

// mayProbe reports whether the offering may be tried again: ProbeEvery has passed since its last probe, and since the last observation of
// the offering or its neighbours.
func (b *StockEstimate) mayProbe(key cloudprovider.OfferingKey, now time.Time) bool {
	last := b.probes[key]
	for _, e := range []evidence{b.own[key], b.family[b.familyOf(key)], b.types[b.typeOf(key)]} {
		if e.at.After(last) {
			last = e.at
		}
	}
	return !now.Before(last.Add(b.options.ProbeEvery))
}

// tidy drops observations whose value has decayed to almost nothing, so that memory depends only on recent launches.
func (b *StockEstimate) tidy(now time.Time) {
	for _, m := range []map[cloudprovider.OfferingKey]evidence{b.own, b.family, b.types} {
		for key, e := range m {
			if math.Abs(e.value(now, b.options.HalfLife)) < 0.01 {
				delete(m, key)
			}
		}
	}
	for key, at := range b.probes {
		if _, ok := b.own[key]; !ok && now.Sub(at) > b.options.ProbeEvery {
			delete(b.probes, key)
		}
	}
}

func (e evidence) value(now time.Time, halfLife time.Duration) float64 {
	if e.sum == 0 {
		return 0
	}
	age := max(0, now.Sub(e.at))
	return e.sum * math.Exp2(-age.Seconds()/halfLife.Seconds())
}

func (e evidence) plus(more float64, now time.Time, halfLife time.Duration) evidence {
	sum := e.value(now, halfLife) + more
	return evidence{sum: min(max(sum, -evidenceMost), evidenceMost), at: now}
}

// familyOf returns the key of the offering's family in its zone, for StockEstimate.family. The family is the part of the type's name before
// the first dot. A name without a dot is its own family.
func (b *StockEstimate) familyOf(key cloudprovider.OfferingKey) cloudprovider.OfferingKey {
	family, _, _ := strings.Cut(key.InstanceType, ".")
	return cloudprovider.OfferingKey{InstanceType: family, Zone: key.Zone, CapacityType: key.CapacityType, Others: key.Hardware(b.options.Hardware)}
}

// typeOf returns the key of the offering's type in all zones, for StockEstimate.types.
func (b *StockEstimate) typeOf(key cloudprovider.OfferingKey) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: key.InstanceType, CapacityType: key.CapacityType, Others: key.Hardware(b.options.Hardware)}
}
