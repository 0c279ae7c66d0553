package planning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GangPlacement is what a plan does with a gang.
type GangPlacement struct {
	Gang GangKey `json:"gang"`
	// Members of the gang, and how many of them need a place together.
	Members int `json:"members"`
	Minimum int `json:"minimum"`
	// Bound counts the members that have a node already, Placed those that the plan places.
	Bound  int `json:"bound,omitempty"`
	Placed int `json:"placed,omitempty"`
	// Domains that all members with a place are in, one for each topology constraint that is kept.
	Domains []GangDomain `json:"domains,omitempty"`
	// Reason is why the gang has no place. Nil says that it has one; then Bound + Placed is at least Minimum.
	Reason *GangReason `json:"reason,omitempty"`
}

// GangDomain is a value of a label that nodes of a gang share.
type GangDomain struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// String is "key=value".
func (d GangDomain) String() string { return d.Key + "=" + d.Value }

// GangReasonCode says why a gang has no place. Codes are stable.
type GangReasonCode string

const (
	// GangIncomplete: fewer members are there than the gang needs.
	GangIncomplete GangReasonCode = "Incomplete"
	// GangDeadlinePassed: the snapshot's time is not before the gang's deadline.
	GangDeadlinePassed GangReasonCode = "DeadlinePassed"
	// GangNoDomain: no node and no instance type states the labels that the gang's topology needs.
	GangNoDomain GangReasonCode = "NoDomain"
	// GangDoesNotFit: some of the members that the gang needs have no place.
	GangDoesNotFit GangReasonCode = "DoesNotFit"
)

// GangReason is why a gang has no place, as one.
type GangReason struct {
	Code GangReasonCode `json:"code"`
	// Fit is how many of the Needed members would have a place in the domain that comes closest, Domains; with GangIncomplete, how many
	// are there.
	Fit     int          `json:"fit"`
	Needed  int          `json:"needed"`
	Domains []GangDomain `json:"domains,omitempty"`
	// Pod is the first of them without a place, and Reasons are why, as in Unschedulable.
	Pod     *PodKey  `json:"pod,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Cures are single changes after which the whole gang would have a place.
	Cures []GangCure `json:"cures,omitempty"`
}

// GangCure is a change after which a whole gang would have a place, everything else being as planned.
type GangCure struct {
	// Pool whose limits would have to be raised by Limits, or zero.
	Pool   v1.PoolKey          `json:"pool,omitzero"`
	Limits corev1.ResourceList `json:"limits,omitempty"`
	// Without is the label keys of the topology constraints that would have to go, if the gang fits across several domains.
	Without []string `json:"without,omitempty"`
}

// String is a sentence for operators.
func (p *GangPlacement) String() string {
	if p.Reason != nil {
		return fmt.Sprintf("gang %s has no place: %s", p.Gang, p.Reason)
	}
	text := fmt.Sprintf("gang %s is placed with %d of %d members", p.Gang, p.Bound+p.Placed, p.Members)
	if len(p.Domains) > 0 {
		text += " in " + DomainsString(p.Domains)
	}
	return text
}

// String is a sentence about the gang, without its name.
func (r *GangReason) String() string {
	switch r.Code {
	case GangIncomplete:
		return fmt.Sprintf("%d of the %d members that it needs are there", r.Fit, r.Needed)
	case GangDeadlinePassed:
		return "its deadline has passed"
	case GangNoDomain:
		return "no node and no instance type states the labels of its topology constraints"
	}
	text := fmt.Sprintf("%d of %d members fit", r.Fit, r.Needed)
	if len(r.Domains) > 0 {
		text += " in " + DomainsString(r.Domains)
	}
	if r.Pod != nil && len(r.Reasons) > 0 {
		text += fmt.Sprintf("; pod %s: %s", r.Pod, r.Reasons[0])
	}
	for i := range r.Cures {
		text += "; it would fit " + r.Cures[i].String()
	}
	return text
}

// String is "if …" or "without …".
func (c *GangCure) String() string {
	if len(c.Without) > 0 {
		return "without the topology constraint on " + strings.Join(c.Without, " and ")
	}
	miss := NearestMiss{Code: MissLimits, Amounts: c.Limits}
	return fmt.Sprintf("%s in nodepool %q", miss.condition(), c.Pool)
}

// DomainsString lists the domains.
func DomainsString(domains []GangDomain) string {
	parts := make([]string, len(domains))
	for i, d := range domains {
		parts[i] = d.String()
	}
	return strings.Join(parts, ", ")
}
