package disruption

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// BlockCode is the kind of a block.
type BlockCode = decision.BlockCode

// What keeps a node from being a candidate at all, in the order of the checks.
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

// What keeps a candidate from a method.
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

// Block is why a node is not disrupted: a code with its operands.
type Block = decision.Block

// Unit is what a budget counts.
type Unit = decision.Unit

// The units.
const (
	UnitNodes Unit = decision.UnitNodes
	UnitPods  Unit = decision.UnitPods
	UnitPrice Unit = decision.UnitPrice
)

// Scope says which nodes a budget is about: nodes that meet all fields that are set.
type Scope = decision.Scope

// Budget limits how much may be disrupted at one time, or within some time: Amount of Unit, or a share of the total, in a Scope, for
// Reasons, while its Calendar is open.
type Budget = decision.Budget

// BudgetError is an invalid Budget.
type BudgetError = decision.BudgetError

// ValidateBudgets returns a *BudgetError for the first invalid budget, or nil.
func ValidateBudgets(list []Budget) error {
	return decision.ValidateBudgets(list)
}

// BudgetUse is the present use of a budget.
type BudgetUse = decision.BudgetUse

// Unlimited is PoolUse.Allowed if no budget of the pool is about the reason.
const Unlimited = decision.Unlimited

// PoolUse is the present use of a NodePool's own budgets for a voluntary reason, for metrics and events.
type PoolUse = decision.PoolUse

// Window is when budgets allow a node's disruption.
type Window = decision.Window

// Calendar is when a budget counts: for some time from each time of a schedule.
type Calendar = decision.Calendar

// CalendarError is a calendar that cannot be read.
type CalendarError = decision.CalendarError

// ParseCalendar reads a schedule as v1.ParseSchedule does, in an IANA time zone ("Europe/Berlin"); an empty zone is UTC. The budget counts
// for the duration, which is positive, from each time h of the schedule: in [h, h+duration). Zones come from the program's time zone
// database: import time/tzdata if the system may not have one. The error is a *CalendarError.
func ParseCalendar(schedule string, duration time.Duration, timeZone string) (*Calendar, error) {
	return decision.ParseCalendar(schedule, duration, timeZone)
}

// Candidate is a node that may be disrupted, looked at alone, with what planners need to know about it.
type Candidate = decision.Candidate

// Decision is the kind of a command.
type Decision = decision.Decision

// The decisions. A command that does nothing is not made.
const (
	DecisionDelete  Decision = decision.DecisionDelete
	DecisionReplace Decision = decision.DecisionReplace
)

// Member is a node that a command removes.
type Member = decision.Member

// Replacement is a node that a command launches.
type Replacement = decision.Replacement

// Command is one decision that is carried out as a whole: nodes to remove, and nodes to launch before.
type Command = decision.Command

// TerminationMode is how a claim's node ends, as metrics spell it: gracefully, without a deadline; eventually, with one; or forcefully,
// with a deadline at once.
func TerminationMode(claim *v1.NodeClaim) string {
	return decision.TerminationMode(claim)
}

// Event is a message for operators or a pod's owner, which the caller publishes as a Kubernetes event.
type Event = decision.Event

// DefaultEventInterval is how long not to repeat an event whose Every is nil.
const DefaultEventInterval = decision.DefaultEventInterval

// EventReason names a kind of event, in the words that operators' alerts know.
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

// Due is when a claim's node must go, and why.
type Due = decision.Due

// ExpiryOf is when the claim's node expires, by the claim's own expireAfter; false if it never does, or is already being deleted.
func ExpiryOf(claim *v1.NodeClaim) (Due, bool) {
	return decision.ExpiryOf(claim)
}

// MetricKind is the type of a metric.
type MetricKind = decision.MetricKind

// The kinds, as Prometheus knows them.
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

// Metrics are the metrics of this package's Samples. Package provisioning also counts nodeclaims_disrupted_total, for claims that it gives
// up.
func Metrics() []Metric {
	return decision.Metrics()
}

// Sample is one observation: an amount to add to a counter, to set a gauge to, or to put into a histogram.
type Sample = decision.Sample

// FloorPrices are prices of resources, USD per hour for each core, byte and pod, for the pods of the proofs that go by
// them: no node that may be launched for one of these and would hold it costs less than what it has for pods, in addition
// to its DaemonSets, is worth by them.
type FloorPrices = decision.FloorPrices

// Proof shows by a few multiplications that removing a node, all others left as they are, can't be worth it: pods of it
// that no other node has room for need new nodes, and those cost too much.
type Proof = decision.Proof

// HomelessPod is a pod that no node but its own has room for: it asks for Need of the resource, and no other node has more
// than Most of it free.
type HomelessPod = decision.HomelessPod

// Quiet is what consolidateAfter makes of a node at some time.
type Quiet = decision.Quiet

// QuietOf says whether the pool's consolidateAfter has passed for a node that is quiet since then (see
// Candidate.QuietSince): never for a static pool, for consolidateAfter Never and for a node that is not initialised, for
// which since is zero. consolidateAfter left out is 0s.
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

// Method is a way of finding commands.
type Method = decision.Method

// The methods, in the order in which they are tried.
const (
	MethodEmptiness   Method = decision.MethodEmptiness
	MethodStaticDrift Method = decision.MethodStaticDrift
	MethodDrift       Method = decision.MethodDrift
	MethodMultiNode   Method = decision.MethodMultiNode
	MethodSingleNode  Method = decision.MethodSingleNode
)

// Methods are all methods in the order in which they are tried. The slice is the caller's.
func Methods() []Method {
	return decision.Methods()
}

// Class says what pods that must not be disrupted, or that no PodDisruptionBudget lets go, do to their node.
type Class = decision.Class

// The classes.
const (
	ClassGraceful Class = decision.ClassGraceful
	ClassEventual Class = decision.ClassEventual
)

// VoluntaryReasons are the reasons that budgets know, in the order in which they are tried. The slice is the caller's.
func VoluntaryReasons() []Reason {
	return decision.VoluntaryReasons()
}

// Score is how a Balanced pool judges a command: what share of its cost the command saves for each share of its disruption
// that it causes.
type Score = decision.Score

// Disruption is one that was started: what budgets with a window remember.
type Disruption = decision.Disruption

// DisruptionOf notes that the disruption of a candidate was started.
func DisruptionOf(c *Candidate, r Reason, started time.Time) Disruption {
	return decision.DisruptionOf(c, r, started)
}

// ForcedDisruption notes that the removal of a claim's node was forced and has been started: by expiry, an interruption, or
// repair. It asked no budget, but those with a rate count it; and pods' owners that it disturbed are left alone for a
// while by Global, whatever it was that moved them. node may be empty, moving are the pods that have to move, and Price is the
// caller's to fill in where it is known.
func ForcedDisruption(claim *v1.NodeClaim, node string, r Reason, moving []*corev1.Pod, started time.Time) Disruption {
	return decision.ForcedDisruption(claim, node, r, moving, started)
}

// Outcome is what becomes of a node.
type Outcome = decision.Outcome

// The outcomes.
const (
	OutcomeKept     Outcome = decision.OutcomeKept
	OutcomeRemoved  Outcome = decision.OutcomeRemoved
	OutcomeReplaced Outcome = decision.OutcomeReplaced
)

// Verdict is what a plan says of one node, with numbers.
type Verdict = decision.Verdict

// MethodBlock is what keeps a node from a method; from all when Method is empty.
type MethodBlock = decision.MethodBlock

// RejectionCategory says what kind of change made a command void.
type RejectionCategory = decision.RejectionCategory

// The categories.
const (
	RejectedChurn      RejectionCategory = decision.RejectedChurn
	RejectedBudget     RejectionCategory = decision.RejectedBudget
	RejectedScheduling RejectionCategory = decision.RejectedScheduling
)

// RejectedError is a command that is void since things have changed.
type RejectedError = decision.RejectedError

// Wave is a set of commands to be carried out side by side.
type Wave = decision.Wave
