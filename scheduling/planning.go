package scheduling

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// The input of a plan. All types are declared in package planning, which the implementation of this package shares. Types that users seldom
// name, such as parts of a reason, of a certificate or of a PlanDiff, have a name only there.
type (
	// Snapshot is everything a plan is made from, as plain data.
	Snapshot = planning.Snapshot
	// NodePool is a pool of the API with additional facts for planning.
	NodePool = planning.NodePool
	// SnapshotError says what is wrong with a Snapshot.
	SnapshotError = planning.SnapshotError
	// Node is a node of the cluster, or a node that is being launched.
	Node = planning.Node
	// CostModel says how the cost of nodes differs from their list prices.
	CostModel = planning.CostModel
	// CostTerm changes the cost of nodes.
	CostTerm = planning.CostTerm
	// CostSelector picks offerings.
	CostSelector = planning.CostSelector
	// OfferingAmount is the amount that a term adds to one offering.
	OfferingAmount = planning.OfferingAmount
	// Commitment is a limited amount of something that is paid for in advance and that the nodes covered by it use up.
	Commitment = planning.Commitment
	// PriceTerm is one line in the calculation of a price.
	PriceTerm = planning.PriceTerm
	// CommitmentUse is how much of a commitment a plan uses, in its Unit.
	CommitmentUse = planning.CommitmentUse
	// CostModelError says what is wrong with a CostModel.
	CostModelError = planning.CostModelError
	// NotSnapshotError says that the input of DecodeSnapshot is not a snapshot but a Kubernetes object or a list of them.
	NotSnapshotError = planning.NotSnapshotError
	// SizeError is input with more bytes than are read.
	SizeError = planning.SizeError
)

// Pods that are placed together or not at all, and their part in a plan. See package planning.
type (
	// Gang is pods that are useful only together: a plan places at least Minimum of them, or none.
	Gang = planning.Gang
	// GangAncestor is a group of groups of gangs.
	GangAncestor = planning.GangAncestor
	// GangTemplate represents equal members of a gang that do not exist yet.
	GangTemplate = planning.GangTemplate
	// GangTopology keeps all members of a gang in one domain: on nodes that have the same value of a label.
	GangTopology = planning.GangTopology
	// GangTopologyPolicy says how strictly a gang is kept in one domain.
	GangTopologyPolicy = planning.GangTopologyPolicy
	// GangKey names a gang.
	GangKey = planning.GangKey
	// GangPlacement is the result for one gang of a plan.
	GangPlacement = planning.GangPlacement
	// GangDomain is a value of a label that nodes of a gang share.
	GangDomain = planning.GangDomain
	// GangReasonCode says why a gang can't be placed.
	GangReasonCode = planning.GangReasonCode
	// GangReason says why a gang can't be placed as a whole.
	GangReason = planning.GangReason
	// GangCure is a change after which a whole gang could be placed if everything else stays as planned.
	GangCure = planning.GangCure
)

// Constants that say how strictly gangs are kept in a domain, and why a gang can't be placed.
const (
	GangTopologyRequired  GangTopologyPolicy = planning.GangTopologyRequired
	GangTopologyPreferred GangTopologyPolicy = planning.GangTopologyPreferred
	GangIncomplete        GangReasonCode     = planning.GangIncomplete
	GangDeadlinePassed    GangReasonCode     = planning.GangDeadlinePassed
	GangNoSuchDomain      GangReasonCode     = planning.GangNoSuchDomain
	GangDomainsClosed     GangReasonCode     = planning.GangDomainsClosed
	GangDomainsTooSmall   GangReasonCode     = planning.GangDomainsTooSmall
	GangDomainsForbidden  GangReasonCode     = planning.GangDomainsForbidden
	GangParentHasNoPlace  GangReasonCode     = planning.GangParentHasNoPlace
	GangDoesNotFit        GangReasonCode     = planning.GangDoesNotFit
)

// ListPriceTerm is the name of the first term of every price.
const (
	ListPriceTerm = planning.ListPriceTerm
)

// Queries of Solve. See package planning.
type (
	// Query contains the options of Solve.
	Query = planning.Query
	// PreferencePolicy says what to do with preferences.
	PreferencePolicy = planning.PreferencePolicy
	// MinValuesPolicy says what to do with a NodePool's minValues that can't be met.
	MinValuesPolicy = planning.MinValuesPolicy
	// ReservedPolicy says what to do with pods for which a reservation exists.
	ReservedPolicy = planning.ReservedPolicy
	// Effort says how hard Solve searches for a cheaper plan.
	Effort = planning.Effort
	// PreemptionPolicy says what to do for pods that kube-scheduler places by preemption.
	PreemptionPolicy = planning.PreemptionPolicy
)

// The values of a Query's fields, and their defaults.
const (
	PreferencesRespect       PreferencePolicy = planning.PreferencesRespect
	PreferencesIgnore        PreferencePolicy = planning.PreferencesIgnore
	MinValuesStrict          MinValuesPolicy  = planning.MinValuesStrict
	MinValuesBestEffort      MinValuesPolicy  = planning.MinValuesBestEffort
	ReservedFallback         ReservedPolicy   = planning.ReservedFallback
	ReservedStrict           ReservedPolicy   = planning.ReservedStrict
	EffortDefault            Effort           = planning.EffortDefault
	EffortFast               Effort           = planning.EffortFast
	EffortThorough           Effort           = planning.EffortThorough
	PreemptionIgnore         PreemptionPolicy = planning.PreemptionIgnore
	PreemptionExpect         PreemptionPolicy = planning.PreemptionExpect
	DefaultPreferencePremium                  = planning.DefaultPreferencePremium
)

// Plans, their costs, and the differences between two plans. See package planning.
type (
	// PodKey names a pod.
	PodKey = planning.PodKey
	// Plan is what Solve returns for a Snapshot.
	Plan = planning.Plan
	// NewNode is a planned node.
	NewNode = planning.NewNode
	// InstanceTypeOption is an instance type that can hold a new node's pods, with its cheapest suitable offering.
	InstanceTypeOption = planning.InstanceTypeOption
	// NodePrice is the cost of a node of the snapshot.
	NodePrice = planning.NodePrice
	// ExistingNode is a node of the snapshot that receives pods.
	ExistingNode = planning.ExistingNode
	// Unschedulable is a pod that can't be placed, with the reasons.
	Unschedulable = planning.Unschedulable
	// RelaxationCode says what kind of preference a plan does not keep.
	RelaxationCode = planning.RelaxationCode
	// Relaxation is a preference that the plan does not keep for some pods.
	Relaxation = planning.Relaxation
	// NoteCode says what a note is about.
	NoteCode = planning.NoteCode
	// Note is a remark on the input that did not stop the plan.
	Note = planning.Note
	// Certificate proves Plan.LowerBound by arithmetic alone.
	Certificate = planning.Certificate
	// Preemption is a pod for which kube-scheduler makes room on a node by preempting pods of lower priority.
	Preemption = planning.Preemption
	// PlanDiff contains the differences between two plans.
	PlanDiff = planning.PlanDiff
	// NodeKind describes a NewNode by its pool and by the first instance type, which the plan assumes.
	NodeKind = planning.NodeKind
)

// Codes of a plan's remarks.
const (
	RelaxedNodeAffinity       RelaxationCode = planning.RelaxedNodeAffinity
	RelaxedPodAffinity        RelaxationCode = planning.RelaxedPodAffinity
	RelaxedPodAntiAffinity    RelaxationCode = planning.RelaxedPodAntiAffinity
	RelaxedSpread             RelaxationCode = planning.RelaxedSpread
	RelaxedTaint              RelaxationCode = planning.RelaxedTaint
	NoteNodeOverlayNotApplied NoteCode       = planning.NoteNodeOverlayNotApplied
	NoteDeviceAlternative     NoteCode       = planning.NoteDeviceAlternative
	NoteSpotLimits            NoteCode       = planning.NoteSpotLimits
)

// The options of a trial, and its results. See package planning.
type (
	// PlaceOptions say how pods are placed.
	PlaceOptions = planning.PlaceOptions
	// Outcome is the result of Place.
	Outcome = planning.Outcome
)

// Why a pod can't be placed, and which change would help. See package planning.
type (
	// ReasonCode says at which check a pod was refused.
	ReasonCode = planning.ReasonCode
	// Reason says why a pod can't be placed on a node of one NodePool, or on the existing nodes.
	Reason = planning.Reason
	// MissCode says what would have to change.
	MissCode = planning.MissCode
	// NearestMiss is the smallest single change after which one more pod of its kind could be placed, if everything else stays as planned.
	NearestMiss = planning.NearestMiss
)

// Codes of reasons and of nearest misses. Package planning explains each constant, and has the constants of the counts in a reason.
const (
	ReasonPodInvalid       ReasonCode = planning.ReasonPodInvalid
	ReasonNoNodePools      ReasonCode = planning.ReasonNoNodePools
	ReasonOptedOut         ReasonCode = planning.ReasonOptedOut
	ReasonNodePoolNotReady ReasonCode = planning.ReasonNodePoolNotReady
	ReasonNoInstanceTypes  ReasonCode = planning.ReasonNoInstanceTypes
	ReasonTaint            ReasonCode = planning.ReasonTaint
	ReasonRequirements     ReasonCode = planning.ReasonRequirements
	ReasonVolumes          ReasonCode = planning.ReasonVolumes
	ReasonInstanceTypes    ReasonCode = planning.ReasonInstanceTypes
	ReasonLimits           ReasonCode = planning.ReasonLimits
	ReasonReservation      ReasonCode = planning.ReasonReservation
	ReasonMinValues        ReasonCode = planning.ReasonMinValues
	ReasonTopology         ReasonCode = planning.ReasonTopology
	ReasonHostPorts        ReasonCode = planning.ReasonHostPorts
	ReasonExistingNodes    ReasonCode = planning.ReasonExistingNodes
	ReasonGang             ReasonCode = planning.ReasonGang
	ReasonSpotLimits       ReasonCode = planning.ReasonSpotLimits
	ReasonReservationEnds  ReasonCode = planning.ReasonReservationEnds
	ReasonNotPlaced        ReasonCode = planning.ReasonNotPlaced
	MissToleration         MissCode   = planning.MissToleration
	MissLimits             MissCode   = planning.MissLimits
	MissReservation        MissCode   = planning.MissReservation
	MissMinValues          MissCode   = planning.MissMinValues
	MissTopology           MissCode   = planning.MissTopology
	MissLabel              MissCode   = planning.MissLabel
	MissResources          MissCode   = planning.MissResources
	MissVolumes            MissCode   = planning.MissVolumes
	MissNodePool           MissCode   = planning.MissNodePool
	MissResourceGivenUp    MissCode   = planning.MissResourceGivenUp
	MissOffering           MissCode   = planning.MissOffering
)

// DecodeSnapshot reads a snapshot written by Encode or EncodeJSON. It refuses unknown fields: ignoring part of a snapshot would reproduce a
// different decision. Manifests are refused with a *NotSnapshotError, a nil reader with an *option.ArgumentError, and input that is too
// large with a *SizeError. Other errors wrap the error of the reader or the decoder.
func DecodeSnapshot(r io.Reader) (*Snapshot, error) {
	return planning.DecodeSnapshot(r)
}

// DecodeCostModel reads a CostModel as YAML or JSON, one document, at most 256 MiB, and validates it. It refuses unknown fields: ignoring
// part of a term would change prices. A model that breaks a rule is refused with a *CostModelError.
func DecodeCostModel(r io.Reader) (*CostModel, error) {
	return planning.DecodeCostModel(r)
}

// Tabulate makes a term for costs that no other kind of term can express. It calls amount, which returns USD per hour, for each offering of
// the types, even if the offering is not available. Offerings with the amount 0 are left out. The function amount is called here and never
// by a planner, so it may be any function. A saved snapshot contains the table, so that plans can be repeated and audited. Types must be
// those of the snapshot's catalog; Compile refuses amounts that are not finite.
func Tabulate(name, source string, types []*cloudprovider.InstanceType, amount func(*cloudprovider.InstanceType, *cloudprovider.Offering) float64) CostTerm {
	return planning.Tabulate(name, source, types, amount)
}

// ValidateDefaultTopologySpread checks the cluster's default constraints like kube-scheduler's configuration: a positive maxSkew, a valid
// topology key and whenUnsatisfiable, no selector, no duplicates.
func ValidateDefaultTopologySpread(list []corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	return planning.ValidateDefaultTopologySpread(list, path)
}

// Diff returns what changes from plan a to plan b. A nil plan is a plan without nodes and pods. Neither plan is changed, and the result
// shares only the pool keys with them.
func Diff(a, b *Plan) PlanDiff {
	return planning.Diff(a, b)
}

// TaintString formats a taint as "key=value:Effect", also if the value is empty.
func TaintString(t corev1.Taint) string {
	return planning.TaintString(t)
}
