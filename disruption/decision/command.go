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

// The decisions. A command that does nothing is not made.
const (
	// DecisionDelete removes nodes and launches none.
	DecisionDelete Decision = "delete"
	// DecisionReplace launches nodes and then removes others.
	DecisionReplace Decision = "replace"
)

// Member is a node that a command removes.
type Member struct {
	// Node is its name, Claim and UID those of its NodeClaim, ProviderID its instance's.
	Node       string    `json:"node"`
	Claim      string    `json:"claim"`
	UID        types.UID `json:"uid,omitempty"`
	ProviderID string    `json:"providerID,omitempty"`
	// Pool that owns it; Static if that has a fixed number of replicas.
	Pool   v1.PoolKey `json:"pool"`
	Static bool       `json:"static,omitempty"`
	// Price in USD per hour, 0 if unknown; Cost of the disruption in units of an ordinary pod.
	Price float64 `json:"price"`
	Cost  float64 `json:"cost"`
	// Pods that have to move, by namespace and name.
	Pods []planning.PodKey `json:"pods,omitempty"`
	// Owners of those pods, each once: Disruption.Owners. They are no part of the command's JSON.
	Owners []types.UID `json:"-"`
}

// Replacement is a node that a command launches.
type Replacement struct {
	// Node as planned: its instance types are those that may be launched, cheapest first. Nil for a static pool's, which
	// is made from the pool's template alone.
	Node *planning.NewNode `json:"node,omitempty"`
	// Pool that launches it.
	Pool v1.PoolKey `json:"pool"`
	// Static means that the claim is made from the template only.
	Static bool `json:"static,omitempty"`
}

// Command is one decision that is carried out as a whole: nodes to remove, and nodes to launch first. It is plain data.
type Command struct {
	// ID is the same for the same method, members and time.
	ID string `json:"id"`
	// Method that found it, and Reason of the disruption.
	Method Method `json:"method"`
	Reason Reason `json:"reason"`
	// Members by name, at least one. Replacements in an order in which they can take their pods.
	Members      []Member      `json:"members"`
	Replacements []Replacement `json:"replacements,omitempty"`
	// Receivers are the existing nodes that pods of the members are planned for, with these pods. Their order is one in which
	// pods can be bound: topology spread constraints may require it.
	Receivers []planning.ExistingNode `json:"receivers,omitempty"`
	// Order is an order in which pods can be bound, if topology spread constraints make nodes take turns. Nil if nodes can take
	// their pods one after another: first Receivers, then Replacements.
	Order []planning.PodKey `json:"order,omitempty"`
	// Savings in USD per hour: the prices of the members minus the prices of the replacements. Negative if the replacements cost more,
	// which can happen with drift.
	Savings float64 `json:"savings"`
	// Scores of the members' Balanced pools, by pool; nil if there are none.
	Scores []Score `json:"scores,omitempty"`
	// Planned is when it was planned. NotBefore is when it may be started, after another validation; equal to Planned for methods without
	// validation.
	Planned   time.Time `json:"planned"`
	NotBefore time.Time `json:"notBefore"`
	// MayShrink means that the command continues without members that no longer qualify, instead of being dropped.
	MayShrink bool `json:"mayShrink,omitempty"`
	// Wave is the number of the command's wave in its plan, from 1, and Waves their count; both are 0 if unknown. Set them when
	// you start a wave, so that a later process knows that more waves were planned.
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

// Pods counts the pods that have to move.
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

// String is one line: removed nodes, new nodes, and the saving.
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
