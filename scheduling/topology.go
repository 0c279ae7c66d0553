package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Topology constraints are rules about counts: how many pods of a certain kind are in a domain, a domain being all
// machines with one value of a label. Each rule that some pod states becomes a topology group; placing a pod changes
// the counts of the groups that select it, and a pod may be placed where the groups it owns allow.

type groupKind uint8

const (
	// kindSpread: the pod's own domain may have at most maxSkew more members than the emptiest one.
	kindSpread groupKind = iota
	// kindAffinity: the pod's own domain must have a member.
	kindAffinity
	// kindAnti: the pod's own domain must have no member, and no domain of an owner may take a member.
	kindAnti
	// kindExclusive: a machine has room for one member. Host ports are such groups.
	kindExclusive
	// kindTogether: once a member has a domain, the others must go to the same. Pods that share a volume which has yet
	// to be made are such a group: the first one's zone decides.
	kindTogether
	// kindGone: no pod states the rule any more. Only an index that is kept for updates has such groups.
	kindGone
)

// topologyGroup is one distinct rule: pods that state the same one share it.
type topologyGroup struct {
	kind groupKind
	// key is the topology label, canonical; at is its place in Model.topologyKeys, or hostnameKey.
	key string
	at  int
	// hard rules must be kept; soft ones are kept if they cost little, weighted from 1 to 100.
	hard   bool
	weight int32
	// maxSkew and minDomains of a spread; minDomains is at least 1.
	maxSkew, minDomains int32
	// namespaces, sorted, and selectors say who is a member: pods of those namespaces that match all selectors.
	namespaces []string
	selectors  []labels.Selector
	// claim is the volume whose pods are the members, of groups of kindTogether.
	claim volumes.ID
	// disk is the disk whose pods are the members, of groups of kindAnti that keep the pods of one disk apart.
	disk string
	// filter says which machines a spread takes notice of.
	filter nodeFilter
	// tells are the labels by which the rule tells machines apart, but for their names: its key, those of the filter.
	tells []string
}

// hostnameKey is the topologyGroup.at of groups whose domains are single machines.
const hostnameKey = -1

// nodeFilter is the part of a spread constraint that says which machines count. The zero value counts all.
type nodeFilter struct {
	// terms are alternatives of the owner's node selector and required affinity; nil for all machines.
	terms []match.Needs
	// tolerations of the owner are looked at if taints is true.
	taints      bool
	tolerations []corev1.Toleration
	// keys are topology labels that a machine must have, sorted: those of all the owner's hard constraints, if there are any
	// beside the constraint's own, since kube-scheduler passes over nodes that lack any of them.
	keys []string
	text string
}

// ownership is a class's stake in topology: the groups whose rules its pods state and those that count its pods.
// Both are ascending.
type ownership struct {
	owns, in []int32
}

// topologyIndex collects groups while a model is compiled.
type topologyIndex struct {
	m      *Model
	groups []topologyGroup
	byText map[string]int32
	// fresh are the groups that intern has made and nobody has yet looked at: see memo. vacant are the numbers that no group has
	// any more.
	fresh, vacant []int32
	// selectsNamespaces tells that some rule names namespaces by their labels: then it matters which namespaces there are.
	selectsNamespaces bool
	// readKeys are the label keys some group's selector reads, sorted.
	readKeys []string
	// members remembers which groups select pods of a namespace with certain values of readKeys.
	members map[string][]int32
	// namespaceLabels by name.
	namespaceLabels map[string]labels.Set
	defaults        *defaultSpread
	buf             []byte
	// remembered is where in rules stands what collect returned, by ruleKey.
	remembered map[string]int32
	rules      []ownedRules
	// vacantRules are the places in rules that are free.
	vacantRules []int32
	writer      keyWriter
}

func newTopologyIndex(m *Model, s *Snapshot) *topologyIndex {
	x := &topologyIndex{m: m, byText: map[string]int32{}, members: map[string][]int32{}, namespaceLabels: map[string]labels.Set{}, remembered: map[string]int32{}}
	for _, ns := range s.Namespaces {
		x.listNamespace(ns)
	}
	x.defaults = newDefaultSpread(s)
	return x
}

// constrained reports whether the pod states any topology rule, the cheap question asked of every pod.
func (x *topologyIndex) constrained(pod *corev1.Pod) bool {
	spec := &pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 || x.defaults.any() {
		return true
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	return hasHostPorts(spec) || len(x.unmade(pod)) > 0 || len(volumes.Disks(spec)) > 0
}

// unmade are the volumes of the pod that it shares with others and that are made where the first of them goes.
func (x *topologyIndex) unmade(pod *corev1.Pod) []volumes.ID {
	var out []volumes.ID
	if len(pod.Spec.Volumes) == 0 {
		return nil
	}
	for _, c := range x.m.volumes.Attached(pod) {
		if c.Shared && c.Unbound {
			out = append(out, c.ID)
		}
	}
	return out
}

// collect adds the pod's rules and returns where they stand, as remember does, and the numbers of their groups, ascending. With an error come the groups of
// those rules that can be read: a bound pod keeps others away by them even if it could not be planned itself. The
// result is shared.
func (x *topologyIndex) collect(pod *corev1.Pod) (at int32, owns []int32, err error) {
	at = x.remember(pod)
	owns, err = x.rulesAt(at, pod)
	return at, owns, err
}

// rulesAt are the groups for a pod of which it is known what remember returned.
func (x *topologyIndex) rulesAt(n int32, pod *corev1.Pod) ([]int32, error) {
	switch n {
	case noRules:
		return nil, nil
	case oddRules:
		return x.read(pod)
	}
	return x.rules[n].owns, x.rules[n].err
}

const (
	// noRules: the pod states none.
	noRules = -1
	// oddRules: they have to be read again.
	oddRules = -2
)

// remember adds the pod's rules, and returns where in x.rules they stand from now on, or one of the constants above.
func (x *topologyIndex) remember(pod *corev1.Pod) int32 {
	if !x.constrained(pod) {
		return noRules
	}
	key, ok := x.ruleKey(pod)
	if !ok {
		return oddRules
	}
	if n, known := x.remembered[string(key)]; known {
		return n
	}
	text := string(key)
	owns, err := x.read(pod)
	n := int32(len(x.rules))
	if free := len(x.vacantRules); free > 0 {
		n, x.vacantRules = x.vacantRules[free-1], x.vacantRules[:free-1]
		x.rules[n] = ownedRules{owns, err}
	} else {
		x.rules = append(x.rules, ownedRules{owns, err})
	}
	x.remembered[text] = n
	return n
}

// read is collect for a pod whose like has not been seen.
func (x *topologyIndex) read(pod *corev1.Pod) ([]int32, error) {
	var out []int32
	add := func(g topologyGroup) { out = append(out, x.intern(g)) }
	err := errors.Join(x.spreads(pod, add), x.affinities(pod, add))
	hostPortGroups(&pod.Spec, add)
	diskGroups(&pod.Spec, add)
	for _, claim := range x.unmade(pod) {
		add(topologyGroup{kind: kindTogether, key: corev1.LabelTopologyZone, hard: true, weight: 100, claim: claim})
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

func (x *topologyIndex) intern(g topologyGroup) int32 {
	g.key = x.m.vocab.Canonical(g.key)
	text := g.text()
	if n, ok := x.byText[text]; ok {
		return n
	}
	n := int32(len(x.groups))
	if free := len(x.vacant); free > 0 {
		n, x.vacant = x.vacant[free-1], x.vacant[:free-1]
		x.groups[n] = g
	} else {
		x.groups = append(x.groups, g)
	}
	x.byText[text] = n
	x.fresh = append(x.fresh, n)
	return n
}

func (g *topologyGroup) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d|%s|%t|%d|%d|%d|%s|", g.kind, g.key, g.hard, g.weight, g.maxSkew, g.minDomains, strings.Join(g.namespaces, ","))
	for _, s := range g.selectors {
		b.WriteString(s.String())
		b.WriteByte('|')
	}
	b.WriteString(g.claim.Driver + "/" + g.claim.Handle + g.disk)
	b.WriteString(g.filter.text)
	return b.String()
}

// seal ends collecting: groups are numbered in the order of their text, so that the order of the input plays no part,
// and the keys that selectors read are known.
func (x *topologyIndex) seal() {
	texts := make([]string, 0, len(x.groups))
	for text := range x.byText {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	number, sorted := make([]int32, len(x.groups)), make([]topologyGroup, len(x.groups))
	for i, text := range texts {
		old := x.byText[text]
		number[old], sorted[i] = int32(i), x.groups[old]
		x.byText[text] = int32(i)
	}
	x.groups = sorted
	for _, r := range x.rules {
		for i, g := range r.owns {
			r.owns[i] = number[g]
		}
		slices.Sort(r.owns)
	}
	x.fresh = nil
	for i := range x.groups {
		x.readFor(&x.groups[i])
	}
}

// readFor notes which labels the group's selectors read.
func (x *topologyIndex) readFor(g *topologyGroup) {
	for _, s := range g.selectors {
		reqs, _ := s.Requirements()
		for _, r := range reqs {
			if at, known := slices.BinarySearch(x.readKeys, r.Key()); !known {
				x.readKeys = slices.Insert(x.readKeys, at, r.Key())
			}
		}
	}
}

// membership returns the groups that count the pod, ascending. The result is shared.
func (x *topologyIndex) membership(pod *corev1.Pod) []int32 {
	if len(x.groups) == 0 {
		return nil
	}
	x.buf = append(x.buf[:0], pod.Namespace...)
	for _, key := range x.readKeys {
		if v, ok := pod.Labels[key]; ok {
			x.buf = append(append(append(append(x.buf, 0), key...), '='), v...)
		}
	}
	own := hasHostPorts(&pod.Spec) || len(x.unmade(pod)) > 0 || len(volumes.Disks(&pod.Spec)) > 0
	if m, ok := x.members[string(x.buf)]; ok && !own {
		return m
	}
	var out []int32
	for i := range x.groups {
		switch g := &x.groups[i]; g.kind {
		case kindExclusive, kindGone:
		case kindTogether:
			if slices.Contains(x.unmade(pod), g.claim) {
				out = append(out, int32(i))
			}
		default:
			if g.disk != "" && g.usesDisk(&pod.Spec) || g.disk == "" && g.selects(pod) {
				out = append(out, int32(i))
			}
		}
	}
	if own {
		out = append(out, x.portMembership(&pod.Spec)...)
		slices.Sort(out)
		return out
	}
	x.members[string(x.buf)] = out
	return out
}

func (g *topologyGroup) selects(pod *corev1.Pod) bool {
	if _, ok := slices.BinarySearch(g.namespaces, pod.Namespace); !ok {
		return false
	}
	for _, s := range g.selectors {
		if !s.Matches(labels.Set(pod.Labels)) {
			return false
		}
	}
	return true
}

// finish hands the groups to the model.
func (x *topologyIndex) finish() {
	x.m.topology = x.groups
	x.m.placeTopologyKeys()
}

// placeTopologyKeys gives the keys of the groups their places.
func (m *Model) placeTopologyKeys() {
	for i := range m.topology {
		g := &m.topology[i]
		if g.key == labelHostname || g.kind == kindExclusive {
			g.at = hostnameKey
			continue
		}
		at := slices.Index(m.topologyKeys, g.key)
		if at < 0 {
			at = len(m.topologyKeys)
			m.topologyKeys = append(m.topologyKeys, g.key)
			m.askedKeys[g.key] = true
		}
		g.at = at
	}
	pinned := slices.Clone(m.topologyKeys)
	for i := range m.topology {
		g := &m.topology[i]
		if g.at != hostnameKey {
			g.tells = append(g.tells, g.key)
		}
		g.tells = append(g.tells, g.filter.keys...)
		for _, term := range g.filter.terms {
			for _, r := range term {
				if r.Key() != match.NodeName {
					g.tells = append(g.tells, r.Key())
				}
			}
		}
		slices.Sort(g.tells)
		g.tells = slices.Compact(g.tells)
		pinned = append(pinned, g.tells...)
	}
	slices.Sort(pinned)
	m.pinnedKeys = slices.Compact(pinned)
}
