package rulecosts

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// OfPod lists the rules of a waiting pod, in the order of the fields; rules about labels are sorted by key. It returns nil if the snapshot
// has no such waiting pod, or if the pod has no rules. kubernetes.io/os does not count as a rule, because a pod needs its operating system.
func OfPod(s *scheduling.Snapshot, key scheduling.PodKey) []Rule {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Pods, func(p *corev1.Pod) bool { return p != nil && p.Namespace == key.Namespace && p.Name == key.Name })
	if i < 0 {
		return nil
	}
	l := podRules{pod: s.Pods[i], alike: alike(s, s.Pods[i])}
	l.labels()
	l.spreads()
	l.podAffinity()
	l.others()
	return l.rules
}

// alike returns the waiting pods of the pod's workload, including the pod.
func alike(s *scheduling.Snapshot, pod *corev1.Pod) map[scheduling.PodKey]bool {
	out := map[scheduling.PodKey]bool{{Namespace: pod.Namespace, Name: pod.Name}: true}
	owner := ownerOf(pod)
	if owner.Name == "" {
		return out
	}
	for _, other := range s.Pods {
		if other == nil {
			continue
		}
		if o := ownerOf(other); other.Namespace == pod.Namespace && o.Kind == owner.Kind && o.Name == owner.Name {
			out[scheduling.PodKey{Namespace: other.Namespace, Name: other.Name}] = true
		}
	}
	return out
}

// ownerOf returns the pod's controller or, without a controller, its first owner. It returns the zero reference for a pod without owners.
func ownerOf(pod *corev1.Pod) metav1.OwnerReference {
	if c := metav1.GetControllerOf(pod); c != nil {
		return *c
	}
	if len(pod.OwnerReferences) > 0 {
		return pod.OwnerReferences[0]
	}
	return metav1.OwnerReference{}
}

// podRules collects the rules of a pod, for example its topology spread constraints.
type podRules struct {
	pod   *corev1.Pod
	alike map[scheduling.PodKey]bool
	rules []Rule
}

func (l *podRules) add(kind Kind, path, text string, change func(*corev1.Pod)) {
	l.rules = append(l.rules, Rule{
		Kind: kind, Object: "Pod " + l.pod.Namespace + "/" + l.pod.Name, Path: path, Text: text, Pods: len(l.alike), without: ofPods(l.alike, change),
	})
}

// labels adds the rules about labels of nodes, one for each key.
func (l *podRules) labels() {
	said := map[string][]string{}
	path := map[string]string{}
	note := func(key, where, text string) {
		if key == corev1.LabelOSStable {
			return
		}
		if path[key] == "" {
			path[key] = where
		}
		if !slices.Contains(said[key], text) {
			said[key] = append(said[key], text)
		}
	}
	for key, value := range l.pod.Spec.NodeSelector {
		note(key, "spec.nodeSelector["+key+"]", key+" = "+value)
	}
	const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	for _, term := range requiredTerms(l.pod) {
		for _, e := range term.MatchExpressions {
			text := e.Key + " " + string(e.Operator)
			if len(e.Values) > 0 {
				text += " " + list(e.Values)
			}
			note(e.Key, terms, text)
		}
	}
	for _, key := range sortedKeys(said) {
		l.add(NodeLabels, path[key], "node label "+strings.Join(said[key], ", "), func(p *corev1.Pod) { dropLabel(p, key) })
	}
}

func requiredTerms(p *corev1.Pod) []corev1.NodeSelectorTerm {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// dropLabel removes the pod's requirements on one label. If a node selector term has no other requirements, every node meets the term after
// the change, and so the whole selector. A term that was empty before matches no node, and stays unchanged.
func dropLabel(p *corev1.Pod, key string) {
	delete(p.Spec.NodeSelector, key)
	terms := requiredTerms(p)
	for i := range terms {
		if len(terms[i].MatchExpressions) == 0 {
			continue
		}
		terms[i].MatchExpressions = slices.DeleteFunc(terms[i].MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return e.Key == key })
		if len(terms[i].MatchExpressions)+len(terms[i].MatchFields) == 0 {
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
			return
		}
	}
}

// spreads adds the topology spread constraints with DoNotSchedule.
func (l *podRules) spreads() {
	for i, c := range l.pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		text := fmt.Sprintf("spread over %s, maxSkew %d", c.TopologyKey, c.MaxSkew)
		l.add(TopologySpread, fmt.Sprintf("spec.topologySpreadConstraints[%d]", i), text, func(p *corev1.Pod) {
			if i < len(p.Spec.TopologySpreadConstraints) {
				p.Spec.TopologySpreadConstraints = slices.Delete(p.Spec.TopologySpreadConstraints, i, i+1)
			}
		})
	}
}

const required = ".requiredDuringSchedulingIgnoredDuringExecution[%d]"

// podAffinity adds the required terms of pod affinity and anti-affinity.
func (l *podRules) podAffinity() {
	a := l.pod.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAffinity != nil {
		for i, term := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			l.add(PodAffinity, fmt.Sprintf("spec.affinity.podAffinity"+required, i), "affinity to pods in "+term.TopologyKey, func(p *corev1.Pod) {
				if at := p.Spec.Affinity; at != nil && at.PodAffinity != nil {
					at.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = dropTerm(at.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i)
				}
			})
		}
	}
	if a.PodAntiAffinity != nil {
		for i, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			l.add(PodAntiAffinity, fmt.Sprintf("spec.affinity.podAntiAffinity"+required, i), "anti-affinity to pods in "+term.TopologyKey, func(p *corev1.Pod) {
				if at := p.Spec.Affinity; at != nil && at.PodAntiAffinity != nil {
					at.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = dropTerm(at.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i)
				}
			})
		}
	}
}

func dropTerm(terms []corev1.PodAffinityTerm, i int) []corev1.PodAffinityTerm {
	if i >= len(terms) {
		return terms
	}
	return slices.Delete(terms, i, i+1)
}

// others adds the pod's rules about host ports and volumes, and its preferences.
func (l *podRules) others() {
	ports, volumes := 0, 0
	for _, c := range l.pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports++
			}
		}
	}
	for i := range l.pod.Spec.Volumes {
		if persistent(l.pod.Spec.Volumes[i]) {
			volumes++
		}
	}
	if ports > 0 {
		l.add(HostPorts, "spec.containers[*].ports[*].hostPort", fmt.Sprintf("%d host ports", ports), dropPorts)
	}
	if volumes > 0 {
		l.add(Volumes, "spec.volumes", fmt.Sprintf("%d persistent volumes", volumes), func(p *corev1.Pod) {
			p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, persistent)
		})
	}
	if prefers(l.pod) {
		l.add(Preferences, "spec.affinity", "preferences", dropPreferences)
	}
}

func persistent(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }

func dropPorts(p *corev1.Pod) {
	for i := range p.Spec.Containers {
		for j := range p.Spec.Containers[i].Ports {
			p.Spec.Containers[i].Ports[j].HostPort = 0
		}
	}
	p.Spec.HostNetwork = false
}

func prefers(p *corev1.Pod) bool {
	soft := slices.ContainsFunc(p.Spec.TopologySpreadConstraints, soft)
	a := p.Spec.Affinity
	return soft || a != nil && (a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
}

func soft(c corev1.TopologySpreadConstraint) bool {
	return c.WhenUnsatisfiable == corev1.ScheduleAnyway
}

func dropPreferences(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = slices.DeleteFunc(p.Spec.TopologySpreadConstraints, soft)
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	if a.PodAffinity != nil {
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	if a.PodAntiAffinity != nil {
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
}
