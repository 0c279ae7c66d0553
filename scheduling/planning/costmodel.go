package planning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// CostModel says what a node costs where that is not its list price: discounts, what is paid for beforehand, fees per
// node, a price on carbon. It is plain data and part of the Snapshot, so that a plan can be replayed and each of its
// prices be audited: an InstanceTypeOption lists the terms that made its price, with their source. A plan, its lower bound and its
// explanations all use these prices.
//
// An offering's price begins as its list price (node overlays included); each term that applies changes it, in the order
// they are written, in whole nano-USD. A price never falls below 0 nor rises above 1e9 USD per hour: what a term would
// take or add beyond that is not taken or added, and Terms in the plan say what really was.
//
// A CostModel must not be changed once a Snapshot has it. The zero value, like nil, is list price alone.
type CostModel struct {
	// Terms in the order they apply, at most 256. Names are unique.
	Terms []CostTerm `json:"terms,omitempty"`
}

// CostTerm is one thing that makes nodes cheaper or dearer. Exactly one of Percent, PerNode, PerResource, Price,
// Offerings and Commitment is given.
type CostTerm struct {
	// Name of the term, unique in its model: "enterprise discount".
	Name string `json:"name"`
	// Source says where the figure comes from, for anyone who audits a plan: "contract 2026-17, page 4". Not empty.
	Source string `json:"source"`
	// Where says which offerings the term applies to. The zero value is all.
	Where CostSelector `json:"where,omitzero"`

	// Percent adds a share of the price so far: -9 takes nine percent off. At least -100, at most 1e6.
	Percent *float64 `json:"percent,omitempty"`
	// PerNode adds USD per hour for each node; negative takes off.
	PerNode *float64 `json:"perNode,omitempty"`
	// PerResource adds USD per hour for each unit of the instance type's capacity: cores of cpu; GiB of memory,
	// ephemeral-storage and hugepages; else whole units, such as devices of nvidia.com/gpu. Negative takes off.
	PerResource map[corev1.ResourceName]float64 `json:"perResource,omitempty"`
	// Price replaces the price so far: USD per hour, at least 0.
	Price *float64 `json:"price,omitempty"`
	// Offerings adds to the price of the offerings listed, and of no others. Tabulate writes such a term down for any
	// function of an instance type and its offering. Offerings are unique, at most 1,000,000.
	Offerings []OfferingAmount `json:"offerings,omitempty"`
	// Commitment is what is paid for whether it is used or not, such as Reserved Instances and Savings Plans: nodes that
	// it covers cost less, as long as it lasts.
	Commitment *Commitment `json:"commitment,omitempty"`
}

// CostSelector picks offerings.
type CostSelector struct {
	// NodePools that launch the node, as PoolKey.String writes them. Empty: any, and nodes without a pool.
	NodePools []string `json:"nodePools,omitempty"`
	// Requirements on the labels of the offering and its instance type; all must be met. A label that neither states is
	// absent.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitempty"`
}

// OfferingAmount is what a term adds to one offering.
type OfferingAmount struct {
	Offering cloudprovider.OfferingKey `json:"offering"`
	// Amount in USD per hour; negative takes off.
	Amount float64 `json:"amount"`
}

// Commitment is a limited amount of something that is paid for beforehand, used up by the nodes it covers. Since what is
// paid for is paid for either way, a covered node costs nothing at this point: what a plan counts is what it adds to the
// bill (the marginal price). Terms that stand after the commitment still apply to covered nodes: a fee per node remains.
//
// How it is filled: commitments one after another, in the order of the terms; of each commitment first the nodes of the
// snapshot that are not leaving (nor hidden in a Trial), then the planned ones; among those, first where it saves most for
// what is used of it, then the node of which most is not covered yet, then the dearest, then by the names of instance types
// and of nodes. The last node may be covered in part: it costs that part
// of what a wholly covered one would, and the rest of what an uncovered one would; what is not covered is left to the
// commitments that follow. AWS documents the same order for its bills: Reserved Instances before Savings Plans, and
// within a Savings Plan the highest saving first
// (https://docs.aws.amazon.com/savingsplans/latest/userguide/sp-applying.html), hence list them that way, EC2 Instance
// Savings Plans before Compute ones. That nodes of the snapshot come before planned ones, whatever the saving, errs on the
// dear side by at most what changing places would save.
//
// Unless the Requirements of its term name karpenter.sh/capacity-type, a commitment covers on-demand offerings alone:
// neither spot nor capacity that is reserved already is billed against one. Reserved offerings are never covered.
type Commitment struct {
	// Amount that is paid for, in Unit; more than 0, at most 1e9.
	Amount float64 `json:"amount"`
	// Unit is what Amount counts, for people: "USD/h", "normalized units". Empty stands for "nodes", or "USD/h" with
	// PercentOfPrice.
	Unit string `json:"unit,omitempty"`
	// PercentOfPrice makes a node use this share of its price so far, in USD per hour, of the commitment: 72 for a
	// Savings Plan whose rates are 28 percent below on-demand. More than 0, at most 100; 0 stands for not given.
	PercentOfPrice float64 `json:"percentOfPrice,omitempty"`
	// ByType is how much a node of each instance type uses: the rates of a Savings Plan, the normalized units of
	// size-flexible Reserved Instances. Each more than 0. Types that are not listed are not covered.
	ByType map[string]float64 `json:"byType,omitempty"`
	// RemainingPercent of its price so far is what a covered node still costs. 0, the default, is for what is paid in full
	// beforehand; 50 for the first ten nodes at half price. At least 0, below 100.
	RemainingPercent float64 `json:"remainingPercent,omitempty"`
}

// PriceTerm is one line of how a price came about.
type PriceTerm struct {
	// Name and Source of the CostTerm; of the first line, which is the list price, ListPriceTerm and the catalog.
	Name   string `json:"name"`
	Source string `json:"source"`
	// Amount it adds, USD per hour; negative for what it takes off.
	Amount float64 `json:"amount"`
	// Covered is the share of the node that a commitment covers, 0 to 1; 0 for all other terms.
	Covered float64 `json:"covered,omitempty"`
}

// ListPriceTerm is the PriceTerm.Name of the list price.
const ListPriceTerm = "list price"

// CommitmentUse is what a plan makes of a commitment, all in Unit.
type CommitmentUse struct {
	// Name and Source of the CostTerm.
	Name   string `json:"name"`
	Source string `json:"source"`
	// Unit that the amounts are in.
	Unit string `json:"unit"`
	// Amount that is paid for.
	Amount float64 `json:"amount"`
	// Existing is what nodes of the snapshot use, Planned what the plan's new nodes do. What remains is idle.
	Existing float64 `json:"existing"`
	Planned  float64 `json:"planned"`
	// Saved is what the new nodes' covered shares take off the plan's hourly cost, USD per hour.
	Saved float64 `json:"saved"`
}

// Tabulate writes down a term for what no other kind of term can say: it asks amount, in USD per hour, for each offering of
// the types, available or not, and leaves out those where it is 0. The function runs here and never in a planner, which
// is why it may be anything; the table is what a saved snapshot replays and an auditor reads. Types must be those of the
// snapshot's catalog; amounts that are not finite are refused by Compile.
func Tabulate(name, source string, types []*cloudprovider.InstanceType, amount func(*cloudprovider.InstanceType, *cloudprovider.Offering) float64) CostTerm {
	if amount == nil {
		return CostTerm{Name: name, Source: source, Offerings: []OfferingAmount{}}
	}
	t := CostTerm{Name: name, Source: source, Offerings: []OfferingAmount{}}
	seen := map[cloudprovider.OfferingKey]bool{}
	for _, it := range types {
		if it == nil {
			continue
		}
		for i := range it.Offerings {
			key := cloudprovider.KeyOf(it, &it.Offerings[i])
			if seen[key] {
				continue
			}
			seen[key] = true
			if usd := amount(it, &it.Offerings[i]); usd != 0 {
				t.Offerings = append(t.Offerings, OfferingAmount{Offering: key, Amount: usd})
			}
		}
	}
	return t
}
