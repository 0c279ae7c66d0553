package planning

import (
	"fmt"
	"strings"
)

// Preemption is a pod for which kube-scheduler makes room on a node by preempting pods of lower priority.
type Preemption struct {
	Pod PodKey `json:"pod"`
	// Node whose pods are preempted, as in Snapshot.Nodes.
	Node string `json:"node"`
	// Victims are the preempted pods, by falling priority. Several pods may use the room of one victim.
	Victims []PodKey `json:"victims"`
	// HighestPriority of the victims.
	HighestPriority int32 `json:"highestPriority"`
	// BudgetViolations counts the victims whose eviction a PodDisruptionBudget would forbid. kube-scheduler prefers nodes without such
	// victims, but preempts them if no other node can take the pod.
	BudgetViolations int `json:"budgetViolations,omitempty"`
}

// String returns a sentence for operators.
func (p Preemption) String() string {
	names := make([]string, len(p.Victims))
	for i, v := range p.Victims {
		names[i] = v.String()
	}
	text := fmt.Sprintf("pod %s preempts %s on node %s, of priority %d at most", p.Pod, strings.Join(names, ", "), p.Node, p.HighestPriority)
	if p.BudgetViolations > 0 {
		text += fmt.Sprintf(", %d against a PodDisruptionBudget", p.BudgetViolations)
	}
	return text
}
