package judge

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// peers counts the pods in each topology domain, for rules about other pods: affinity, anti-affinity and spread constraints.
type peers struct {
	j      *Judge
	nodes  []*node
	index  map[*node]int
	kinds  map[string]*kind
	groups map[string]*group
	all    []*group
}

// kind has the properties of a pod that matter for rules about other pods. Pods with equal namespace, labels and rules have the same kind.
type kind struct {
	namespace string
	labels    labels.Set
	spreads   []rule
	together  []rule
	apart     []rule
	// matching are the groups whose selectors match pods of the kind. known is the number of groups in peers.all whose selectors have been
	// compared with the kind.
	matching []*group
	known    int
}

// asks reports whether pods of the kind have rules about other pods.
func (k *kind) asks() bool { return len(k.spreads)+len(k.together)+len(k.apart) > 0 }

// minds reports whether a rule of pods of the kind uses this topology key.
func (k *kind) minds(key string) bool {
	for _, rules := range [][]rule{k.spreads, k.together, k.apart} {
		if slices.ContainsFunc(rules, func(r rule) bool { return r.group.key == key }) {
			return true
		}
	}
	return false
}

// rule is one affinity, anti-affinity or spread rule of a pod. It has the group of pods that the rule is about, and says whether the pod
// itself belongs to the group.
type rule struct {
	group      *group
	self       bool
	maxSkew    int
	minDomains int
}

// group counts the pods that match the selectors, in each domain of a topology key.
type group struct {
	key        string
	namespaces func(string) bool
	selectors  []labels.Selector // all must match
	// the nodes whose domains a spread constraint counts; nil means all nodes
	eligible []bool
	domains  map[string]int
	total    int
	// least is the smallest number of pods in a domain of eligible nodes. atLeast is the number of domains with exactly least pods.
	least, atLeast int
	// owners has, by domain, the number of pods with anti-affinity to the group.
	owners map[string]int
}

func newPeers(j *Judge, nodes []*node) *peers {
	p := &peers{j: j, nodes: nodes, index: make(map[*node]int, len(nodes)), kinds: make(map[string]*kind), groups: make(map[string]*group)}
	for i, m := range nodes {
		p.index[m] = i
	}
	return p
}

// kindOf returns the kind of the pod. It adds the kind if the pod is the first of its kind. Call kindOf for all pods with rules before the
// first pod is placed. If it is called later, the counts of the pod's groups lack the pods that were placed before. (place also finds
// groups that were added after a pod's call of kindOf.)
func (p *peers) kindOf(pod *corev1.Pod) *kind {
	rules := struct {
		Namespace string
		Labels    map[string]string
		Spreads   []corev1.TopologySpreadConstraint
		Together  *corev1.PodAffinity
		Apart     *corev1.PodAntiAffinity
		Shape     string
	}{Namespace: pod.Namespace, Labels: pod.Labels, Spreads: pod.Spec.TopologySpreadConstraints}
	if a := pod.Spec.Affinity; a != nil {
		rules.Together, rules.Apart = a.PodAffinity, a.PodAntiAffinity
	}
	if len(rules.Spreads) > 0 {
		rules.Shape = p.j.shapeOf(pod).key
	}
	text, err := json.Marshal(rules)
	if err != nil { // cannot happen, because plain data can always be encoded
		text = []byte(pod.Namespace + "/" + pod.Name)
	}
	k := p.kinds[string(text)]
	if k == nil {
		k = p.newKind(pod)
		p.kinds[string(text)] = k
	}
	return k
}

func (p *peers) newKind(pod *corev1.Pod) *kind {
	k := &kind{namespace: pod.Namespace, labels: pod.Labels}
	hard := slices.DeleteFunc(slices.Clone(pod.Spec.TopologySpreadConstraints), func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != corev1.DoNotSchedule
	})
	for i := range hard {
		k.spreads = append(k.spreads, p.spread(pod, hard, &hard[i]))
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := range terms {
			k.together = append(k.together, p.affinity(pod, terms, &terms[i]))
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := range terms {
			k.apart = append(k.apart, p.affinity(pod, terms[i:i+1], &terms[i]))
		}
	}
	return k
}

// spread returns the group for a spread constraint. The group has the domains of the nodes that have the topology keys of all the pod's
// constraints. Depending on the policies of the constraint, the pod's node affinity and tolerations must also allow the nodes.
func (p *peers) spread(pod *corev1.Pod, all []corev1.TopologySpreadConstraint, c *corev1.TopologySpreadConstraint) rule {
	selector := withLabels(c.LabelSelector, pod, c.MatchLabelKeys, nil)
	shape := p.j.shapeOf(pod)
	honorAffinity := c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	honorTaints := c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	id := []string{"spread", pod.Namespace, selector.String(), c.TopologyKey}
	for i := range all {
		id = append(id, all[i].TopologyKey)
	}
	if honorAffinity {
		id = append(id, "affinity", shape.key)
	}
	if honorTaints {
		id = append(id, "taints", shape.key)
	}
	namespace := pod.Namespace
	g := p.group(id, c.TopologyKey, func(ns string) bool { return ns == namespace }, []labels.Selector{selector})
	if g.eligible == nil {
		g.eligible = make([]bool, len(p.nodes))
		for i, m := range p.nodes {
			g.eligible[i] = !slices.ContainsFunc(all, func(c corev1.TopologySpreadConstraint) bool { return m.node.Labels[c.TopologyKey] == "" })
			if honorAffinity {
				match, err := shape.affinity.Match(m.node)
				g.eligible[i] = g.eligible[i] && err == nil && match
			}
			if honorTaints {
				_, repelled := shape.untolerated(m.node)
				g.eligible[i] = g.eligible[i] && !repelled
			}
			if g.eligible[i] {
				g.domains[m.node.Labels[g.key]] += 0
			}
		}
		g.recount()
	}
	r := rule{group: g, self: selector.Matches(labels.Set(pod.Labels)), maxSkew: int(c.MaxSkew)}
	if c.MinDomains != nil {
		r.minDomains = int(*c.MinDomains)
	}
	return r
}

// affinity returns the group for the topology key of the affinity term t. The group counts pods that match all the given terms.
func (p *peers) affinity(pod *corev1.Pod, terms []corev1.PodAffinityTerm, t *corev1.PodAffinityTerm) rule {
	id := []string{"affinity", t.TopologyKey}
	var selectors []labels.Selector
	var within []func(string) bool
	for i := range terms {
		s := withLabels(terms[i].LabelSelector, pod, terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys)
		names, matches := p.namespaces(pod, &terms[i])
		selectors, within = append(selectors, s), append(within, matches)
		id = append(id, names, s.String())
	}
	inAll := func(ns string) bool {
		return !slices.ContainsFunc(within, func(matches func(string) bool) bool { return !matches(ns) })
	}
	g := p.group(id, t.TopologyKey, inAll, selectors)
	self := inAll(pod.Namespace)
	for _, s := range selectors {
		self = self && s.Matches(labels.Set(pod.Labels))
	}
	return rule{group: g, self: self}
}

// namespaces returns the namespaces of a term as a text, and a function that reports whether a namespace is one of these namespaces.
func (p *peers) namespaces(pod *corev1.Pod, t *corev1.PodAffinityTerm) (string, func(string) bool) {
	names := slices.Clone(t.Namespaces)
	if len(names) == 0 && t.NamespaceSelector == nil {
		names = []string{pod.Namespace}
	}
	text := strings.Join(slices.Sorted(slices.Values(names)), ",")
	if t.NamespaceSelector == nil {
		return text, func(ns string) bool { return slices.Contains(names, ns) }
	}
	selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		selector = labels.Nothing()
	}
	for _, ns := range p.j.s.Namespaces {
		if selector.Matches(labels.Set(ns.Labels)) {
			names = append(names, ns.Name)
		}
	}
	everywhere := selector.Empty() // selects all namespaces, including namespaces that the workload does not list
	return text + ";" + selector.String(), func(ns string) bool { return everywhere || slices.Contains(names, ns) }
}

// withLabels returns the selector with additional conditions. For each label key in match, selected pods must have the same value as the
// given pod. For each label key in mismatch, selected pods must have another value than the given pod, or no value.
func withLabels(s *metav1.LabelSelector, pod *corev1.Pod, match, mismatch []string) labels.Selector {
	if s == nil {
		return labels.Nothing()
	}
	s = s.DeepCopy()
	for _, key := range match {
		if value, present := pod.Labels[key]; present {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
		}
	}
	for _, key := range mismatch {
		if value, present := pod.Labels[key]; present {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}})
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

func (p *peers) group(id []string, key string, namespaces func(string) bool, selectors []labels.Selector) *group {
	text := strings.Join(id, "\x00")
	g := p.groups[text]
	if g == nil {
		g = &group{key: key, namespaces: namespaces, selectors: selectors, domains: make(map[string]int), owners: make(map[string]int)}
		p.groups[text] = g
		p.all = append(p.all, g)
	}
	return g
}

// matches returns the groups that count pods of the kind.
func (p *peers) matches(k *kind) []*group {
	for ; k.known < len(p.all); k.known++ {
		g := p.all[k.known]
		if g.namespaces(k.namespace) && !slices.ContainsFunc(g.selectors, func(s labels.Selector) bool { return !s.Matches(k.labels) }) {
			k.matching = append(k.matching, g)
		}
	}
	return k.matching
}

// refuses returns a text about the rule that keeps a pod of the kind off the node, or "" if the pod may run on the node.
func (p *peers) refuses(k *kind, m *node) string {
	for _, r := range k.spreads {
		domain, present := m.node.Labels[r.group.key]
		if !present {
			return "spread: the node has no " + r.group.key
		}
		count, least := r.group.domains[domain], r.group.least
		if len(r.group.domains) < r.minDomains {
			least = 0
		}
		if r.self {
			count++
		}
		if count-least > r.maxSkew {
			return "spread over " + r.group.key + " is too uneven"
		}
	}
	first := true // true if no pod on any node matches the affinity terms of this pod, and the pod matches its own terms
	met := true
	for _, r := range k.together {
		domain, present := m.node.Labels[r.group.key]
		if !present {
			return "affinity: the node has no " + r.group.key
		}
		met = met && r.group.domains[domain] > 0
		first = first && r.self && r.group.total == 0
	}
	if !met && !first {
		return "affinity: no pod to be near to"
	}
	for _, r := range k.apart {
		if domain, present := m.node.Labels[r.group.key]; present && r.group.domains[domain] > 0 {
			return "anti-affinity: a pod to be away from is in the same " + r.group.key
		}
	}
	for _, g := range p.matches(k) {
		if domain, present := m.node.Labels[g.key]; present && g.owners[domain] > 0 {
			return "anti-affinity of a pod in the same " + g.key
		}
	}
	return ""
}

// place counts a pod of the kind that was bound to the node.
func (p *peers) place(k *kind, m *node) {
	for _, g := range p.matches(k) {
		domain, present := m.node.Labels[g.key]
		if !present || g.eligible != nil && !g.eligible[p.index[m]] {
			continue
		}
		g.total++
		g.domains[domain]++
		if g.eligible == nil || g.domains[domain]-1 != g.least {
			continue
		}
		if g.atLeast--; g.atLeast == 0 {
			g.recount()
		}
	}
	for _, r := range k.apart {
		if domain, present := m.node.Labels[r.group.key]; present {
			r.group.owners[domain]++
		}
	}
}

// recount computes least and atLeast from domains.
func (g *group) recount() {
	g.least, g.atLeast = 0, 0
	if len(g.domains) == 0 {
		return
	}
	g.least = slices.Min(slices.Collect(maps.Values(g.domains)))
	for _, count := range g.domains {
		if count == g.least {
			g.atLeast++
		}
	}
}
