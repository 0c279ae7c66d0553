package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Model is a Snapshot made ready for planning: labels, resources and pods turned into numbers. It is immutable and
// safe for concurrent use; any number of Solve and Trial calls may run on one Model.
type Model struct {
	snapshot *Snapshot
	vocab    *requirements.Lookup
	// terms reads what pods ask of nodes.
	terms     match.Terms
	resources *resources.Table

	catalogs map[string]*market.Catalog
	// poolCatalog is indexed like Snapshot.NodePools: the name of each pool's catalog, empty for none.
	poolCatalog []string
	// overlays is what node overlays made of the instance types; nil without any.
	overlays *overlay.Result
	// costs is the snapshot's cost model, nil without one; standings are its nodes that use commitments, nil without those.
	costs     *market.Costs
	standings *standings
	notes     []Note
	tables    map[string]*nodepool.Table
	pools     []*nodepool.Pool // heaviest first
	poolIndex map[v1.PoolKey]int

	classes    []*class
	shapes     []*shape
	stages     []stage
	stageOf    map[string]int32
	classIndex map[string]int32
	shapeIndex map[string]int32
	// kinds are the classes as Update knows them, while the model is compiled.
	kinds []podKind
	// podClass is indexed like pods.
	podClass []int32

	daemonSets []daemonset.Set
	nodes      []node
	nodeIndex  map[string]int
	groups     []nodeGroup
	// askedKeys are the label keys that some pod or DaemonSet asks about.
	askedKeys map[string]bool
	// topology are the distinct rules that pods state; topologyKeys the labels whose values are their domains, the
	// hostname aside; base the counts of the snapshot's bound pods, nil without rules.
	topology     []topology.Group
	topologyKeys []string
	// pinnedKeys are the labels whose values rules can notice: topology keys and those in node filters.
	pinnedKeys    []string
	topologyIndex *topology.Index
	base          *topology.State
	// volumesBound counts the pods of each shared volume that are bound to machines of the snapshot.
	volumesBound map[volumeOn]int32
	// hostDomains is how many domains of each topology key machines of the snapshot are in; reach found the others.
	hostDomains []int
	// reach is indexed [shape][topology key]: see reachable.
	reach   [][][]int32
	volumes *volumes.Index
	// pods are the waiting pods, then the placeholders.
	pods []*corev1.Pod
	// free is indexed [node*resources+resource].
	free []int64
	// compat remembers, [shape*groups+group], how machines of the group take the shape: see fitOf.
	compat []atomic.Uint32
	// memo is what the next Update goes by; nil unless this model came from one.
	memo *memoOwner
}

// Compile makes a Model of the snapshot. It refuses a snapshot that contradicts itself with a *SnapshotError; a pod
// that can't be planned is no error, the plan explains it. The snapshot must not be changed afterwards.
func Compile(s *Snapshot, options ...CompileOption) (*Model, error) {
	var o compileOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	return compile(s, nil, &o)
}

// compile makes the model, with what can be taken over of the previous one, which may be nil.
func compile(s *Snapshot, previous *Model, o *compileOptions) (*Model, error) {
	if s == nil {
		return nil, &SnapshotError{Path: "snapshot", Rule: "is nil", Cure: "give one; an empty Snapshot is a cluster without anything"}
	}
	vocabulary := s.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	unrestricted := vocabulary
	unrestricted.RestrictedDomains, unrestricted.RestrictedKeys = nil, nil
	vocab := vocabulary.Compile()
	m := &Model{
		snapshot: s, vocab: vocab, terms: match.Terms{Vocabulary: vocab, Pods: unrestricted.Compile()}, resources: resources.NewTable(),
		catalogs: map[string]*market.Catalog{}, tables: map[string]*nodepool.Table{},
		stageOf: map[string]int32{}, classIndex: map[string]int32{}, shapeIndex: map[string]int32{}, askedKeys: map[string]bool{},
	}
	r, err := checkObjects(s, previous, o)
	if err != nil {
		return nil, err
	}
	m.volumes = volumes.New(volumesOf(s, r.Claimants), m.vocab)
	m.collectResources(s, r)
	if err := m.compileCatalogs(s, previous, o); err != nil {
		return nil, err
	}
	if err := m.compileCosts(s); err != nil {
		return nil, err
	}
	w := likeness.NewWriter(m.resources, m.volumes)
	m.pods = s.Pods
	if len(s.Placeholders) > 0 {
		m.pods = slices.Concat(s.Pods, s.Placeholders)
	}
	m.compileDaemons(s, r)
	m.collectTopology(s, r)
	if err := m.compilePools(s, previous); err != nil {
		return nil, err
	}
	bound := m.classPods(s, r, w)
	m.findResidents()
	if err := m.compileNodes(s, r, bound); err != nil {
		return nil, err
	}
	m.compileStandings()
	m.compat = make([]atomic.Uint32, len(m.shapes)*len(m.groups))
	for _, c := range m.classes {
		if c.invalid == nil {
			c.stages = m.usableStages(m.shapes[c.shape], c.requests)
			m.costStages(c)
		}
	}
	index, classIndex, kinds := m.topologyIndex, m.classIndex, m.kinds
	m.topologyIndex, m.classIndex, m.kinds = nil, nil, nil
	m.volumesBound = m.boundVolumes(r)
	if len(m.topology) > 0 {
		m.base = m.newBase()
		ofHosts := m.base.DomainCounts()
		m.findReachable(nil)
		m.hostDomains = ofHosts
		m.base.Owned = false
	}
	for _, p := range m.pools {
		p.FindRobust(m.resources.Len())
	}
	for _, c := range m.catalogs {
		c.Freeze()
	}
	if previous != nil {
		m.keepMemo(index, classIndex, kinds, bound)
	}
	return m, nil
}

func (m *Model) collectResources(s *Snapshot, r *likeness.Roster) {
	names := map[corev1.ResourceName]struct{}{}
	for i := range r.Patterns {
		likeness.ResourceNames(r.Patterns[i].First, names)
	}
	if r.Claims > 0 {
		for i, pod := range r.Pods {
			if r.Marks[i]&likeness.HasClaims != 0 {
				m.attachNames(pod, names)
			}
		}
	}
	for _, set := range s.DaemonSets {
		likeness.ResourceNames(&corev1.Pod{Spec: set.Spec.Template.Spec}, names)
		for i := range set.Spec.Template.Spec.Containers {
			for name := range set.Spec.Template.Spec.Containers[i].Resources.Limits {
				names[name] = struct{}{}
			}
		}
	}
	m.resources.InternAll(names)
}

func (m *Model) compileCatalogs(s *Snapshot, previous *Model, o *compileOptions) error {
	lists, err := m.typeLists(s, previous)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(lists))
	for name := range lists {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if previous != nil && slices.Equal(previous.snapshot.Vocabulary.WellKnown, s.Vocabulary.WellKnown) {
			if old, ok := previous.catalogs[name]; ok && sameList(old.List, lists[name]) {
				m.catalogs[name] = old
				continue
			}
		}
		if c := o.compiled(name, lists[name]); c != nil {
			m.catalogs[name] = c
			continue
		}
		if err := checkTypes(name, lists[name]); err != nil {
			return err
		}
		m.catalogs[name] = market.NewCatalog(name, lists[name])
	}
	return nil
}

// typeLists are the lists of instance types that pools see, by name; m.poolCatalog receives each pool's. Without
// overlays these are the snapshot's catalogs; with them, what the overlays make of each for each pool.
func (m *Model) typeLists(s *Snapshot, previous *Model) (map[string][]*cloudprovider.InstanceType, error) {
	m.poolCatalog = make([]string, len(s.NodePools))
	for i := range s.NodePools {
		np := &s.NodePools[i]
		if np.Catalog == "" {
			continue
		}
		if _, ok := s.Catalogs[np.Catalog]; !ok {
			return nil, &SnapshotError{Path: fmt.Sprintf("nodePools[%d].catalog", i), Rule: fmt.Sprintf("names %q, which is not in catalogs", np.Catalog), Cure: "add the catalog or leave the field empty"}
		}
		m.poolCatalog[i] = np.Catalog
	}
	if len(s.NodeOverlays) == 0 {
		return s.Catalogs, nil
	}
	in := overlay.Input{Overlays: s.NodeOverlays, Lookup: m.vocab}
	if previous != nil {
		in.Previous = previous.overlays
	}
	for i := range s.NodePools {
		if np := &s.NodePools[i]; np.Object != nil && np.Catalog != "" {
			in.Pools = append(in.Pools, overlay.Pool{Key: np.Identity(), Object: np.Object, Types: s.Catalogs[np.Catalog]})
		}
	}
	m.overlays = overlay.Apply(in)
	lists := make(map[string][]*cloudprovider.InstanceType, len(m.overlays.Lists))
	number := make(map[v1.PoolKey]int, len(m.overlays.Pools))
	for _, p := range m.overlays.Pools {
		number[p.Key] = p.List
		lists[overlaidName(p.List)] = p.Types
	}
	for i := range s.NodePools {
		if m.poolCatalog[i] != "" {
			m.poolCatalog[i] = overlaidName(number[s.NodePools[i].Identity()])
		}
	}
	for _, v := range m.overlays.Verdicts {
		if !v.Applied() {
			m.notes = append(m.notes, Note{Code: NoteNodeOverlayNotApplied, Object: "NodeOverlay " + v.Overlay.Name, Message: v.String()})
		}
	}
	return lists, nil
}

func overlaidName(list int) string { return fmt.Sprintf("overlaid-%d", list) }

// sameList reports whether both are the very same slice.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (m *Model) ask(n match.Needs) {
	for _, r := range n {
		m.askedKeys[r.Key()] = true
	}
}

// collectTopology gathers the rules of all pods, waiting and bound.
func (m *Model) collectTopology(s *Snapshot, r *likeness.Roster) {
	x := topology.NewIndex(m.terms, m.volumes, m.askedKeys, topologyOf(s))
	for i := range m.daemonSets {
		_, _, _ = x.Collect(m.daemonSets[i].Sample)
	}
	for i := range r.Patterns {
		x.KnowNamespace(r.Patterns[i].First.Namespace)
	}
	for i := range r.Patterns {
		// A pod whose rules can't be read is refused when it is classed.
		p := &r.Patterns[i]
		p.Rules, _, _ = x.Collect(p.First)
	}
	x.Seal()
	m.topologyIndex = x
	m.setTopology(x.Groups)
}

// topologyOf are the snapshot's objects that topology rules depend on.
func topologyOf(s *Snapshot) *topology.Cluster {
	return &topology.Cluster{
		Namespaces: s.Namespaces, DefaultSpread: s.DefaultTopologySpread, Services: s.Services, ReplicaSets: s.ReplicaSets,
		StatefulSets: s.StatefulSets, ReplicationControllers: s.ReplicationControllers,
	}
}

// setTopology gives the model its groups and asks about their keys.
func (m *Model) setTopology(groups []topology.Group) {
	m.topology = groups
	m.topologyKeys, m.pinnedKeys = topology.PlaceKeys(groups)
	for _, key := range m.topologyKeys {
		m.askedKeys[key] = true
	}
}

// classPods classes all pods: waiting ones, placeholders and those bound to machines, whose classes it returns, indexed
// [node][pod]. Classes are numbered in the order of their text, so that the order of the input plays no part.
func (m *Model) classPods(s *Snapshot, r *likeness.Roster, w *likeness.Writer) [][]int32 {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		p.Class = m.classOf(p.First, w, p.Placeholder, p.Rules)
	}
	for i := range m.daemonSets {
		sample := m.daemonSets[i].Sample
		m.daemonSets[i].Class = m.classOf(sample, w, false, m.topologyIndex.Remember(sample))
	}
	number := m.sortClasses()
	m.shapeClasses()
	for i := range r.Patterns {
		r.Patterns[i].Class = number[r.Patterns[i].Class]
	}
	classes := make([]int32, len(r.Pods))
	for i, like := range r.Like {
		classes[i] = r.Patterns[like].Class
	}
	m.podClass = slices.Clip(classes[:len(m.pods)])
	for i, c := range m.podClass {
		m.classes[c].pending = append(m.classes[c].pending, int32(i))
	}
	for _, c := range m.classes {
		m.sortPending(c)
	}
	for i := range m.daemonSets {
		m.daemonSets[i].Class = number[m.daemonSets[i].Class]
	}
	bound := make([][]int32, len(s.Nodes))
	for i, p := range r.OfNodes {
		bound[i] = classes[p.From:p.To:p.To]
	}
	return bound
}

// sortPending puts the class's waiting pods in an order of their own: which of them get what is scarce must not depend on
// how they were listed.
func (m *Model) sortPending(c *class) {
	earlier := func(a, b int32) int { return likeness.Compare(m.pods[a], m.pods[b]) }
	if !slices.IsSortedFunc(c.pending, earlier) {
		slices.SortFunc(c.pending, earlier)
	}
}

// sortClasses puts the classes in the order of their text and returns the new number of each.
func (m *Model) sortClasses() []int32 {
	texts := make([]string, 0, len(m.classIndex))
	for text := range m.classIndex {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	number := make([]int32, len(m.classes))
	sorted, kinds := make([]*class, len(m.classes)), make([]podKind, len(m.classes))
	for i, text := range texts {
		old := m.classIndex[text]
		number[old], sorted[i], kinds[i] = int32(i), m.classes[old], m.kinds[old]
	}
	m.classes, m.kinds = sorted, kinds
	for i, text := range texts {
		m.classIndex[text] = int32(i)
	}
	return number
}

// classOf finds the pod's class or makes it. Where its rules stand is known from topology.Index.Remember.
func (m *Model) classOf(pod *corev1.Pod, w *likeness.Writer, placeholder bool, rules int32) int32 {
	text, stake, ruleErr := m.classText(pod, w, placeholder, rules)
	if n, ok := m.classIndex[string(text)]; ok {
		if c := m.classes[n]; likeness.Compare(pod, c.sample) < 0 {
			c.sample = pod
		}
		return n
	}
	k := newKind(pod, w, stake, placeholder, ruleErr)
	c := k.newClass()
	if !stake.Empty() {
		c.topology = &topology.Groups{Owns: stake.Owns, In: stake.In}
	}
	at := int32(len(m.classes))
	m.classes, m.kinds = append(m.classes, c), append(m.kinds, k)
	m.classIndex[k.text] = at
	return at
}

// classText is what makes pods one class, valid until the next call, and what it is written from.
func (m *Model) classText(pod *corev1.Pod, w *likeness.Writer, placeholder bool, rules int32) (text []byte, stake topology.Groups, ruleErr error) {
	text = w.Write(pod)
	w.GroupsAt = len(text)
	stake, ruleErr = m.stakeOf(pod, rules)
	if !stake.Empty() {
		text = w.WriteGroups(&stake)
	}
	w.GroupsEnd = len(text)
	if placeholder {
		text = append(text, "placeholder"...)
		w.Buf = text
	}
	if ruleErr != nil {
		text = append(text, ruleErr.Error()...)
		w.Buf = text
	}
	return text, stake, ruleErr
}

// shapeClasses finds the shapes of all classes and those of their pods that can't be planned.
func (m *Model) shapeClasses() {
	for i, c := range m.classes {
		text := m.kinds[i].shapeText()
		n, ok := m.shapeIndex[text]
		if !ok {
			n = int32(len(m.shapes))
			m.shapes = append(m.shapes, m.newShape(c.sample, c.requests))
			m.shapeIndex[text] = n
		}
		m.shapeClass(c, n)
	}
}

// shapeClass gives the class its shape, and finds out whether its pods can be planned.
func (m *Model) shapeClass(c *class, shape int32) {
	c.shape = shape
	ruleErr := c.invalid
	if c.invalid = resources.CheckPod(c.sample); c.invalid == nil {
		c.invalid = m.shapes[shape].invalid
	}
	if c.invalid == nil {
		c.invalid = ruleErr
	}
	if c.invalid == nil && likeness.ClaimsDevices(&c.sample.Spec) {
		c.invalid = errDeviceClaims
	}
	c.readVolumes(m)
}

// errDeviceClaims is why pods that claim devices are not planned.
var errDeviceClaims = errors.New("it claims devices through dynamic resource allocation, which is not planned: ask for an extended resource instead, or place it by hand")

// stakeOf is the pod's stake in topology rules. Where its own stand is known from topology.Index.Remember.
func (m *Model) stakeOf(pod *corev1.Pod, rules int32) (topology.Groups, error) {
	if len(m.topologyIndex.Groups) == 0 && rules == topology.NoRules {
		return topology.Groups{}, nil
	}
	owns, err := m.topologyIndex.RulesAt(rules, pod)
	return topology.Groups{Owns: owns, In: m.topologyIndex.Membership(pod)}, err
}
