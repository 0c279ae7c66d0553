package planning

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// PodKey identifies a pod.
type PodKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns "namespace/name".
func (k PodKey) String() string { return k.Namespace + "/" + k.Name }

// KeyOf returns the key of the pod. The key of nil is empty.
func KeyOf(pod *corev1.Pod) PodKey {
	if pod == nil {
		return PodKey{}
	}
	return PodKey{Namespace: pod.Namespace, Name: pod.Name}
}

// Plan is the result for a Snapshot: where each pending pod is placed, which nodes to launch for the pods, and why some pods can't be
// placed. It is plain data. All lists are sorted, so the same input gives the same Plan.
type Plan struct {
	// NewNodes are the planned nodes to launch, in the order in which they were planned.
	NewNodes []NewNode `json:"newNodes,omitempty"`
	// Existing are the nodes of the snapshot that receive pods, by name.
	Existing []ExistingNode `json:"existing,omitempty"`
	// Order lists all placed pods in an order in which they can be bound: if a topology rule makes a pod's place depend on other pods, the
	// other pods come first.
	Order []PodKey `json:"order,omitempty"`
	// Relaxations are the preferences of placed pods that the plan does not keep, with the pods concerned.
	Relaxations []Relaxation `json:"relaxations,omitempty"`
	// Unschedulable are the pods that the plan can't place, in the order of the snapshot.
	Unschedulable []Unschedulable `json:"unschedulable,omitempty"`
	// Gangs says for each gang of the snapshot, in the snapshot's order, whether the gang is placed, and if not, why. Members of a gang
	// that is not placed are also in Unschedulable.
	Gangs []GangPlacement `json:"gangs,omitempty"`
	// Preemptions are the pods for which kube-scheduler makes room by preempting other pods, in kube-scheduler's order. With
	// PreemptionExpect they are listed only here; otherwise a node is also planned for them, or they are in Unschedulable. The plan does
	// not place the victims again.
	Preemptions []Preemption `json:"preemptions,omitempty"`
	// HourlyCost is the sum of NewNodes' prices, USD per hour: each node counts with its first instance type.
	HourlyCost float64 `json:"hourlyCost"`
	// Prices says where the prices in HourlyCost come from. It is nil if no offering of the new nodes states the origin of its price.
	Prices *PlanPrices `json:"prices,omitempty"`
	// LowerBound is a proven lower bound on the hourly cost of any new nodes that hold the pods placed on NewNodes, USD per hour;
	// Certificate proves it.
	LowerBound float64 `json:"lowerBound"`
	// Certificate is the proof of LowerBound; nil if no node is planned.
	Certificate *Certificate `json:"certificate,omitempty"`
	// Commitments says how much of each commitment of the cost model the snapshot's nodes and the new nodes use, in the order of the
	// model's terms; nil without commitments.
	Commitments []CommitmentUse `json:"commitments,omitempty"`
	// SpotSplits say how the plan keeps workloads' limits on spot nodes. They have an entry for each limited workload with waiting pods, by
	// name. Nil without any.
	SpotSplits []SpotSplit `json:"spotSplits,omitempty"`
	// Notes are remarks on the input that did not stop the plan.
	Notes []Note `json:"notes,omitempty"`
}

// NewNode is a planned node, to be launched.
type NewNode struct {
	// Name is a placeholder, unique in the plan: "<pool>-<number>".
	Name string `json:"name"`
	// Pool that launches it.
	Pool v1.PoolKey `json:"pool"`
	// InstanceTypes are all types that can hold its pods, at least one. The plan assumes the first; the others follow in the order of their
	// prices, cheapest first. The first is the cheapest unless a commitment covers the node in part. If a node is planned for a commitment,
	// it lists only types that the commitment covers.
	InstanceTypes []InstanceTypeOption `json:"instanceTypes"`
	// Requirements are the requirements of the NodeClaim, apart from InstanceTypes: those of the pool, narrowed by the pods. They restrict
	// the instance type only if the pool or a pod does.
	Requirements requirements.Set `json:"requirements"`
	// Pods placed on it, in an order in which they can be bound.
	Pods []PodKey `json:"pods"`
	// Requests are the sum for the pods and for the DaemonSets that will run on InstanceTypes[0].
	Requests corev1.ResourceList `json:"requests"`
	// MinValuesRelaxed means that the instance types have less variety than the pool's minValues require. This happens only with
	// MinValuesBestEffort.
	MinValuesRelaxed bool `json:"minValuesRelaxed,omitempty"`
	// Allocatable of InstanceTypes[0].
	Allocatable corev1.ResourceList `json:"allocatable"`
}

// InstanceTypeOption is an instance type that can hold a new node's pods, with its cheapest suitable offering.
type InstanceTypeOption struct {
	Name         string `json:"name"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// Others contains the offering's other labels, for instance a reservation, in the format of cloudprovider.OfferingKey.
	Others string `json:"others,omitempty"`
	// Price of that offering by the snapshot's cost model, USD per hour. If commitments cover a part of the node, the price assumes that
	// each commitment that applies to this offering covers the same part of it.
	Price float64 `json:"price"`
	// Terms of the price, the list price first; their amounts add up to the price. They are nil without a cost model, and in explanations.
	Terms []PriceTerm `json:"terms,omitempty"`
}

// Offering returns the offering's key, by which the provider knows it.
func (o *InstanceTypeOption) Offering() cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: o.Name, Zone: o.Zone, CapacityType: o.CapacityType, Others: o.Others}
}

// NodePrice is the cost of a node of the snapshot.
type NodePrice struct {
	// Offering is the offering as which the node was bought.
	Offering cloudprovider.OfferingKey `json:"offering"`
	// Price in USD per hour, after commitments.
	Price float64 `json:"price"`
	// Terms of the price, the list price first; nil without a CostModel.
	Terms []PriceTerm `json:"terms,omitempty"`
}

// ExistingNode is a node of the snapshot that receives pods.
type ExistingNode struct {
	// Name as in Snapshot.Nodes.
	Name string `json:"name"`
	// Pods that the plan places there, in an order in which they can be bound; pods already bound are not repeated.
	Pods []PodKey `json:"pods"`
}

// Unschedulable is a pod that can't be placed, with the reasons.
type Unschedulable struct {
	Pod PodKey `json:"pod"`
	// Reasons, at least one. There is one for each NodePool that was considered, by pool order, and then one for the existing nodes
	// (ReasonExistingNodes). The reason for the existing nodes is left out if no nodes exist. It is also left out after very many kinds of
	// pods were explained on very many nodes, to bound the work. There is only one reason, without a pool, if the pod itself is invalid, if
	// it asks for nodes without a pool, or if no pool exists.
	Reasons []Reason `json:"reasons"`
}

// RelaxationCode says what kind of preference a plan does not keep. Codes are stable.
type RelaxationCode string

const (
	// RelaxedNodeAffinity: the pods' node does not meet a preferred node affinity term.
	RelaxedNodeAffinity RelaxationCode = "PreferredNodeAffinity"
	// RelaxedPodAffinity: their topology domain has no pod that a preferred pod affinity term selects.
	RelaxedPodAffinity RelaxationCode = "PreferredPodAffinity"
	// RelaxedPodAntiAffinity: their topology domain has a pod that a preferred pod anti-affinity term selects.
	RelaxedPodAntiAffinity RelaxationCode = "PreferredPodAntiAffinity"
	// RelaxedSpread: the skew of a topology spread constraint with ScheduleAnyway is above its maxSkew.
	RelaxedSpread RelaxationCode = "ScheduleAnyway"
	// RelaxedTaint: their node has a PreferNoSchedule taint that they don't tolerate.
	RelaxedTaint RelaxationCode = "PreferNoScheduleTaint"
)

// Relaxation is a preference that the plan does not keep for some pods. With PreferencesIgnore, pods have no preferences. Then only
// RelaxedTaint is listed, because taints belong to nodes.
type Relaxation struct {
	Code RelaxationCode `json:"code"`
	// Detail names the preference.
	Detail string `json:"detail"`
	// Pods concerned, in the order of Plan.Order.
	Pods []PodKey `json:"pods"`
}

// NoteCode is the kind of a note. Codes are stable.
type NoteCode string

// NoteNodeOverlayNotApplied says that a NodeOverlay contradicts itself or another overlay of the same weight, and was not applied.
const NoteNodeOverlayNotApplied NoteCode = "NodeOverlayNotApplied"

// NoteDeviceAlternative says that a new node meets a request for devices with an alternative other than the first. Either this node is
// cheaper than nodes with an earlier alternative, or there are no such nodes.
const NoteDeviceAlternative NoteCode = "DeviceAlternative"

// NoteSpotLimits says how many pods of a workload may be on spot nodes, if limits of scheduling/spotlimits apply to waiting pods.
const NoteSpotLimits NoteCode = "SpotLimits"

// Note is a remark on the input that did not stop the plan.
type Note struct {
	Code NoteCode `json:"code"`
	// Object of the note, "kind namespace/name".
	Object string `json:"object,omitempty"`
	// Message is a sentence for people.
	Message string `json:"message"`
}

// Certificate proves Plan.LowerBound by arithmetic alone. It gives each class of pods a Value. For every instance type, the pods that fit
// on one node are worth at most as much as the node costs. Then any nodes that hold all pods cost at least the sum of Count x Value. The
// multipliers λ >= 0 of a type t with price p show that the pods on a node are not worth more than p: Σ_r allocatable_r λ_r + Σ_c f_c
// max(0, value_c - requests_c·λ) <= p. Here f_c is how many pods of class c fit on an empty node of the type, at most Count. For devices
// that drivers publish, allocatable is the most that claims of only these devices could get, which may be more than the plan relies on.
//
// A rule that limits the pods of several classes on one node is treated like a resource. Every node has the rule's Amount of it, classes
// take some of it, and types have a multiplier for it. A resource that is counted in whole units works the same way: a class takes its
// request divided by the rule's Unit, and a node has its allocatable divided by Unit, both rounded down. Pods that together take more than
// the node has do not fit on the node.
//
// If only a few pods share a node, a type may instead count one or two resources (Whole) in whole pods: in units, with requests and
// allocatable rounded down. These resources have no multiplier. For them, Σ_c f_c max(0, …) is replaced by the largest total worth of a set
// of whole pods: at most f_c pods of each class, which together take no more of these resources than the node has. This is a knapsack
// problem, which dynamic programming solves.
//
// If a reservation or a commitment limits the number of some nodes, it is listed in Limits with its own Value. A node that uses it may hold
// pods worth the node's price plus the value of this use. Any nodes that hold all pods then cost at least the sum of Count x Value over the
// classes minus the sum of Amount x Value over the limits. This difference is LowerBound.
type Certificate struct {
	Classes []CertificateClass `json:"classes"`
	Types   []CertificateType  `json:"types"`
	// Rules are the rules about how many pods one node may hold that the proof uses; nil if it uses none.
	Rules []CertificateRule `json:"rules,omitempty"`
	// Limits are the limited reservations, by name, and then the limited commitments, in the order of the cost model; nil if all values are
	// 0.
	Limits []CertificateLimit `json:"limits,omitempty"`
}

// CertificateRule is a rule about single nodes in a proof: hard anti-affinity or spread by hostname, a host port, or a resource in
// whole units.
type CertificateRule struct {
	// Name is unique in the certificate. Classes and types refer to the rule by this name.
	Name string `json:"name"`
	// Rule describes it in words.
	Rule string `json:"rule"`
	// Amount that each node has; 0 for a resource in whole units.
	Amount int64 `json:"amount,omitempty"`
	// Resource and Unit are set if a resource is counted in whole units.
	Resource corev1.ResourceName `json:"resource,omitempty"`
	Unit     resource.Quantity   `json:"unit,omitzero"`
}

// CertificateLimit is a reservation or a commitment in a proof.
type CertificateLimit struct {
	// Reservation is the label by which offerings name it, "key In [value]"; Commitment is the CostTerm's name. One of both is set.
	Reservation string `json:"reservation,omitempty"`
	Commitment  string `json:"commitment,omitempty"`
	// Amount that is left for new nodes: in instances of the reservation, or in the commitment's unit.
	Amount float64 `json:"amount"`
	// Value of one unit, USD per hour: no kind of node is worth more than its price plus this value for each unit that it uses.
	Value float64 `json:"value"`
	// Types are the kinds of nodes that use the reservation or commitment. A kind is left out if another listed kind can replace it.
	Types []CertificateDraw `json:"types"`
}

// CertificateDraw is the proof for one kind of node that uses a limited reservation or commitment. It works like a CertificateType, but
// with Price + Uses x CertificateLimit.Value in place of the price.
type CertificateDraw struct {
	CertificateType
	// Uses is how much of the limit one node uses.
	Uses float64 `json:"uses"`
}

// CertificateClass is a group of pods with equal requests.
type CertificateClass struct {
	// Requests of one pod, including "pods: 1".
	Requests corev1.ResourceList `json:"requests"`
	// Count of pods.
	Count int `json:"count"`
	// Takes is how much of the rules' amounts one pod takes, by CertificateRule.Name. It is nil if the pod takes nothing.
	Takes map[string]int64 `json:"takes,omitempty"`
	// Value of one pod, USD per hour.
	Value float64 `json:"value"`
}

// CertificateType is the proof for one instance type. A type whose room depends on how it is bought may have several proofs: for each way
// to buy it, one of them applies.
type CertificateType struct {
	Name string `json:"name"`
	// Price of the type's cheapest usable offering with that room, USD per hour.
	Price float64 `json:"price"`
	// Multipliers λ by resource, USD per hour and unit (cores, bytes, pods, …).
	Multipliers map[corev1.ResourceName]float64 `json:"multipliers"`
	// RuleMultipliers are in USD per hour for one unit of the rule's amount, by CertificateRule.Name, or nil if no rule has a multiplier.
	RuleMultipliers map[string]float64 `json:"ruleMultipliers,omitempty"`
	// Whole are the resources counted in whole pods, at most two; nil if no resource is.
	Whole []CertificateCount `json:"whole,omitempty"`
}

// CertificateCount is a resource that the proof for a type counts in whole pods, in units of this size, rounded down.
type CertificateCount struct {
	Resource corev1.ResourceName `json:"resource"`
	Unit     resource.Quantity   `json:"unit"`
}
