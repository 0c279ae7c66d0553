package rulecosts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// OfPool lists the rules of a NodePool: its requirements by label, and then minValues, taints, limits and weight. It returns nil if the
// snapshot has no such pool, or if the pool has no rules. kubernetes.io/os does not count as a rule.
func OfPool(s *scheduling.Snapshot, key v1.PoolKey) []Rule {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.NodePools, func(p scheduling.NodePool) bool { return p.Object != nil && p.Identity() == key })
	if i < 0 {
		return nil
	}
	l := poolRules{key: key, pool: s.NodePools[i].Object}
	l.requirements()
	l.others()
	return l.rules
}

// poolRules collects the rules of a NodePool, for example its requirements and limits.
type poolRules struct {
	key   v1.PoolKey
	pool  *v1.NodePool
	rules []Rule
}

func (l *poolRules) add(kind Kind, path, text string, change func(*v1.NodePool)) {
	l.rules = append(l.rules, Rule{Kind: kind, Object: "NodePool " + l.key.Name, Path: path, Text: text, without: ofPool(l.key, change)})
}

const requirementsPath = "spec.template.spec.requirements"

// requirements adds one rule for each label in the pool's requirements.
func (l *poolRules) requirements() {
	said := map[string][]string{}
	for _, r := range l.pool.Spec.Template.Spec.Requirements {
		if r.Key == corev1.LabelOSStable {
			continue
		}
		text := r.Key + " " + string(r.Operator)
		if len(r.Values) > 0 {
			text += " " + list(r.Values)
		}
		said[r.Key] = append(said[r.Key], text)
	}
	for _, key := range sortedKeys(said) {
		l.add(Requirement, requirementsPath+"["+key+"]", strings.Join(said[key], " and "), func(p *v1.NodePool) {
			template := &p.Spec.Template.Spec
			template.Requirements = slices.DeleteFunc(template.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key })
		})
	}
}

// others adds the rules of a pool that are not requirements.
func (l *poolRules) others() {
	spec := &l.pool.Spec
	var diverse []string
	for _, r := range spec.Template.Spec.Requirements {
		if r.MinValues != nil && *r.MinValues > 1 {
			diverse = append(diverse, fmt.Sprintf("%d of %s", *r.MinValues, r.Key))
		}
	}
	if len(diverse) > 0 {
		l.add(MinValues, requirementsPath+"[*].minValues", "minValues "+strings.Join(diverse, ", "), func(p *v1.NodePool) {
			for i := range p.Spec.Template.Spec.Requirements {
				p.Spec.Template.Spec.Requirements[i].MinValues = nil
			}
		})
	}
	if taints := spec.Template.Spec.Taints; len(taints) > 0 {
		texts := make([]string, 0, len(taints))
		for _, t := range taints {
			texts = append(texts, scheduling.TaintString(t))
		}
		l.add(Taints, "spec.template.spec.taints", "taints "+strings.Join(texts, ", "), func(p *v1.NodePool) { p.Spec.Template.Spec.Taints = nil })
	}
	if len(spec.Limits) > 0 {
		texts := make([]string, 0, len(spec.Limits))
		for _, name := range slices.Sorted(maps.Keys(spec.Limits)) {
			amount := spec.Limits[name]
			texts = append(texts, string(name)+" "+amount.String())
		}
		l.add(Limits, "spec.limits", "limits "+strings.Join(texts, ", "), func(p *v1.NodePool) { p.Spec.Limits = nil })
	}
	if spec.Weight != nil && *spec.Weight > 0 {
		l.add(Weight, "spec.weight", fmt.Sprintf("weight %d", *spec.Weight), func(p *v1.NodePool) { p.Spec.Weight = nil })
	}
}

// mostListed is the largest number of values that a text lists.
const mostListed = 4

// list formats values as "[a, b]".
func list(values []string) string {
	shown := values
	more := ""
	if len(values) > mostListed {
		shown, more = values[:mostListed], fmt.Sprintf(" and %d more", len(values)-mostListed)
	}
	return "[" + strings.Join(shown, ", ") + more + "]"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
