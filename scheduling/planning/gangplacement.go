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
	// Members of the gang; Minimum is how many of them must be placed together.
	Members int `json:"members"`
	Minimum int `json:"minimum"`
	// Bound counts the members that already have a node, and Placed counts the members that the plan places.
	Bound  int `json:"bound,omitempty"`
	Placed int `json:"placed,omitempty"`
	// Domains that contain all placed members, one for each topology constraint that is kept.
	Domains []GangDomain `json:"domains,omitempty"`
	// Reason says why the gang is not placed. nil means that the gang is placed; then Bound + Placed is at least Minimum.
	Reason *GangReason `json:"reason,omitempty"`
}

// GangDomain is a label value that all nodes of a gang have.
type GangDomain struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// String returns "key=value".
func (d GangDomain) String() string { return d.Key + "=" + d.Value }

// GangReasonCode says why a gang can't be placed. Codes are stable.
type GangReasonCode string

const (
	// GangIncomplete: fewer members exist than the gang needs.
	GangIncomplete GangReasonCode = "Incomplete"
	// GangDeadlinePassed: the gang's deadline is at or before the snapshot's time.
	GangDeadlinePassed GangReasonCode = "DeadlinePassed"
	// GangNoSuchDomain: no node and no instance type has the labels that the gang's topology needs.
	GangNoSuchDomain GangReasonCode = "NoSuchDomain"
	// GangDomainsClosed: there are domains with the labels that the gang's topology needs, but the gang can use none of them. Its running
	// members are in several domains or on a node outside of all domains, or the node selectors of its members exclude every domain.
	GangDomainsClosed GangReasonCode = "DomainsClosed"
	// GangDomainsTooSmall: none of the domains that the gang can use has room for all members that it needs, and no new nodes in these
	// domains could hold them.
	GangDomainsTooSmall GangReasonCode = "DomainsTooSmall"
	// GangDomainsForbidden: in some domain, nodes could hold all members that the gang needs, but limits, reservations, minValues or rules
	// between pods keep some of them out.
	GangDomainsForbidden GangReasonCode = "DomainsForbidden"
	// GangParentHasNoPlace: the gang alone could be placed, but not all gangs of its parent together.
	GangParentHasNoPlace GangReasonCode = "ParentHasNoPlace"
	// GangDoesNotFit: the gang may be placed across all domains, but some of the members that it needs can't be placed.
	GangDoesNotFit GangReasonCode = "DoesNotFit"
)

// GangReason says why a gang can't be placed as a whole.
type GangReason struct {
	Code GangReasonCode `json:"code"`
	// Fit is the number of members, out of Needed, that could be placed in the closest domain, Domains. For the code GangIncomplete it is
	// the number of members that exist.
	Fit     int          `json:"fit"`
	Needed  int          `json:"needed"`
	Domains []GangDomain `json:"domains,omitempty"`
	// Keys are the labels for which the nodes of all members must have one value; empty for a gang that may be anywhere. Known is the
	// number of such domains that nodes or instance types state. Open is the number of these domains that the members could use: no member
	// runs in another domain, and no node selector excludes them.
	Keys  []string `json:"keys,omitempty"`
	Known int      `json:"known,omitempty"`
	Open  int      `json:"open,omitempty"`
	// Unknown are the Keys that no node and no instance type states. It is set only for the code GangNoSuchDomain, and empty if each key is
	// stated somewhere, but never all of them together.
	Unknown []Unknown `json:"unknown,omitempty"`
	// RunIn are at most four domains that members run in. It is set only for the code GangDomainsClosed. A node that lacks the label has a
	// domain without a value.
	RunIn []GangDomain `json:"runIn,omitempty"`
	// Pod is the first needed member that could not be placed, and Reasons say why, as in Unschedulable. For the code GangDomainsClosed, it
	// is the first pod whose node selector excludes the remaining domains.
	Pod     *PodKey  `json:"pod,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Cures are single changes after which the whole gang could be placed.
	Cures []GangCure `json:"cures,omitempty"`
	// Parent is the parent of the gang. It is set only for the code GangParentHasNoPlace. Sibling is the first of the parent's gangs that
	// can't be placed even alone, and Because says why. Both are empty if each gang alone can be placed.
	Parent  string      `json:"parent,omitempty"`
	Sibling *GangKey    `json:"sibling,omitempty"`
	Because *GangReason `json:"because,omitempty"`
}

// GangCure is a change after which a whole gang could be placed if everything else stays as planned.
type GangCure struct {
	// Pool is the pool whose limits would have to be raised by Limits, or zero. Domains are the domains where the gang would then be
	// placed, if its topology requires domains.
	Pool    v1.PoolKey          `json:"pool,omitzero"`
	Limits  corev1.ResourceList `json:"limits,omitempty"`
	Domains []GangDomain        `json:"domains,omitempty"`
	// Without lists the label keys of the topology constraints that would have to be removed, if the gang fits across several domains.
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
	case GangNoSuchDomain:
		return r.noSuchDomain() + r.curesText()
	case GangDomainsClosed:
		return r.closed() + r.curesText()
	case GangParentHasNoPlace:
		if r.Because != nil {
			return fmt.Sprintf("it is placed only together with gang %s of %s, which has no place: %s", r.Sibling, r.Parent, r.Because)
		}
		return fmt.Sprintf("it would fit alone, but not together with the other gangs of %s", r.Parent) + r.curesText()
	}
	text := fmt.Sprintf("%d of %d members fit", r.Fit, r.Needed)
	if len(r.Domains) > 0 {
		text += " in " + DomainsString(r.Domains) + r.closest()
	}
	if r.Pod != nil && len(r.Reasons) > 0 {
		text += fmt.Sprintf("; pod %s: %s", r.Pod, r.Reasons[0])
	}
	return text + r.curesText()
}

// curesText returns a text that lists the cures, each after a semicolon. The text is empty if there are no cures.
func (r *GangReason) curesText() (text string) {
	for i := range r.Cures {
		text += "; it would fit " + r.Cures[i].String()
	}
	return text
}

// closest returns a text about the domain that is closest to having room for the gang. It says how many domains were compared.
func (r *GangReason) closest() string {
	text := ""
	switch {
	case r.Open == 1 && r.Known > 1:
		text = fmt.Sprintf(", the only one of %d domains that is open to it", r.Known)
	case r.Open == 1:
		text = ", the only domain that there is"
	case r.Open > 1:
		text = fmt.Sprintf(", the closest of %d domains", r.Open)
	}
	switch {
	case r.Code != GangDomainsTooSmall:
		return text
	case r.Open == 1:
		return text + ", which has no room for all"
	}
	return text + ", none of which has room for all"
}

// noSuchDomain returns the sentence of GangNoSuchDomain.
func (r *GangReason) noSuchDomain() string {
	if len(r.Unknown) == 0 {
		return "no node and no instance type states " + strings.Join(r.Keys, " and ") + " together, as its topology constraints need"
	}
	parts := make([]string, len(r.Unknown))
	for i, u := range r.Unknown {
		parts[i] = u.Name
		if hint := u.hint(); hint != "" {
			parts[i] += " (" + hint + ")"
		}
	}
	return "no node and no instance type states " + strings.Join(parts, " or ") + ", which its topology constraint needs"
}

// closed returns the sentence of GangDomainsClosed.
func (r *GangReason) closed() string {
	text := fmt.Sprintf("none of %d domains of %s is open to it", r.Known, strings.Join(r.Keys, " and "))
	if r.Known == 1 {
		text = fmt.Sprintf("the only domain of %s is not open to it", strings.Join(r.Keys, " and "))
	}
	if len(r.RunIn) > 0 {
		parts := make([]string, len(r.RunIn))
		for i, d := range r.RunIn {
			parts[i] = "in " + d.String()
			if d.Value == "" {
				parts[i] = "on a node without " + d.Key
			}
		}
		text += ": members run " + strings.Join(parts, " and ")
	}
	if r.Pod == nil {
		return text
	}
	if len(r.RunIn) > 0 {
		return fmt.Sprintf("%s, and the node selector of pod %s excludes that", text, r.Pod)
	}
	return fmt.Sprintf("%s: the node selector of pod %s excludes them, or members select different ones", text, r.Pod)
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
