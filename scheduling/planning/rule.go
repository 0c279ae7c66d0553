package planning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RuleKind says what kind of rule keeps a pod off nodes. Values are stable.
type RuleKind string

const (
	// RuleSpread: a topology spread constraint of the pod.
	RuleSpread RuleKind = "TopologySpread"
	// RuleAffinity: the pod's required pod affinity.
	RuleAffinity RuleKind = "PodAffinity"
	// RuleAntiAffinity: required pod anti-affinity of the pod.
	RuleAntiAffinity RuleKind = "PodAntiAffinity"
	// RuleAntiAffinityOfOthers: required pod anti-affinity of pods that have a place, which keeps the pod away.
	RuleAntiAffinityOfOthers RuleKind = "PodAntiAffinityOfOthers"
	// RuleHostPort: another pod of the node has the host port.
	RuleHostPort RuleKind = "HostPort"
	// RuleSharedVolume: a volume that is not made yet, shared with pods that have a place.
	RuleSharedVolume RuleKind = "SharedVolume"
	// RuleNewDomain: topology spread of pods that have a place, which a node in another domain would break.
	RuleNewDomain RuleKind = "NewDomain"
)

// Rule is a topology rule or a host port that keeps a pod off nodes which would do otherwise. String makes the sentence.
type Rule struct {
	Kind RuleKind `json:"kind"`
	// Text names the rule in words.
	Text string `json:"text"`
	// Keys are the topology labels of the rule; none for host ports.
	Keys []string `json:"keys,omitempty"`
	// MaxSkew and MinDomains of a spread; MinDomains is 0 where it is not stated. Present is how many domains there are
	// for MinDomains.
	MaxSkew    int32 `json:"maxSkew,omitempty"`
	MinDomains int32 `json:"minDomains,omitempty"`
	Present    int32 `json:"present,omitempty"`
	// Domains count the pods that the rule is about: of a spread those of each domain, the fewest first; of other rules
	// those of the domains that have some, the most first. At most eight; MoreDomains is how many are left out.
	Domains     []RuleDomain `json:"domains,omitempty"`
	MoreDomains int          `json:"moreDomains,omitempty"`
	// Holders are pods for which the rule keeps this one away: those that have the host port or the anti-affinity. At most
	// three.
	Holders []Holder `json:"holders,omitempty"`
	// Unknown are those of Keys that no node has, and that none would have.
	Unknown []Unknown `json:"unknown,omitempty"`
}

// RuleDomain is one value of a rule's topology label.
type RuleDomain struct {
	// Name is the value of the label.
	Name string `json:"name"`
	// Pods there that the rule is about.
	Pods int32 `json:"pods"`
	// HoldsBack says of a spread's domain that it has the fewest pods, so that others must not get more.
	HoldsBack bool `json:"holdsBack,omitempty"`
	// Node is one of the nodes of a domain that holds back, and Check what keeps the pod off it; empty if the domain has
	// no node yet.
	Node  string    `json:"node,omitempty"`
	Check NodeCheck `json:"check,omitempty"`
	// Taint of that node which the spread does not mind, since its nodeTaintsPolicy is not Honor.
	Taint *corev1.Taint `json:"taint,omitempty"`
}

// HolderKind says what a Holder is. Values are stable.
type HolderKind string

const (
	// HolderPod: a pod on a node.
	HolderPod HolderKind = "Pod"
	// HolderDaemonSet: the pods of a DaemonSet, on nodes that are there or on new ones.
	HolderDaemonSet HolderKind = "DaemonSet"
	// HolderPlanned: a pod like the named one, which the plan puts on the node.
	HolderPlanned HolderKind = "PlannedPod"
)

// Holder is who has what a pod asks for.
type Holder struct {
	Kind      HolderKind `json:"kind"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
}

// String names it with its kind.
func (h Holder) String() string {
	name := h.Namespace + "/" + h.Name
	switch h.Kind {
	case HolderDaemonSet:
		return "DaemonSet " + name
	case HolderPlanned:
		return "a planned pod like " + name
	}
	return "pod " + name
}

// String names the rule, and says what it counted and who is in the way.
func (r Rule) String() string {
	if r.Kind == RuleHostPort {
		if len(r.Holders) == 0 {
			return r.Text + TakenWords
		}
		return r.Text + ", held by " + holderString(r.Holders)
	}
	var parts []string
	for _, u := range r.Unknown {
		parts = append(parts, u.String())
	}
	if text := r.counted(); text != "" {
		parts = append(parts, text)
	}
	if len(r.Holders) > 0 {
		parts = append(parts, "kept away by "+holderString(r.Holders))
	}
	if len(parts) == 0 {
		return r.Text
	}
	return r.Text + " (" + strings.Join(parts, "; ") + ")"
}

func holderString(list []Holder) string {
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.String()
	}
	return strings.Join(names, " and ")
}

// counted says how many pods each domain has, and which of them hold a spread back.
func (r Rule) counted() string {
	if len(r.Domains) == 0 {
		return ""
	}
	counts := make([]string, len(r.Domains), len(r.Domains)+1)
	for i, d := range r.Domains {
		counts[i] = fmt.Sprintf("%s has %d", d.Name, d.Pods)
	}
	if r.MoreDomains > 0 {
		counts = append(counts, fmt.Sprintf("and %d more", r.MoreDomains))
	}
	text := strings.Join(counts, ", ")
	if r.MinDomains > r.Present {
		return text + fmt.Sprintf("; of %d domains there are %d", r.MinDomains, r.Present)
	}
	for _, d := range r.Domains {
		switch {
		case !d.HoldsBack:
		case d.Node == "":
			text += "; " + d.Name + " holds it back"
		default:
			text += fmt.Sprintf("; %s holds it back, where node %s %s", d.Name, d.Node, d.Check.words(1))
			if d.Taint != nil {
				text += fmt.Sprintf(" (%s; with nodeTaintsPolicy Honor it would not count)", TaintString(*d.Taint))
			}
		}
	}
	return text
}

// What words of host ports begin and end with.
const PortWords, TakenWords = "host port ", ", which is taken"
