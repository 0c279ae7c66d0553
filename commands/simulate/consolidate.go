package simulate

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// consolidation is a plan of the nodes to remove, with the data for printing it.
type consolidation struct {
	snapshot *scheduling.Snapshot
	plan     *disruption.Plan
	// verdicts are the verdicts of the plan, and of blocked nodes that the plan omits, by name: see allVerdicts.
	verdicts []disruption.Verdict
	// prices contains the prices of the nodes; before and after are the costs of all nodes before and after the commands.
	prices        nodePrices
	before, after nodeCost
	// savings has one entry for each command of the plan, in the same order.
	savings []saving
	// calendars has the calendars of the nodes by name; podPrice is the cost of moving an ordinary pod, in USD.
	calendars map[string]calendarDocument
	podPrice  float64
	// planning is the duration of planning.
	planning time.Duration
}

// planConsolidation plans which nodes to remove or to replace, and prints this plan instead of a plan for pods.
func (s *simulation) planConsolidation(ctx context.Context, snapshot *scheduling.Snapshot) (int, error) {
	c, err := s.makeConsolidation(ctx, snapshot, s.planner)
	if err != nil {
		return 0, err
	}
	d := s.documentOfConsolidation(c)
	var reference *consolidation
	if s.page != "" && s.planner == settings.PlannerGlobal {
		theirs, err := s.makeConsolidation(ctx, snapshot, settings.PlannerReference)
		if err != nil {
			return 0, err
		}
		reference = &theirs
	}
	if err := s.writePage(func() *report.Page { return s.consolidationPage(c, d, reference) }); err != nil {
		return 0, err
	}
	s.progress.Stop()
	s.printRemarks()
	if err := s.printConsolidation(c, d); err != nil {
		return 0, withStatus(exitOutput, fmt.Errorf("writing the plan: %w", err))
	}
	return exitPlaced, nil
}

// makeConsolidation plans which nodes to remove or to replace.
func (s *simulation) makeConsolidation(ctx context.Context, snapshot *scheduling.Snapshot, planner settings.DisruptionPlanner) (consolidation, error) {
	s.standIn(snapshot)
	if len(snapshot.Nodes) == 0 {
		s.note("NoNodes", "the input has no Node: there is nothing to consolidate")
	}
	if n := len(snapshot.Pods); n > 0 && s.explain.kind == "" {
		s.note("PodsWaiting", "%s without a node: they get their places before anything goes; without --consolidate you see which", counted(n, "pod"))
	}
	s.progress.Enter("compiling " + counted(len(snapshot.Nodes), "node"))
	s.remarkOnDevices(snapshot)
	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(s.matcher))
	if err != nil {
		return consolidation{}, fmt.Errorf("compiling the snapshot: %w", err)
	}
	start := time.Now()
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(snapshot), Model: model})
	if err != nil {
		return consolidation{}, err
	}
	s.progress.Enter("planning for " + counted(len(snapshot.Nodes), "node"))
	plan, err := s.disruption.Planner(planner, s.query, s.spotToSpot).Plan(ctx, fleet)
	if err != nil {
		return consolidation{}, fmt.Errorf("planning: %w", err)
	}
	c := consolidation{snapshot: snapshot, plan: plan, verdicts: allVerdicts(snapshot, fleet, plan), planning: time.Since(start)}
	c.podPrice = s.disruption.Price
	if c.calendars, err = calendarsOf(fleet, plan, c.verdicts); err != nil {
		return consolidation{}, err
	}
	if c.prices, err = s.nodePricesOf(snapshot); err != nil {
		return consolidation{}, err
	}
	c.count(s.assumed)
	return c, nil
}

// allVerdicts returns the plan's verdicts, sorted by node. For each node in fleet.Blocked without a verdict in the plan, it adds a verdict
// that the node stays. Planners do not report nodes without a pool.
func allVerdicts(snapshot *scheduling.Snapshot, fleet *disruption.Fleet, plan *disruption.Plan) []disruption.Verdict {
	told := make(map[string]bool, len(plan.Verdicts))
	for i := range plan.Verdicts {
		told[plan.Verdicts[i].Node] = true
	}
	all := slices.Clone(plan.Verdicts)
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		if why := fleet.Blocked[n.Name]; why != nil && !told[n.Name] {
			all = append(all, disruption.Verdict{Node: n.Name, Pool: n.Pool, Outcome: disruption.OutcomeKept, Blocks: []disruption.MethodBlock{{Block: why}}})
		}
	}
	slices.SortStableFunc(all, func(a, b disruption.Verdict) int { return strings.Compare(a.Node, b.Node) })
	return all
}

// standIn creates NodeClaims for nodes that lack them. If the input has no NodeClaim at all, each node of a pool gets one, so that a list
// of nodes without NodeClaims can be planned. Each v1alpha5 node without a Machine also gets one, because such nodes existed before
// Machines.
func (s *simulation) standIn(snapshot *scheduling.Snapshot) {
	listed := slices.ContainsFunc(snapshot.Nodes, func(n scheduling.Node) bool { return n.Claim != nil })
	made := 0
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		first := n.Pool.Generation == v1.GenerationV1Alpha5
		if n.Pool.IsZero() || n.Object == nil || n.Claim != nil || listed && !first {
			continue
		}
		made++
		n.Claim = standInClaim(n)
		n.Object = n.Object.DeepCopy()
		for _, key := range []string{v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey} {
			n.Object.Labels[key] = "true"
		}
	}
	switch {
	case made > 0 && listed:
		s.note("NoMachines", "%s of Provisioners without a Machine: taken for such of the Provisioner that the label names", counted(made, "node"))
	case made > 0:
		s.note("NoNodeClaims", "the input has no NodeClaim: each of the %s that a pool's label names is taken for one of that pool", counted(made, "node"))
	}
}

// standInClaim creates a NodeClaim for the node. The NodeClaim has been initialized since the creation of the node, or since 1970 if the
// node has no creation time. Its LastPodEventTime is the latest start of a pod on the node; DaemonSet pods are ignored.
func standInClaim(n *scheduling.Node) *v1.NodeClaim {
	node := n.Object
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: node.Name, UID: types.UID("stand-in-" + node.Name), CreationTimestamp: node.CreationTimestamp, Labels: node.Labels,
	}}
	claim.Spec.ExpireAfter = v1.Never()
	claim.Status.NodeName, claim.Status.ProviderID = node.Name, node.Spec.ProviderID
	claim.Status.Capacity, claim.Status.Allocatable = node.Status.Capacity, node.Status.Allocatable
	since := node.CreationTimestamp.Time
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		claim.Conditions().SetTrue(kind, since)
	}
	for _, pod := range n.Pods {
		began := pod.Status.StartTime
		if began != nil && !pods.OwnedByDaemonSet(pod) && began.After(claim.Status.LastPodEventTime.Time) {
			claim.Status.LastPodEventTime = *began
		}
	}
	return claim
}

// documentOfConsolidation returns the document of a plan.
func (s *simulation) documentOfConsolidation(c consolidation) consolidationDocument {
	d := newConsolidationDocument(c)
	d.Notes = append(append(d.Notes, s.notes()...), unpricedOf(c.snapshot, c.prices).notes()...)
	d.Assumptions = s.assumed.list()
	for i := range d.Commands {
		for j := range d.Commands[i].Launches {
			l := &d.Commands[i].Launches[j]
			l.PriceEstimated = s.assumed.isEstimated(l.InstanceType, l.CapacityType)
		}
	}
	return d
}

// printConsolidation writes the plan to standard output in the format of --output.
func (s *simulation) printConsolidation(c consolidation, d consolidationDocument) error {
	unknown := unpricedOf(c.snapshot, c.prices)
	b := bufio.NewWriter(s.stdout)
	if s.output.structured() {
		if err := writeDocument(b, s.output, d); err != nil {
			return err
		}
		return b.Flush()
	}
	consolidationText{
		textReport: textReport{canvas: newCanvas(s.stdout, s.color, os.Getenv), snapshot: c.snapshot, verbose: s.verbose, workloads: indexWorkloads(c.snapshot), assumed: s.assumed, unpriced: unknown},
		document:   d, plan: c.plan, result: c,
	}.write(b)
	return b.Flush()
}
