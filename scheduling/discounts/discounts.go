// Package discounts makes terms of the cost model from the commitments of an account (package cloudprovider/commitments), so that
// planners know which capacity is paid for already. While part of a commitment is unused, on-demand nodes that it covers add no cost, and
// planners prefer them to spot nodes.
//
//	used := discounts.Use(account, snapshot)
//	shares := account.Available("this-cluster", used, others, snapshot.Time)
//	terms, err := discounts.Terms(account, shares)
//	snapshot.CostModel = &scheduling.CostModel{Terms: terms}
//
// All functions are pure and safe for concurrent use.
//
// Stability: beta.
package discounts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Terms returns the terms of the cost model for the commitments and discounts of an account. Account.Available of package commitments
// computes the shares of the cluster. Commitments with nothing available get no term. Put the terms after those of spot risk and before
// those of fees, because covered nodes pay fees too. If the account is not valid, the error is a *commitments.Error. The terms share maps
// with the account, which must not be changed.
func Terms(account *commitments.Account, shares []commitments.Share) ([]planning.CostTerm, error) {
	if account == nil {
		return nil, nil
	}
	if err := account.Validate(); err != nil {
		return nil, err
	}
	var out []planning.CostTerm
	for i := range shares {
		s := &shares[i]
		free := floor(s.Available)
		if s.Commitment == nil || free <= 0 {
			continue
		}
		out = append(out, planning.CostTerm{
			Name: "commitment " + s.ID, Source: source(s), Where: where(s.Commitment),
			Commitment: &planning.Commitment{Amount: free, Unit: s.Unit, ByType: s.ByType},
		})
	}
	for _, d := range account.Discounts {
		percent := -d.Percent
		out = append(out, planning.CostTerm{Name: "discount " + d.Name, Source: d.Source, Percent: &percent})
	}
	return out, nil
}

// floor rounds an amount down to a millionth, so that tiny changes of a commitment's share do not change the cost model.
func floor(amount float64) float64 { return math.Floor(amount*1e6) / 1e6 }

// source describes in words how the amount of a commitment's share was computed.
func source(s *commitments.Share) string {
	text := s.Source
	if s.Elsewhere > 0 {
		text += fmt.Sprintf("; %.4g of %.4g %s used outside the clusters", s.Elsewhere, s.Amount, s.Unit)
	}
	if s.Others > 0 {
		text += fmt.Sprintf("; other clusters use %.4g %s", s.Others, s.Unit)
	}
	return text
}

func where(c *commitments.Commitment) planning.CostSelector {
	var out planning.CostSelector
	for _, limit := range []struct{ key, value string }{{corev1.LabelTopologyZone, c.Zone}, {corev1.LabelOSStable, c.OS}} {
		if limit.value != "" {
			out.Requirements = append(out.Requirements, corev1.NodeSelectorRequirement{Key: limit.key, Operator: corev1.NodeSelectorOpIn, Values: []string{limit.value}})
		}
	}
	switch c.Tenancy {
	case "":
	case "default": // the default tenancy also selects nodes without the label
		out.Requirements = append(out.Requirements, corev1.NodeSelectorRequirement{Key: tenancyLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"dedicated", "host"}})
	default:
		out.Requirements = append(out.Requirements, corev1.NodeSelectorRequirement{Key: tenancyLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{c.Tenancy}})
	}
	return out
}

// tenancyLabel is the label of Commitment.Tenancy.
const tenancyLabel = "karpenter.k8s.aws/instance-tenancy"

// Use computes how much of each commitment the snapshot's nodes would use if no other cluster used any commitments. It counts on-demand
// nodes that are not leaving, and applies commitments in the cloud's order. A cluster reports this result to the other clusters of its
// account.
func Use(account *commitments.Account, snapshot *planning.Snapshot) commitments.Uses {
	if account == nil || snapshot == nil || len(account.Commitments) == 0 {
		return commitments.Uses{}
	}
	groups := map[commitments.Running]int{}
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		labels := labelsOf(n)
		if n.Leaving || labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeOnDemand {
			continue
		}
		groups[commitments.Running{
			InstanceType: cmp.Or(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelInstanceType]),
			Zone:         labels[corev1.LabelTopologyZone], OS: labels[corev1.LabelOSStable], Tenancy: labels[tenancyLabel],
		}]++
	}
	running := make([]commitments.Running, 0, len(groups))
	for g, count := range groups {
		g.Count = count
		running = append(running, g)
	}
	return account.Use(running)
}

// labelsOf returns the labels of a node. These are the labels of its Node, and the labels of its NodeClaim whose keys the Node lacks.
func labelsOf(n *planning.Node) map[string]string {
	out := map[string]string{}
	if n.Claim != nil {
		maps.Copy(out, n.Claim.Labels)
	}
	if n.Object != nil {
		maps.Copy(out, n.Object.Labels)
	}
	return out
}

// Unused returns the commitments of a plan that are partly unused, the largest unused share first. Workloads could be moved to instance
// types that these commitments cover.
func Unused(plan *planning.Plan) []planning.CommitmentUse {
	if plan == nil {
		return nil
	}
	share := func(c planning.CommitmentUse) float64 { return (c.Amount - c.Existing - c.Planned) / c.Amount }
	out := slices.DeleteFunc(slices.Clone(plan.Commitments), func(c planning.CommitmentUse) bool { return c.Amount <= 0 || share(c) < 1e-6 })
	slices.SortStableFunc(out, func(a, b planning.CommitmentUse) int { return cmp.Compare(share(b), share(a)) })
	return out
}
