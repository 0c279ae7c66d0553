package topology

import (
	"errors"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podtext"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Cluster contains the objects other than pods on which rules depend.
type Cluster struct {
	Namespaces []*corev1.Namespace
	// DefaultSpread are the spread constraints for pods without spread constraints. Their selectors are deduced from the Services and
	// controllers of the pods.
	DefaultSpread          []corev1.TopologySpreadConstraint
	Services               []*corev1.Service
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
	ReplicationControllers []*corev1.ReplicationController
}

// Index collects groups while a model is compiled.
type Index struct {
	// terms and Volumes read the needs of pods. asked collects the labels that rules need.
	terms   match.Terms
	Volumes *volumes.Index
	asked   map[string]bool
	Groups  []Group
	byText  map[string]int32
	// Fresh are the groups that intern added since the last ForgetFresh: see ReadFresh. vacant are group numbers that are free for new
	// groups.
	Fresh, vacant []int32
	// SelectsNamespaces is true if some rule selects namespaces by labels, so that it matters which namespaces exist.
	SelectsNamespaces bool
	// readKeys are the label keys that selectors of groups read, sorted.
	readKeys []string
	// members caches which groups select pods, by the pods' namespace and values of readKeys.
	members map[string][]int32
	// namespaceLabels has the labels of each known namespace, by name.
	namespaceLabels map[string]labels.Set
	defaults        *defaultSpread
	// Follows returns the id of the pods with which a pod must run because they share claims of devices, or "" if there are no such pods.
	// leads reports whether the pod is their leader: the other pods go to the leader's node. Follows is nil if no pods share claims.
	Follows func(pod *corev1.Pod) (id string, leads bool)
	buf     []byte
	// remembered maps the rule key of a pod (see ruleKey) to an index in the field rules, which has the results of Collect.
	remembered map[string]int32
	rules      []ownedRules
	// vacantRules are the free indexes in the field rules.
	vacantRules []int32
	writer      podtext.Writer
}

// NewIndex returns an index without rules. Later, the index adds the labels that rules need to the map asked.
func NewIndex(terms match.Terms, vols *volumes.Index, asked map[string]bool, cluster *Cluster) *Index {
	x := &Index{
		terms: terms, Volumes: vols, asked: asked,
		byText: map[string]int32{}, members: map[string][]int32{}, namespaceLabels: map[string]labels.Set{}, remembered: map[string]int32{},
	}
	for _, ns := range cluster.Namespaces {
		x.listNamespace(ns)
	}
	x.defaults = newDefaultSpread(cluster)
	return x
}

func (x *Index) ask(n match.Needs) {
	for _, r := range n {
		x.asked[r.Key()] = true
	}
}

// constrained reports whether the pod may have topology rules, or the model has default spread constraints. It is a cheap check that is
// made for every pod.
func (x *Index) constrained(pod *corev1.Pod) bool {
	spec := &pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 || x.defaults.any() {
		return true
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	return x.special(pod)
}

// special reports whether the pod's rules depend on more than labels and its own constraints: on host ports, volumes that are not created
// yet, disks that it names, or shared claims of devices.
func (x *Index) special(pod *corev1.Pod) bool {
	return HasHostPorts(&pod.Spec) || len(x.unmade(pod)) > 0 || len(volumes.Disks(&pod.Spec)) > 0 || x.leader(pod, true) != "" || x.leader(pod, false) != ""
}

// leader returns the id of the pods that share claims of devices with the pod. If the parameter leads is true, it returns the id only if
// the pod is the leader of these pods; if leads is false, only if the pod is not their leader. In all other cases the result is empty.
func (x *Index) leader(pod *corev1.Pod, leads bool) string {
	if x.Follows == nil || len(pod.Spec.ResourceClaims) == 0 {
		return ""
	}
	if id, yes := x.Follows(pod); yes == leads {
		return id
	}
	return ""
}

// unmade returns the volumes that the pod shares with other pods and that are not created yet. Such a volume will be created where the
// first of these pods runs.
func (x *Index) unmade(pod *corev1.Pod) []volumes.ID {
	var out []volumes.ID
	if len(pod.Spec.Volumes) == 0 {
		return nil
	}
	for _, c := range x.Volumes.Attached(pod) {
		if c.Shared && c.Unbound {
			out = append(out, c.ID)
		}
	}
	return out
}

// Collect adds the pod's rules. It returns their index, as Remember does, and the numbers of their groups in ascending order. If some rules
// can't be read, it returns an error and the groups of the other rules, because these rules apply to a bound pod even if the pod itself
// could not be planned. Callers must not change the result, because it is shared.
func (x *Index) Collect(pod *corev1.Pod) (at int32, owns []int32, err error) {
	at = x.Remember(pod)
	owns, err = x.RulesAt(at, pod)
	return at, owns, err
}

// RulesAt returns the groups of a pod. n is the result of Remember for the pod.
func (x *Index) RulesAt(n int32, pod *corev1.Pod) ([]int32, error) {
	switch n {
	case NoRules:
		return nil, nil
	case oddRules:
		return x.read(pod)
	}
	return x.rules[n].owns, x.rules[n].err
}

const (
	// NoRules means that the pod has no rules.
	NoRules = -1
	// oddRules means that ruleKey returned false for the pod, so that its rules must be read again each time.
	oddRules = -2
)

// Remember adds the pod's rules, and returns their index in x.rules, or one of the constants NoRules and oddRules.
func (x *Index) Remember(pod *corev1.Pod) int32 {
	if !x.constrained(pod) {
		return NoRules
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

// read does the work of Collect for a pod whose rules were not seen before.
func (x *Index) read(pod *corev1.Pod) ([]int32, error) {
	var out []int32
	add := func(g Group) { out = append(out, x.intern(g)) }
	err := errors.Join(x.spreads(pod, add), x.affinities(pod, add))
	hostPortGroups(&pod.Spec, add)
	diskGroups(&pod.Spec, add)
	for _, claim := range x.unmade(pod) {
		add(Group{Kind: Together, Key: corev1.LabelTopologyZone, Hard: true, Weight: 100, Claim: claim})
	}
	if id := x.leader(pod, false); id != "" {
		add(Group{Kind: Affinity, Key: corev1.LabelHostname, Hard: true, Weight: 100, Shared: id})
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

func (x *Index) intern(g Group) int32 {
	g.Key = x.terms.Vocabulary.Canonical(g.Key)
	text := g.text()
	if n, ok := x.byText[text]; ok {
		return n
	}
	n := int32(len(x.Groups))
	if free := len(x.vacant); free > 0 {
		n, x.vacant = x.vacant[free-1], x.vacant[:free-1]
		x.Groups[n] = g
	} else {
		x.Groups = append(x.Groups, g)
	}
	x.byText[text] = n
	x.Fresh = append(x.Fresh, n)
	return n
}

// Seal ends the collection of rules. It numbers groups in the order of their texts, so that the order of the input does not matter, and
// finds the label keys that selectors read.
func (x *Index) Seal() {
	texts := make([]string, 0, len(x.Groups))
	for text := range x.byText {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	number, sorted := make([]int32, len(x.Groups)), make([]Group, len(x.Groups))
	for i, text := range texts {
		old := x.byText[text]
		number[old], sorted[i] = int32(i), x.Groups[old]
		x.byText[text] = int32(i)
	}
	x.Groups = sorted
	for _, r := range x.rules {
		for i, g := range r.owns {
			r.owns[i] = number[g]
		}
		slices.Sort(r.owns)
	}
	x.Fresh = nil
	for i := range x.Groups {
		x.readFor(&x.Groups[i])
	}
}

// readFor records which labels the group's selectors read.
func (x *Index) readFor(g *Group) {
	for _, s := range g.selectors {
		reqs, _ := s.Requirements()
		for _, r := range reqs {
			if at, known := slices.BinarySearch(x.readKeys, r.Key()); !known {
				x.readKeys = slices.Insert(x.readKeys, at, r.Key())
			}
		}
	}
}

// Membership returns the groups that count the pod, in ascending order. Callers must not change the result, because it is shared.
func (x *Index) Membership(pod *corev1.Pod) []int32 {
	if len(x.Groups) == 0 {
		return nil
	}
	x.buf = append(x.buf[:0], pod.Namespace...)
	for _, key := range x.readKeys {
		if v, ok := pod.Labels[key]; ok {
			x.buf = append(append(append(append(x.buf, 0), key...), '='), v...)
		}
	}
	own := x.special(pod)
	if m, ok := x.members[string(x.buf)]; ok && !own {
		return m
	}
	var out []int32
	for i := range x.Groups {
		switch g := &x.Groups[i]; g.Kind {
		case Exclusive, Gone:
		case Together:
			if slices.Contains(x.unmade(pod), g.Claim) {
				out = append(out, int32(i))
			}
		default:
			if g.Shared != "" {
				if g.Shared == x.leader(pod, true) {
					out = append(out, int32(i))
				}
				continue
			}
			if g.Disk != "" && g.usesDisk(&pod.Spec) || g.Disk == "" && g.Selects(pod) {
				out = append(out, int32(i))
			}
		}
	}
	if own {
		out = append(out, x.PortMembership(&pod.Spec)...)
		slices.Sort(out)
		return out
	}
	x.members[string(x.buf)] = out
	return out
}

// ReadFresh returns the groups that were added since ForgetFresh. After that, Membership also uses the label keys of these groups'
// selectors, and its cached results are computed again.
func (x *Index) ReadFresh() []*Group {
	out := make([]*Group, len(x.Fresh))
	for i, g := range x.Fresh {
		out[i] = &x.Groups[g]
		x.readFor(out[i])
	}
	clear(x.members)
	return out
}

// ForgetFresh marks the groups that ReadFresh returned as processed.
func (x *Index) ForgetFresh() { x.Fresh = x.Fresh[:0] }

// Drop removes the given groups. No pod has their rules any more. Their numbers are reused later.
func (x *Index) Drop(gone map[int32]bool) {
	for _, g := range slices.Sorted(maps.Keys(gone)) {
		delete(x.byText, x.Groups[g].text())
		x.Groups[g] = Group{Kind: Gone}
		x.vacant = append(x.vacant, g)
	}
	clear(x.members)
	for text, n := range x.remembered {
		if slices.ContainsFunc(x.rules[n].owns, func(g int32) bool { return gone[g] }) {
			delete(x.remembered, text)
			x.rules[n] = ownedRules{}
			x.vacantRules = append(x.vacantRules, n)
		}
	}
}

// InOrder returns the numbers of the groups, sorted by the groups' texts.
func (x *Index) InOrder() []int32 {
	texts := slices.Sorted(maps.Keys(x.byText))
	out := make([]int32, len(texts))
	for i, text := range texts {
		out[i] = x.byText[text]
	}
	return out
}

// Detach makes the index independent of its model. After that, the index has copies of the groups, and adds labels that rules need to the
// given map.
func (x *Index) Detach(asked map[string]bool) { x.asked, x.Groups = asked, slices.Clone(x.Groups) }
