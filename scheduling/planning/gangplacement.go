package planning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GangPlacement is the result for one gang of a plan.
type GangPlacement struct {
	Gang GangKey `json:"gang"`
	// Members of the gang; Minimum is how many of them need a place together.
	Members int `json:"members"`
	Minimum int `json:"minimum"`
	// Bound counts the members that already have a node, Placed those that the plan places.
	Bound  int `json:"bound,omitempty"`
	Placed int `json:"placed,omitempty"`
	// Domains that contain all placed members, one for each topology constraint that is kept.
	Domains []GangDomain `json:"domains,omitempty"`
	// Reason says why the gang has no place. Nil means that it has one; then Bound + Placed is at least Minimum.
	Reason *GangReason `json:"reason,omitempty"`
}

// GangDomain is a label value that all nodes of a gang have.
type GangDomain struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// String returns "key=value".
func (d GangDomain) String() string { return d.Key + "=" + d.Value }

// GangReasonCode says why a gang has no place. Codes are stable.
type GangReasonCode string

const (
	// GangIncomplete: fewer members exist than the gang needs.
	GangIncomplete GangReasonCode = "Incomplete"
	// GangDeadlinePassed: the gang's deadline is at or before the snapshot's time.
	GangDeadlinePassed GangReasonCode = "DeadlinePassed"
	// GangNoDomain: no node and no instance type has the labels that the gang's topology needs, or members run in several domains, or their node
	// selectors leave none.
	GangNoDomain GangReasonCode = "NoDomain"
	// GangDoesNotFit: some of the members that the gang needs have no place.
	GangDoesNotFit GangReasonCode = "DoesNotFit"
)

// GangReason says why a gang has no place as a whole.
type GangReason struct {
	Code GangReasonCode `json:"code"`
	// Fit is how many of the Needed members would have a place in the closest domain, Domains; with GangIncomplete, how many exist.
	Fit     int          `json:"fit"`
	Needed  int          `json:"needed"`
	Domains []GangDomain `json:"domains,omitempty"`
	// Pod is the first of them without a place, and Reasons say why, as in Unschedulable.
	Pod     *PodKey  `json:"pod,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Cures are single changes after which the whole gang would have a place.
	Cures []GangCure `json:"cures,omitempty"`
}

// GangCure is a change after which a whole gang would have a place if everything else stays as planned.
type GangCure struct {
	// Pool whose limits would have to be raised by Limits, or zero. Domains are where the gang would be then, if it requires some.
	Pool    v1.PoolKey          `json:"pool,omitzero"`
	Limits  corev1.ResourceList `json:"limits,omitempty"`
	Domains []GangDomain        `json:"domains,omitempty"`
	// Without is the label keys of the topology constraints that would have to go, if the gang fits across several domains.
	Without []string `json:"without,omitempty"`
}

// String returns a sentence for operators.
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

// String returns a sentence about the gang, without its name.
func (r *GangReason) String() string {
	switch r.Code {
	case GangIncomplete:
		return fmt.Sprintf("%d of the %d members that it needs are there", r.Fit, r.Needed)
	case GangDeadlinePassed:
		return "its deadline has passed"
	case GangNoDomain:
		return "no domain is open to it: no node and no instance type states the labels of its topology constraints, or members run in several domains or select others"
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

// String is "if …", "in … if …" or "without …".
func (c *GangCure) String() string {
	if len(c.Without) > 0 {
		return "without the topology constraint on " + strings.Join(c.Without, " and ")
	}
	miss := NearestMiss{Code: MissLimits, Amounts: c.Limits}
	text := fmt.Sprintf("%s in nodepool %q", miss.condition(), c.Pool)
	if len(c.Domains) > 0 {
		text = "in " + DomainsString(c.Domains) + " " + text
	}
	return text
}

// DomainsString lists the domains.
func DomainsString(domains []GangDomain) string {
	parts := make([]string, len(domains))
	for i, d := range domains {
		parts[i] = d.String()
	}
	return strings.Join(parts, ", ")
}
