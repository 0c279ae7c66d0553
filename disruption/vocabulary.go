package disruption

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// BlockCode is the kind of a block.
type BlockCode = decision.BlockCode

// Why a node is not a candidate, in the order of the checks.
const (
	BlockInFlight            BlockCode = decision.BlockInFlight
	BlockUnmanaged           BlockCode = decision.BlockUnmanaged
	BlockNoNode              BlockCode = decision.BlockNoNode
	BlockNotInitialized      BlockCode = decision.BlockNotInitialized
	BlockLeaving             BlockCode = decision.BlockLeaving
	BlockNominated           BlockCode = decision.BlockNominated
	BlockAnnotation          BlockCode = decision.BlockAnnotation
	BlockNoPool              BlockCode = decision.BlockNoPool
	BlockPoolUnknown         BlockCode = decision.BlockPoolUnknown
	BlockNoInstanceTypes     BlockCode = decision.BlockNoInstanceTypes
	BlockPod                 BlockCode = decision.BlockPod
	BlockPodDisruptionBudget BlockCode = decision.BlockPodDisruptionBudget
	BlockGang                BlockCode = decision.BlockGang
)

// Why a method does not accept a candidate.
const (
	BlockStatic                 BlockCode = decision.BlockStatic
	BlockNotStatic              BlockCode = decision.BlockNotStatic
	BlockNever                  BlockCode = decision.BlockNever
	BlockQuiet                  BlockCode = decision.BlockQuiet
	BlockBuffer                 BlockCode = decision.BlockBuffer
	BlockNotEmpty               BlockCode = decision.BlockNotEmpty
	BlockEmpty                  BlockCode = decision.BlockEmpty
	BlockPolicy                 BlockCode = decision.BlockPolicy
	BlockInstanceTypeUnknown    BlockCode = decision.BlockInstanceTypeUnknown
	BlockNoLabel                BlockCode = decision.BlockNoLabel
	BlockNotDrifted             BlockCode = decision.BlockNotDrifted
	BlockBudget                 BlockCode = decision.BlockBudget
	BlockScalingDown            BlockCode = decision.BlockScalingDown
	BlockLimit                  BlockCode = decision.BlockLimit
	BlockBackOff                BlockCode = decision.BlockBackOff
	BlockRefused                BlockCode = decision.BlockRefused
	BlockFailed                 BlockCode = decision.BlockFailed
	BlockHeldBack               BlockCode = decision.BlockHeldBack
	BlockUnapproved             BlockCode = decision.BlockUnapproved
	BlockUnschedulable          BlockCode = decision.BlockUnschedulable
	BlockDependsOnUninitialized BlockCode = decision.BlockDependsOnUninitialized
	BlockManyNodes              BlockCode = decision.BlockManyNodes
	BlockNotCheaper             BlockCode = decision.BlockNotCheaper
	BlockMinValues              BlockCode = decision.BlockMinValues
	BlockSpotToSpot             BlockCode = decision.BlockSpotToSpot
	BlockFewTypes               BlockCode = decision.BlockFewTypes
	BlockScore                  BlockCode = decision.BlockScore
	BlockNoBatch                BlockCode = decision.BlockNoBatch
	BlockNotReached             BlockCode = decision.BlockNotReached
	BlockReceiver               BlockCode = decision.BlockReceiver
	BlockLater                  BlockCode = decision.BlockLater
	BlockRobustness             BlockCode = decision.BlockRobustness
	BlockCoolDown               BlockCode = decision.BlockCoolDown
	BlockFloor                  BlockCode = decision.BlockFloor
	BlockNoGain                 BlockCode = decision.BlockNoGain
	BlockPayBack                BlockCode = decision.BlockPayBack
	BlockDrain                  BlockCode = decision.BlockDrain
)

// Block is why a node is not disrupted: a code with details.
type Block = decision.Block

// Unit says what a budget counts.
type Unit = decision.Unit

// The units.
const (
	UnitNodes Unit = decision.UnitNodes
	UnitPods  Unit = decision.UnitPods
	UnitPrice Unit = decision.UnitPrice
)

// Scope selects the nodes of a budget: those that match all fields that are set.
type Scope = decision.Scope

// Budget limits how much is disrupted at the same time, or within a period. The limit is Amount of Unit, or a share of the total, for nodes
// in Scope and for Reasons, while Calendar is open.
type Budget = decision.Budget

// BudgetError is an invalid Budget.
type BudgetError = decision.BudgetError

// ValidateBudgets returns a *BudgetError for the first invalid budget, or nil.
func ValidateBudgets(list []Budget) error {
	return decision.ValidateBudgets(list)
}

// BudgetUse is the present use of a budget.
type BudgetUse = decision.BudgetUse

// Unlimited is the value of PoolUse.Allowed if no budget of the pool limits the reason.
const Unlimited = decision.Unlimited

// PoolUse is the present use of a NodePool's own budgets for a voluntary reason, for metrics and events.
type PoolUse = decision.PoolUse

// Window says when budgets allow a node's disruption.
type Window = decision.Window

// Calendar says when a budget is in force: each time of a schedule opens a window of a fixed duration.
type Calendar = decision.Calendar

// CalendarError is an invalid calendar.
type CalendarError = decision.CalendarError

// ParseCalendar reads a schedule as v1.ParseSchedule does, in an IANA time zone ("Europe/Berlin"); an empty zone is UTC. Each time h of the
// schedule opens the window [h, h+duration), in which the budget is in force; duration must be positive. Zones are looked up in the
// program's time zone database: import time/tzdata if the system may have no database. The error is a *CalendarError.
func ParseCalendar(schedule string, duration time.Duration, timeZone string) (*Calendar, error) {
	return decision.ParseCalendar(schedule, duration, timeZone)
}

// Candidate is a node that may be disrupted, with the data that planners need about it.
type Candidate = decision.Candidate

// Decision is the kind of a command.
type Decision = decision.Decision

// The decisions. There is no value for "do nothing", because no command is made in that case.
const (
	DecisionDelete  Decision = decision.DecisionDelete
	DecisionReplace Decision = decision.DecisionReplace
)

// Member is a node that a command removes.
type Member = decision.Member

// Replacement is a node that a command launches.
type Replacement = decision.Replacement

// Command is one decision that is carried out as a whole: which nodes to remove, and which nodes to launch first.
type Command = decision.Command

// TerminationMode returns how a claim's node is terminated, as the value of a metric's label: "graceful" (without a deadline), "eventual"
// (with a deadline) or "forceful" (with an immediate deadline).
func TerminationMode(claim *v1.NodeClaim) string {
	return decision.TerminationMode(claim)
}

// Event is a message for operators or a pod's owner, which the caller publishes as a Kubernetes event.
type Event = decision.Event

// DefaultEventInterval is the time during which an event whose Every is nil is not repeated.
const DefaultEventInterval = decision.DefaultEventInterval

// EventReason is the reason of a Kubernetes event, with the same text as in Karpenter.
type EventReason = decision.EventReason

// The reasons of the events of disruption.
const (
	EventDisruptionBlocked          EventReason = decision.EventDisruptionBlocked
	EventUnconsolidatable           EventReason = decision.EventUnconsolidatable
	EventConsolidationCandidate     EventReason = decision.EventConsolidationCandidate
	EventConsolidationRejected      EventReason = decision.EventConsolidationRejected
	EventConsolidationApproved      EventReason = decision.EventConsolidationApproved
	EventDisruptionLaunching        EventReason = decision.EventDisruptionLaunching
	EventDisruptionWaitingReadiness EventReason = decision.EventDisruptionWaitingReadiness
	EventDisruptionTerminating      EventReason = decision.EventDisruptionTerminating
	EventDisruptionAwaitingApproval EventReason = decision.EventDisruptionAwaitingApproval
	EventDisruptionRefused          EventReason = decision.EventDisruptionRefused
	EventDisruptionHeldBack         EventReason = decision.EventDisruptionHeldBack
	EventDisruptionFailed           EventReason = decision.EventDisruptionFailed
	EventDoNotDisruptUntil          EventReason = decision.EventDoNotDisruptUntil
	EventDoNotDisruptElapsed        EventReason = decision.EventDoNotDisruptElapsed
	EventInvalidDoNotDisrupt        EventReason = decision.EventInvalidDoNotDisrupt
	EventNodeRepairBlocked          EventReason = decision.EventNodeRepairBlocked
)

// Due says when a claim's node must be removed, and why.
type Due = decision.Due

// ExpiryOf returns when the claim's node expires, according to the claim's own expireAfter. It returns false if the node never expires or
// is already being deleted.
func ExpiryOf(claim *v1.NodeClaim) (Due, bool) {
	return decision.ExpiryOf(claim)
}

// MetricKind is the type of a metric.
type MetricKind = decision.MetricKind

// The metric types of Prometheus.
const (
	Counter   MetricKind = decision.Counter
	Gauge     MetricKind = decision.Gauge
	Histogram MetricKind = decision.Histogram
)

// Metric describes one of the metrics of disruption.
type Metric = decision.Metric

// MetricPrefix begins the name of every metric.
const MetricPrefix = decision.MetricPrefix

// The names of the metrics of disruption.
const (
	MetricEligibleNodes      = decision.MetricEligibleNodes
	MetricDecisions          = decision.MetricDecisions
	MetricDecisionsByPool    = decision.MetricDecisionsByPool
	MetricEvaluationDuration = decision.MetricEvaluationDuration
	MetricTimeouts           = decision.MetricTimeouts
	MetricFailedValidations  = decision.MetricFailedValidations
	MetricQueueFailures      = decision.MetricQueueFailures
	MetricCommandFailures    = decision.MetricCommandFailures
	MetricAllowedDisruptions = decision.MetricAllowedDisruptions
	MetricConsumingBudgets   = decision.MetricConsumingBudgets
	MetricScore              = decision.MetricScore
	MetricMoves              = decision.MetricMoves
	MetricDisrupted          = decision.MetricDisrupted
	MetricPodsDisrupted      = decision.MetricPodsDisrupted
	MetricUnhealthyDisrupted = decision.MetricUnhealthyDisrupted
	MetricBackOffFailures    = decision.MetricBackOffFailures
	MetricBackOffSeconds     = decision.MetricBackOffSeconds
)

// Metrics returns the metrics of this package's Samples. Package provisioning also counts nodeclaims_disrupted_total, for claims whose
// launch it abandons.
func Metrics() []Metric {
	return decision.Metrics()
}

// Sample is one value of a metric: an amount to add to a counter, the value of a gauge, or an observation for a histogram.
type Sample = decision.Sample

// FloorPrices are prices of resources in USD per hour for each core, byte and pod. A proof refers to them. At these prices, the capacity of
// a node is worth at most the node's price. This is true for each node that may be launched for a pod of the proof; capacity for DaemonSets
// is not counted.
type FloorPrices = decision.FloorPrices

// Proof shows by a few multiplications that removing this node alone can't save enough: some of its pods fit on no other node, and new
// nodes for them cost too much.
type Proof = decision.Proof

// HomelessPod is a pod that fits on no other node: it requests Need of the resource, and no other node has more than Most of it
// free.
type HomelessPod = decision.HomelessPod

// Quiet says whether a node's consolidateAfter has passed at some time.
type Quiet = decision.Quiet

// QuietOf says whether the pool's consolidateAfter has passed for a node that has been quiet since the given time (see
// Candidate.QuietSince). consolidateAfter never passes for a static pool, for consolidateAfter Never, and for a node that is not
// initialized: its since is zero. A missing consolidateAfter means 0s.
func QuietOf(pool *v1.NodePool, since, now time.Time) Quiet {
	return decision.QuietOf(pool, since, now)
}

// Reason is why a node is disrupted.
type Reason = decision.Reason

// The reasons.
const (
	ReasonEmpty         Reason = decision.ReasonEmpty
	ReasonUnderutilized Reason = decision.ReasonUnderutilized
	ReasonDrifted       Reason = decision.ReasonDrifted
	ReasonExpired       Reason = decision.ReasonExpired
	ReasonInterrupted   Reason = decision.ReasonInterrupted
	ReasonUnhealthy     Reason = decision.ReasonUnhealthy
)

// Method is a strategy for finding commands.
type Method = decision.Method

// The methods, in the order in which they are tried.
const (
	MethodEmptiness   Method = decision.MethodEmptiness
	MethodStaticDrift Method = decision.MethodStaticDrift
	MethodDrift       Method = decision.MethodDrift
	MethodMultiNode   Method = decision.MethodMultiNode
	MethodSingleNode  Method = decision.MethodSingleNode
)

// Methods returns all methods in the order in which they are tried. The caller owns the slice.
func Methods() []Method {
	return decision.Methods()
}

// Class says what happens to a node whose pods must not be disrupted, or whose pods' PodDisruptionBudgets allow no eviction.
type Class = decision.Class

// The classes.
const (
	ClassGraceful Class = decision.ClassGraceful
	ClassEventual Class = decision.ClassEventual
)

// VoluntaryReasons returns the reasons that budgets can limit, in the order in which they are tried. The caller owns the slice.
func VoluntaryReasons() []Reason {
	return decision.VoluntaryReasons()
}

// Score is the rating of a command for a pool with the policy Balanced: the share of the pool's cost that the command saves, divided by the
// share of the pool's disruption that it causes.
type Score = decision.Score

// Disruption is a disruption that has started. Budgets with a window count them.
type Disruption = decision.Disruption

// DisruptionOf returns the history entry for the disruption of a candidate by a command.
func DisruptionOf(c *Candidate, r Reason, started time.Time) Disruption {
	return decision.DisruptionOf(c, r, started)
}

// ForcedDisruption returns the history entry for the forced removal of a claim's node by expiry, interruption or repair. No budget can
// block it. But budgets with a rate count it, and Global does not disrupt the workloads of its pods for a while. node may be empty; moving
// are the pods that must move. Set Price in the result if you know it.
func ForcedDisruption(claim *v1.NodeClaim, node string, r Reason, moving []*corev1.Pod, started time.Time) Disruption {
	return decision.ForcedDisruption(claim, node, r, moving, started)
}

// Outcome says what a plan does with a node.
type Outcome = decision.Outcome

// The outcomes.
const (
	OutcomeKept     Outcome = decision.OutcomeKept
	OutcomeRemoved  Outcome = decision.OutcomeRemoved
	OutcomeReplaced Outcome = decision.OutcomeReplaced
)

// Verdict says what a plan does with one node and why, with numbers.
type Verdict = decision.Verdict

// MethodBlock says why a method does not accept a node. If Method is empty, the block applies to all methods.
type MethodBlock = decision.MethodBlock

// RejectionCategory says what kind of change made a command invalid.
type RejectionCategory = decision.RejectionCategory

// The categories.
const (
	RejectedChurn      RejectionCategory = decision.RejectedChurn
	RejectedBudget     RejectionCategory = decision.RejectedBudget
	RejectedScheduling RejectionCategory = decision.RejectedScheduling
)

// RejectedError means that a command is no longer valid because the cluster has changed.
type RejectedError = decision.RejectedError

// Wave is a set of commands to carry out in parallel.
type Wave = decision.Wave
