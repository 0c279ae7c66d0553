package planvalidator

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// rule is a condition on one label.
type rule struct {
	op     corev1.NodeSelectorOperator
	values []string
}

// matches reports whether a node meets the rule. value is the node's value of the label; present is false if the node lacks the label.
func (r rule) matches(value string, present bool) bool {
	switch r.op {
	case corev1.NodeSelectorOpIn:
		return present && slices.Contains(r.values, value)
	case corev1.NodeSelectorOpNotIn:
		return !present || !slices.Contains(r.values, value)
	case corev1.NodeSelectorOpExists:
		return present
	case corev1.NodeSelectorOpDoesNotExist:
		return !present
	}
	n, err := strconv.ParseInt(value, 10, 64)
	bound, boundErr := strconv.ParseInt(r.values[0], 10, 64)
	if !present || err != nil || boundErr != nil {
		return false
	}
	switch r.op {
	case corev1.NodeSelectorOpGt:
		return n > bound
	case corev1.NodeSelectorOpLt:
		return n < bound
	case "Gte":
		return n >= bound
	}
	return n <= bound // Lte
}

// label has the rules that are known to hold for one label of a node. If the list is empty, the label may have any value or be missing.
type label []rule

func (l label) allows(value string, present bool) bool {
	for _, r := range l {
		if !r.matches(value, present) {
			return false
		}
	}
	return true
}

// samples returns values that represent all values that the label may have. These are each value in the label's rules or in the rule r, the
// numbers next to each value that is a number, and one value that no rule lists. Every rule treats any other value like one of the returned
// values.
func (l label) samples(r rule) []string {
	out := []string{"nobody-lists-this", "0", "1000000007"}
	for _, x := range append(slices.Clone(l), r) {
		for _, v := range x.values {
			out = append(out, v)
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				for d := int64(-3); d <= 3; d++ {
					out = append(out, strconv.FormatInt(n+d, 10))
				}
			}
		}
	}
	return out
}

// ensures reports whether the rule r holds for every value of the label that the label's rules allow, and for a missing label if they allow
// that. It returns false if the label's rules contradict each other.
func (l label) ensures(r rule) bool {
	possible := false
	if l.allows("", false) {
		possible = true
		if !r.matches("", false) {
			return false
		}
	}
	for _, v := range l.samples(r) {
		if l.allows(v, true) {
			possible = true
			if !r.matches(v, true) {
				return false
			}
		}
	}
	return possible
}

// possible reports whether some value of the label, or its absence, satisfies all rules.
func (l label) possible() bool {
	anything := rule{op: corev1.NodeSelectorOpExists}
	return l.allows("", false) || l.permits(anything)
}

// permits reports whether the rule r holds for some value of the label that the label's rules allow, or for a missing label if they allow
// that.
func (l label) permits(r rule) bool {
	if l.allows("", false) && r.matches("", false) {
		return true
	}
	return slices.ContainsFunc(l.samples(r), func(v string) bool { return l.allows(v, true) && r.matches(v, true) })
}

// labels has the rules that are known to hold for each label of a node. If a key is not in the map, the node lacks the label.
type labels map[string]label

func (m labels) get(key string) label {
	if l, ok := m[key]; ok {
		return l
	}
	return label{{op: corev1.NodeSelectorOpDoesNotExist}}
}

// and adds rules for the label with that key, in addition to the label's present rules.
func (m labels) and(key string, rules ...rule) { m[key] = append(slices.Clone(m[key]), rules...) }

func isValue(value string) rule { return rule{corev1.NodeSelectorOpIn, []string{value}} }

// expression is a rule about the label with that key.
type expression struct {
	key string
	rule
}

// canonical replaces an alias of a label key by the key, and aliases of the label's values by the values.
func (c *checker) canonical(key string, values ...string) (string, []string) {
	if to, ok := c.words.Aliases[key]; ok {
		key = to
	}
	out := slices.Clone(values)
	for i := range out {
		if to, ok := c.words.ValueAliases[key][out[i]]; ok {
			out[i] = to
		}
	}
	return key, out
}

func (c *checker) expression(key string, op corev1.NodeSelectorOperator, values []string) expression {
	key, values = c.canonical(key, values...)
	return expression{key, rule{op, values}}
}

func (c *checker) fromEntries(entries []v1.NodeSelectorRequirementWithMinValues) labels {
	out := labels{}
	for _, e := range entries {
		x := c.expression(e.Key, e.Operator, e.Values)
		out.and(x.key, x.rule)
	}
	return out
}

func (c *checker) fromMap(m map[string]string) labels {
	out := labels{}
	for k, v := range m {
		key, values := c.canonical(k, v)
		out.and(key, isValue(values[0]))
	}
	return out
}

// nodeName is the key of the Node's name in a map of type labels. It is needed for matchFields.
const nodeName = "(metadata.name)"

// alternatives returns the alternatives of a pod's node selection. A node must meet all expressions of at least one alternative. Each
// alternative also requires the operating system that the pod names, because the kubelet of another system rejects the pod.
func (c *checker) alternatives(spec *corev1.PodSpec) [][]expression {
	out := c.selected(spec)
	if spec.OS == nil || spec.OS.Name == "" {
		return out
	}
	for i := range out {
		out[i] = append(slices.Clone(out[i]), c.expression(corev1.LabelOSStable, corev1.NodeSelectorOpIn, []string{string(spec.OS.Name)}))
	}
	return out
}

// selected returns the alternatives of the pod's node selector and node affinity. Each alternative is the node selector combined with one
// required term of the node affinity. A term without expressions and fields matches no node and is left out. The only supported field is
// the node's name.
func (c *checker) selected(spec *corev1.PodSpec) [][]expression {
	var base []expression
	for _, k := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		base = append(base, c.expression(k, corev1.NodeSelectorOpIn, []string{spec.NodeSelector[k]}))
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return [][]expression{base}
	}
	var out [][]expression
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			continue
		}
		all := slices.Clone(base)
		for _, e := range term.MatchExpressions {
			all = append(all, c.expression(e.Key, e.Operator, e.Values))
		}
		for _, e := range term.MatchFields {
			all = append(all, expression{nodeName, rule{e.Operator, e.Values}})
		}
		out = append(out, all)
	}
	return out
}

// accepts reports whether the node meets one of the pod's alternatives, for all possible values of the node's unknown labels.
func (c *checker) accepts(m labels, spec *corev1.PodSpec) bool {
	return m.meetAny(c.alternatives(spec))
}

// meetAny reports whether the node meets one of the alternatives, for all possible values of the node's unknown labels.
func (m labels) meetAny(alternatives [][]expression) bool {
	return slices.ContainsFunc(alternatives, func(all []expression) bool {
		return !slices.ContainsFunc(all, func(e expression) bool { return !m.get(e.key).ensures(e.rule) })
	})
}

// mayAccept reports whether the node meets one of the pod's alternatives for some possible values of the node's unknown labels.
func (c *checker) mayAccept(m labels, spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(c.alternatives(spec), func(all []expression) bool {
		joined := maps.Clone(m)
		for _, e := range all {
			if !joined.get(e.key).permits(e.rule) {
				return false
			}
			joined[e.key] = append(slices.Clone(joined.get(e.key)), e.rule)
		}
		return true
	})
}

// blocking returns a taint that keeps the pod off the node, or nil if no taint does. A PreferNoSchedule taint never keeps a pod off a node.
func blocking(spec *corev1.PodSpec, taints []corev1.Taint) *corev1.Taint {
	for i := range taints {
		t := &taints[i]
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(spec.Tolerations, func(x corev1.Toleration) bool { return tolerated(x, t) }) {
			return t
		}
	}
	return nil
}

func tolerated(x corev1.Toleration, t *corev1.Taint) bool {
	if x.Effect != "" && x.Effect != t.Effect {
		return false
	}
	if x.Key != "" && x.Key != t.Key {
		return false
	}
	switch x.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return x.Key != "" && x.Value == t.Value
	}
	have, err := strconv.ParseInt(t.Value, 10, 64)
	want, wantErr := strconv.ParseInt(x.Value, 10, 64)
	if err != nil || wantErr != nil {
		return false
	}
	return x.Operator == "Gt" && have > want || x.Operator == "Lt" && have < want
}

// wished returns the given alternatives of a node selection. It also returns each alternative combined with each preferred term of the pod
// that requires a label by which rules between pods group nodes. The pool and the instance type may leave the value of such a label
// undecided. A new node that keeps the preference then has a value of its own for the label. So the pod may be able to run on this new node
// even if it can't run on a node without the preference. For example, other pods may have anti-affinity to the pod by that label. If the
// pool has a PreferNoSchedule taint that the pod does not tolerate, wished returns only the alternatives: the planner gives up preferences
// before it uses such a pool.
func (c *checker) wished(pod *corev1.Pod, np *scheduling.NodePool, alternatives [][]expression) [][]expression {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || unwelcome(&pod.Spec, np.Object.Spec.Template.Spec.Taints) {
		return alternatives
	}
	out := slices.Clone(alternatives)
	keys := c.topologyKeys()
	for _, p := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		var all []expression
		for _, e := range p.Preference.MatchExpressions {
			all = append(all, c.expression(e.Key, e.Operator, e.Values))
		}
		if !slices.ContainsFunc(all, func(e expression) bool { return keys[e.key] }) {
			continue
		}
		for _, x := range alternatives {
			out = append(out, slices.Concat(x, all))
		}
	}
	return out
}

// unwelcome reports whether the node has a PreferNoSchedule taint that the pod does not tolerate.
func unwelcome(spec *corev1.PodSpec, taints []corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule &&
			!slices.ContainsFunc(spec.Tolerations, func(x corev1.Toleration) bool { return tolerated(x, &t) })
	})
}
