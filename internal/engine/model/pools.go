package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/spotshares"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// compilePools compiles the snapshot's pools and sorts them by weight (higher first), then by generation (later first), then by name (later
// first). Pools of equal weight compete by price. Their order matters only if prices are equal.
func (m *Model) compilePools(s *planning.Snapshot, previous *Model) error {
	m.PoolIndex = make(map[v1.PoolKey]int, len(s.NodePools))
	for i := range s.NodePools {
		np := &s.NodePools[i]
		m.Pools = append(m.Pools, &nodepool.Pool{Key: np.Identity(), Object: np.Object, NotReady: np.NotReady, CatalogName: m.PoolCatalog[i]})
		if np.Object.Spec.Weight != nil {
			m.Pools[i].Weight = *np.Object.Spec.Weight
		}
		if err := m.compilePool(m.Pools[i], m.PoolCatalog[i], previous); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.Pools, func(a, b *nodepool.Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(age(a.Key), age(b.Key)), cmp.Compare(b.Key.Name, a.Key.Name))
	})
	for i, p := range m.Pools {
		if _, twice := m.PoolIndex[p.Key]; twice {
			return &planning.SnapshotError{Path: "nodePools", Rule: fmt.Sprintf("pool %s stands twice", p.Key), Cure: "keep one of them"}
		}
		m.PoolIndex[p.Key] = i
	}
	return nil
}

// age returns the position of the key's generation in the order of pools: later generations come first.
func age(key v1.PoolKey) int {
	if key.Generation == v1.GenerationV1Alpha5 {
		return 1
	}
	return 0
}

func (m *Model) compilePool(p *nodepool.Pool, catalogName string, previous *Model) error {
	spec := &p.Object.Spec.Template
	p.Taints = spec.Spec.Taints
	set, err := poolRequirements(p.Object, p.Key, m.Vocab)
	if err != nil {
		return err
	}
	labels := make(map[string]string, len(spec.Labels)+2)
	for k, v := range spec.Labels {
		labels[k] = v
	}
	labels[p.Key.LabelKey()] = p.Key.Name
	// Nodes of v1alpha5 have no label for their node class.
	if class := p.Object.Spec.Template.Spec.NodeClassRef; class.Kind != "" && p.Key.Generation != v1.GenerationV1Alpha5 {
		labels[nodepool.ClassLabel(class.Group, class.Kind)] = class.Name
	}
	p.Variety = nodepool.VarietyOf(set)
	p.Template = set.Merge(m.Vocab.FromLabels(labels))
	if p.Limits, err = poolLimits(p.Object, p.Key); err != nil {
		return err
	}
	switch {
	case p.NotReady != "":
	case p.Object.DeletionTimestamp != nil:
		p.NotReady = "it is being deleted"
	case p.Object.Spec.Replicas != nil:
		p.NotReady = "it is static: its nodes are counted, not planned"
	case catalogName == "" || len(m.Catalogs[catalogName].Variants) == 0:
		p.NotReady = "it has no instance types"
	}
	if p.NotReady != "" {
		return nil
	}
	p.Table = m.tableFor(p, catalogName, previous)
	p.Open()
	return nil
}

// tableFor returns the pool's table. Pools with the same catalog and the same DaemonSets share a table. The table of a pool without
// DaemonSets is reused from the previous model, which may be nil, if the catalog and the resources are the same and no devices are counted.
func (m *Model) tableFor(p *nodepool.Pool, catalogName string, previous *Model) *nodepool.Table {
	c := m.Catalogs[catalogName]
	masks := daemonset.Masks(m.DaemonSets, Registered(p.Template, m.Vocab), p.Taints, c)
	text := nodepool.TableText(catalogName, masks)
	if t, ok := m.Tables[text]; ok {
		return t
	}
	if len(masks) == 0 && previous != nil && m.Devices == nil && slices.Equal(previous.Resources.Names, m.Resources.Names) {
		if t := previous.Tables[text]; t != nil && t.Catalog == c {
			m.Tables[text] = t
			return t
		}
	}
	t := nodepool.NewTable(c, m.Resources, masks, m.Devices)
	m.Tables[text] = t
	return t
}

// Registered returns the labels of a node together with the labels that it gets when it is ready for pods.
func Registered(labels requirements.Set, vocab *requirements.Lookup) requirements.Set {
	return labels.Merge(vocab.FromLabels(map[string]string{v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}))
}

// FindResidents records, on the rows of all tables, the DaemonSet pods that topology rules could see.
func (m *Model) FindResidents() {
	if len(m.Topology) == 0 {
		return
	}
	classes := make([]int32, len(m.DaemonSets))
	for i := range m.DaemonSets {
		classes[i] = m.DaemonSets[i].Class
		if m.Classes[classes[i]].Topology == nil {
			classes[i] = -1
		}
	}
	sets := map[string]int32{}
	for _, t := range m.Tables {
		for r := range t.Rows {
			row := &t.Rows[r]
			for _, d := range t.DaemonsOn[r] {
				if classes[d] >= 0 {
					row.Residents = append(row.Residents, classes[d])
				}
			}
			if len(row.Residents) == 0 {
				continue
			}
			text := fmt.Sprint(row.Residents)
			if _, ok := sets[text]; !ok {
				sets[text] = int32(len(sets) + 1)
			}
			row.Resident = sets[text]
		}
	}
}

// Domains returns the labels whose values topology rules can distinguish.
func (m *Model) Domains() nodepool.Domains {
	return nodepool.Domains{Keys: m.TopologyKeys, OnNodes: m.Layout().ValuesOnNodes}
}

// Shop returns the nodes that can be bought.
func (m *Model) Shop() *offers.Market {
	s := &offers.Market{Dims: m.Resources.Len(), Pools: m.Pools, Stages: m.Stages, Classes: m.Classes, Rules: m.Topology, Domains: m.Domains()}
	if m.Costs != nil {
		s.Commitments = len(m.Costs.Commitments)
	}
	return s
}

// compileSpot divides the pods of workloads that limit the number of their pods on spot nodes.
func (m *Model) compileSpot(r *likeness.Roster) (err error) {
	m.Spot, err = spotshares.Read(spotshares.Input{
		Snapshot: m.Snapshot, Roster: r, Terms: m.Terms,
		RequirementsOf: func(np *planning.NodePool) (requirements.Set, error) {
			set, err := poolRequirements(np.Object, np.Identity(), m.Vocab)
			if err != nil {
				return set, err
			}
			return set.Merge(m.Vocab.FromLabels(np.Object.Spec.Template.Labels)), nil
		},
	})
	m.Notes = append(m.Notes, m.Spot.Notes()...)
	return err
}
