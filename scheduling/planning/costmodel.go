package planning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// CostModel says how the cost of nodes differs from their list prices: discounts, prepaid amounts, fees per node, a price on carbon. It is
// plain data and part of the Snapshot, so that a plan can be replayed and each of its prices can be audited: an InstanceTypeOption lists
// the terms that made its price, with their source. A plan, its lower bound and its explanations all use these prices.
//
// An offering's price begins as its list price, after node overlays. Each applicable term changes it, in the order of the list, in whole
// nano-USD. A price stays between 0 and 1e9 USD per hour: a term that would exceed these limits is cut off, and Terms in the plan show the
// amount actually applied.
//
// Do not change a CostModel that is part of a Snapshot. The zero value, like nil, means list prices only.
type CostModel struct {
	// Terms in the order they apply, at most 256. Names are unique.
	Terms []CostTerm `json:"terms,omitempty"`
}

// CostTerm changes the cost of nodes in one way. Set exactly one of Percent, PerNode, PerResource, Price, Offerings and Commitment.
type CostTerm struct {
	// Name of the term, unique in its model: "enterprise discount".
	Name string `json:"name"`
	// Source says where the amount comes from, for anyone who audits a plan: "contract 2026-17, page 4". It must not be empty.
	Source string `json:"source"`
	// Where says which offerings the term applies to. The zero value means all offerings.
	Where CostSelector `json:"where,omitzero"`

	// Percent adds a share of the price so far: -9 subtracts nine percent. It must be at least -100 and at most 1e6.
	Percent *float64 `json:"percent,omitempty"`
	// PerNode adds USD per hour for each node; negative amounts subtract.
	PerNode *float64 `json:"perNode,omitempty"`
	// PerResource adds USD per hour for each unit of the instance type's capacity: cores of cpu; GiB of memory,
	// ephemeral-storage and hugepages; else whole units, such as devices of nvidia.com/gpu. Negative amounts subtract.
	PerResource map[corev1.ResourceName]float64 `json:"perResource,omitempty"`
	// Price replaces the price so far: USD per hour, at least 0.
	Price *float64 `json:"price,omitempty"`
	// Offerings adds to the price of the listed offerings only. Tabulate makes such a term from any function of an instance type and its
	// offering. Offerings are unique, at most 1,000,000.
	Offerings []OfferingAmount `json:"offerings,omitempty"`
	// Commitment is an amount that is paid for even if it is unused, such as Reserved Instances and Savings Plans. Nodes that it covers
	// cost less until the amount is used up.
	Commitment *Commitment `json:"commitment,omitempty"`
}

// CostSelector selects offerings.
type CostSelector struct {
	// NodePools that launch the node, as PoolKey.String writes them. Empty means any pool, and nodes without a pool.
	NodePools []string `json:"nodePools,omitempty"`
	// Requirements on the labels of the offering and its instance type; all must match. A label that neither of them states counts as
	// absent.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitempty"`
}

// OfferingAmount is the amount that a term adds to one offering.
type OfferingAmount struct {
	Offering cloudprovider.OfferingKey `json:"offering"`
	// Amount in USD per hour; negative amounts subtract.
	Amount float64 `json:"amount"`
}

// Commitment is a limited, prepaid amount that the nodes it covers use up. The prepaid amount is due anyway, so a covered node costs
// nothing at this point: a plan counts what it adds to the bill (the marginal price). Terms after the commitment still apply to covered
// nodes: a fee per node remains.
//
// Commitments are used one after another, in the order of the terms. Each covers first the nodes of the snapshot that are not leaving (nor
// hidden in a Trial), then the planned nodes. Within each of these two groups, the order is: largest saving per unit used, largest
// uncovered share, highest price, then the names of instance types and of nodes. The last node may be covered in part: it costs that share
// of a covered node's price plus the remaining share of an uncovered node's price. Later commitments may cover the remaining share. AWS
// documents the same order for its bills: Reserved Instances before Savings Plans, and within a Savings Plan the highest saving first
// (https://docs.aws.amazon.com/savingsplans/latest/userguide/sp-applying.html). So list commitments in that order, and EC2 Instance Savings
// Plans before Compute Savings Plans. Nodes of the snapshot come before planned nodes, even if planned nodes would save more. So the cost
// may be overestimated, by at most the saving of the other order.
//
// A commitment covers only on-demand offerings, unless the Requirements of its term name karpenter.sh/capacity-type: spot and reserved
// capacity is not billed against a commitment. Reserved offerings are never covered.
type Commitment struct {
	// Amount that is paid for, in Unit; above 0, at most 1e9.
	Amount float64 `json:"amount"`
	// Unit says what Amount counts, for people: "USD/h", "normalized units". Empty means "nodes", or "USD/h" with PercentOfPrice.
	Unit string `json:"unit,omitempty"`
	// With PercentOfPrice, a node uses up an amount of the commitment that is this share of the node's price so far, in USD per hour: 72
	// for a Savings Plan whose rates are 28 percent below on-demand. It must be above 0 and at most 100; 0 means not set.
	PercentOfPrice float64 `json:"percentOfPrice,omitempty"`
	// ByType is how much a node of each instance type uses: the rates of a Savings Plan, the normalized units of size-flexible Reserved
	// Instances. Each amount must be more than 0. Types that are not listed are not covered.
	ByType map[string]float64 `json:"byType,omitempty"`
	// RemainingPercent is the share of its price so far that a covered node still costs. The default 0 means fully prepaid; 50 means that
	// covered nodes cost half. It must be at least 0 and below 100.
	RemainingPercent float64 `json:"remainingPercent,omitempty"`
}

// PriceTerm is one line in the calculation of a price.
type PriceTerm struct {
	// Name and Source of the CostTerm. The first line is the list price: its Name is ListPriceTerm, and its Source is the catalog.
	Name   string `json:"name"`
	Source string `json:"source"`
	// Amount added, USD per hour; negative if subtracted.
	Amount float64 `json:"amount"`
	// Covered is the share of the node that the commitment covers, 0 to 1; 0 for all other terms.
	Covered float64 `json:"covered,omitempty"`
}

// ListPriceTerm is the PriceTerm.Name of the list price.
const ListPriceTerm = "list price"

// CommitmentUse is how much of a commitment a plan uses. Amounts are in Unit, except Saved.
type CommitmentUse struct {
	// Name and Source of the CostTerm.
	Name   string `json:"name"`
	Source string `json:"source"`
	// Unit of the amounts.
	Unit string `json:"unit"`
	// Amount that is paid for.
	Amount float64 `json:"amount"`
	// Existing is the amount that nodes of the snapshot use, and Planned is the amount that the plan's new nodes use. The rest of Amount is
	// unused.
	Existing float64 `json:"existing"`
	Planned  float64 `json:"planned"`
	// Saved is the amount by which the new nodes' covered shares reduce the plan's hourly cost, USD per hour.
	Saved float64 `json:"saved"`
}

// Tabulate makes a term for costs that no other kind of term can express. It calls amount, which returns USD per hour, for each offering of
// the types, even if the offering is not available. Offerings with the amount 0 are left out. The function amount is called here and never
// by a planner, so it may be any function. A saved snapshot contains the table, so that plans can be repeated and audited. Types must be
// those of the snapshot's catalog; Compile refuses amounts that are not finite.
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
