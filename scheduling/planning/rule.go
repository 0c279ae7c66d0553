package planning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RuleKind is the kind of a rule that excludes a pod. Values are stable.
type RuleKind string

const (
	// RuleSpread: a topology spread constraint of the pod.
	RuleSpread RuleKind = "TopologySpread"
	// RuleAffinity: the pod's required pod affinity.
	RuleAffinity RuleKind = "PodAffinity"
	// RuleAntiAffinity: required pod anti-affinity of the pod.
	RuleAntiAffinity RuleKind = "PodAntiAffinity"
	// RuleAntiAffinityOfOthers: required pod anti-affinity of placed pods against this pod.
	RuleAntiAffinityOfOthers RuleKind = "PodAntiAffinityOfOthers"
	// RuleHostPort: another pod of the node uses the host port.
	RuleHostPort RuleKind = "HostPort"
	// RuleSharedVolume: the pod shares a volume that does not exist yet with placed pods.
	RuleSharedVolume RuleKind = "SharedVolume"
	// RuleNewDomain: topology spread of placed pods, which a node in another domain would violate.
	RuleNewDomain RuleKind = "NewDomain"
)

// Rule is a topology rule or a host port that keeps a pod off nodes that would otherwise suit it. String returns the sentence.
type Rule struct {
	Kind RuleKind `json:"kind"`
	// Text names the rule in words.
	Text string `json:"text"`
	// Keys are the topology labels of the rule; none for host ports.
	Keys []string `json:"keys,omitempty"`
	// MaxSkew and MinDomains of a topology spread constraint; MinDomains is 0 if not set. Present is the number of domains that count for
	// MinDomains.
	MaxSkew    int32 `json:"maxSkew,omitempty"`
	MinDomains int32 `json:"minDomains,omitempty"`
	Present    int32 `json:"present,omitempty"`
	// Domains counts the pods that the rule selects. For a spread constraint, it lists all domains, and domains with the fewest pods come
	// first. For other rules, it lists only domains with such pods, and domains with the most pods come first. It has at most eight
	// domains; MoreDomains is the number left out.
	Domains     []RuleDomain `json:"domains,omitempty"`
	MoreDomains int          `json:"moreDomains,omitempty"`
	// Holders are the pods because of which the rule excludes this pod: they use the host port or have the anti-affinity. At most three.
	Holders []Holder `json:"holders,omitempty"`
	// Unknown lists the Keys that neither existing nor possible new nodes have.
	Unknown []Unknown `json:"unknown,omitempty"`
}

// RuleDomain is one value of a rule's topology label.
type RuleDomain struct {
	// Name is the value of the label.
	Name string `json:"name"`
	// Pods in the domain that the rule selects.
	Pods int32 `json:"pods"`
	// HoldsBack means that the domain has the fewest pods of a spread constraint, so that other domains must not get more pods.
	HoldsBack bool `json:"holdsBack,omitempty"`
	// Node is one of the nodes of a domain that HoldsBack, and Check says why the pod can't go there. Both are empty if the domain has no
	// node yet.
	Node  string    `json:"node,omitempty"`
	Check NodeCheck `json:"check,omitempty"`
	// Taint of this node that the spread constraint ignores, because its nodeTaintsPolicy is not Honor.
	Taint *corev1.Taint `json:"taint,omitempty"`
}

// HolderKind is the kind of a Holder. Values are stable.
type HolderKind string

const (
	// HolderPod: a pod on a node.
	HolderPod HolderKind = "Pod"
	// HolderDaemonSet: the pods of a DaemonSet, on existing nodes or on new nodes.
	HolderDaemonSet HolderKind = "DaemonSet"
	// HolderPlanned: a pod like the named one, which the plan places on the node.
	HolderPlanned HolderKind = "PlannedPod"
)

// Holder is a pod or DaemonSet that uses the host port that a pod asks for, or that has an anti-affinity against this pod.
type Holder struct {
	Kind      HolderKind `json:"kind"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
}

// String returns the name with the kind.
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

// String names the rule, its counts, and the pods in Holders.
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

// counted says how many pods each domain has, and for which domains HoldsBack is true.
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

// The beginning and the end of the description of a host port.
const PortWords, TakenWords = "host port ", ", which is taken"
