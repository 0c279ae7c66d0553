package model

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/runtimes"
	"github.com/drawknife/drawknife/internal/engine/spotshares"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Model is a Snapshot in the form that planning uses: labels, resources and pods are numbers. It is immutable and safe for concurrent
// use; any number of Solve and Trial calls may run on one Model.
type Model struct {
	Snapshot *planning.Snapshot
	Vocab    *requirements.Lookup
	// Terms reads the node constraints of pods.
	Terms     match.Terms
	Resources *resources.Table

	Catalogs map[string]*market.Catalog
	// PoolCatalog is indexed like Snapshot.NodePools. It has the name of each pool's catalog, or "" if the pool has none.
	PoolCatalog []string
	// overlays contains the instance types after NodeOverlays changed them. It is nil if there are no overlays.
	overlays *overlay.Result
	// Costs is the snapshot's cost model, or nil if it has none. Standings contains how nodes use commitments. It is nil if there are no
	// commitments.
	Costs     *market.Costs
	Standings *existing.Standings
	Notes     []planning.Note
	Tables    map[string]*nodepool.Table
	Pools     []*nodepool.Pool // heaviest first
	PoolIndex map[v1.PoolKey]int

	Classes []*podclass.Class
	Shapes  []*podclass.Shape
	Stages  []podclass.Stage
	// ShapeIndex maps the text of a shape to its index.
	ShapeIndex map[string]int32
	// PodClass has the class of each pod, indexed like Pods.
	PodClass []int32

	DaemonSets []daemonset.Set
	Nodes      []existing.Node
	NodeIndex  map[string]int
	Groups     []existing.Group
	// AskedKeys are the label keys that some pod or DaemonSet asks about.
	AskedKeys map[string]bool
	// Topology contains the distinct topology rules that pods state. TopologyKeys are the topology keys of these rules, without the
	// hostname. Base contains the counts of the snapshot's bound pods. It is nil if there are no rules.
	Topology     []topology.Group
	TopologyKeys []string
	// PinnedKeys are the labels whose values rules can see: topology keys and labels in node filters.
	PinnedKeys    []string
	TopologyIndex *topology.Index
	Base          *topology.State
	// VolumesBound has, for each shared volume and node, the number of bound pods that use it.
	VolumesBound map[state.VolumeOn]int32
	// HostDomains is the number of domains of each topology key in which nodes of the snapshot are. Domains with higher numbers were found
	// by Reach.
	HostDomains []int
	// Reach is indexed by shape and topology key: see Reachable.
	Reach   [][][]int32
	Volumes *volumes.Index
	// Devices contains the devices that pods claim and the devices of nodes. It is nil if no pod claims devices. Matcher evaluates
	// selectors of devices. It may be nil.
	Devices *claimed.Index
	Matcher devices.Matcher
	// Pods are the pending pods, followed by the placeholders.
	Pods []*corev1.Pod
	// Free is indexed by node*resources+resource.
	Free []int64
	// Fits caches which nodes accept which pods, without considering resources.
	Fits *existing.Acceptance
	// Gangs has the snapshot's gangs. It is nil if the snapshot has no gangs.
	Gangs *GangIndex
	// RunTimes has the reservations that end before pods with a known run time would end. It is nil if no pod has a known run time, or if
	// no reservation ends that early.
	RunTimes *runtimes.Index
	// Spot says how the limits of workloads on spot nodes restrict their pods. It is nil if there are no limits.
	Spot *spotshares.Index
	// Kept has the data that package updating needs for the next update. It is nil unless an update made this model.
	Kept *Keeper
}

// CollectResources numbers the resources that pods and DaemonSets name.
func (m *Model) CollectResources(s *planning.Snapshot, r *likeness.Roster) {
	names := map[corev1.ResourceName]struct{}{}
	for i := range r.Patterns {
		likeness.ResourceNames(r.Patterns[i].First, names)
	}
	if r.Claims > 0 {
		for i, pod := range r.Pods {
			if r.Marks[i]&likeness.HasClaims != 0 {
				m.AttachNames(pod, names)
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
	m.Devices.AddNames(names)
	m.Resources.InternAll(names)
	m.Devices.Locate()
}

func (m *Model) compileCatalogs(s *planning.Snapshot, previous *Model, o *Options) error {
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
		if previous != nil && slices.Equal(previous.Snapshot.Vocabulary.WellKnown, s.Vocabulary.WellKnown) {
			if old, ok := previous.Catalogs[name]; ok && SameList(old.List, lists[name]) {
				m.Catalogs[name] = old
				continue
			}
		}
		if c := o.compiled(name, lists[name]); c != nil {
			m.Catalogs[name] = c
			continue
		}
		if err := checkTypes(name, lists[name]); err != nil {
			return err
		}
		m.Catalogs[name] = market.NewCatalog(name, lists[name])
	}
	return nil
}

// typeLists returns the lists of instance types for pools, by name. It sets m.PoolCatalog to the name for each pool. Without overlays these
// lists are the snapshot's catalogs. With overlays, each pool has its own list.
func (m *Model) typeLists(s *planning.Snapshot, previous *Model) (map[string][]*cloudprovider.InstanceType, error) {
	m.PoolCatalog = make([]string, len(s.NodePools))
	for i := range s.NodePools {
		np := &s.NodePools[i]
		if np.Catalog == "" {
			continue
		}
		if _, ok := s.Catalogs[np.Catalog]; !ok {
			return nil, &planning.SnapshotError{Path: fmt.Sprintf("nodePools[%d].catalog", i), Rule: fmt.Sprintf("names %q, which is not in catalogs", np.Catalog), Cure: "add the catalog or leave the field empty"}
		}
		m.PoolCatalog[i] = np.Catalog
	}
	if len(s.NodeOverlays) == 0 {
		return s.Catalogs, nil
	}
	in := overlay.Input{Overlays: s.NodeOverlays, Lookup: m.Vocab}
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
		if m.PoolCatalog[i] != "" {
			m.PoolCatalog[i] = overlaidName(number[s.NodePools[i].Identity()])
		}
	}
	for _, v := range m.overlays.Verdicts {
		if !v.Applied() {
			m.Notes = append(m.Notes, planning.Note{Code: planning.NoteNodeOverlayNotApplied, Object: "NodeOverlay " + v.Overlay.Name, Message: v.String()})
		}
	}
	return lists, nil
}

func overlaidName(list int) string { return fmt.Sprintf("overlaid-%d", list) }

// SameList reports whether a and b are the same slice in memory.
func SameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// CollectTopology collects the topology rules of all pods, pending and bound.
func (m *Model) CollectTopology(s *planning.Snapshot, r *likeness.Roster) {
	x := topology.NewIndex(m.Terms, m.Volumes, m.AskedKeys, topologyOf(s))
	if m.Devices != nil && m.Devices.Claims != nil && len(m.Devices.Claims.Groups) > 0 {
		x.Follows = m.Devices.Follows
	}
	for i := range m.DaemonSets {
		_, _, _ = x.Collect(m.DaemonSets[i].Sample)
	}
	for i := range r.Patterns {
		x.KnowNamespace(r.Patterns[i].First.Namespace)
	}
	for i := range r.Patterns {
		// If the rules of a pod can't be read, the pod is refused later, when it is classified.
		p := &r.Patterns[i]
		p.Rules, _, _ = x.Collect(p.Ruled())
	}
	x.Seal()
	m.TopologyIndex = x
	m.SetTopology(x.Groups)
}

// topologyOf returns the snapshot's objects that topology rules depend on.
func topologyOf(s *planning.Snapshot) *topology.Cluster {
	return &topology.Cluster{
		Namespaces: s.Namespaces, DefaultSpread: s.DefaultTopologySpread, Services: s.Services, ReplicaSets: s.ReplicaSets,
		StatefulSets: s.StatefulSets, ReplicationControllers: s.ReplicationControllers,
	}
}

// SetTopology sets the model's topology groups and adds their keys to the labels that pods ask about.
func (m *Model) SetTopology(groups []topology.Group) {
	m.Topology = groups
	m.TopologyKeys, m.PinnedKeys = topology.PlaceKeys(groups)
	for _, key := range m.TopologyKeys {
		m.AskedKeys[key] = true
	}
}

// Reader reads the demands of pods for the model's pools and volumes.
func (m *Model) Reader() *podclass.Reader {
	return &podclass.Reader{Terms: m.Terms, Volumes: m.Volumes, Resources: m.Resources, Pools: m.Pools, Asked: m.AskedKeys, Devices: m.Devices.Reads()}
}

// Layout contains the parts of the model that determine in which domains pods are or could be.
func (m *Model) Layout() *layout.Cluster {
	return &layout.Cluster{
		Rules: m.Topology, Keys: m.TopologyKeys, Classes: m.Classes, Shapes: m.Shapes, Pools: m.Pools, Nodes: m.Nodes, Groups: m.Groups,
		DaemonSets: m.DaemonSets,
	}
}

// Reachable returns, in ascending order, the domains of a topology key where pods of the shape could get a new node.
func (m *Model) Reachable(shape int32, key int) []int32 {
	if m.Reach == nil || m.Reach[shape] == nil {
		return nil
	}
	return m.Reach[shape][key]
}

// classPods classifies all pods: pending pods, placeholders and pods bound to nodes. It returns the classes of the bound pods, indexed by
// node and pod. Classes are numbered in the order of their text, so that the order of the input does not matter.
func (m *Model) classPods(s *planning.Snapshot, r *likeness.Roster, w *likeness.Writer, b *podclass.Book) [][]int32 {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		p.Class = b.ClassOf(p, w)
	}
	for i := range m.DaemonSets {
		sample := m.DaemonSets[i].Sample
		m.DaemonSets[i].Class = b.ClassOf(&likeness.Pattern{First: sample, Rules: m.TopologyIndex.Remember(sample)}, w)
	}
	number := b.SortClasses()
	b.ShapeClasses()
	m.Classes, m.Shapes, m.ShapeIndex = b.Classes, b.Shapes, b.ShapeIndex
	for i := range r.Patterns {
		r.Patterns[i].Class = number[r.Patterns[i].Class]
	}
	classes := make([]int32, len(r.Pods))
	for i, like := range r.Like {
		classes[i] = r.Patterns[like].Class
	}
	m.PodClass = slices.Clip(classes[:len(m.Pods)])
	for i, c := range m.PodClass {
		m.Classes[c].Pending = append(m.Classes[c].Pending, int32(i))
	}
	for _, c := range m.Classes {
		c.SortPending(m.Pods)
	}
	for i := range m.DaemonSets {
		m.DaemonSets[i].Class = number[m.DaemonSets[i].Class]
	}
	bound := make([][]int32, len(s.Nodes))
	for i, p := range r.OfNodes {
		bound[i] = classes[p.From:p.To:p.To]
	}
	return bound
}
