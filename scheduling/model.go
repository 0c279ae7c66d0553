package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
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
	standings *existing.Standings
	notes     []Note
	tables    map[string]*nodepool.Table
	pools     []*nodepool.Pool // heaviest first
	poolIndex map[v1.PoolKey]int

	classes []*podclass.Class
	shapes  []*podclass.Shape
	stages  []podclass.Stage
	// ShapeIndex finds shapes by their text.
	shapeIndex map[string]int32
	// podClass is indexed like pods.
	podClass []int32

	daemonSets []daemonset.Set
	nodes      []existing.Node
	nodeIndex  map[string]int
	groups     []existing.Group
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
	// VolumesBound counts the pods of each shared volume that are bound to nodes of the snapshot.
	volumesBound map[state.VolumeOn]int32
	// hostDomains is how many domains of each topology key nodes of the snapshot are in; reach found the others.
	hostDomains []int
	// reach is indexed [shape][topology key]: see reachable.
	reach   [][][]int32
	volumes *volumes.Index
	// devices are what claims ask for and nodes have; nil where no pod claims any. matcher evaluates selectors of devices; nil without.
	devices *deviceIndex
	matcher DeviceMatcher
	// pods are the waiting pods, then the placeholders.
	pods []*corev1.Pod
	// free is indexed [node*resources+resource].
	free []int64
	// fits remembers which nodes take which pods, resources aside.
	fits *existing.Acceptance
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
		askedKeys: map[string]bool{},
	}
	r, err := checkObjects(s, previous, o)
	if err != nil {
		return nil, err
	}
	m.volumes = volumes.New(volumesOf(s, r.Claimants), m.vocab)
	m.matcher = o.matcher
	m.devices = newDeviceIndex(s, r, m.resources, o.matcher)
	m.collectResources(s, r)
	if err := m.compileCatalogs(s, previous, o); err != nil {
		return nil, err
	}
	if err := m.compileCosts(s); err != nil {
		return nil, err
	}
	w := likeness.NewWriter(m.resources, m.volumes)
	if m.devices != nil {
		w.Pins = m.devices.Pins
	}
	m.pods = s.Pods
	if len(s.Placeholders) > 0 {
		m.pods = slices.Concat(s.Pods, s.Placeholders)
	}
	m.compileDaemons(s, r)
	m.collectTopology(s, r)
	if err := m.compilePools(s, previous); err != nil {
		return nil, err
	}
	b := podclass.NewBook(m.reader(), m.topologyIndex)
	bound := m.classPods(s, r, w, b)
	m.findResidents()
	if err := m.compileNodes(s, r, bound); err != nil {
		return nil, err
	}
	m.standings = m.seller().Standings(m.nodes)
	m.fits = existing.NewAcceptance(m.groups, m.shapes)
	found := podclass.NewStages(0)
	for _, c := range m.classes {
		if c.Invalid == nil {
			found.Find(m.pools, c, m.shapes[c.Shape])
		}
	}
	m.stages = found.List
	m.topologyIndex = nil
	m.volumesBound = m.boundVolumes(r)
	if len(m.topology) > 0 {
		m.base = m.layout().Count(m.reachable)
		ofHosts := m.base.DomainCounts()
		m.reach = m.layout().Reach(m.base, nil)
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
		m.keepMemo(b, bound)
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
	m.devices.addNames(names)
	m.resources.InternAll(names)
	m.devices.locate()
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

// collectTopology gathers the rules of all pods, waiting and bound.
func (m *Model) collectTopology(s *Snapshot, r *likeness.Roster) {
	x := topology.NewIndex(m.terms, m.volumes, m.askedKeys, topologyOf(s))
	if m.devices != nil && m.devices.claims != nil && len(m.devices.claims.groups) > 0 {
		x.Follows = m.devices.follows
	}
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

// reader reads what pods ask of the model's pools and volumes.
func (m *Model) reader() *podclass.Reader {
	return &podclass.Reader{Terms: m.terms, Volumes: m.volumes, Resources: m.resources, Pools: m.pools, Asked: m.askedKeys, Devices: m.devices.reads()}
}

// layout is what of the model decides in which domains pods are, or could be.
func (m *Model) layout() *layout.Cluster {
	return &layout.Cluster{
		Rules: m.topology, Keys: m.topologyKeys, Classes: m.classes, Shapes: m.shapes, Pools: m.pools, Nodes: m.nodes, Groups: m.groups,
		DaemonSets: m.daemonSets,
	}
}

// reachable are the domains of a topology key where pods of the shape could get a new node, ascending.
func (m *Model) reachable(shape int32, key int) []int32 {
	if m.reach == nil || m.reach[shape] == nil {
		return nil
	}
	return m.reach[shape][key]
}

// classPods classes all pods: waiting ones, placeholders and those bound to nodes, whose classes it returns, indexed
// [node][pod]. Classes are numbered in the order of their text, so that the order of the input plays no part.
func (m *Model) classPods(s *Snapshot, r *likeness.Roster, w *likeness.Writer, b *podclass.Book) [][]int32 {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		p.Class = b.ClassOf(p.First, w, p.Placeholder, p.Rules)
	}
	for i := range m.daemonSets {
		sample := m.daemonSets[i].Sample
		m.daemonSets[i].Class = b.ClassOf(sample, w, false, m.topologyIndex.Remember(sample))
	}
	number := b.SortClasses()
	b.ShapeClasses()
	m.classes, m.shapes, m.shapeIndex = b.Classes, b.Shapes, b.ShapeIndex
	for i := range r.Patterns {
		r.Patterns[i].Class = number[r.Patterns[i].Class]
	}
	classes := make([]int32, len(r.Pods))
	for i, like := range r.Like {
		classes[i] = r.Patterns[like].Class
	}
	m.podClass = slices.Clip(classes[:len(m.pods)])
	for i, c := range m.podClass {
		m.classes[c].Pending = append(m.classes[c].Pending, int32(i))
	}
	for _, c := range m.classes {
		c.SortPending(m.pods)
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
