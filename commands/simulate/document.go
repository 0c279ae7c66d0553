package simulate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/commands/simulate/internal/jsonstream"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// document is the output of -o json. Programs rely on it, and the package comment describes it: keys are never renamed or removed.
type document struct {
	typeMeta
	Summary       summary            `json:"summary"`
	Nodes         []plannedNode      `json:"nodes"`
	Existing      []existingNode     `json:"existing"`
	Unschedulable []unschedulablePod `json:"unschedulable"`
	Relaxations   []relaxation       `json:"relaxations"`
	// Gangs are left out if there are none.
	Gangs []gang `json:"gangs,omitempty"`
	// Requests are the answers to ProvisioningRequests; left out if there are none.
	Requests []request `json:"requests,omitempty"`
	// Preemptions are left out if there are none.
	Preemptions []preemption     `json:"preemptions,omitempty"`
	Buffers     []bufferHeadroom `json:"buffers"`
	Notes       []planNote       `json:"notes"`
	Prices      []priceSource    `json:"prices"`
	// Assumptions are left out if there are none.
	Assumptions []string `json:"assumptions,omitempty"`
	// Commitments are left out if the cost model has none.
	Commitments []commitmentUse `json:"commitments,omitempty"`
	// SpotSplits are left out if no workload limits its spot nodes.
	SpotSplits []spotSplit `json:"spotSplits,omitempty"`
	// Usage is left out without --usage.
	Usage []containerUsage `json:"usage,omitempty"`
}

type summary struct {
	Pods          int     `json:"pods"`
	Placed        int     `json:"placed"`
	Unschedulable int     `json:"unschedulable"`
	ExistingNodes int     `json:"existingNodes"`
	NewNodes      int     `json:"newNodes"`
	HourlyCost    float64 `json:"hourlyCost"`
	LowerBound    float64 `json:"lowerBound"`
	// OnDemandCost is left out if there are no spot nodes, or if it is not known.
	OnDemandCost float64 `json:"onDemandCost,omitempty"`
	// LowCost and HighCost are left out if no price has a range.
	LowCost       float64 `json:"lowCost,omitempty"`
	HighCost      float64 `json:"highCost,omitempty"`
	SolveMillis   float64 `json:"solveMillis"`
	CompileMillis float64 `json:"compileMillis"`
	// Estimated is the number of new nodes with an estimated price.
	Estimated int `json:"estimated,omitempty"`
	// ReplacedNodes and ReplacedCost are left out without --replace-nodes.
	ReplacedNodes *int     `json:"replacedNodes,omitempty"`
	ReplacedCost  *float64 `json:"replacedCost,omitempty"`
	// ReplacedUnpriced is the number of replaced nodes without a known price; ReplacedCost is left out if no replaced node has one.
	ReplacedUnpriced int `json:"replacedUnpriced,omitempty"`
	// ReplacedEstimated is the number of replaced nodes with an estimated price.
	ReplacedEstimated int `json:"replacedEstimated,omitempty"`
	// Replicas is the range that autoscalers of the input allow; left out without autoscalers.
	Replicas *replicaRange `json:"replicas,omitempty"`
	// Usage is the plan with requests at usage; left out without --usage.
	Usage *usageSummary `json:"usage,omitempty"`
}

type plannedNode struct {
	Name         string `json:"name"`
	NodePool     string `json:"nodePool"`
	InstanceType string `json:"instanceType"`
	// Arch is left out for types without an architecture label.
	Arch         string  `json:"arch,omitempty"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	// PriceEstimated is left out if false.
	PriceEstimated bool `json:"priceEstimated,omitempty"`
	// Reservation is left out unless CapacityType is reserved.
	Reservation string `json:"reservation,omitempty"`
	// PriceTerms are left out without a cost model.
	PriceTerms    []priceTerm `json:"priceTerms,omitempty"`
	InstanceTypes []string    `json:"instanceTypes"`
	Pods          []string    `json:"pods"`
	Placeholders  []string    `json:"placeholders"`
	Requests      quantities  `json:"requests"`
	// MinValuesRelaxed is left out if false, which is always the case without --min-values best-effort.
	MinValuesRelaxed bool       `json:"minValuesRelaxed,omitempty"`
	Allocatable      quantities `json:"allocatable"`
}

type existingNode struct {
	Name         string   `json:"name"`
	Pods         []string `json:"pods"`
	Placeholders []string `json:"placeholders"`
}

type unschedulablePod struct {
	Pod string `json:"pod"`
	// Workload is left out for pods without an owner.
	Workload string      `json:"workload,omitempty"`
	Reasons  []podReason `json:"reasons"`
}

type podReason struct {
	NodePool string `json:"nodePool"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	// NearestMiss is left out if no single change would help.
	NearestMiss string `json:"nearestMiss,omitempty"`
}

type relaxation struct {
	Code         string   `json:"code"`
	Detail       string   `json:"detail"`
	Pods         []string `json:"pods"`
	Placeholders []string `json:"placeholders"`
}

type bufferHeadroom struct {
	Name     string      `json:"name"`
	Pods     int         `json:"pods"`
	New      int         `json:"new"`
	Existing int         `json:"existing"`
	Unplaced int         `json:"unplaced"`
	Reasons  []podReason `json:"reasons"`
}

type planNote struct {
	Code   string `json:"code"`
	Object string `json:"object"`
	// Where is the position in the input; left out for notes that do not concern a single position.
	Where   string `json:"where,omitempty"`
	Message string `json:"message"`
}

// newLoaderNote converts a remark of the manifest loader.
func newLoaderNote(w manifests.Warning) planNote {
	note := planNote{Code: string(w.Code), Object: w.Object, Where: w.Position.String(), Message: w.Message}
	if w.Path != "" {
		note.Message = w.Path + ": " + note.Message
	}
	if w.More > 0 {
		note.Message += fmt.Sprintf(" (and %d more)", w.More)
	}
	return note
}

// quantities are amounts by resource, spelled as Kubernetes spells them ("1500m", "2Gi").
type quantities map[string]string

func newQuantities(list corev1.ResourceList) quantities {
	q := make(quantities, len(list))
	for name, amount := range list {
		q[string(name)] = amount.String()
	}
	return q
}

// newDocument converts a plan to the document; solve is the duration of Solve. Except for solve, the document depends only on the snapshot
// and its plan, so that planning a saved snapshot again prints the same document.
func newDocument(snapshot *scheduling.Snapshot, plan *scheduling.Plan, solve time.Duration) document {
	plan, held := separate(snapshot, plan)
	d := document{
		typeMeta:      typeOf(kindPlan),
		Nodes:         make([]plannedNode, 0, len(plan.NewNodes)),
		Existing:      newExistingNodes(snapshot, plan, held),
		Unschedulable: make([]unschedulablePod, 0, len(plan.Unschedulable)),
		Relaxations:   make([]relaxation, 0, len(plan.Relaxations)),
		Buffers:       newBufferHeadrooms(held),
		Notes:         make([]planNote, 0, len(plan.Notes)),
		Prices:        make([]priceSource, 0, 3),
		Commitments:   newCommitmentUses(plan.Commitments),
		SpotSplits:    newSpotSplits(plan.SpotSplits),
		Gangs:         newGangs(plan.Gangs),
		Preemptions:   newPreemptions(plan.Preemptions),
	}
	arch := indexArchitectures(snapshot)
	var shared sharedParts
	for i := range plan.NewNodes {
		node := &plan.NewNodes[i]
		n := newPlannedNode(node, held.launched[node.Name], &shared)
		n.Arch = arch[n.InstanceType]
		d.Nodes = append(d.Nodes, n)
	}
	if len(plan.Unschedulable) > 0 {
		d.Unschedulable = newUnschedulablePods(indexWorkloads(snapshot), plan.Unschedulable)
	}
	for i, r := range plan.Relaxations {
		d.Relaxations = append(d.Relaxations, relaxation{
			Code: string(r.Code), Detail: r.Detail, Pods: podNames(r.Pods), Placeholders: podNames(held.relaxed[i]),
		})
	}
	for _, note := range plan.Notes {
		d.Notes = append(d.Notes, planNote{Code: string(note.Code), Object: note.Object, Message: note.Message})
	}
	d.Summary = newSummary(snapshot, plan, solve)
	return d
}

// newSummary returns the summary of a plan that contains only real pods.
func newSummary(snapshot *scheduling.Snapshot, plan *scheduling.Plan, solve time.Duration) summary {
	s := summary{
		Pods: len(snapshot.Pods) + asked(snapshot), Placed: countPlaced(plan), Unschedulable: len(plan.Unschedulable),
		ExistingNodes: len(snapshot.Nodes), NewNodes: len(plan.NewNodes),
		// Round the lower bound down: it must not be higher than the proven value.
		LowerBound:  math.Floor(plan.LowerBound*dollarParts) / dollarParts,
		SolveMillis: float64(solve.Microseconds()) / 1000,
	}
	for i := range plan.NewNodes {
		s.HourlyCost += price(&plan.NewNodes[i])
	}
	s.HourlyCost = roundDollars(s.HourlyCost)
	return s
}

// dollarParts is the number of parts of a dollar to which amounts are rounded. It is large enough to keep sums of prices exact to 1e-6, and
// small enough to hide the last digits of binary fractions.
const dollarParts = 1e9

func roundDollars(usd float64) float64 { return math.Round(usd*dollarParts) / dollarParts }

func newPlannedNode(node *scheduling.NewNode, placeholders []scheduling.PodKey, shared *sharedParts) plannedNode {
	n := plannedNode{
		Name:          node.Name,
		NodePool:      node.Pool.String(),
		InstanceTypes: shared.typesOf(node),
		Pods:          podNames(node.Pods),
		Placeholders:  podNames(placeholders),
		Requests:      shared.requests.of(node.Requests),
		Allocatable:   shared.allocatable.of(node.Allocatable),

		MinValuesRelaxed: node.MinValuesRelaxed,
	}
	if len(node.InstanceTypes) > 0 {
		cheapest := node.InstanceTypes[0]
		n.InstanceType, n.Zone, n.CapacityType, n.Price =
			cheapest.Name, cheapest.Zone, cheapest.CapacityType, cheapest.Price
		n.Reservation, n.PriceTerms = reservation(cheapest), newPriceTerms(cheapest.Terms)
	}
	return n
}

// newExistingNodes lists all nodes of the cluster by name, including nodes that receive no pod.
func newExistingNodes(snapshot *scheduling.Snapshot, plan *scheduling.Plan, held headroom) []existingNode {
	receives := make(map[string][]scheduling.PodKey, len(plan.Existing))
	for _, node := range plan.Existing {
		receives[node.Name] = node.Pods
	}
	nodes := make([]existingNode, 0, len(snapshot.Nodes))
	for _, node := range snapshot.Nodes {
		nodes = append(nodes, existingNode{
			Name: node.Name, Pods: podNames(receives[node.Name]), Placeholders: podNames(held.existing[node.Name]),
		})
	}
	slices.SortFunc(nodes, func(a, b existingNode) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

func newBufferHeadrooms(held headroom) []bufferHeadroom {
	rooms := held.rooms()
	list := make([]bufferHeadroom, 0, len(rooms))
	for _, room := range rooms {
		list = append(list, bufferHeadroom{
			Name: room.name, Pods: room.pods, New: room.launched, Existing: room.existing, Unplaced: room.unplaced,
			Reasons: newPodReasons(room.reasons),
		})
	}
	return list
}

func newUnschedulablePods(workloads workloadIndex, pods []scheduling.Unschedulable) []unschedulablePod {
	list := make([]unschedulablePod, 0, len(pods))
	for _, pod := range pods {
		p := unschedulablePod{Pod: pod.Pod.String(), Reasons: newPodReasons(pod.Reasons)}
		if w, ok := workloads[pod.Pod]; ok && !w.bare() {
			p.Workload = w.String()
		}
		list = append(list, p)
	}
	return list
}

func newPodReasons(reasons []scheduling.Reason) []podReason {
	list := make([]podReason, 0, len(reasons))
	for _, reason := range reasons {
		r := podReason{Code: string(reason.Code), Message: reason.String(), NearestMiss: nearest(reason)}
		if !reason.Pool.IsZero() {
			r.NodePool = reason.Pool.String()
		}
		list = append(list, r)
	}
	return list
}

// reservation returns the name of the reservation of a reserved offering, or "" for any other.
func reservation(o scheduling.InstanceTypeOption) string {
	if o.CapacityType != v1.CapacityTypeReserved {
		return ""
	}
	return o.Others
}

// price returns the price of a planned node in USD per hour.
func price(node *scheduling.NewNode) float64 {
	if len(node.InstanceTypes) == 0 {
		return 0
	}
	return node.InstanceTypes[0].Price
}

func countPlaced(plan *scheduling.Plan) int {
	placed := 0
	for _, node := range plan.NewNodes {
		placed += len(node.Pods)
	}
	for _, node := range plan.Existing {
		placed += len(node.Pods)
	}
	return placed
}

func podNames(keys []scheduling.PodKey) []string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, key.String())
	}
	return names
}

func (d document) write(w io.Writer) error { return jsonstream.Write(w, d) }
