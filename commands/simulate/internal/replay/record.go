package replay

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// points is the largest number of points in a series.
const points = 600

// Point contains averages over one period of time.
type Point struct {
	// At is the start of the period, counted from the start of the run.
	At time.Duration `json:"at"`
	// CostPerHour is the cost of all nodes, in USD per hour. Nodes is the number of ready nodes, and Pending is the number of pods without
	// a node.
	CostPerHour float64 `json:"costPerHour"`
	Nodes       float64 `json:"nodes"`
	Pending     float64 `json:"pending"`
	// CPU and Memory are the requests of pods on nodes, as fractions of the nodes' allocatable CPU and memory; 0 if there are no nodes.
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// Result is the result of a run. It is plain data. Equal options give equal results.
type Result struct {
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length"`
	// Series has one point for each of several periods of equal length.
	Series []Point `json:"series"`
	// Cost is the cost of all nodes over the whole time, in USD.
	Cost float64 `json:"cost"`
	// Prices describes the prices from which the cost is computed.
	Prices Prices `json:"prices"`
	// Pods is the number of pods that arrived. Unplaced is the number of pods that are still pending at the end. Refused is the number of
	// these pods for which the last plan had no place. Never is the number of pods that ended before they had a node.
	Pods     int `json:"pods"`
	Unplaced int `json:"unplaced"`
	Refused  int `json:"refused"`
	Never    int `json:"never"`
	// Refusals say why plans had no place for the Refused pods, and for pods that ended before they had a node: at most ten sets of
	// reasons. The set that concerns the most pods comes first.
	Refusals []Refusal `json:"refusals,omitempty"`
	// WithoutDevices is how often a pod could not be bound to its planned node, because the node had no devices left for its claims. The
	// pod was planned again.
	WithoutDevices int `json:"withoutDevices,omitempty"`
	// These are numbers of launches, of plans for pods (Passes), of consolidation plans (Looks), and of the commands of consolidation
	// plans.
	Launches int `json:"launches"`
	Passes   int `json:"passes"`
	Looks    int `json:"looks"`
	Commands int `json:"commands"`
	// Estimated is the number of launches at an estimated price.
	Estimated int `json:"estimated,omitempty"`
	// Assumptions are the assumptions of the snapshot.
	Assumptions []string `json:"assumptions,omitempty"`
	// Interruptions is the number of interruptions of spot nodes. EvictionsBySpot is the number of evictions by interruptions, and
	// EvictionsByPlan is the number of evictions by commands.
	Interruptions   int `json:"interruptions"`
	EvictionsBySpot int `json:"evictionsBySpot"`
	EvictionsByPlan int `json:"evictionsByPlan"`
	// Waits are the times that pods waited for their first node, sorted.
	Waits []time.Duration `json:"-"`
	// Packing contains the nodes at the time PackedAt, when there were most nodes. They are sorted by name.
	Packing  []PackedNode  `json:"packing"`
	PackedAt time.Duration `json:"packedAt"`
	// CapacityTypes and Families are the numbers of ready nodes by capacity type and by instance family. The one with the most nodes comes
	// first.
	CapacityTypes []Mix `json:"-"`
	Families      []Mix `json:"-"`
	// Events are the first interruptions and commands of the run, at most 5,000.
	Events []Event `json:"-"`
}

// PackedNode is a node with its pods.
type PackedNode struct {
	Name         string  `json:"name"`
	NodePool     string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	// PriceEstimated says that the price is an estimate.
	PriceEstimated bool `json:"priceEstimated,omitempty"`
	// Pods are the node's pods, with the fractions of the node's CPU and memory that they request.
	Pods []PackedPod `json:"pods"`
}

// PackedPod is a pod on a node.
type PackedPod struct {
	Name   string  `json:"name"`
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// Pending returns a quantile of the times that pods waited for their first node: the time within which the given fraction of pods, from 0
// to 1, got a node. It is 0 if no pod ever had a node.
func (r *Result) Pending(share float64) time.Duration {
	if len(r.Waits) == 0 {
		return 0
	}
	i := int(math.Ceil(share*float64(len(r.Waits)))) - 1
	return r.Waits[min(max(i, 0), len(r.Waits)-1)]
}

// mark returns the mark that precedes amounts that depend on estimates, or "".
func (r *Result) mark() string {
	if r.Estimated > 0 {
		return "~"
	}
	return ""
}

// Evictions returns the number of all evictions.
func (r *Result) Evictions() int { return r.EvictionsBySpot + r.EvictionsByPlan }

// record collects the values of a run for its Result.
type record struct {
	arrived, never, passes, looks, commands, launches int
	estimated                                         int
	interruptions, evictedBySpot, evictedByPlan       int
	withoutDevices                                    int
	// refused are the pods for which the last plan had no place, by name. gone are pods that ended while they were in refused.
	refused   map[string]*scheduling.Unschedulable
	gone      []*scheduling.Unschedulable
	waits     []time.Duration
	lookAgain time.Time
	// sums has one Point for each period, with values added up over time. width is the length of a period.
	sums  []Point
	width time.Duration
	cost  float64
	// prices adds up the cost by the origin of the prices.
	prices priceRecord
	// cpu and memory are the requests of pods on nodes, in milli-CPU and bytes.
	cpu, memory int64
	most        int
	packing     []PackedNode
	// capacityTypes and families add up the hours of ready nodes; events are the events of the result.
	capacityTypes, families mixRecord
	events                  []Event
	packedAt                time.Duration
}

func newRecord(e *engine) *record {
	width := max(e.Length/points, time.Minute)
	return &record{width: width, sums: make([]Point, (e.Length+width-1)/width)}
}

// The method again reports whether the planner asked for another call at this time, even if nothing changes.
func (r *record) again(now time.Time) bool { return !r.lookAgain.IsZero() && !now.Before(r.lookAgain) }

func (r *record) waited(d time.Duration) { r.waits = append(r.waits, d) }

func (r *record) boundTo(p *pod) { r.add(p, 1) }
func (r *record) unbound(p *pod) { r.add(p, -1) }

func (r *record) add(p *pod, sign int64) {
	cpu, memory := asked(p.object)
	r.cpu, r.memory = r.cpu+sign*cpu, r.memory+sign*memory
}

func asked(p *corev1.Pod) (cpu, memory int64) {
	for i := range p.Spec.Containers {
		list := p.Spec.Containers[i].Resources.Requests
		cpu, memory = cpu+list.Cpu().MilliValue(), memory+list.Memory().Value()
	}
	return cpu, memory
}

// pass adds the costs and the use of resources from now to the given time.
func (r *record) pass(e *engine, to time.Time) {
	from := e.now.Sub(e.Start)
	if to.After(e.end) {
		to = e.end
	}
	until := to.Sub(e.Start)
	if until <= from {
		return
	}
	var now Point
	var cpu, memory, cost int64 // cost is in nano-USD: integers give the same sum in any order of addition
	for _, m := range e.instances {
		cost += int64(math.Round(m.price * 1e9))
		if m.ready {
			now.Nodes++
			cpu += m.claim.Status.Allocatable.Cpu().MilliValue()
			memory += m.claim.Status.Allocatable.Memory().Value()
		}
	}
	now.CostPerHour = float64(cost) / 1e9
	now.Pending = float64(len(e.waiting))
	if cpu > 0 {
		now.CPU, now.Memory = float64(r.cpu)/float64(cpu), float64(r.memory)/float64(memory)
	}
	if len(e.instances) > r.most && len(e.waiting) == 0 {
		r.most, r.packedAt, r.packing = len(e.instances), from, packingOf(e)
	}
	r.prices.pass(e.instances, (until - from).Hours())
	capacityTypes, families := count(e.instances, capacityTypeOf), count(e.instances, familyOf)
	for from < until {
		i := int(from / r.width)
		stop := min(until, time.Duration(i+1)*r.width)
		hours := (stop - from).Hours()
		s := &r.sums[i]
		s.CostPerHour += now.CostPerHour * hours
		s.Nodes += now.Nodes * hours
		s.Pending += now.Pending * hours
		s.CPU += now.CPU * hours
		s.Memory += now.Memory * hours
		r.capacityTypes.add(capacityTypes, i, len(r.sums), hours)
		r.families.add(families, i, len(r.sums), hours)
		r.cost += now.CostPerHour * hours
		from = stop
	}
}

// packingOf returns the present nodes of the fleet with their pods, sorted by name.
func packingOf(e *engine) []PackedNode {
	var out []PackedNode
	for _, name := range sortedNames(e.instances) {
		m := e.instances[name]
		labels := m.claim.Labels
		n := PackedNode{
			Name: name, NodePool: scheduling.PoolOf(labels).String(), InstanceType: labels[corev1.LabelInstanceTypeStable],
			Zone: labels[corev1.LabelTopologyZone], CapacityType: labels[v1.CapacityTypeLabelKey], Price: m.price, PriceEstimated: m.estimated,
		}
		cpu, memory := m.claim.Status.Allocatable.Cpu().MilliValue(), m.claim.Status.Allocatable.Memory().Value()
		for _, key := range sortedNames(m.pods) {
			c, b := asked(m.pods[key].object)
			n.Pods = append(n.Pods, PackedPod{Name: key, CPU: share(c, cpu), Memory: share(b, memory)})
		}
		out = append(out, n)
	}
	return out
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// result returns the Result with the collected values.
func (r *record) result(e *engine) *Result {
	slices.Sort(r.waits)
	refused := e.refusedNow()
	out := &Result{
		Start: e.Start, Length: e.Length, Cost: r.cost, Prices: r.prices.result(), Pods: r.arrived, Unplaced: len(e.waiting), Never: r.never,
		Refused: len(refused), Refusals: refusalsOf(append(refused, r.gone...)), WithoutDevices: r.withoutDevices,
		Launches: r.launches, Passes: r.passes, Looks: r.looks, Commands: r.commands, Estimated: r.estimated, Assumptions: e.Snapshot.Assumptions,
		Interruptions: r.interruptions, EvictionsBySpot: r.evictedBySpot, EvictionsByPlan: r.evictedByPlan,
		Waits: r.waits, Packing: r.packing, PackedAt: r.packedAt, Series: r.sums, Events: r.events,
	}
	lengths := make([]float64, len(out.Series))
	for i := range out.Series {
		p := &out.Series[i]
		p.At = time.Duration(i) * r.width
		hours := min(r.width, e.Length-p.At).Hours()
		lengths[i] = hours
		for _, value := range []*float64{&p.CostPerHour, &p.Nodes, &p.Pending, &p.CPU, &p.Memory} {
			*value = math.Round(*value/hours*1e6) / 1e6
		}
	}
	out.CapacityTypes, out.Families = r.capacityTypes.result(lengths, shownFamilies), r.families.result(lengths, shownFamilies)
	out.Cost = math.Round(out.Cost*1e6) / 1e6
	return out
}
