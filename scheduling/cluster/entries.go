package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// nodeKey is the identity of a node: the provider ID of its instance. Without a provider ID, it is the name of the NodeClaim, or the name
// of a Node that belongs to no pool.
type nodeKey struct {
	by identity
	id string
}

type identity uint8

const (
	byProviderID identity = iota
	byClaim
	byNode
)

// entry contains the Nodes and NodeClaims with one identity. This is nearly always one Node, one NodeClaim or one of each.
type entry struct {
	key           nodeKey
	nodes, claims map[string]struct{}
	// shown is the entry in the form that views contain, or nil if views don't contain it. host is the Node whose pods belong to the entry.
	// The last refresh computed both fields.
	shown *shownNode
	host  string
	// leftOut are objects that are not part of views.
	leftOut []LeftOut
}

// facts are what is known about a Node or NodeClaim in addition to the object.
type facts struct {
	nominatedUntil time.Time
	// nominatedFor is how long the node stays nominated after its initialisation, see State.NominateNew.
	nominatedFor time.Duration
	lastPodEvent time.Time
	marked       bool
}

func compareNames(a, b string) int { return cmp.Compare(a, b) }

// keyOfNode returns the identity of the Node. It returns false for a Node that is left out until its provider ID is known.
func keyOfNode(node *corev1.Node) (nodeKey, bool) {
	switch {
	case node.Spec.ProviderID != "":
		return nodeKey{byProviderID, node.Spec.ProviderID}, true
	case !scheduling.PoolOf(node.Labels).IsZero():
		return nodeKey{}, false
	}
	return nodeKey{byNode, node.Name}, true
}

func keyOfClaim(claim *v1.NodeClaim) nodeKey {
	if claim.Status.ProviderID != "" {
		return nodeKey{byProviderID, claim.Status.ProviderID}
	}
	return nodeKey{byClaim, v1.QualifiedName(claim)}
}

// claimKey returns the key of the NodeClaim with the qualified name: see v1.QualifiedName.
func claimKey(name string) types.NamespacedName {
	if generation, rest, older := strings.Cut(name, "/"); older {
		return types.NamespacedName{Namespace: generation, Name: rest}
	}
	return types.NamespacedName{Name: name}
}

func (s *State) touch(key nodeKey) { s.touched[key] = struct{}{} }

// entryAt returns the entry with the key, and creates the entry if it does not exist.
func (s *State) entryAt(key nodeKey) *entry {
	m := s.entries[key]
	if m == nil {
		m = &entry{key: key, nodes: make(map[string]struct{}, 1), claims: make(map[string]struct{}, 1)}
		s.entries[key] = m
	}
	s.touch(key)
	return m
}

func (s *State) applyNode(node *corev1.Node, e *Event) {
	var old *corev1.Node
	var known, news bool
	if e.Deleted {
		old, news = s.nodes.remove(node, &s.gone)
		known = news
	} else {
		old, known, news = s.nodes.put(node, e.Assumed, &s.gone)
	}
	if !news {
		return
	}
	if known {
		if key, ok := keyOfNode(old); ok {
			delete(s.entryAt(key).nodes, old.Name)
		}
		delete(s.keyless, old.Name)
		if e.Deleted || old.UID != node.UID {
			delete(s.nodeFacts, old.Name)
		}
	}
	if !e.Deleted {
		if key, ok := keyOfNode(node); ok {
			s.entryAt(key).nodes[node.Name] = struct{}{}
		} else {
			s.keyless[node.Name] = struct{}{}
		}
	}
	if claim := s.claims.get(types.NamespacedName{Name: node.Name}); claim != nil {
		s.touch(keyOfClaim(claim)) // see nameOf: a claim without a Node gets another name in views while another claim's Node has its name
	}
	s.sortOrphans(node.Name)
}

func (s *State) applyClaim(claim *v1.NodeClaim, e *Event) {
	var old *v1.NodeClaim
	var known, news bool
	if e.Deleted {
		old, news = s.claims.remove(claim, &s.gone)
		known = news
	} else {
		old, known, news = s.claims.put(claim, e.Assumed, &s.gone)
	}
	if !news {
		return
	}
	if known {
		delete(s.entryAt(keyOfClaim(old)).claims, v1.QualifiedName(old))
		if e.Deleted || old.UID != claim.UID {
			delete(s.claimFacts, v1.QualifiedName(old))
		}
	}
	if !e.Deleted {
		s.entryAt(keyOfClaim(claim)).claims[v1.QualifiedName(claim)] = struct{}{}
	}
}

// entryNamed returns the entry that has a Node or NodeClaim with this name, or nil if no entry has one.
func (s *State) entryNamed(name string) *entry {
	if node := s.nodes.get(types.NamespacedName{Name: name}); node != nil {
		if key, ok := keyOfNode(node); ok {
			return s.entries[key]
		}
	}
	if len(name) > len(claimPrefix) && name[:len(claimPrefix)] == claimPrefix {
		name = name[len(claimPrefix):]
	}
	if claim := s.claims.get(claimKey(name)); claim != nil {
		return s.entries[keyOfClaim(claim)]
	}
	return nil
}

// speakers returns the Node and the NodeClaim that represent the entry. Each is nil if the entry has no such object. If the entry has
// several Nodes or several NodeClaims, speakers prefers an object that is not being deleted, then the newest object, then the last object
// by name.
func (m *entry) speakers(s *State) (*corev1.Node, *v1.NodeClaim) {
	var node *corev1.Node
	for name := range m.nodes {
		if n := s.nodes.get(types.NamespacedName{Name: name}); node == nil || compareClaimants(&n.ObjectMeta, &node.ObjectMeta) > 0 {
			node = n
		}
	}
	var claim *v1.NodeClaim
	for name := range m.claims {
		if c := s.claims.get(claimKey(name)); claim == nil || compareClaimants(&c.ObjectMeta, &claim.ObjectMeta) > 0 {
			claim = c
		}
	}
	return node, claim
}

// refresh recomputes the entries whose objects or pods have changed since the last call.
func (s *State) refresh() {
	if len(s.touched) == 0 {
		return
	}
	for key := range s.touched {
		if m := s.entries[key]; m != nil && m.shown != nil {
			s.shown.remove(m.shown.node.Name)
		}
	}
	for key := range s.touched {
		m := s.entries[key]
		if m == nil {
			continue
		}
		next := s.look(m)
		if worthALook(m.shown, next) {
			s.revision++
		}
		m.shown = next
		s.file(m)
		for name := range m.nodes {
			s.sortOrphans(name)
		}
		if len(m.nodes)+len(m.claims) == 0 {
			delete(s.entries, key)
		}
	}
	clear(s.touched)
}

// file adds the entry to the indexes of State, for example to the index of leaving nodes.
func (s *State) file(m *entry) {
	keep := func(set map[nodeKey]struct{}, in bool) {
		if in {
			set[m.key] = struct{}{}
		} else {
			delete(set, m.key)
		}
	}
	if m.shown != nil {
		s.shown.set(m.shown)
	}
	keep(s.leaving, m.shown != nil && m.shown.node.Leaving)
	keep(s.unlaunched, m.shown != nil && withoutCapacity(m.shown.state.Claim))
	keep(s.incomplete, len(m.leftOut) > 0)
}

// passedOver returns, sorted by name, the Nodes and NodeClaims of the entry other than node and claim: they have the same provider ID.
func (m *entry) passedOver(node *corev1.Node, claim *v1.NodeClaim) []LeftOut {
	var out []LeftOut
	if len(m.nodes) > 1 {
		for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
			if name != node.Name {
				out = append(out, LeftOut{objectKey(KindNode, name), LeftOutSameProviderID, objectKey(KindNode, node.Name).String()})
			}
		}
	}
	if len(m.claims) > 1 {
		for _, name := range slices.Sorted(maps.Keys(m.claims)) {
			if name != v1.QualifiedName(claim) {
				out = append(out, LeftOut{ObjectKey{KindNodeClaim, claimKey(name)}, LeftOutSameProviderID, objectOf(nil, claim).String()})
			}
		}
	}
	return out
}

// compareClaimants compares two objects of one entry. The result is positive if the first object represents the node, and negative if the
// second object does.
func compareClaimants(a, b *metav1.ObjectMeta) int {
	stays := func(m *metav1.ObjectMeta) int {
		if m.DeletionTimestamp == nil {
			return 1
		}
		return 0
	}
	return cmp.Or(stays(a)-stays(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareNames(a.Name, b.Name), compareNames(a.Namespace, b.Namespace))
}

// claimPrefix precedes the name of a claim without a Node in views if another claim's Node has the claim's name. No object of the API has a
// slash in its name.
const claimPrefix = "nodeclaim/"

func (s *State) nameOf(claim *v1.NodeClaim, m *entry) string {
	name := v1.QualifiedName(claim)
	node := s.nodes.get(types.NamespacedName{Name: name})
	if _, own := m.nodes[name]; node == nil || own {
		return name
	}
	return claimPrefix + name
}

// sortOrphans adds the Node's name to the map orphaned if pods that are bound to this Node are on no node of the cluster. If not, it
// removes the name from the map.
func (s *State) sortOrphans(node string) {
	if len(s.onNode[node]) > 0 && !s.hosted(node) {
		s.orphaned[node] = struct{}{}
	} else {
		delete(s.orphaned, node)
	}
}

// hosted reports whether pods bound to the Node are on a node of the cluster, as of the last refresh.
func (s *State) hosted(name string) bool {
	node := s.nodes.get(types.NamespacedName{Name: name})
	if node == nil {
		return false
	}
	key, ok := keyOfNode(node)
	return ok && s.entries[key] != nil && s.entries[key].host == name
}

// objectOf returns the key of the Node, or of the NodeClaim if node is nil.
func objectOf(node *corev1.Node, claim *v1.NodeClaim) ObjectKey {
	if node != nil {
		return objectKey(KindNode, node.Name)
	}
	return ObjectKey{KindNodeClaim, keyOf(claim)}
}

func objectKey(kind Kind, name string) ObjectKey {
	return ObjectKey{kind, types.NamespacedName{Name: name}}
}
