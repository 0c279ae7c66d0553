package simulate

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

//go:embed fees.yaml
var feesText []byte

// fee is something that nodes cost beyond the list price of their instances.
type fee struct {
	Name string `json:"name"`
	// Unit of the amount that multiplies PerNode, and its default; an empty Unit takes no amount.
	Unit   string  `json:"unit,omitempty"`
	Amount float64 `json:"amount,omitempty"`
	// PercentOfOnDemand makes the only term a share of the on-demand price, whatever the node is bought as.
	PercentOfOnDemand float64               `json:"percentOfOnDemand,omitempty"`
	Terms             []scheduling.CostTerm `json:"terms"`
}

// chosenFee is one that --fees names.
type chosenFee struct {
	fee
	pools []string
}

func readFees() (map[string]fee, error) {
	var file struct {
		Fees []fee `json:"fees"`
	}
	if err := yaml.UnmarshalStrict(feesText, &file); err != nil {
		return nil, fmt.Errorf("reading the built-in fees: %w", err)
	}
	fees := make(map[string]fee, len(file.Fees))
	for _, f := range file.Fees {
		fees[f.Name] = f
	}
	return fees, nil
}

// parseFees reads --fees: NAME, NAME=AMOUNT, NAME@POOL or NAME=AMOUNT@POOL, several with commas between them.
func parseFees(text string) ([]chosenFee, error) {
	if text == "" {
		return nil, nil
	}
	known, err := readFees()
	if err != nil {
		return nil, err
	}
	var out []chosenFee
	for _, item := range strings.Split(text, ",") {
		rest, pool, inPool := strings.Cut(strings.TrimSpace(item), "@")
		name, amount, given := strings.Cut(rest, "=")
		f, ok := known[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("--fees: there is no fee %q, only %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case inPool && pool == "":
			return nil, fmt.Errorf("--fees %s: needs the name of a NodePool after @", item)
		case given && f.Unit == "":
			return nil, fmt.Errorf("--fees %s: %s takes no amount", item, name)
		case !given && f.Unit != "" && f.Amount == 0:
			return nil, fmt.Errorf("--fees %s: needs an amount, as %s=10 for 10 %s", item, name, f.Unit)
		}
		if given {
			if f.Amount, err = strconv.ParseFloat(amount, 64); err != nil || !(f.Amount >= 0 && f.Amount <= 1e6) {
				return nil, fmt.Errorf("--fees %s: must be a number of %s, from 0 to 1000000", item, f.Unit)
			}
		}
		if slices.ContainsFunc(out, func(c chosenFee) bool { return c.Name == name }) {
			return nil, fmt.Errorf("--fees: %s is named twice", name)
		}
		c := chosenFee{fee: f}
		if inPool {
			c.pools = strings.Split(pool, "+")
		}
		out = append(out, c)
	}
	return out, nil
}

// checkPools refuses pools that are not in the snapshot: a fee for a misspelled pool would have no effect.
func (c chosenFee) checkPools(snapshot *scheduling.Snapshot) error {
	var known []string
	for i := range snapshot.NodePools {
		known = append(known, snapshot.NodePools[i].Identity().String())
	}
	slices.Sort(known)
	for _, pool := range c.pools {
		if !slices.Contains(known, pool) {
			return fmt.Errorf("--fees %s@%s: the input has no nodepool %q, only %s", c.Name, strings.Join(c.pools, "+"), pool, strings.Join(known, ", "))
		}
	}
	return nil
}

// terms are those of the fee, for the types of the snapshot.
func (c chosenFee) terms(snapshot *scheduling.Snapshot) []scheduling.CostTerm {
	var out []scheduling.CostTerm
	for i, t := range c.Terms {
		if c.PercentOfOnDemand > 0 {
			t.Offerings = shareOfOnDemand(snapshot, c.PercentOfOnDemand)
		}
		if t.PerNode != nil && c.Unit != "" {
			usd := *t.PerNode * c.Amount
			t.PerNode = &usd
		}
		t.Name = c.Name
		if i > 0 {
			t.Name = fmt.Sprintf("%s (%d)", c.Name, i+1)
		}
		t.Where.NodePools = c.pools
		out = append(out, t)
	}
	return out
}

// shareOfOnDemand is a share of the on-demand price in the same zone, for each offering of the snapshot but reserved ones.
func shareOfOnDemand(snapshot *scheduling.Snapshot, percent float64) []scheduling.OfferingAmount {
	var types []*cloudprovider.InstanceType
	for _, name := range slices.Sorted(maps.Keys(snapshot.Catalogs)) {
		types = append(types, snapshot.Catalogs[name]...)
	}
	return scheduling.Tabulate("share", "share", types, func(it *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		if o.Reserved() {
			return 0
		}
		for i := range it.Offerings {
			if on := &it.Offerings[i]; on.CapacityType() == v1.CapacityTypeOnDemand && on.Zone() == o.Zone() {
				return on.Price * percent / 100
			}
		}
		return 0
	}).Offerings
}

// addCosts gives the snapshot the cost model of --cost-model, the fees of --fees, and what --spot-risk counts.
func (s *simulation) addCosts(snapshot *scheduling.Snapshot) error {
	if err := s.readCostModel(snapshot); err != nil {
		return err
	}
	if err := s.addFees(snapshot); err != nil {
		return err
	}
	return s.addSpotRisk(snapshot)
}

// addFees puts the fees of --fees after the terms of the cost model, so that commitments don't cover them.
func (s *simulation) addFees(snapshot *scheduling.Snapshot) error {
	if len(s.fees) == 0 {
		return nil
	}
	model := &scheduling.CostModel{}
	if snapshot.CostModel != nil {
		model.Terms = slices.Clone(snapshot.CostModel.Terms)
	}
	for _, c := range s.fees {
		if err := c.checkPools(snapshot); err != nil {
			return err
		}
		model.Terms = append(model.Terms, c.terms(snapshot)...)
	}
	snapshot.CostModel = model
	if err := model.Validate(); err != nil {
		return fmt.Errorf("--fees: %w", err)
	}
	return nil
}
