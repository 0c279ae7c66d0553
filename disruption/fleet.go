package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Input is all that disruption is decided from. Nothing in it is changed.
type Input struct {
	// View of the cluster, with its time and the pools' catalogs. Required; see ViewOf.
	View *cluster.View
	// Model of View.Snapshot, if there is one: it is compiled otherwise.
	Model *scheduling.Model
	// Executing are the nodes that commands under way are about to remove, with the commands' IDs.
	Executing map[string]string
	// Buffered are the nodes on which the last provisioning pass put placeholders of capacity buffers.
	Buffered map[string]bool
	// Budgets bound disruption in addition to those of the NodePools.
	Budgets []Budget
	// History are the disruptions that were started of late, by commands (DisruptionOf) and by force (ForcedDisruption): as
	// long back as the longest window of a budget with a rate, and Global.CoolDown.
	History []Disruption
	// Unreached are the pools that the last plan did not come to, Plan.Unreached: they come first.
	Unreached []v1.PoolKey
	// BackOff are the pools whose replacements for drift failed of late; nil for none. See BackOff.ForgetGone.
	BackOff *BackOff
	// Refusals are the nodes that an Approver refused recently, or whose commands could not be carried out; nil for none.
	Refusals *Refusals
}

// InputError is an Input that can't be.
type InputError struct {
	// Field is its path in Input.
	Field string
	// Rule that is broken, with what would mend it.
	Rule string
}

func (e *InputError) Error() string { return fmt.Sprintf("disruption: input: %s: %s", e.Field, e.Rule) }

// Fleet is a cluster as disruption sees it at one moment: which nodes are candidates, and why the others are not. It is
// read-only and safe for concurrent use.
type Fleet struct {
	// Candidates may be disrupted by eventual methods, and those without PodBlock by graceful ones; by name.
	Candidates []*Candidate
	// Blocked are all other nodes, with the reason.
	Blocked map[string]*Block

	in     Input
	now    time.Time
	pools  map[v1.PoolKey]*pool
	byName map[string]*Candidate
	pdbs   *pods.Budgets
	lookup *requirements.Lookup
	// plainBlocks are blocks by their code, for those that say no more.
	plainBlocks map[BlockCode]*Block
}

// pool is a NodePool as disruption sees it.
type pool struct {
	// NodePool is the snapshot's, its Key in full.
	*scheduling.NodePool
	// types of it with overlays applied, by name.
	types map[string]*cloudprovider.InstanceType
	// nodes are all of the pool's, by name.
	machines []*cluster.Machine
}

// ViewOf is a view of a snapshot that no live cluster is behind, such as one that was saved or read from manifests: no
// node is nominated or marked, and the last pod event is what the NodeClaim says. A node is a candidate only if it has a
// NodeClaim (scheduling.JoinNode puts both together), is initialised by its label karpenter.sh/initialized and by its claim's
// condition Initialized, and bears the labels of its pool, instance type, zone and capacity type. One whose condition Ready is
// not true counts as disrupted in its pool's budgets.
func ViewOf(s *scheduling.Snapshot) *cluster.View {
	if s == nil {
		s = &scheduling.Snapshot{}
	}
	view := &cluster.View{Snapshot: s, Machines: make([]cluster.Machine, len(s.Nodes))}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		m := cluster.Machine{Name: n.Name, Pool: n.Pool, Node: n.Object, Claim: n.Claim, Pods: n.Pods, Leaving: n.Leaving}
		if n.Claim != nil {
			m.ProviderID, m.LastPodEvent = n.Claim.Status.ProviderID, n.Claim.Status.LastPodEventTime.Time
		}
		if n.Object != nil {
			m.ProviderID = cmp.Or(m.ProviderID, n.Object.Spec.ProviderID)
		}
		m.Phase = phaseOf(&m)
		view.Machines[i] = m
	}
	return view
}

// phaseOf is how far a node of a snapshot has come.
func phaseOf(m *cluster.Machine) cluster.Phase {
	switch {
	case m.Claim == nil:
		return cluster.PhaseInitialized // unmanaged nodes always count as initialised
	case m.Node != nil && m.Node.Labels[v1.NodeInitializedLabelKey] == "true":
		return cluster.PhaseInitialized
	case m.Node != nil && m.Node.Labels[v1.NodeRegisteredLabelKey] == "true":
		return cluster.PhaseRegistered
	case m.ProviderID != "":
		return cluster.PhaseLaunched
	}
	return cluster.PhaseLaunching
}

// Survey looks at every node of the cluster. The error is an *InputError, a *scheduling.SnapshotError for a snapshot that
// can't be compiled, or a *pods.BudgetError: while a PodDisruptionBudget can't be read, nobody knows what it protects.
func Survey(in Input) (*Fleet, error) {
	switch {
	case in.View == nil || in.View.Snapshot == nil:
		return nil, &InputError{"View", "is missing: take it from cluster.State, or make one by ViewOf"}
	case len(in.View.Machines) != len(in.View.Snapshot.Nodes):
		return nil, &InputError{"View.Machines", fmt.Sprintf("has %d entries for %d nodes: they belong together", len(in.View.Machines), len(in.View.Snapshot.Nodes))}
	}
	snapshot := in.View.Snapshot
	if in.Model == nil {
		model, err := scheduling.Compile(snapshot)
		if err != nil {
			return nil, err
		}
		in.Model = model
	}
	budgets, err := pods.NewBudgets(snapshot.PodDisruptionBudgets)
	if err != nil {
		return nil, err
	}
	f := &Fleet{in: in, now: snapshot.Time, pdbs: budgets, Blocked: map[string]*Block{}, byName: map[string]*Candidate{}}
	f.lookup = snapshot.Vocabulary.Compile()
	f.plainBlocks = map[BlockCode]*Block{}
	for _, code := range []BlockCode{BlockNotStatic, BlockNotDrifted, BlockNotEmpty, BlockReceiver, BlockNotReached} {
		f.plainBlocks[code] = &Block{Code: code}
	}
	f.pools = poolsOf(in.View)
	for i := range in.View.Machines {
		m := &in.View.Machines[i]
		c, why := f.look(m, &snapshot.Nodes[i])
		if why != nil {
			f.Blocked[m.Name] = why
			continue
		}
		f.Candidates = append(f.Candidates, c)
		f.byName[c.Name] = c
	}
	slices.SortFunc(f.Candidates, func(a, b *Candidate) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

// poolsOf are the pools with their types as overlays leave them, and their nodes.
func poolsOf(view *cluster.View) map[v1.PoolKey]*pool {
	s := view.Snapshot
	in := overlay.Input{Overlays: s.NodeOverlays, Lookup: s.Vocabulary.Compile()}
	for i := range s.NodePools {
		p := &s.NodePools[i]
		in.Pools = append(in.Pools, overlay.Pool{Key: p.Identity(), Object: p.Object, Types: s.Catalogs[p.Catalog]})
	}
	overlaid := overlay.Apply(in)
	out := make(map[v1.PoolKey]*pool, len(s.NodePools))
	named := map[string]map[string]*cloudprovider.InstanceType{}
	for i := range s.NodePools {
		own := s.NodePools[i]
		own.Key = own.Identity()
		p := &pool{NodePool: &own}
		out[p.Key] = p
		if byName, ok := named[p.Catalog]; ok && len(s.NodeOverlays) == 0 {
			p.types = byName
			continue
		}
		types, err := overlaid.InstanceTypes(p.Key)
		if err != nil {
			types = s.Catalogs[p.Catalog]
		}
		p.types = make(map[string]*cloudprovider.InstanceType, len(types))
		for _, t := range types {
			p.types[t.Name] = t
		}
		named[p.Catalog] = p.types
	}
	for i := range view.Machines {
		if p := out[view.Machines[i].Pool]; p != nil {
			p.machines = append(p.machines, &view.Machines[i])
		}
	}
	return out
}

// Time is "now" for every decision that is made of the fleet.
func (f *Fleet) Time() time.Time { return f.now }

// Candidate of a name; nil when the node is none.
func (f *Fleet) Candidate(name string) *Candidate { return f.byName[name] }

// ready reports whether the Node's Ready condition is true.
func ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
