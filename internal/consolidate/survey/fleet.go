package survey

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Input is all data that decisions about disruption depend on. disruption.Input explains each field. This package does not change the data.
type Input struct {
	View      *cluster.View
	Model     *model.Model
	Executing map[string]string
	Buffered  map[string]bool
	Budgets   []decision.Budget
	History   []decision.Disruption
	Unreached []v1.PoolKey
	BackOff   *BackOff
	Refusals  *Refusals
}

// Fleet is a cluster as disruption sees it at one moment. It says which nodes are candidates, and why other nodes are not candidates. It is
// read-only and safe for concurrent use.
type Fleet struct {
	// Candidates may be disrupted by methods of ClassEventual, and candidates without PodBlock also by methods of ClassGraceful. Candidates
	// are sorted by name. Blocked has all other nodes, with their blocks.
	Candidates []*decision.Candidate
	Blocked    map[string]*decision.Block

	// In is the input of the survey, with the compiled model. Now is the time of the survey.
	In  Input
	Now time.Time
	// Pools has the pools by key. ByName has the candidates by name.
	Pools  map[v1.PoolKey]*Pool
	ByName map[string]*decision.Candidate
	PDBs   *pods.Budgets
	Lookup *requirements.Lookup
	// Ties are the groups of candidates that must be removed together, in the order of their first nodes. The map ties has the same groups
	// by node name.
	Ties []*Tie
	ties map[string]*Tie
	// plainBlocks has one shared Block for each code that needs no details. No field except Code is set in these blocks.
	plainBlocks map[decision.BlockCode]*decision.Block
}

// Pool is a NodePool with the data that decisions about disruption need.
type Pool struct {
	// NodePool is the pool's NodePool of the snapshot, with a complete Key.
	*planning.NodePool
	// Types are the instance types of the pool by name, with overlays applied.
	Types map[string]*cloudprovider.InstanceType
	// Nodes are all of the pool's nodes, by name.
	Nodes []*cluster.NodeState
}

// Of surveys every node of the cluster. in.View must have as many nodes as its snapshot. The error is a *planning.SnapshotError for a
// snapshot that can't be compiled, or a *pods.BudgetError.
func Of(in Input) (*Fleet, error) {
	snapshot := in.View.Snapshot
	if in.Model == nil {
		compiled, err := model.Compile(snapshot)
		if err != nil {
			return nil, err
		}
		in.Model = compiled
	}
	budgets, err := pods.NewBudgets(snapshot.PodDisruptionBudgets)
	if err != nil {
		return nil, err
	}
	f := &Fleet{In: in, Now: snapshot.Time, PDBs: budgets, Blocked: map[string]*decision.Block{}, ByName: map[string]*decision.Candidate{}}
	f.Lookup = snapshot.Vocabulary.Compile()
	f.plainBlocks = map[decision.BlockCode]*decision.Block{}
	for _, code := range []decision.BlockCode{decision.BlockNotStatic, decision.BlockNotDrifted, decision.BlockNotEmpty, decision.BlockReceiver, decision.BlockNotReached} {
		f.plainBlocks[code] = &decision.Block{Code: code}
	}
	f.Pools = poolsOf(in.View)
	for i := range in.View.Nodes {
		m := &in.View.Nodes[i]
		c, why := f.look(m, &snapshot.Nodes[i])
		if why != nil {
			f.Blocked[m.Name] = why
			continue
		}
		f.Candidates = append(f.Candidates, c)
		f.ByName[c.Name] = c
	}
	slices.SortFunc(f.Candidates, func(a, b *decision.Candidate) int { return strings.Compare(a.Name, b.Name) })
	f.tie()
	return f, nil
}

// poolsOf returns the pools with their nodes, and their types with overlays applied.
func poolsOf(view *cluster.View) map[v1.PoolKey]*Pool {
	s := view.Snapshot
	in := overlay.Input{Overlays: s.NodeOverlays, Lookup: s.Vocabulary.Compile()}
	for i := range s.NodePools {
		p := &s.NodePools[i]
		in.Pools = append(in.Pools, overlay.Pool{Key: p.Identity(), Object: p.Object, Types: s.Catalogs[p.Catalog]})
	}
	overlaid := overlay.Apply(in)
	out := make(map[v1.PoolKey]*Pool, len(s.NodePools))
	named := map[string]map[string]*cloudprovider.InstanceType{}
	for i := range s.NodePools {
		own := s.NodePools[i]
		own.Key = own.Identity()
		p := &Pool{NodePool: &own}
		out[p.Key] = p
		if byName, ok := named[p.Catalog]; ok && len(s.NodeOverlays) == 0 {
			p.Types = byName
			continue
		}
		types, err := overlaid.InstanceTypes(p.Key)
		if err != nil {
			types = s.Catalogs[p.Catalog]
		}
		p.Types = make(map[string]*cloudprovider.InstanceType, len(types))
		for _, t := range types {
			p.Types[t.Name] = t
		}
		named[p.Catalog] = p.Types
	}
	for i := range view.Nodes {
		if p := out[view.Nodes[i].Pool]; p != nil {
			p.Nodes = append(p.Nodes, &view.Nodes[i])
		}
	}
	return out
}

// Ready reports whether the Node's Ready condition is true.
func Ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
