package disruption

import (
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

// surveyInput is all that disruption is decided from: disruption.Input says what each field means. Nothing in it is changed.
type surveyInput struct {
	View      *cluster.View
	Model     *scheduling.Model
	Executing map[string]string
	Buffered  map[string]bool
	Budgets   []Budget
	History   []Disruption
	Unreached []v1.PoolKey
	BackOff   *poolPauses
	Refusals  *nodePauses
}

// picture is a cluster as disruption sees it at one moment: which nodes are candidates, and why the others are not. It is
// read-only and safe for concurrent use.
type picture struct {
	// Candidates may be disrupted by eventual methods, and those without PodBlock by graceful ones; by name. Blocked are all other
	// nodes, with the reason.
	Candidates []*Candidate
	Blocked    map[string]*Block

	// in is what it was made of, the model compiled, and now its time.
	in  surveyInput
	now time.Time
	// pools by key, byName the candidates.
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

// newPicture looks at every node of the cluster. in.View has as many nodes as its snapshot. The error is a *scheduling.SnapshotError for a
// snapshot that can't be compiled, or a *pods.BudgetError.
func newPicture(in surveyInput) (*picture, error) {
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
	f := &picture{in: in, now: snapshot.Time, pdbs: budgets, Blocked: map[string]*Block{}, byName: map[string]*Candidate{}}
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

// ready reports whether the Node's Ready condition is true.
func ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
