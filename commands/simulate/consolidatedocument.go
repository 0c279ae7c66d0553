package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// consolidationDocument is the output of --consolidate -o json. Programs rely on it, and the package comment describes it: keys are never
// renamed or removed.
type consolidationDocument struct {
	typeMeta
	// Digest identifies the commands of the plan: see disruption.Plan.Digest.
	Digest   string               `json:"digest"`
	Summary  consolidationSummary `json:"summary"`
	Commands []commandDocument    `json:"commands"`
	Waves    []waveDocument       `json:"waves"`
	Nodes    []verdictDocument    `json:"nodes"`
	// FloorPrices are the prices that the proofs in the nodes' reasons use.
	FloorPrices []disruption.FloorPrices `json:"floorPrices"`
	Notes       []planNote               `json:"notes"`
	// Waiting says that more commands may be possible later. Again is the time when they may be possible, if it is known.
	Waiting bool      `json:"waiting"`
	Again   time.Time `json:"again,omitzero"`
	// Prices say where the prices of the nodes come from.
	Prices []priceSource `json:"prices"`
	// Assumptions are left out if there are none.
	Assumptions []string `json:"assumptions,omitempty"`
}

type consolidationSummary struct {
	Nodes      int `json:"nodes"`
	Candidates int `json:"candidates"`
	Removed    int `json:"removed"`
	Replaced   int `json:"replaced"`
	Launched   int `json:"launched"`
	Evictions  int `json:"evictions"`
	// HourlyCost and HourlyCostAfter are sums of the known prices; left out if no price is known.
	HourlyCost      *float64 `json:"hourlyCost,omitempty"`
	HourlyCostAfter *float64 `json:"hourlyCostAfter,omitempty"`
	nodeCounts
	// Savings is the sum of the known savings of commands. SavingsUnknown is the number of commands whose saving is not known.
	Savings        float64 `json:"savings"`
	SavingsUnknown int     `json:"savingsUnknown,omitempty"`
	EvictionCost   float64 `json:"evictionCost"`
	PlanMillis     float64 `json:"planMillis"`
}

type commandDocument struct {
	ID        string             `json:"id"`
	Digest    string             `json:"digest"`
	Decision  string             `json:"decision"`
	Method    string             `json:"method"`
	Reason    string             `json:"reason"`
	Nodes     []string           `json:"nodes"`
	Pods      []string           `json:"pods"`
	Launches  []launchDocument   `json:"launches"`
	Receivers []receiverDocument `json:"receivers"`
	// Savings are left out if the price of a node or of its replacement is not known.
	Savings *float64 `json:"savings,omitempty"`
	// SavingsEstimated is left out if false.
	SavingsEstimated bool `json:"savingsEstimated,omitempty"`
	// EvictionCost is the one-off cost of moving the pods, in USD: see --disruption-price.
	EvictionCost float64 `json:"evictionCost"`
	// NotBefore is the earliest time at which the command may begin: see --disruption-validation-delay.
	NotBefore time.Time `json:"notBefore"`
	// Wave is the number of the wave, from 1; left out for planners without waves.
	Wave int `json:"wave,omitempty"`
}

type launchDocument struct {
	NodePool string `json:"nodePool"`
	// The other fields are left out for a node of a static pool, which is created only from the pool's template.
	InstanceType string  `json:"instanceType,omitempty"`
	Zone         string  `json:"zone,omitempty"`
	CapacityType string  `json:"capacityType,omitempty"`
	Price        float64 `json:"price,omitempty"`
	// PriceEstimated is left out if false.
	PriceEstimated bool     `json:"priceEstimated,omitempty"`
	InstanceTypes  []string `json:"instanceTypes,omitempty"`
	Pods           []string `json:"pods,omitempty"`
}

type receiverDocument struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type verdictDocument struct {
	Name     string `json:"name"`
	NodePool string `json:"nodePool"`
	Outcome  string `json:"outcome"`
	Command  string `json:"command,omitempty"`
	// Price is left out if it is not known.
	Price *float64 `json:"price,omitempty"`
	// PriceEstimated is left out if false.
	PriceEstimated bool           `json:"priceEstimated,omitempty"`
	DisruptionCost float64        `json:"disruptionCost,omitempty"`
	Reasons        []stayDocument `json:"reasons"`
	// Calendar says when the node may be removed.
	Calendar calendarDocument `json:"calendar"`
}

// stayDocument is one reason why a node stays.
type stayDocument struct {
	Method  string `json:"method,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Block contains the data of Message, such as objects, numbers and proofs.
	Block *disruption.Block `json:"block"`
}

// newConsolidationDocument converts a plan to the document. Except for Summary.PlanMillis, the document depends only on the snapshot and
// the plan.
func newConsolidationDocument(c consolidation) consolidationDocument {
	d := consolidationDocument{
		typeMeta: typeOf(kindConsolidationPlan), Digest: c.plan.Digest(),
		Commands: make([]commandDocument, 0, len(c.plan.Commands)),
		Waves:    c.waves(),
		Nodes:    make([]verdictDocument, 0, len(c.verdicts)),
		Notes:    []planNote{},
		Waiting:  c.plan.Waiting,
		Again:    c.plan.Again.UTC(),
		// The values are not rounded, because proofs compute with them.
		FloorPrices: append([]disruption.FloorPrices{}, c.plan.FloorPrices...),
	}
	waves := waveNumbers(c.plan)
	for i, cmd := range c.plan.Commands {
		one := newCommandDocument(cmd, waves[cmd.ID], c.podPrice)
		one.Savings, one.SavingsEstimated = c.savings[i].figure(), c.savings[i].estimated
		d.Commands = append(d.Commands, one)
		d.Summary.Launched += len(cmd.Replacements)
		d.Summary.Evictions += cmd.Pods()
		if c.savings[i].known {
			d.Summary.Savings += c.savings[i].price
		} else {
			d.Summary.SavingsUnknown++
		}
		d.Summary.EvictionCost += evictionCost(cmd, c.podPrice)
	}
	for _, v := range c.verdicts {
		n := newVerdictDocument(v, c.prices[v.Node])
		n.Calendar = c.calendars[v.Node]
		d.Nodes = append(d.Nodes, n)
		switch v.Outcome {
		case disruption.OutcomeRemoved:
			d.Summary.Removed++
		case disruption.OutcomeReplaced:
			d.Summary.Replaced++
		}
		if v.Cost > 0 {
			d.Summary.Candidates++
		}
	}
	d.Summary.Nodes = len(c.snapshot.Nodes)
	d.Summary.Savings = roundDollars(d.Summary.Savings)
	d.Summary.EvictionCost = roundDollars(d.Summary.EvictionCost)
	d.Summary.HourlyCost, d.Summary.HourlyCostAfter, d.Summary.nodeCounts = c.before.figure(), c.after.figure(), newNodeCounts(c.before, c.after)
	d.Prices = c.prices.sources(c.snapshot)
	d.Summary.PlanMillis = float64(c.planning.Microseconds()) / 1000
	return d
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// waveNumbers returns the number of each command's wave, from 1, by ID.
func waveNumbers(plan *disruption.Plan) map[string]int {
	numbers := make(map[string]int, len(plan.Commands))
	for i, wave := range plan.Waves {
		for _, id := range wave.Commands {
			numbers[id] = i + 1
		}
	}
	return numbers
}

// evictionCost is the one-off cost of moving the pods of a command, in USD, or 0 if no pod moves.
func evictionCost(cmd *disruption.Command, podPrice float64) float64 {
	sum := 0.0
	for i := range cmd.Members {
		if len(cmd.Members[i].Pods) > 0 {
			sum += cmd.Members[i].Cost
		}
	}
	return sum * podPrice
}

func newCommandDocument(cmd *disruption.Command, wave int, podPrice float64) commandDocument {
	d := commandDocument{
		ID: cmd.ID, Digest: cmd.Digest(), EvictionCost: roundDollars(evictionCost(cmd, podPrice)), Decision: string(cmd.Decision()), Method: string(cmd.Method), Reason: string(cmd.Reason),
		Nodes: cmd.Nodes(), Pods: []string{}, NotBefore: cmd.NotBefore.UTC(), Wave: wave,
		Launches:  make([]launchDocument, 0, len(cmd.Replacements)),
		Receivers: make([]receiverDocument, 0, len(cmd.Receivers)),
	}
	for i := range cmd.Members {
		d.Pods = append(d.Pods, podNames(cmd.Members[i].Pods)...)
	}
	for _, r := range cmd.Replacements {
		d.Launches = append(d.Launches, newLaunchDocument(r))
	}
	for _, r := range cmd.Receivers {
		d.Receivers = append(d.Receivers, receiverDocument{Name: r.Name, Pods: podNames(r.Pods)})
	}
	return d
}

func newLaunchDocument(r disruption.Replacement) launchDocument {
	d := launchDocument{NodePool: r.Pool.String()}
	if r.Node == nil {
		return d
	}
	n := newPlannedNode(r.Node, nil, new(sharedParts))
	d.InstanceType, d.Zone, d.CapacityType, d.Price, d.InstanceTypes, d.Pods = n.InstanceType, n.Zone, n.CapacityType, n.Price, n.InstanceTypes, n.Pods
	return d
}

func newVerdictDocument(v disruption.Verdict, price nodePrice) verdictDocument {
	d := verdictDocument{
		Name: v.Node, Outcome: strings.ToLower(string(v.Outcome)), Command: v.Command,
		Price: price.figure(), PriceEstimated: price.estimated, DisruptionCost: v.Cost, Reasons: make([]stayDocument, 0, len(v.Blocks)),
	}
	if !v.Pool.IsZero() {
		d.NodePool = v.Pool.String()
	}
	for _, b := range v.Blocks {
		d.Reasons = append(d.Reasons, stayDocument{Method: string(b.Method), Code: string(b.Block.Code), Message: b.Block.String(), Block: b.Block})
	}
	return d
}

// kindsOf returns the kind of each node to launch.
func kindsOf(list []disruption.Replacement) []scheduling.NodeKind {
	var kinds []scheduling.NodeKind
	for _, r := range list {
		kind := scheduling.NodeKind{Pool: r.Pool}
		if r.Node != nil {
			o := &r.Node.InstanceTypes[0]
			kind.InstanceType, kind.Zone, kind.CapacityType = o.Name, o.Zone, o.CapacityType
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
