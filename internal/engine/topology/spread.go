package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/match"
)

// spreads adds the pod's topology spread constraints. If the pod has no such constraints, it adds the cluster's default constraints.
func (x *Index) spreads(pod *corev1.Pod, add func(Group)) error {
	var errs []error
	list := pod.Spec.TopologySpreadConstraints
	if len(list) == 0 {
		list = x.defaults.constraintsFor(pod)
	}
	keys := x.hardKeys(list)
	for i := range list {
		c := &list[i]
		selector, err := spreadSelector(c, pod.Labels)
		if err != nil {
			errs = append(errs, fmt.Errorf("topologySpreadConstraints[%d]: %w", i, err))
			continue
		}
		filter, err := x.filterOf(c, pod)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		others := len(keys) > 1 || (len(keys) == 1 && x.terms.Vocabulary.Canonical(c.TopologyKey) == corev1.LabelHostname)
		if c.WhenUnsatisfiable != corev1.ScheduleAnyway && others {
			filter.keys = keys
			filter.text += "; has " + strings.Join(keys, ", ")
		}
		g := Group{
			Kind: Spread, Key: c.TopologyKey, Hard: c.WhenUnsatisfiable != corev1.ScheduleAnyway, Weight: 100,
			MaxSkew: max(c.MaxSkew, 1), MinDomains: 1, namespaces: []string{pod.Namespace},
			selectors: []labels.Selector{selector}, Filter: filter,
		}
		if c.MinDomains != nil && g.Hard {
			g.MinDomains = max(*c.MinDomains, 1)
		}
		add(g)
	}
	return errors.Join(errs...)
}

// hardKeys returns the topology keys of the hard constraints, sorted. It leaves out the hostname, which every node has.
func (x *Index) hardKeys(list []corev1.TopologySpreadConstraint) []string {
	var keys []string
	for i := range list {
		key := x.terms.Vocabulary.Canonical(list[i].TopologyKey)
		if list[i].WhenUnsatisfiable != corev1.ScheduleAnyway && key != corev1.LabelHostname {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// spreadSelector returns the constraint's selector, with requirements added for matchLabelKeys. A nil selector matches no pod.
func spreadSelector(c *corev1.TopologySpreadConstraint, podLabels map[string]string) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil {
		return nil, err
	}
	return withLabelKeys(selector, c.MatchLabelKeys, nil, podLabels)
}

// withLabelKeys adds "key in (pod's value)" for each key in match and "key notin (pod's value)" for each key in mismatch. It skips keys
// that the pod lacks. The API server may already have added these requirements; a repeated requirement has no effect.
func withLabelKeys(selector labels.Selector, match, mismatch []string, podLabels map[string]string) (labels.Selector, error) {
	for _, keys := range []struct {
		list []string
		op   string
	}{{match, "in"}, {mismatch, "notin"}} {
		for _, key := range keys.list {
			value, ok := podLabels[key]
			if !ok {
				continue
			}
			extra, err := labels.Parse(fmt.Sprintf("%s %s (%s)", key, keys.op, value))
			if err != nil {
				return nil, err
			}
			reqs, _ := extra.Requirements()
			if !containsRequirements(selector, reqs) {
				selector = selector.Add(reqs...)
			}
		}
	}
	return selector, nil
}

func containsRequirements(selector labels.Selector, reqs labels.Requirements) bool {
	have, _ := selector.Requirements()
	for _, r := range reqs {
		if !slices.ContainsFunc(have, func(h labels.Requirement) bool { return h.Equal(r) }) {
			return false
		}
	}
	return true
}

// filterOf reads the constraint's nodeAffinityPolicy (default Honor) and nodeTaintsPolicy (default Ignore).
func (x *Index) filterOf(c *corev1.TopologySpreadConstraint, pod *corev1.Pod) (Filter, error) {
	var f Filter
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if match.BoundDaemon(pod) && match.NamesNode(&pod.Spec) {
			return f, match.ErrBoundDaemon // the constraint is invalid, and pods with it are not planned
		}
		terms, err := x.terms.Required(&pod.Spec)
		if err != nil {
			return f, err
		}
		if len(terms) > 1 || len(terms[0]) > 0 {
			f.Terms = terms
			for _, t := range terms {
				f.text += t.String() + " or "
				x.ask(t)
			}
		}
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		f.Taints, f.tolerations = true, pod.Spec.Tolerations
		f.text += "; honours taints"
		for i := range pod.Spec.Tolerations {
			t := &pod.Spec.Tolerations[i]
			f.text += fmt.Sprintf("; tolerates %q %s %q %s", t.Key, t.Operator, t.Value, t.Effect)
		}
	}
	return f, nil
}
