package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/topology"
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

// Bounds of Rule.Domains and Rule.Holders.
const maxRuleDomains, maxHolders = 8, 3

// String names the rule, and says what it counted and who is in the way.
func (r Rule) String() string {
	if r.Kind == RuleHostPort {
		if len(r.Holders) == 0 {
			return r.Text + takenWords
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

// ruleKey names what was found out of a rule: its first group and the pods' demands.
type ruleKey struct {
	group, shape int32
	own          bool
}

// described is the rule with what it counts, for people.
func (x *explainer) described(r *rule) Rule {
	key := ruleKey{r.groups[0], x.c.Shape, r.own}
	if known, ok := x.rules[key]; ok {
		return known
	}
	out := Rule{Kind: r.publicKind(), Text: x.words(r)}
	if r.kind == topology.Exclusive {
		out.Text = strings.TrimSuffix(out.Text, takenWords)
	} else {
		for _, g := range r.groups {
			group := &x.m.topology[g]
			out.Keys = append(out.Keys, group.Key)
			if !x.hasDomains(group) {
				out.Unknown = append(out.Unknown, Unknown{Kind: UnknownLabel, Name: group.Key, Nearest: x.nearest3(x.labelKeys(), group.Key)})
			}
		}
		x.countDomains(r, &out)
	}
	x.rules[key] = out
	return out
}

// hasDomains reports whether nodes have the group's topology key, or could be launched with it. The trial's own list does not say so:
// it also has domains of nodes that were only tried, by whatever class came first.
func (x *explainer) hasDomains(g *topology.Group) bool {
	if g.At == topology.Hostname || len(x.m.base.Domains[g.At]) > 0 ||
		slices.ContainsFunc(x.t.s.Topology.Hosts, func(h topology.Host) bool { return h.Domains[g.At] != topology.NoDomain }) {
		return true
	}
	_, stated := slices.BinarySearch(x.labelKeys(), g.Key)
	return stated
}

func (r *rule) publicKind() RuleKind {
	switch {
	case r.kind == topology.Spread:
		return RuleSpread
	case r.kind == topology.Affinity:
		return RuleAffinity
	case r.kind == topology.Anti && r.own:
		return RuleAntiAffinity
	case r.kind == topology.Anti:
		return RuleAntiAffinityOfOthers
	case r.kind == topology.Together:
		return RuleSharedVolume
	}
	return RuleHostPort
}

// countDomains fills in the domains of a rule by a label other than the nodes' names: of those there may be thousands.
func (x *explainer) countDomains(r *rule, out *Rule) {
	g := r.groups[0]
	group, s := &x.m.topology[g], x.t.s.Topology
	if r.kind == topology.Spread {
		out.MaxSkew = group.MaxSkew
		if group.MinDomains > 1 {
			out.MinDomains = group.MinDomains
		}
	}
	if group.At == topology.Hostname || len(r.groups) > 1 {
		return
	}
	counts := s.Members[g]
	if r.kind == topology.Anti && !r.own {
		counts = s.Owners[g]
	}
	least := int32(0)
	if r.kind == topology.Spread {
		least = s.Emptiest(g, x.c.Shape)
	}
	for name, d := range s.Domains[group.At] {
		n := topology.CountAt(counts, d)
		if r.kind != topology.Spread {
			if n > 0 {
				out.Domains = append(out.Domains, RuleDomain{Name: name, Pods: n})
			}
			continue
		}
		present := topology.CountAt(s.Present[g], d) > 0
		if present {
			out.Present++
		}
		if present || slices.Contains(s.Reach(x.c.Shape, group.At), d) {
			out.Domains = append(out.Domains, RuleDomain{Name: name, Pods: n, HoldsBack: n == least})
		}
	}
	slices.SortFunc(out.Domains, func(a, b RuleDomain) int {
		if r.kind != topology.Spread {
			a, b = b, a
			return cmp.Or(cmp.Compare(a.Pods, b.Pods), cmp.Compare(b.Name, a.Name))
		}
		return cmp.Or(cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Name, b.Name))
	})
	if more := len(out.Domains) - maxRuleDomains; more > 0 {
		out.Domains, out.MoreDomains = out.Domains[:maxRuleDomains], more
	}
	if out.MinDomains > out.Present {
		for i := range out.Domains {
			out.Domains[i].HoldsBack = false
		}
	}
	if r.kind == topology.Spread {
		x.nameNodes(g, out)
	}
}

// nameNodes names a node of each domain that holds the spread back, and what keeps the pod off it.
func (x *explainer) nameNodes(g int32, out *Rule) {
	group, s := &x.m.topology[g], x.t.s.Topology
	for i := range out.Domains {
		d := &out.Domains[i]
		if !d.HoldsBack {
			continue
		}
		number := s.Domains[group.At][d.Name]
		for n := range x.m.nodes {
			h := &s.Hosts[n]
			if h.Gone || h.Domains[group.At] != number || h.Ignored(g) {
				continue
			}
			check, f := x.checkNode(int32(n))
			d.Node, d.Check = x.m.nodes[n].Name, check
			if f.tainted && !group.Filter.Taints {
				d.Taint = &x.taintsOf(int32(n))[0]
			}
			break
		}
	}
}

// holdersOn are those on a host because of whom the rule refuses the pod: on a node of the snapshot, or with none (-1) the
// DaemonSets of a new node.
func (x *explainer) holdersOn(r *rule, node int32, daemons []int32) []Holder {
	inTheWay := func(class int32) bool {
		o := x.m.classes[class].Topology
		if o == nil {
			return false
		}
		list := o.In
		if r.kind == topology.Anti && !r.own {
			list = o.Owns
		}
		return slices.ContainsFunc(r.groups, func(g int32) bool { return topology.Contains(list, g) })
	}
	var out []Holder
	note := func(h Holder) {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for _, d := range daemons {
		if inTheWay(x.m.daemonSets[d].Class) {
			note(Holder{HolderDaemonSet, x.m.daemonSets[d].Object.Namespace, x.m.daemonSets[d].Object.Name})
		}
	}
	if node < 0 {
		return firstHolders(out)
	}
	n := &x.m.nodes[node]
	for _, p := range n.Bound {
		if inTheWay(p.Class) {
			note(Holder{HolderPod, p.Pod.Namespace, p.Pod.Name})
		}
	}
	for _, d := range n.MissingDaemons(x.m.daemonSets, &x.m.groups[n.Group]) {
		if inTheWay(x.m.daemonSets[d].Class) {
			note(Holder{HolderDaemonSet, x.m.daemonSets[d].Object.Namespace, x.m.daemonSets[d].Object.Name})
		}
	}
	for b := range x.t.s.On(node) {
		if inTheWay(b.Class) {
			sample := x.m.classes[b.Class].Sample
			note(Holder{HolderPlanned, sample.Namespace, sample.Name})
		}
	}
	return firstHolders(out)
}

// firstHolders are the first few in an order of their own: that of a node's pods must play no part.
func firstHolders(list []Holder) []Holder {
	slices.SortFunc(list, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxHolders)]
}
