package planning

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// PodKey names a pod.
type PodKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is "namespace/name".
func (k PodKey) String() string { return k.Namespace + "/" + k.Name }

// KeyOf names the pod. The key of nil is empty.
func KeyOf(pod *corev1.Pod) PodKey {
	if pod == nil {
		return PodKey{}
	}
	return PodKey{Namespace: pod.Namespace, Name: pod.Name}
}

// Plan is the answer to a Snapshot: where each pending pod goes, which nodes to launch for that, and why some pods
// have no place. It is plain data, in a total order, the same for the same input.
type Plan struct {
	// NewNodes are the planned nodes, to be launched, in the order they were planned.
	NewNodes []NewNode `json:"newNodes,omitempty"`
	// Existing are the nodes of the snapshot that receive pods, by name.
	Existing []ExistingNode `json:"existing,omitempty"`
	// Order lists all placed pods in an order in which they can be bound: where a topology rule makes a pod's place
	// depend on others', those come first.
	Order []PodKey `json:"order,omitempty"`
	// Relaxations are the wishes of placed pods that the plan does not keep, with the pods concerned.
	Relaxations []Relaxation `json:"relaxations,omitempty"`
	// Unschedulable are the pods without a place, in the order of the snapshot.
	Unschedulable []Unschedulable `json:"unschedulable,omitempty"`
	// Gangs says of each gang of the snapshot, in its order, whether it is placed, and if not, why. Members of a gang that has no place
	// are in Unschedulable, too.
	Gangs []GangPlacement `json:"gangs,omitempty"`
	// Preemptions are the pods for which kube-scheduler makes room by preempting others, in the order it comes to them.
	// With PreemptionExpect they stand here alone; else a node is planned for them all the same, or they are in
	// Unschedulable. The plan has no new place for the victims.
	Preemptions []Preemption `json:"preemptions,omitempty"`
	// HourlyCost is the sum of NewNodes' prices, USD per hour: for each that of its first instance type.
	HourlyCost float64 `json:"hourlyCost"`
	// Prices says what HourlyCost rests on. Nil where no offering of the new nodes says where its price is from.
	Prices *PlanPrices `json:"prices,omitempty"`
	// LowerBound is a proven floor under the hourly cost of any set of new nodes that holds the pods placed on
	// NewNodes, USD per hour; Certificate proves it.
	LowerBound float64 `json:"lowerBound"`
	// Certificate is the proof of LowerBound; nil when no node is planned.
	Certificate *Certificate `json:"certificate,omitempty"`
	// Commitments tell what the snapshot's nodes and the new ones use of each commitment of the cost model, in the order of
	// its terms; nil without any.
	Commitments []CommitmentUse `json:"commitments,omitempty"`
	// Notes are remarks on the input that did not stop the plan.
	Notes []Note `json:"notes,omitempty"`
}

// NewNode is a planned node: one to launch.
type NewNode struct {
	// Name is a placeholder, unique in the plan: "<pool>-<number>".
	Name string `json:"name"`
	// Pool that launches it.
	Pool v1.PoolKey `json:"pool"`
	// InstanceTypes are all types that would hold its pods, at least one. The first is the one that the plan assumes, the others follow
	// cheapest first; it is the cheapest of them unless a commitment covers the node in part. A node that is planned for a
	// commitment lists only types that it covers.
	InstanceTypes []InstanceTypeOption `json:"instanceTypes"`
	// Requirements are the NodeClaim's in addition to InstanceTypes: the pool's, narrowed by the pods. They speak of the instance type
	// only where the pool or a pod does.
	Requirements requirements.Set `json:"requirements"`
	// Pods placed on it, in the order they can be bound.
	Pods []PodKey `json:"pods"`
	// Requests are the sum of the pods' and of the DaemonSets that will run on InstanceTypes[0].
	Requests corev1.ResourceList `json:"requests"`
	// MinValuesRelaxed says that the instance types are less varied than the pool's minValues ask for: MinValuesBestEffort
	// settled for it.
	MinValuesRelaxed bool `json:"minValuesRelaxed,omitempty"`
	// Allocatable is that of InstanceTypes[0].
	Allocatable corev1.ResourceList `json:"allocatable"`
}

// InstanceTypeOption is an instance type that would hold a new node's pods, with its cheapest suitable offering.
type InstanceTypeOption struct {
	Name         string `json:"name"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// Others are the offering's further labels, a reservation for instance, as cloudprovider.OfferingKey spells them.
	Others string `json:"others,omitempty"`
	// Price of that offering by the snapshot's cost model, USD per hour. Where commitments cover shares of the node, it is
	// with the same shares of this offering covered, if they cover it.
	Price float64 `json:"price"`
	// Terms that made the price, the list price first; they add up to it. Nil without a cost model, and in explanations.
	Terms []PriceTerm `json:"terms,omitempty"`
}

// Offering is the key of the offering, by which the provider knows it.
func (o *InstanceTypeOption) Offering() cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: o.Name, Zone: o.Zone, CapacityType: o.CapacityType, Others: o.Others}
}

// NodePrice is what a node of the snapshot costs.
type NodePrice struct {
	// Offering that the node was bought as.
	Offering cloudprovider.OfferingKey `json:"offering"`
	// Price in USD per hour, what commitments pay already taken off.
	Price float64 `json:"price"`
	// Terms that made it, the list price first; nil without a CostModel.
	Terms []PriceTerm `json:"terms,omitempty"`
}

// ExistingNode is a node of the snapshot that receives pods.
type ExistingNode struct {
	// Name as in Snapshot.Nodes.
	Name string `json:"name"`
	// Pods that the plan puts there, in the order they can be bound; those that are bound already are not repeated.
	Pods []PodKey `json:"pods"`
}

// Unschedulable is a pod without a place, and why.
type Unschedulable struct {
	Pod PodKey `json:"pod"`
	// Reasons, at least one: one per NodePool that was considered, by pool order, and then one for the nodes that exist
	// (ReasonExistingNodes), which is left out where there are none, and after very many kinds of pods have been explained on
	// very many nodes; or a single one without a pool when the pod itself is at fault, asks for nodes without a pool, or no
	// pool exists.
	Reasons []Reason `json:"reasons"`
}

// RelaxationCode says what kind of wish a plan does not keep. Codes are stable.
type RelaxationCode string

const (
	// RelaxedNodeAffinity: the pods' node does not meet a preferred node affinity term.
	RelaxedNodeAffinity RelaxationCode = "PreferredNodeAffinity"
	// RelaxedPodAffinity: no pod that a preferred pod affinity term asks for is in their topology domain.
	RelaxedPodAffinity RelaxationCode = "PreferredPodAffinity"
	// RelaxedPodAntiAffinity: a pod that a preferred pod anti-affinity term keeps away from is in their topology domain.
	RelaxedPodAntiAffinity RelaxationCode = "PreferredPodAntiAffinity"
	// RelaxedSpread: the skew of a topology spread constraint with ScheduleAnyway is above its maxSkew.
	RelaxedSpread RelaxationCode = "ScheduleAnyway"
	// RelaxedTaint: their node has a PreferNoSchedule taint that they don't tolerate.
	RelaxedTaint RelaxationCode = "PreferNoScheduleTaint"
)

// Relaxation is a wish that the plan does not keep for some pods. With PreferencesIgnore pods have no wishes, and only
// RelaxedTaint is listed, since taints are the nodes'.
type Relaxation struct {
	Code RelaxationCode `json:"code"`
	// Detail names the wish.
	Detail string `json:"detail"`
	// Pods concerned, in the order of Plan.Order.
	Pods []PodKey `json:"pods"`
}

// NoteCode says what a note is about. Codes are stable.
type NoteCode string

// NoteNodeOverlayNotApplied says that a NodeOverlay contradicts itself or another of its weight, and changes nothing.
const NoteNodeOverlayNotApplied NoteCode = "NodeOverlayNotApplied"

// NoteDeviceAlternative says that a request for devices with alternatives is met by one that is not the first, on a new node that costs less
// than what has an earlier one, or because there is no such node.
const NoteDeviceAlternative NoteCode = "DeviceAlternative"

// Note is a remark on the input that did not stop the plan.
type Note struct {
	Code NoteCode `json:"code"`
	// Object the note is about, "kind namespace/name".
	Object string `json:"object,omitempty"`
	// Message is a sentence for people.
	Message string `json:"message"`
}

// Certificate proves Plan.LowerBound by arithmetic alone: each class of pods is given a Value, and for no instance
// type can the pods that fit on one node be worth more than the node costs. Then any nodes that hold all
// pods cost at least the sum of Count x Value. That a type t of price p can't hold more is shown by its multipliers
// λ >= 0: Σ_r allocatable_r λ_r + Σ_c f_c max(0, value_c - requests_c·λ) <= p, f_c being how many pods of class c fit on
// an empty node of the type, and at most Count. Of devices that drivers publish, allocatable is the most that claims of these devices alone
// could have, which may be more than the plan counts on.
//
// A rule that allows only so many pods of several classes on one node counts like a resource of which every node has the rule's Amount:
// classes take some of it, and types have a multiplier for it. So does a resource that is counted in whole units: a class takes its
// request divided by the rule's Unit, a node has its allocatable divided by it, both rounded down, and no pods fit on a node that
// together take more than it has.
//
// Where few pods share a node, a type may count one or two resources in whole pods instead, its Whole: in units, requests and allocatable
// rounded down. These have no multiplier. In place of Σ_c f_c max(0, …) stands the most that whole pods are worth, at most f_c of each
// class, which together take no more of these resources than the node has: a knapsack that dynamic programming solves.
//
// If some nodes are limited in number, by a reservation or a commitment, Limits give what is limited its own Value: such a node may hold
// pods worth its price and, beyond that, what it uses of the limited
// thing at that value. Any nodes that hold all pods then cost at least the sum of Count x Value over the classes less the
// sum of Amount x Value over the limits: that is LowerBound.
type Certificate struct {
	Classes []CertificateClass `json:"classes"`
	Types   []CertificateType  `json:"types"`
	// Rules about how many pods one node may hold that the proof uses; nil without any.
	Rules []CertificateRule `json:"rules,omitempty"`
	// Limits, none where all values are 0: reservations by name, then commitments in the order of the cost model.
	Limits []CertificateLimit `json:"limits,omitempty"`
}

// CertificateRule is a rule about single nodes in a proof: hard anti-affinity or spread by hostname, a host port, or a resource in
// whole units.
type CertificateRule struct {
	// Name is what classes and types call it, unique in the certificate.
	Name string `json:"name"`
	// Rule says it in words.
	Rule string `json:"rule"`
	// Amount that each node has; 0 for a resource in whole units.
	Amount int64 `json:"amount,omitempty"`
	// Resource and Unit are set where a resource is counted in whole units.
	Resource corev1.ResourceName `json:"resource,omitempty"`
	Unit     resource.Quantity   `json:"unit,omitzero"`
}

// CertificateLimit is a reservation or a commitment in a proof.
type CertificateLimit struct {
	// Reservation is what offerings state of it, "key In [value]"; Commitment is the CostTerm's name. One is set.
	Reservation string `json:"reservation,omitempty"`
	Commitment  string `json:"commitment,omitempty"`
	// Amount that is left for new nodes: instances of the reservation, or the commitment's unit.
	Amount float64 `json:"amount"`
	// Value of one, USD per hour: no kind of node is worth more beyond its price for what it uses.
	Value float64 `json:"value"`
	// Types are the kinds of nodes that use it. Kinds that another of them stands in for are left out.
	Types []CertificateDraw `json:"types"`
}

// CertificateDraw is the proof for one kind of node that uses something limited: as for a CertificateType, but against
// Price + Uses x CertificateLimit.Value.
type CertificateDraw struct {
	CertificateType
	// Uses is how much of the limit one node uses.
	Uses float64 `json:"uses"`
}

// CertificateClass is a group of pods with equal requests.
type CertificateClass struct {
	// Requests of one pod, "pods: 1" included.
	Requests corev1.ResourceList `json:"requests"`
	// Count of pods.
	Count int `json:"count"`
	// Takes is what one pod takes of rules' amounts, by CertificateRule.Name; nil for nothing.
	Takes map[string]int64 `json:"takes,omitempty"`
	// Value of one pod, USD per hour.
	Value float64 `json:"value"`
}

// CertificateType is the proof for one instance type. A type that holds more when it is bought one way than another may have
// several: for each way, one of them is the proof.
type CertificateType struct {
	Name string `json:"name"`
	// Price is the type's cheapest usable offering that holds as much, USD per hour.
	Price float64 `json:"price"`
	// Multipliers λ by resource, USD per hour and unit (cores, bytes, pods, …).
	Multipliers map[corev1.ResourceName]float64 `json:"multipliers"`
	// RuleMultipliers by CertificateRule.Name, USD per hour for one of the rule's amount; nil for none.
	RuleMultipliers map[string]float64 `json:"ruleMultipliers,omitempty"`
	// Whole are the resources counted in whole pods; nil for none, at most two.
	Whole []CertificateCount `json:"whole,omitempty"`
}

// CertificateCount is a resource of which the proof for a type counts whole pods, in so large units, rounded down.
type CertificateCount struct {
	Resource corev1.ResourceName `json:"resource"`
	Unit     resource.Quantity   `json:"unit"`
}
