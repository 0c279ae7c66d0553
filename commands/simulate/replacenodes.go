package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/spelling"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// replaced describes the nodes that are left out of the plan.
type replaced struct {
	nodeCost
	// unknownPrices are the nodes without a known price.
	unknownPrices unpriced
}

// parseNodeSelector reads the value of a flag such as --replace-nodes.
func parseNodeSelector(flag, text string) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	if selector.Empty() {
		return nil, fmt.Errorf("%[1]s: needs a label selector, like eks.amazonaws.com/nodegroup=blue; %[1]s kubernetes.io/hostname matches all nodes", flag)
	}
	return selector, nil
}

// noSuchNodesError reports a selector that matches no node of the input.
type noSuchNodesError struct {
	// flag is the flag with the selector.
	flag     string
	selector labels.Selector
	// nodes contains the labels of the existing nodes.
	nodes []labels.Set
}

func (e *noSuchNodesError) Error() string {
	if len(e.nodes) == 0 {
		return fmt.Sprintf("%s %s: the input has no Node: give it what \"kubectl get nodes -o yaml\" prints", e.flag, e.selector)
	}
	var why []string
	terms, _ := e.selector.Requirements()
	for i := range terms {
		if !slices.ContainsFunc(e.nodes, func(n labels.Set) bool { return terms[i].Matches(n) }) {
			why = append(why, e.unmet(&terms[i]))
		}
	}
	if len(why) == 0 {
		why = append(why, "some meet each part of it, and none meets all")
	}
	return fmt.Sprintf("%s %s: no node of the input (%s) has such labels: %s", e.flag, e.selector, number(len(e.nodes)), strings.Join(why, "; "))
}

// mostNamed is how many names, labels or values a message lists.
const mostNamed = 5

// unmet returns a text about a term of the selector that no node meets: it names the values that nodes have for the term's label or, if no
// node has the label, similar labels.
func (e *noSuchNodesError) unmet(term *labels.Requirement) string {
	keys, values := map[string]bool{}, map[string]bool{}
	for _, n := range e.nodes {
		for key, value := range n {
			keys[key] = true
			if key == term.Key() {
				values[value] = true
			}
		}
	}
	if len(values) == 0 {
		if near := mostOf(spelling.Near(term.Key(), sortedKeys(keys)), mostNamed); len(near) > 0 {
			return fmt.Sprintf("none has the label %s; did you mean %s?", term.Key(), strings.Join(near, " or "))
		}
		return fmt.Sprintf("none has the label %s", term.Key())
	}
	// The most similar labels come first.
	var list []string
	for _, wanted := range sortedKeys(term.Values()) {
		list = append(list, mostOf(spelling.Near(wanted, sortedKeys(values)), mostNamed)...)
	}
	for _, value := range sortedKeys(values) {
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	more := ""
	if len(list) > mostNamed {
		more = fmt.Sprintf(" or %s", counted(len(list)-mostNamed, "other value"))
		list = list[:mostNamed]
	}
	for i := range list {
		list[i] = strconv.Quote(list[i])
	}
	return fmt.Sprintf("%s is %s%s", term.Key(), strings.Join(list, ", "), more)
}

func mostOf(list []string, most int) []string { return list[:min(most, len(list))] }

// replaceNodes returns the snapshot without the nodes that the selector matches; their pods are pending. A selector that matches no node is
// a *noSuchNodesError, because it is probably a mistake.
func (s *simulation) replaceNodes(snapshot *scheduling.Snapshot) (*scheduling.Snapshot, *replaced, error) {
	names := make(map[string]bool)
	none := &noSuchNodesError{flag: s.replaceFlag, selector: s.replace}
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		if n.Object == nil {
			continue
		}
		none.nodes = append(none.nodes, n.Object.Labels)
		if s.replace.Matches(labels.Set(n.Object.Labels)) {
			names[n.Name] = true
		}
	}
	if len(names) == 0 {
		return nil, nil, none
	}
	prices, err := s.nodePricesOf(snapshot)
	if err != nil {
		return nil, nil, err
	}
	prices = prices.only(names)
	out := &replaced{nodeCost: prices.cost(), unknownPrices: unpricedOf(snapshot, prices)}
	return withoutNodes(snapshot, names), out, nil
}

// withoutNodes returns a snapshot without the named nodes; pods that need another place are pending.
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
