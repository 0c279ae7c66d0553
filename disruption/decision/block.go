package decision

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// BlockCode is the kind of a block. Codes are stable.
type BlockCode string

// Why a node is not a candidate, in the order of the checks.
const (
	// BlockInFlight: Block.Command is about to remove the node.
	BlockInFlight BlockCode = "InFlight"
	// BlockUnmanaged: the node has no NodeClaim.
	BlockUnmanaged BlockCode = "Unmanaged"
	// BlockNoNode: the node's instance has not joined the cluster.
	BlockNoNode BlockCode = "NoNode"
	// BlockNotInitialized: the node is not ready for pods yet, according to its label or the condition Initialized of its NodeClaim.
	BlockNotInitialized BlockCode = "NotInitialized"
	// BlockLeaving: the node is already being removed.
	BlockLeaving BlockCode = "Leaving"
	// BlockNominated: pods were planned for the node. The node is protected until Block.Until.
	BlockNominated BlockCode = "Nominated"
	// BlockAnnotation: the node has the annotation Block.Key.
	BlockAnnotation BlockCode = "Annotation"
	// BlockNoPool: the node has no label that names a NodePool.
	BlockNoPool BlockCode = "NoPool"
	// BlockPoolUnknown: Block.Pool does not exist, or belongs to another provider.
	BlockPoolUnknown BlockCode = "PoolUnknown"
	// BlockNoInstanceTypes: the provider has no instance types for Block.Pool now.
	BlockNoInstanceTypes BlockCode = "NoInstanceTypes"
	// BlockPod: Block.Pod must not be disrupted. Block.Until is when this ends, if that is known.
	BlockPod BlockCode = "Pod"
	// BlockPodDisruptionBudget: Block.Budgets do not allow the eviction of Block.Pod.
	BlockPodDisruptionBudget BlockCode = "PodDisruptionBudget"
	// BlockGang: Block.Pod is a member of the gang Block.Key. The gang runs on Block.Count nodes and is moved as a whole or not at all.
	// Block.Because says why the gang can't be moved as a whole, or can't leave the node Block.Detail. If members are pending, Block.Pods
	// are these members. If the gang is too large for one command, Block.Need is the largest number of nodes in a command.
	BlockGang BlockCode = "Gang"
)

// Why a method does not accept a candidate.
const (
	// BlockStatic: the candidate's pool keeps a fixed number of nodes.
	BlockStatic BlockCode = "Static"
	// BlockNotStatic: the candidate's pool does not keep a fixed number of nodes.
	BlockNotStatic BlockCode = "NotStatic"
	// BlockNever: the pool's consolidateAfter is Never.
	BlockNever BlockCode = "ConsolidateAfterNever"
	// BlockQuiet: pods were bound to the node or left it recently. Block.Until is when consolidateAfter will have passed.
	BlockQuiet BlockCode = "ConsolidateAfter"
	// BlockBuffer: the node's free capacity is needed for placeholders of capacity buffers or for ProvisioningRequests.
	BlockBuffer BlockCode = "CapacityBuffer"
	// BlockNotEmpty: pods would have to move.
	BlockNotEmpty BlockCode = "NotEmpty"
	// BlockEmpty: no pod would have to move, so the emptiness method removes the node, and this method does not.
	BlockEmpty BlockCode = "Empty"
	// BlockPolicy: the pool's consolidationPolicy is WhenEmpty.
	BlockPolicy BlockCode = "WhenEmpty"
	// BlockInstanceTypeUnknown: the node's instance type label is Block.Key, and the provider has no instance type with this name.
	BlockInstanceTypeUnknown BlockCode = "InstanceTypeUnknown"
	// BlockNoLabel: the node lacks the label Block.Key.
	BlockNoLabel BlockCode = "NoLabel"
	// BlockNotDrifted: the node has not drifted.
	BlockNotDrifted BlockCode = "NotDrifted"
	// BlockBudget: the disruption budget Block.Detail does not allow the disruption now. Its limit is Block.Allowed, its present use
	// Block.InUse. Block.Until is when the budget's calendar closes, or when earlier disruptions leave the window of its rate. It is not
	// known when the present disruptions will end.
	BlockBudget BlockCode = "Budget"
	// BlockScalingDown: the candidate's static pool has more nodes than replicas, and must scale down first.
	BlockScalingDown BlockCode = "ScalingDown"
	// BlockLimit: the static pool has reached its limit on nodes, so no replacement can be launched.
	BlockLimit BlockCode = "Limit"
	// BlockBackOff: replacements for nodes of the candidate's pool failed recently. The pause ends at Block.Until.
	BlockBackOff BlockCode = "BackOff"
	// BlockRefused: a disruption.Approver refused to disrupt the candidate for this reason; Block.Detail explains it. The pause ends at
	// Block.Until.
	BlockRefused BlockCode = "Refused"
	// BlockFailed: the API server refused a write for the candidate's last command, or to its pool, Block.Count times in a row.
	// Block.Detail is the error. The pause ends at Block.Until.
	BlockFailed BlockCode = "Failed"
	// BlockHeldBack: a replacement for the candidate must not be launched yet; Block.Detail says why. The pause ends at Block.Until.
	BlockHeldBack BlockCode = "HeldBack"
	// BlockUnapproved: Block.Pod came to the node after the command was approved: see disruption.MovedOn.
	BlockUnapproved BlockCode = "Unapproved"
	// BlockUnschedulable: after the removal, Block.Pods would have no place.
	BlockUnschedulable BlockCode = "Unschedulable"
	// BlockDependsOnUninitialized: the candidate's pods would have to move to nodes that are not ready. Block.Detail lists these nodes.
	BlockDependsOnUninitialized BlockCode = "DependsOnUninitialized"
	// BlockManyNodes: the candidate's removal would need Block.Count new nodes.
	BlockManyNodes BlockCode = "ManyNodes"
	// BlockNotCheaper: no new node for the candidate's pods is certain to cost less than Block.Price. This price is 0 if unknown.
	BlockNotCheaper BlockCode = "NotCheaper"
	// BlockMinValues: the cheaper instance types don't have as many different values as the pool's minValues require.
	BlockMinValues BlockCode = "MinValues"
	// BlockSpotToSpot: spot nodes are not replaced by spot nodes.
	BlockSpotToSpot BlockCode = "SpotToSpot"
	// BlockFewTypes: only Block.Count instance types are cheaper than the spot node, and its replacement requires Block.Need cheaper types.
	BlockFewTypes BlockCode = "FewCheaperTypes"
	// BlockScore: the saving is too small for the disruption: Block.Score is below Block.Threshold.
	BlockScore BlockCode = "BalancedScore"
	// BlockNoBatch: no batch that contains this node can be replaced by a single new node or by none.
	BlockNoBatch BlockCode = "NoBatch"
	// BlockNotReached: the search ended before it tried this node.
	BlockNotReached BlockCode = "NotReached"
	// BlockReceiver: the plan moves pods of removed nodes to this node.
	BlockReceiver BlockCode = "Receiver"
	// BlockLater: the next plan decides about the node. Its pods have places only after other commands: scheduling constraints require that
	// order, or one command can't remove and launch so many nodes.
	BlockLater BlockCode = "Later"
	// BlockRobustness: Block.Pods may find no place if kube-scheduler puts pods elsewhere than planned: one of Block.Count random orders
	// has shown this. The next plan decides about the node.
	BlockRobustness BlockCode = "Robustness"
	// BlockCoolDown: the node is new, or pods of its workloads were moved recently. The cool-down ends at Block.Until.
	BlockCoolDown BlockCode = "CoolDown"
	// BlockFloor: some of the candidate's pods fit on no other node, and new nodes for them cost at least Block.Floor. So the removal saves
	// less than Block.Required. Block.Proof proves this.
	BlockFloor BlockCode = "Floor"
	// BlockNoGain: the removal saves Block.Saving, but it must save at least Block.Required.
	BlockNoGain BlockCode = "NoGain"
	// BlockPayBack: Block.Saving is too small to pay for the removal within the pay-back time. The saving would have to be at least
	// Block.Required.
	BlockPayBack BlockCode = "PayBack"
	// BlockDrain: Block.Count of the candidate's pods are protected by the PodDisruptionBudgets Block.Budgets, which allow Block.Need
	// evictions at a time. The drain takes Block.Duration, which is too long.
	BlockDrain BlockCode = "Drain"
)

// Block says why a node is not disrupted: a code with details. Times are absolute. Money is USD per hour. Fields that the code does not use
// are zero.
type Block struct {
	Code BlockCode `json:"code"`
	// Until is when the block ends by itself; zero if unknown.
	Until time.Time `json:"until,omitzero"`
	// Command, Key, Pool and Pod are the objects that the code refers to.
	Command string          `json:"command,omitempty"`
	Key     string          `json:"key,omitempty"`
	Pool    v1.PoolKey      `json:"pool,omitzero"`
	Pod     planning.PodKey `json:"pod,omitzero"`
	// Budgets are PodDisruptionBudgets.
	Budgets []types.NamespacedName `json:"budgets,omitempty"`
	// Pods are pods without a place.
	Pods []planning.PodKey `json:"pods,omitempty"`
	// Allowed and InUse are the limit of a disruption budget and its present use, in its unit. Disrupted is the part of InUse
	// from nodes that are not ready or already leaving.
	Allowed   float64 `json:"allowed,omitempty"`
	InUse     float64 `json:"inUse,omitempty"`
	Disrupted float64 `json:"disrupted,omitempty"`
	// Count and Need are numbers whose meaning depends on the code.
	Count int `json:"count,omitempty"`
	Need  int `json:"need,omitempty"`
	// Price is the price of the nodes to remove.
	Price float64 `json:"price,omitempty"`
	// Saving is what removing the node would save. Required is what the removal must save. Floor is the lowest possible cost of new nodes
	// for the pods of this node.
	Saving   float64 `json:"saving,omitempty"`
	Required float64 `json:"required,omitempty"`
	Floor    float64 `json:"floor,omitempty"`
	// Proof proves the lowest cost of new nodes. It is nil if there is no proof.
	Proof *Proof `json:"proof,omitempty"`
	// Duration is a duration that the code refers to, in the form of time.Duration.String.
	Duration string `json:"duration,omitempty"`
	// Score is the score of a move under the policy Balanced, and Threshold the required score.
	Score     float64 `json:"score,omitempty"`
	Threshold float64 `json:"threshold,omitempty"`
	// Detail is the part of the sentence that String can't make from the other fields.
	Detail string `json:"detail,omitempty"`
	// Because is the reason why a gang can't be moved as a whole. It is nil if Code already says this.
	Because *Block `json:"because,omitempty"`
}

// Silent reports whether the block occurs in normal operation and is not worth an event.
func (b *Block) Silent() bool {
	switch b.Code {
	case BlockInFlight, BlockUnmanaged, BlockStatic, BlockNotStatic, BlockNotEmpty, BlockEmpty, BlockNotDrifted, BlockQuiet, BlockNoBatch, BlockNotReached:
		return true
	}
	return false
}

// String returns a sentence for operators, without the node's name.
func (b *Block) String() string {
	if b == nil {
		return ""
	}
	s := b.sentence()
	if !b.Until.IsZero() {
		s += " until " + b.Until.UTC().Format(time.RFC3339)
	}
	return s
}

func (b *Block) sentence() string {
	if s, ok := fixedSentences(b.Code); ok {
		return s
	}
	switch b.Code {
	case BlockInFlight:
		return "command " + b.Command + " is about to remove it"
	case BlockAnnotation:
		return "the node bears the annotation " + b.Key + ": remove the annotation"
	case BlockPoolUnknown:
		return fmt.Sprintf("there is no nodepool %q of this provider", b.Pool)
	case BlockNoInstanceTypes:
		return fmt.Sprintf("the provider has no instance types for nodepool %q now", b.Pool)
	case BlockPod:
		return fmt.Sprintf("pod %s must not be disrupted (annotation %s)", b.Pod, v1.DoNotDisruptAnnotationKey)
	case BlockPodDisruptionBudget:
		return b.budgetSentence()
	case BlockGang:
		return b.gangSentence()
	case BlockInstanceTypeUnknown:
		return fmt.Sprintf("the provider has no instance type %q", b.Key)
	case BlockNoLabel:
		return "it lacks the label " + b.Key
	case BlockBudget:
		return b.disruptionBudgetSentence()
	case BlockScalingDown:
		return fmt.Sprintf("nodepool %q has %d nodes and %d replicas: one is given back first", b.Pool, b.Count, b.Need)
	case BlockLimit:
		return fmt.Sprintf("spec.limits[%s] of nodepool %q has no room for a replacement: raise the limit", v1.ResourceNodes, b.Pool)
	case BlockBackOff:
		return fmt.Sprintf("replacements of nodepool %q failed %d times", b.Pool, b.Count)
	case BlockRefused:
		return "its disruption was refused (" + b.Detail + ")"
	case BlockFailed:
		if !b.Pool.IsZero() {
			return fmt.Sprintf("nodepool %q can't be written to (%s)", b.Pool, b.Detail)
		}
		return fmt.Sprintf("its disruption failed %d times in a row (%s)", b.Count, b.Detail)
	case BlockHeldBack:
		return "its disruption is held back (" + b.Detail + ")"
	case BlockUnapproved:
		return fmt.Sprintf("pod %s came after the command was approved: the next plan asks again", b.Pod)
	case BlockUnschedulable:
		return "pods would have no place: " + podList(b.Pods)
	case BlockDependsOnUninitialized:
		return "its pods would have to go to nodes that are not initialized: " + b.Detail
	case BlockManyNodes:
		return fmt.Sprintf("it would take %d new nodes, and consolidation launches at most %d", b.Count, max(b.Need, 1))
	case BlockNotCheaper:
		if b.Price == 0 {
			return "what it costs is not known, so that nothing is sure to cost less"
		}
		if b.Floor > 0 {
			return fmt.Sprintf("new nodes for its pods cost at least %.4f USD/h, and have to cost less than %.4f", b.Floor, b.Price)
		}
		return fmt.Sprintf("no instance type that would hold its pods is sure to cost less than %.4f USD/h", b.Price)
	case BlockMinValues:
		return fmt.Sprintf("the cheaper instance types have %d values of %s, and minValues asks for %d", b.Count, b.Key, b.Need)
	case BlockFewTypes:
		return fmt.Sprintf("%d instance types are cheaper on spot, and replacing a spot node takes %d", b.Count, b.Need)
	case BlockFloor:
		homeless := 0
		if b.Proof != nil {
			homeless = len(b.Proof.Homeless)
		}
		if b.Price == 0 {
			return fmt.Sprintf("%d of its pods have no room elsewhere, new nodes for them cost at least %.4f USD/h, and what it costs is not known", homeless, b.Floor)
		}
		return fmt.Sprintf("%d of its pods have no room elsewhere, and new nodes for them cost at least %.4f USD/h where it costs %.4f", homeless, b.Floor, b.Price)
	case BlockNoGain:
		return fmt.Sprintf("removing it would save %.4f USD/h, and has to save %.4f", b.Saving, b.Required)
	case BlockPayBack:
		return fmt.Sprintf("saving %.4f USD/h would not pay back in time for the disruption and for new nodes next to the old ones: %.4f would", b.Saving, b.Required)
	case BlockDrain:
		return fmt.Sprintf("pod disruption budgets %v let %d of its %d pods go at a time: its drain would take %s", b.Budgets, b.Need, b.Count, b.Duration)
	case BlockRobustness:
		return fmt.Sprintf("if pods are put elsewhere than planned, some may find no place, as one of %d orders shows: %s", b.Count, podList(b.Pods))
	case BlockScore:
		return fmt.Sprintf("score %.3f of nodepool %q is below %.3f: the saving is too small for the pods it would move", b.Score, b.Pool, b.Threshold)
	}
	return string(b.Code)
}

// fixedSentences returns the sentence for a code that needs no details.
func fixedSentences(code BlockCode) (string, bool) {
	s, ok := map[BlockCode]string{
		BlockUnmanaged:      "no nodeclaim made it",
		BlockNoNode:         "it has not joined the cluster",
		BlockNotInitialized: "it is not initialized: label " + v1.NodeInitializedLabelKey + " of its node or condition " + v1.ConditionInitialized + " of its nodeclaim is not true",
		BlockLeaving:        "it is being removed",
		BlockNominated:      "pods were planned for it",
		BlockNoPool:         "it lacks the label " + v1.NodePoolLabelKey,
		BlockStatic:         "its nodepool has a fixed number of replicas",
		BlockNotStatic:      "its nodepool has no fixed number of replicas",
		BlockNever:          "consolidateAfter of its nodepool is Never",
		BlockQuiet:          "pods came or went recently: consolidateAfter of its nodepool has not passed",
		BlockBuffer:         "capacity buffers or ProvisioningRequests count on its room",
		BlockNotEmpty:       "pods would have to move",
		BlockEmpty:          "no pod would have to move: it is removed as empty",
		BlockPolicy:         "consolidationPolicy of its nodepool is WhenEmpty, and pods would have to move",
		BlockNotDrifted:     "it has not drifted",
		BlockSpotToSpot:     "replacing spot nodes by spot nodes is switched off",
		BlockNoBatch:        "no batch that was tried with it among the nodes can be removed for at most one new node",
		BlockReceiver:       "pods of nodes that go are planned for it",
		BlockLater:          "its pods have places once other commands are done: the next plan looks at it again",
		BlockCoolDown:       "it is new, or pods of its workloads were moved recently",
		BlockNotReached:     "the search ended before its turn",
	}[code]
	return s, ok
}

// disruptionBudgetSentence mentions the nodes that are not ready, because readers may not expect that budgets count them.
func (b *Block) disruptionBudgetSentence() string {
	out := fmt.Sprintf("%s allows %g and %g are in use", b.Detail, b.Allowed, b.InUse)
	if b.Disrupted > 0 {
		out += fmt.Sprintf(", %g by nodes that are not ready or on their way out", b.Disrupted)
	}
	return out
}

// gangSentence names the pod's gang, and says why the gang can't move.
func (b *Block) gangSentence() string {
	nodes := "1 node"
	if b.Count != 1 {
		nodes = fmt.Sprintf("%d nodes", b.Count)
	}
	s := fmt.Sprintf("pod %s is a member of gang %s, which runs on %s and can only be moved as a whole", b.Pod, b.Key, nodes)
	switch {
	case len(b.Pods) > 0:
		s += ": members of it wait for a place: " + podList(b.Pods)
	case b.Need > 0:
		s += fmt.Sprintf(": a command removes at most %d", b.Need)
	case b.Because != nil && b.Detail != "":
		s += fmt.Sprintf(": node %s: %s", b.Detail, b.Because.sentence())
	case b.Because != nil:
		s += ": " + b.Because.sentence()
	}
	return s
}

func (b *Block) budgetSentence() string {
	names := make([]string, len(b.Budgets))
	for i, key := range b.Budgets {
		names[i] = key.String()
	}
	if len(names) > 1 {
		return fmt.Sprintf("several pod disruption budgets select pod %s, so that it can't be evicted: %s: leave one of them", b.Pod, strings.Join(names, ", "))
	}
	return fmt.Sprintf("pod disruption budget %s does not let pod %s go now", strings.Join(names, ", "), b.Pod)
}

// podList names the first five pods, and says how many more there are.
func podList(keys []planning.PodKey) string {
	const named = 5
	parts := make([]string, 0, named+1)
	for _, k := range keys[:min(len(keys), named)] {
		parts = append(parts, k.String())
	}
	if more := len(keys) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}
