package simulate

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// maxComparisons limits the notes about spot nodes that were chosen over cheaper ones.
const maxComparisons = 5

// spotRisk contains the options of --spot-risk and --spot-history: the costs of an interruption, and the market. The zero value disables
// both.
type spotRisk struct {
	text, history string
	loss          spotrisk.Loss
	market        *spotrisk.Market
}

// parse reads --spot-risk: "default", or differences from it such as lost-work=8h,per-node=0.5.
func (r *spotRisk) parse() error {
	if r.text == "" {
		if r.history != "" {
			return fmt.Errorf("--spot-history %s: use it only with --spot-risk", r.history)
		}
		return nil
	}
	r.loss = spotrisk.DefaultLoss()
	for _, item := range strings.Split(r.text, ",") {
		if item = strings.TrimSpace(item); item == "default" {
			continue
		}
		if err := r.set(item); err != nil {
			return err
		}
	}
	if err := r.loss.Validate(); err != nil {
		return fmt.Errorf("--spot-risk %s: %w", r.text, err)
	}
	var err error
	r.market, err = spotrisk.New(spotrisk.DefaultOptions())
	return err
}

func (r *spotRisk) set(item string) error {
	name, text, _ := strings.Cut(item, "=")
	times := map[string]*time.Duration{"node-life": &r.loss.NodeLife, "restart": &r.loss.Restart, "lost-work": &r.loss.LostWork, "without": &r.loss.Without}
	amounts := map[string]*float64{"per-node": &r.loss.PerNode, "per-cpu": &r.loss.PerCPU}
	var err error
	switch {
	case times[name] != nil:
		if *times[name], err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("--spot-risk %s: needs a time, as %s=10m", item, name)
		}
	case amounts[name] != nil:
		if *amounts[name], err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("--spot-risk %s: needs an amount in USD, as %s=0.5", item, name)
		}
	default:
		return fmt.Errorf("--spot-risk %s: must be default, or settings of the form node-life=TIME, restart=TIME, lost-work=TIME, without=TIME, per-node=USD or per-cpu=USD, such as restart=10m or per-node=0.5", item)
	}
	return nil
}

// addSpotRisk puts the terms of --spot-risk before the other terms of the snapshot's cost model, so that commitments and fees are computed
// from the expected costs.
func (s *simulation) addSpotRisk(snapshot *scheduling.Snapshot) error {
	r := &s.spotRisk
	if r.market == nil {
		return nil
	}
	if r.history != "" {
		file, err := os.Open(r.history)
		if err != nil {
			return fmt.Errorf("reading the spot history: %w", err)
		}
		defer file.Close() // nothing was written, so closing can't lose anything
		if err := r.market.ImportAt(file, time.Now()); err != nil {
			return fmt.Errorf("--spot-history %s: %w", r.history, err)
		}
	}
	model := &scheduling.CostModel{}
	for _, in := range s.termsInputs(snapshot) {
		model.Terms = append(model.Terms, r.market.Terms(in)...)
	}
	if snapshot.CostModel != nil {
		model.Terms = append(model.Terms, snapshot.CostModel.Terms...)
	}
	snapshot.CostModel = model
	if err := model.Validate(); err != nil {
		return fmt.Errorf("--spot-risk: %w", err)
	}
	return nil
}

// termsInputs returns one input for each catalog, because the price of an offering may differ between catalogs, for example with a licence.
func (s *simulation) termsInputs(snapshot *scheduling.Snapshot) []spotrisk.TermsInput {
	pools := map[string][]string{}
	for i := range snapshot.NodePools {
		pool := &snapshot.NodePools[i]
		pools[pool.Catalog] = append(pools[pool.Catalog], pool.Identity().String())
	}
	var out []spotrisk.TermsInput
	for name, types := range snapshot.Catalogs {
		if len(pools[name]) == 0 {
			continue
		}
		in := spotrisk.TermsInput{Time: snapshot.Time, Types: types, Loss: s.spotRisk.loss}
		if len(pools) > 1 {
			in.NodePools = slices.Sorted(slices.Values(pools[name]))
		}
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b spotrisk.TermsInput) int { return slices.Compare(a.NodePools, b.NodePools) })
	return out
}

// remarkOnSpotRisk adds notes about spot nodes that the plan chose although another offering has a lower price, with the reasons.
func (s *simulation) remarkOnSpotRisk(snapshot *scheduling.Snapshot, plan *scheduling.Plan) {
	if s.spotRisk.market == nil {
		return
	}
	var said []string
	for i := range plan.NewNodes {
		node := &plan.NewNodes[i]
		types := catalogOf(snapshot, node.Pool)
		chosen, lowest := node.InstanceTypes[0], lowestPrice(node.InstanceTypes)
		text := s.spotRisk.market.Compare(candidateOf(types, chosen.Offering()), candidateOf(types, lowest.Offering()), s.spotRisk.loss, snapshot.Time)
		if text == "" || slices.Contains(said, text) {
			continue
		}
		if said = append(said, text); len(said) > maxComparisons {
			return
		}
		s.note("SpotRisk", "%s", text)
	}
}

// lowestPrice returns the option with the lowest list price.
func lowestPrice(options []scheduling.InstanceTypeOption) scheduling.InstanceTypeOption {
	return slices.MinFunc(options, func(a, b scheduling.InstanceTypeOption) int {
		switch x, y := listPrice(a), listPrice(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a.Offering().Compare(b.Offering())
	})
}

func listPrice(o scheduling.InstanceTypeOption) float64 {
	if len(o.Terms) == 0 {
		return o.Price
	}
	return o.Terms[0].Amount
}

func catalogOf(snapshot *scheduling.Snapshot, pool v1.PoolKey) []*cloudprovider.InstanceType {
	for i := range snapshot.NodePools {
		if snapshot.NodePools[i].Identity() == pool {
			return snapshot.Catalogs[snapshot.NodePools[i].Catalog]
		}
	}
	return nil
}

// candidateOf returns the offering with the key from a catalog, or the zero value if the catalog has no such offering.
func candidateOf(types []*cloudprovider.InstanceType, key cloudprovider.OfferingKey) cloudprovider.Candidate {
	for _, t := range types {
		if t.Name != key.InstanceType {
			continue
		}
		for i := range t.Offerings {
			if cloudprovider.KeyOf(t, &t.Offerings[i]) == key {
				return cloudprovider.Candidate{Type: t, Offering: &t.Offerings[i]}
			}
		}
	}
	return cloudprovider.Candidate{}
}
