package decision

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Decision is the kind of a command.
type Decision string

// The decisions. There is no value for "do nothing", because no command is made in that case.
const (
	// DecisionDelete removes nodes and launches no nodes.
	DecisionDelete Decision = "delete"
	// DecisionReplace launches nodes, and then removes other nodes.
	DecisionReplace Decision = "replace"
)

// Member is a node that a command removes.
type Member struct {
	// Node is the node's name. Claim and UID are the name and UID of its NodeClaim. ProviderID identifies its instance.
	Node       string    `json:"node"`
	Claim      string    `json:"claim"`
	UID        types.UID `json:"uid,omitempty"`
	ProviderID string    `json:"providerID,omitempty"`
	// Pool is the pool that owns the node. Static means that this pool has a fixed number of replicas.
	Pool   v1.PoolKey `json:"pool"`
	Static bool       `json:"static,omitempty"`
	// Price is in USD per hour, 0 if unknown. Cost is the cost of the disruption in units of an ordinary pod.
	Price float64 `json:"price"`
	Cost  float64 `json:"cost"`
	// Pods are the pods that have to move, by namespace and name.
	Pods []planning.PodKey `json:"pods,omitempty"`
	// Owners are the owners of these pods, without duplicates: see Disruption.Owners. They are not part of the command's JSON.
	Owners []types.UID `json:"-"`
}

// Replacement is a node that a command launches.
type Replacement struct {
	// Node is the planned node. Its instance types are those that may be launched, the cheapest first. Node is nil for a node of a static
	// pool, which is made only from the pool's template.
	Node *planning.NewNode `json:"node,omitempty"`
	// Pool is the pool that launches the node.
	Pool v1.PoolKey `json:"pool"`
	// Static means that the NodeClaim is made only from the pool's template, because the pool is static.
	Static bool `json:"static,omitempty"`
}

// Command is one decision that is carried out as a whole: which nodes to remove, and which nodes to launch first. It is plain data.
type Command struct {
	// ID is derived from method, members and time: it is the same if these are the same.
	ID string `json:"id"`
	// Method is the method that found the command, Reason is the reason of the disruption.
	Method Method `json:"method"`
	Reason Reason `json:"reason"`
	// Members are sorted by name; there is at least one. Replacements are sorted so that they can receive their pods in this order.
	Members      []Member      `json:"members"`
	Replacements []Replacement `json:"replacements,omitempty"`
	// Receivers are the existing nodes that the plan moves pods of the members to, with these pods. They are sorted so that they can
	// receive their pods in this order. Topology spread constraints may require this order.
	Receivers []planning.ExistingNode `json:"receivers,omitempty"`
	// Order is an order in which the pods can be bound. It is set if topology spread constraints require that pods are bound to several
	// nodes alternately. It is nil if one node after another can receive all of its pods: first Receivers, then Replacements.
	Order []planning.PodKey `json:"order,omitempty"`
	// Savings is in USD per hour: the prices of the members minus the prices of the replacements. It is negative if the replacements cost
	// more. Commands for drift may have negative savings.
	Savings float64 `json:"savings"`
	// Scores are the scores of the members' pools with the policy Balanced, by pool; nil if there are no such pools.
	Scores []Score `json:"scores,omitempty"`
	// Planned is when the command was planned. NotBefore is when the command may be started, after another validation. NotBefore is equal
	// to Planned for methods without validation.
	Planned   time.Time `json:"planned"`
	NotBefore time.Time `json:"notBefore"`
	// MayShrink means that if some members no longer qualify, the command continues without them. Without MayShrink, such a command is
	// dropped.
	MayShrink bool `json:"mayShrink,omitempty"`
	// Wave is the number of the command's wave in its plan, starting with 1. Waves is the number of waves. Both are 0 if unknown. Set Wave
	// and Waves when you start a wave, so that a later process knows that more waves were planned.
	Wave  int `json:"wave,omitempty"`
	Waves int `json:"waves,omitempty"`
}

// Decision returns delete if there are no replacements, and replace otherwise.
func (c *Command) Decision() Decision {
	if len(c.Replacements) > 0 {
		return DecisionReplace
	}
	return DecisionDelete
}

// Pods returns the number of pods that have to move.
func (c *Command) Pods() int {
	n := 0
	for i := range c.Members {
		n += len(c.Members[i].Pods)
	}
	return n
}

// Nodes returns the names of the members.
func (c *Command) Nodes() []string {
	out := make([]string, len(c.Members))
	for i := range c.Members {
		out[i] = c.Members[i].Node
	}
	return out
}

// String returns one line: removed nodes, new nodes, and the saving.
func (c *Command) String() string {
	s := fmt.Sprintf("%s %s (%s)", c.Decision(), strings.Join(c.Nodes(), ", "), c.Reason)
	for _, r := range c.Replacements {
		if r.Node == nil {
			s += fmt.Sprintf(", launch one of %s", r.Pool)
			continue
		}
		o := &r.Node.InstanceTypes[0]
		s += fmt.Sprintf(", launch %s/%s/%s of %s", o.Name, o.Zone, o.CapacityType, r.Pool)
	}
	return fmt.Sprintf("%s, moving %d pods, saving %.4f USD/h", s, c.Pods(), c.Savings)
}
