package main

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// replaced are nodes that are planned as if they were gone.
type replaced struct {
	nodes int
	// cost of those whose price is known, USD per hour; unpriced is how many are not.
	cost     float64
	unpriced int
}

// parseNodeSelector reads the value of --replace-nodes.
func parseNodeSelector(text string) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--replace-nodes %q: %w", text, err)
	}
	if selector.Empty() {
		return nil, errors.New("--replace-nodes: needs a selector of labels, as eks.amazonaws.com/nodegroup=blue; --replace-nodes kubernetes.io/hostname is all nodes")
	}
	return selector, nil
}

// replaceNodes is the snapshot without the nodes of the selector, their pods waiting for a place instead.
func (s *simulation) replaceNodes(snapshot *scheduling.Snapshot) (*scheduling.Snapshot, *replaced, error) {
	names := make(map[string]bool)
	for i := range snapshot.Nodes {
		if n := &snapshot.Nodes[i]; n.Object != nil && s.replace.Matches(labels.Set(n.Object.Labels)) {
			names[n.Name] = true
		}
	}
	if len(names) == 0 {
		s.note("NoNodes", "--replace-nodes %s: no node has such labels", s.replace)
	}
	prices, err := nodePrices(snapshot)
	if err != nil {
		return nil, nil, err
	}
	out := &replaced{nodes: len(names)}
	for _, name := range sortedKeys(names) {
		price, ok := prices[name]
		if !ok {
			out.unpriced++
		}
		out.cost += price
	}
	if out.unpriced > 0 {
		s.note("UnknownPrice", "what %s of the replaced nodes cost is not known: no catalogue has an offering like theirs", number(out.unpriced))
	}
	out.cost = roundDollars(out.cost)
	return withoutNodes(snapshot, names), out, nil
}

// nodePrices are what the nodes cost now, USD per hour, by name. A node that does not say how it was bought was bought on
// demand, but for what EKS says of the nodes of its groups.
func nodePrices(snapshot *scheduling.Snapshot) (map[string]float64, error) {
	labelled := *snapshot
	labelled.Nodes = slices.Clone(snapshot.Nodes)
	for i := range labelled.Nodes {
		n := &labelled.Nodes[i]
		if n.Object == nil || n.Object.Labels[v1.CapacityTypeLabelKey] != "" {
			continue
		}
		n.Object = n.Object.DeepCopy()
		if n.Object.Labels == nil {
			n.Object.Labels = make(map[string]string)
		}
		n.Object.Labels[v1.CapacityTypeLabelKey] = v1.CapacityTypeOnDemand
		if n.Object.Labels[eksCapacityType] == "SPOT" {
			n.Object.Labels[v1.CapacityTypeLabelKey] = v1.CapacityTypeSpot
		}
	}
	model, err := scheduling.Compile(&labelled)
	if err != nil {
		return nil, fmt.Errorf("compiling the snapshot: %w", err)
	}
	prices := make(map[string]float64)
	for i := range labelled.Nodes {
		if price, ok := model.NodePrice(labelled.Nodes[i].Name); ok {
			prices[labelled.Nodes[i].Name] = price.Price
		}
	}
	return prices, nil
}

// eksCapacityType is the label by which EKS says how a node of a managed group was bought: ON_DEMAND or SPOT.
const eksCapacityType = "eks.amazonaws.com/capacityType"

// withoutNodes is a snapshot in which the nodes are gone and the pods wait that need another place then.
func withoutNodes(snapshot *scheduling.Snapshot, names map[string]bool) *scheduling.Snapshot {
	without := *snapshot
	without.Nodes = make([]scheduling.Node, 0, len(snapshot.Nodes))
	without.Pods = slices.Clone(snapshot.Pods)
	for _, n := range snapshot.Nodes {
		if !names[n.Name] {
			without.Nodes = append(without.Nodes, n)
			continue
		}
		for _, pod := range n.Pods {
			if pods.Reschedulable(pod) {
				without.Pods = append(without.Pods, pods.Unbound(pod))
			}
		}
	}
	return &without
}
