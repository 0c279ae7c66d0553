package market

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/discounts"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// observeEvery is how often prices and nodes of snapshots are observed, and how often the terms of spot risk are computed again.
const observeEvery = time.Minute

// CostsOptions are the sources of costs for NewCosts. The zero value gives list prices.
type CostsOptions struct {
	// Cluster is the name of the cluster, for Sharing. Required with Commitments.
	Cluster string
	// SpotRisk is the market that counts interruptions; nil means that they are not counted.
	SpotRisk *spotrisk.Market
	// Loss is the loss of one interruption; nil means spotrisk.DefaultLoss.
	Loss *spotrisk.Loss
	// Commitments returns the commitments of the account, or nil if they are not known: aws.Provider.Commitments. If the function is nil,
	// no commitments are counted.
	Commitments func() *commitments.Account
	// Reports returns the reports of other clusters of the account about their use of commitments; nil means that there are none.
	Reports func() []commitments.ClusterUse
	// Facts make plans prefer, at equal price, instance types whose nodes are ready sooner; nil means that no type is preferred.
	Facts *nodefacts.Book
	// Terms are further terms, such as fees, after those of spot risk and commitments. Nil: none.
	Terms []planning.CostTerm
	// Fees returns a cost model whose terms follow the other terms, for example fees.Choices.Models. Nil: none.
	Fees func(*scheduling.Snapshot) *scheduling.CostModel
	// Metrics shows how much of the commitments is used; nil means that nothing is shown.
	Metrics *Metrics
	// Logger receives errors; nil discards them.
	Logger *slog.Logger
}

// Costs computes the cost model for snapshots. It is safe for concurrent use. Make one with NewCosts.
type Costs struct {
	options CostsOptions
	loss    spotrisk.Loss

	mu       sync.Mutex
	observed time.Time             // the last time at which prices and nodes were observed
	riskOf   []string              // the pools and catalogs for which the risk was computed
	risk     []planning.CostTerm   // of spot risk
	model    *scheduling.CostModel // the last returned model
	uses     commitments.Uses      // how much of the commitments the nodes of the last snapshot use
	peers    [][]string            // see Peers
	failed   string                // the text of the last logged error
}

// NewCosts checks the options. The error is an *option.Error.
func NewCosts(o CostsOptions) (*Costs, error) {
	c := &Costs{options: o, loss: option.Or(o.Loss, spotrisk.DefaultLoss())}
	if err := c.loss.Validate(); err != nil {
		return nil, err
	}
	if o.Commitments != nil && o.Cluster == "" {
		return nil, &option.Error{Package: "market", Option: "Cluster", Rule: "is required with Commitments: it identifies the cluster to others"}
	}
	if err := (&planning.CostModel{Terms: o.Terms}).Validate(); err != nil {
		return nil, fmt.Errorf("terms of the cost model: %w", err)
	}
	if c.options.Logger == nil {
		c.options.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Model returns the cost model of a snapshot, for reconcilers.Options.CostModel. The same pointer is returned while nothing changes.
func (c *Costs) Model(s *scheduling.Snapshot) *scheduling.CostModel {
	if s == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	model := &scheduling.CostModel{}
	model.Terms = append(model.Terms, c.riskTerms(s)...)
	model.Terms = append(model.Terms, c.paidTerms(s)...)
	model.Terms = append(model.Terms, c.options.Terms...)
	if c.options.Fees != nil {
		if fees := c.options.Fees(s); fees != nil {
			model.Terms = append(model.Terms, fees.Terms...)
		}
	}
	if c.options.Facts != nil {
		model.Terms = append(model.Terms, c.options.Facts.ReadyTerms(s)...)
	}
	if err := model.Validate(); err != nil { // planning with list prices is better than no plan
		if c.isNew(err) {
			c.options.Logger.Error("cannot use the cost model, planning with list prices", "error", err)
		}
		model = &scheduling.CostModel{}
	}
	if c.model == nil || !reflect.DeepEqual(c.model, model) {
		c.model = model
	}
	return c.model
}

// Uses returns the use of the commitments by the nodes of the last snapshot.
func (c *Costs) Uses() commitments.Uses {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.uses)
}

// isNew reports whether the text of err differs from that of the last error for which isNew was called.
func (c *Costs) isNew(err error) bool {
	text := err.Error()
	changed := text != c.failed
	c.failed = text
	return changed
}

// paidTerms returns the terms of commitments and discounts.
func (c *Costs) paidTerms(s *scheduling.Snapshot) []planning.CostTerm {
	if c.options.Commitments == nil {
		return nil
	}
	account := c.options.Commitments()
	if account == nil {
		return nil
	}
	c.uses = discounts.Use(account, s)
	var reports []commitments.ClusterUse
	if c.options.Reports != nil {
		reports = c.options.Reports()
	}
	shares := account.Available(c.options.Cluster, c.uses, reports, s.Time)
	c.options.Metrics.shown(shares, c.uses)
	terms, err := discounts.Terms(account, shares)
	if err != nil {
		if c.isNew(err) {
			c.options.Logger.Error("cannot compute the terms of commitments and discounts, planning without them", "error", err)
		}
		return nil
	}
	return terms
}

// riskTerms returns the terms of spot risk. They are computed again after a minute, and earlier if the pools have changed.
func (c *Costs) riskTerms(s *scheduling.Snapshot) []planning.CostTerm {
	if c.options.SpotRisk == nil {
		return nil
	}
	inputs := c.inputs(s)
	var names []string
	for _, in := range inputs {
		names = append(names, append([]string{fmt.Sprint(len(in.Types))}, in.NodePools...)...)
	}
	since := s.Time.Sub(c.observed)
	if since >= 0 && since < observeEvery && slices.Equal(names, c.riskOf) {
		return c.risk
	}
	if c.observed.IsZero() || since >= observeEvery {
		c.observe(s, since)
		c.observed = s.Time
	}
	c.riskOf, c.risk = names, nil
	for _, in := range inputs {
		c.risk = append(c.risk, c.options.SpotRisk.Terms(in)...)
	}
	return c.risk
}

// inputs returns one input for each catalog, because the same offering may have another price in another catalog, for example with a
// licence.
func (c *Costs) inputs(s *scheduling.Snapshot) []spotrisk.TermsInput {
	pools := map[string][]string{}
	for i := range s.NodePools {
		pool := &s.NodePools[i]
		pools[pool.Catalog] = append(pools[pool.Catalog], pool.Identity().String())
	}
	var out []spotrisk.TermsInput
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		types := s.Catalogs[name]
		if len(types) == 0 {
			continue
		}
		in := spotrisk.TermsInput{Time: s.Time, Types: types, Loss: c.loss}
		if len(pools) > 1 {
			slices.Sort(pools[name])
			in.NodePools = pools[name]
		}
		out = append(out, in)
	}
	return out
}

// longestGap is the longest time between two snapshots that counts as running time of the spot nodes. Longer gaps are ignored, because
// nodes may have been launched and terminated in between.
const longestGap = 10 * time.Minute

// observe records the spot prices of the snapshot, and for how long its spot nodes have run since the last snapshot.
func (c *Costs) observe(s *scheduling.Snapshot, since time.Duration) {
	for _, types := range s.Catalogs {
		for _, t := range types {
			for i := range t.Offerings {
				o := &t.Offerings[i]
				if o.CapacityType() == v1.CapacityTypeSpot && o.PriceBasis != nil && o.PriceBasis.Confidence == cloudprovider.PriceCurrent {
					c.options.SpotRisk.ObservePrice(spotrisk.Key{InstanceType: t.Name, Zone: o.Zone()}, s.Time, o.Price)
				}
			}
		}
	}
	c.peers = peersOf(s)
	if c.observed.IsZero() || since <= 0 || since > longestGap {
		return
	}
	running := map[spotrisk.Key]int{}
	for i := range s.Nodes {
		if key, ok := spotOf(&s.Nodes[i]); ok {
			running[key]++
		}
	}
	for key, n := range running {
		c.options.SpotRisk.ObserveNodes(key, s.Time, time.Duration(n)*since)
	}
}
