package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// maxOptions limits how many different nodes are tried for one planned node, and so also the number of replays of a plan. If there are
// more, trying all types comes before trying all zones, and trying all zones comes before trying all capacity types.
const maxOptions = 16

// Choice fixes what a provider may decide: the type and the offering with which each planned node is created.
type Choice struct {
	// Options has one entry for each node of Plan.NewNodes.
	Options []Option
	// Label selects the values of labels that neither the type nor the offering determines. Each node gets value number Label of the values
	// that its requirements allow. After the last value, the count starts again at the first.
	Label int
}

// Option is an instance type and an offering with which a planned node can be created.
type Option struct {
	// The pool may launch Type and Offering. They belong to the snapshot, or are the results of its NodeOverlays. They must not be changed.
	Type     *cloudprovider.InstanceType
	Offering *cloudprovider.Offering
}

// String returns "type/zone/capacity type".
func (o Option) String() string {
	if o.Type == nil {
		return ""
	}
	return cloudprovider.KeyOf(o.Type, o.Offering).String()
}

// Choices returns the choices for which a plan must work. In the first choice, every node is as the plan assumes. In the other choices
// together, each node gets its cheapest type and each of its minimal types, in every zone and capacity type that remains allowed. A type is
// minimal if it has, in every resource, at most as much room as each of the other types that remain. Different nodes start at different
// positions in their lists of options, so that equal nodes are in different zones.
//
// It returns an error if the plan promises a type that can't be bought with the node's requirements.
func Choices(snapshot *scheduling.Snapshot, plan *scheduling.Plan) ([]Choice, error) {
	options := make([][]Option, len(plan.NewNodes))
	stock := newStock(snapshot)
	most := 1
	for i := range plan.NewNodes {
		var err error
		if options[i], err = optionsOf(stock, &plan.NewNodes[i]); err != nil {
			return nil, err
		}
		most = max(most, len(options[i]))
	}
	first := Choice{Options: make([]Option, len(options))}
	for i := range options {
		first.Options[i] = options[i][0]
	}
	out := []Choice{first}
	for k := 1; k < most+1 && most > 1; k++ {
		choice := Choice{Options: make([]Option, len(options)), Label: k}
		for i := range options {
			choice.Options[i] = options[i][(k+i)%len(options[i])]
		}
		out = append(out, choice)
	}
	return out, nil
}

// optionsOf returns the options for a node. The first option is the one that the plan assumes.
func optionsOf(stock *stock, node *scheduling.NewNode) ([]Option, error) {
	snapshot := stock.snapshot
	if len(node.InstanceTypes) == 0 {
		return nil, fmt.Errorf("node %s has no instance types", node.Name)
	}
	pool, catalog, err := stock.of(node)
	if err != nil {
		return nil, err
	}
	type candidate struct {
		options []Option
		room    corev1.ResourceList
	}
	promised := make([]Option, len(node.InstanceTypes))
	for i, offered := range node.InstanceTypes {
		if promised[i], err = promisedOption(catalog, node, offered); err != nil {
			return nil, fmt.Errorf("node %s: type %s in zone %s as %s is promised, but %w", node.Name, offered.Name, offered.Zone, offered.CapacityType, err)
		}
	}
	requests, err := claimRequests(snapshot, pool, node, promised)
	if err != nil {
		return nil, err
	}
	candidates := make([]candidate, len(promised))
	for i, option := range promised {
		if name := exceeds(requests, option.Type.AllocatableOf(option.Offering)); name != "" {
			return nil, fmt.Errorf("node %s: %s is promised, but has not enough %s for the claim's requests", node.Name, option, name)
		}
		c := &candidates[i]
		c.options = launchable(option, node, requests)
		c.room = roomFor(snapshot, pool, node, option)
	}
	chosen := []candidate{candidates[0]}
	for i := range candidates {
		smaller := func(j int) bool {
			return i != j && noMore(candidates[j].room, candidates[i].room) && (j < i || !noMore(candidates[i].room, candidates[j].room))
		}
		if i > 0 && !slices.ContainsFunc(indices(len(candidates)), smaller) {
			chosen = append(chosen, candidates[i])
		}
	}
	// Take one option of each type in turn: then cutting the list removes the last zones of all types, and not all zones of the last types.
	var out []Option
	for round := 0; len(out) < maxOptions; round++ {
		before := len(out)
		for _, c := range chosen {
			if round < len(c.options) && len(out) < maxOptions {
				out = append(out, c.options[round])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out, nil
}

// promisedOption returns the offering that the plan names.
func promisedOption(catalog []*cloudprovider.InstanceType, node *scheduling.NewNode, offered scheduling.InstanceTypeOption) (Option, error) {
	at := slices.IndexFunc(catalog, func(t *cloudprovider.InstanceType) bool { return t.Name == offered.Name })
	if at < 0 {
		return Option{}, errors.New("its pool has no such type")
	}
	// There may be several matching offerings, because a zone may have several reservations.
	var found Option
	excluded := false
	for o := range catalog[at].OfferingsWithRoom() {
		if o.Zone() != offered.Zone || o.CapacityType() != offered.CapacityType {
			continue
		}
		if option := (Option{catalog[at], o}); !allowed(stated(option), node.Requirements) {
			excluded = true
		} else if found.Type == nil || o.Price < found.Offering.Price {
			found = option
		}
	}
	switch {
	case found.Type != nil:
		return found, nil
	case excluded:
		return Option{}, fmt.Errorf("the node's requirements exclude it: %s", node.Requirements)
	}
	return Option{}, errors.New("no such offering is in stock")
}

// claimRequests returns the requests of the NodeClaim: those of the pods, plus the smallest requests that DaemonSets have on any of the
// promised nodes.
func claimRequests(snapshot *scheduling.Snapshot, pool *scheduling.NodePool, node *scheduling.NewNode, promised []Option) (corev1.ResourceList, error) {
	var least corev1.ResourceList
	for i, option := range promised {
		object, err := nodeOf(pool, node, option, 0)
		if err != nil {
			return nil, err
		}
		sum := corev1.ResourceList{}
		for _, pod := range daemonPods(snapshot.DaemonSets, object) {
			add(sum, scheduling.PodRequests(pod), 1)
		}
		if i == 0 {
			least = sum
		}
		for name, quantity := range least {
			if other := sum[name]; other.Cmp(quantity) < 0 {
				least[name] = other
			}
		}
	}
	pods := podsOf(snapshot)
	for _, key := range node.Pods {
		pod, ok := pods[key]
		if !ok {
			return nil, fmt.Errorf("node %s has pod %s, which the snapshot does not have", node.Name, key)
		}
		add(least, scheduling.PodRequests(pod), 1)
	}
	return least, nil
}

// add adds the amounts to sum as often as times says.
func add(sum, amounts corev1.ResourceList, times int64) {
	for name, quantity := range amounts {
		total := sum[name]
		quantity = quantity.DeepCopy()
		quantity.Mul(times)
		total.Add(quantity)
		sum[name] = total
	}
}

// launchable returns the offerings of the promised option's type that the provider could use for the node. They are in stock, meet the
// requirements, and are large enough for the requests of the NodeClaim. The promised offering comes first, and then offerings in other
// zones.
func launchable(promised Option, node *scheduling.NewNode, requests corev1.ResourceList) []Option {
	out := []Option{promised}
	zones := map[string]bool{promised.Offering.Zone(): true}
	var rest []Option
	for o := range promised.Type.OfferingsWithRoom() {
		switch option := (Option{promised.Type, o}); {
		case o == promised.Offering || !allowed(stated(option), node.Requirements) || exceeds(requests, promised.Type.AllocatableOf(o)) != "":
		case zones[o.Zone()]:
			rest = append(rest, option)
		default:
			zones[o.Zone()] = true
			out = append(out, option)
		}
	}
	return append(out, rest...)
}

// allowed reports whether a node with the stated labels can meet the requirements.
func allowed(stated, node requirements.Set) bool {
	for r := range stated.All {
		if !node.Has(r.Key()) {
			continue
		}
		want := node.Get(r.Key())
		if r.Operator() == requirements.OpDoesNotExist {
			if want.Operator() == requirements.OpIn || want.Operator() == requirements.OpExists {
				return false
			}
			continue
		}
		if !r.Intersects(want) {
			return false
		}
	}
	return true
}

// only returns the value of a requirement that allows exactly one value.
func only(r requirements.Requirement) (string, bool) {
	if values := r.Values(); !r.Complement() && len(values) == 1 {
		return values[0], true
	}
	return "", false
}

// exceeds returns a resource of which a has more than b, or "" if there is no such resource. A resource that is missing counts as zero.
func exceeds(a, b corev1.ResourceList) corev1.ResourceName {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if quantity := a[name]; quantity.Cmp(b[name]) > 0 {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if quantity := b[name]; quantity.Sign() < 0 && !has(a, name) {
			return name
		}
	}
	return ""
}

func has(list corev1.ResourceList, name corev1.ResourceName) bool {
	_, ok := list[name]
	return ok
}

// noMore reports whether a is at most b in every resource.
func noMore(a, b corev1.ResourceList) bool { return exceeds(a, b) == "" }

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
