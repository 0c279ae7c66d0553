package spotrisk

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"time"
)

// Key names a spot market: an instance type in a zone.
type Key struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
}

// Compare orders keys by instance type, then by zone.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.InstanceType, o.InstanceType), strings.Compare(k.Zone, o.Zone))
}

// Market contains the observations of spot markets. Older observations have less weight. It is safe for concurrent use; New makes one.
type Market struct {
	options Options
	mu      sync.Mutex
	records map[Key]*record
}

// record contains the observations of one market. The output of Export contains each record as JSON.
type record struct {
	Key
	// Price is the last price, observed at PriceAt. Level is the level of earlier prices at that time.
	Price   float64   `json:"price,omitempty"`
	PriceAt time.Time `json:"priceAt,omitzero"`
	Level   float64   `json:"level,omitempty"`
	// NodeHours, Interruptions, Launches and Refused are sums with the weights that apply at the time HistoryAt.
	NodeHours     float64   `json:"nodeHours,omitempty"`
	Interruptions float64   `json:"interruptions,omitempty"`
	Launches      float64   `json:"launches,omitempty"`
	Refused       float64   `json:"refused,omitempty"`
	HistoryAt     time.Time `json:"historyAt,omitzero"`
	// Score is the placement score that was observed at ScoreAt, from 1 to 10. 0 means that no score is known.
	Score   int       `json:"score,omitempty"`
	ScoreAt time.Time `json:"scoreAt,omitzero"`
}

// New makes a market without observations. The error is an *option.Error.
func New(o Options) (*Market, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Market{options: o, records: map[Key]*record{}}, nil
}

// ObservePrice records the price, in USD per hour, that is valid from the given time on. It ignores invalid prices and prices that are
// older than the last one.
func (m *Market) ObservePrice(key Key, at time.Time, usd float64) {
	if !isPrice(usd) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record(key)
	switch {
	case r.PriceAt.IsZero():
		r.Level = usd
	case !at.After(r.PriceAt):
		return
	default:
		r.Level = r.levelAt(at, m.options.LevelHalfLife)
	}
	r.Price, r.PriceAt = usd, at
}

// ObserveNodes records the total time that nodes ran, up to the given time: for ten nodes that ran an hour, it is ten hours.
func (m *Market) ObserveNodes(key Key, at time.Time, ran time.Duration) {
	if ran > 0 {
		m.count(key, at, func(r *record, weight float64) { r.NodeHours += weight * ran.Hours() })
	}
}

// ObserveInterruption records that a node was interrupted, which means that its instance was reclaimed. A recommendation to replace the
// instance does not count.
func (m *Market) ObserveInterruption(key Key, at time.Time) {
	m.count(key, at, func(r *record, weight float64) { r.Interruptions += weight })
}

// ObserveLaunch records a launch, and whether it was refused because there was no capacity.
func (m *Market) ObserveLaunch(key Key, at time.Time, refused bool) {
	m.count(key, at, func(r *record, weight float64) {
		r.Launches += weight
		if refused {
			r.Refused += weight
		}
	})
}

// ObserveScore records a placement score of EC2, from 1 to 10. It ignores other numbers, and scores that are older than the last one.
func (m *Market) ObserveScore(key Key, at time.Time, score int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.record(key); score >= 1 && score <= 10 && !at.Before(r.ScoreAt) {
		r.Score, r.ScoreAt = score, at
	}
}

// count adds an observation to the history of a market. An observation that arrives late gets the weight that it would have now if it had
// arrived in time.
func (m *Market) count(key Key, at time.Time, add func(r *record, weight float64)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record(key)
	r.decayTo(at, m.options.HistoryHalfLife)
	add(r, halved(r.HistoryAt.Sub(at), m.options.HistoryHalfLife))
}

func (m *Market) record(key Key) *record {
	r := m.records[key]
	if r == nil {
		r = &record{Key: key}
		m.records[key] = r
	}
	return r
}

// decayTo reduces the weights of the history to the weights at the given time. If this time is before HistoryAt, it does nothing.
func (r *record) decayTo(at time.Time, halfLife time.Duration) {
	if r.HistoryAt.IsZero() {
		r.HistoryAt = at
	}
	if !at.After(r.HistoryAt) {
		return
	}
	weight := halved(at.Sub(r.HistoryAt), halfLife)
	r.NodeHours, r.Interruptions, r.Launches, r.Refused = r.NodeHours*weight, r.Interruptions*weight, r.Launches*weight, r.Refused*weight
	r.HistoryAt = at
}

// levelAt returns the level of prices at the given time, assuming that the last price is valid until this time.
func (r *record) levelAt(at time.Time, halfLife time.Duration) float64 {
	weight := halved(at.Sub(r.PriceAt), halfLife)
	return weight*r.Level + (1-weight)*r.Price
}

// halved returns the weight that an observation has after the given time if its weight was 1.
func halved(after, halfLife time.Duration) float64 {
	return math.Exp2(-max(after, 0).Hours() / halfLife.Hours())
}

func isPrice(usd float64) bool { return usd > 0 && !math.IsInf(usd, 0) }
