package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
)

// compilePools makes the snapshot's pools ready, ordered by weight (higher first), then generation (later first), then name
// (later first). Pools of one weight compete by price all the same; the order decides between equals.
func (m *Model) compilePools(s *Snapshot, previous *Model) error {
	m.poolIndex = make(map[v1.PoolKey]int, len(s.NodePools))
	for i := range s.NodePools {
		np := &s.NodePools[i]
		m.pools = append(m.pools, &nodepool.Pool{Key: np.Identity(), Object: np.Object, NotReady: np.NotReady, CatalogName: m.poolCatalog[i]})
		if np.Object.Spec.Weight != nil {
			m.pools[i].Weight = *np.Object.Spec.Weight
		}
		if err := m.compilePool(m.pools[i], m.poolCatalog[i], previous); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.pools, func(a, b *nodepool.Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(age(a.Key), age(b.Key)), cmp.Compare(b.Key.Name, a.Key.Name))
	})
	for i, p := range m.pools {
		if _, twice := m.poolIndex[p.Key]; twice {
			return &SnapshotError{Path: "nodePools", Rule: fmt.Sprintf("pool %s stands twice", p.Key), Cure: "keep one of them"}
		}
		m.poolIndex[p.Key] = i
	}
	return nil
}

// age ranks generations for the order of pools: later ones first.
func age(key v1.PoolKey) int {
	if key.Generation == v1.GenerationV1Alpha5 {
		return 1
	}
	return 0
}

func (m *Model) compilePool(p *nodepool.Pool, catalogName string, previous *Model) error {
	spec := &p.Object.Spec.Template
	p.Taints = spec.Spec.Taints
	set, err := poolRequirements(p.Object, p.Key, m.vocab)
	if err != nil {
		return err
	}
	labels := make(map[string]string, len(spec.Labels)+2)
	for k, v := range spec.Labels {
		labels[k] = v
	}
	labels[PoolLabel(p.Key)] = p.Key.Name
	// Nodes of the first generation have no label of their node class.
	if class := p.Object.Spec.Template.Spec.NodeClassRef; class.Kind != "" && p.Key.Generation != v1.GenerationV1Alpha5 {
		labels[nodeClassLabel(class.Group, class.Kind)] = class.Name
	}
	p.Variety = nodepool.VarietyOf(set)
	p.Template = set.Merge(m.vocab.FromLabels(labels))
	if p.Limits, err = poolLimits(p.Object, p.Key); err != nil {
		return err
	}
	switch {
	case p.NotReady != "":
	case p.Object.DeletionTimestamp != nil:
		p.NotReady = "it is being deleted"
	case p.Object.Spec.Replicas != nil:
		p.NotReady = "it is static: its nodes are counted, not planned"
	case catalogName == "" || len(m.catalogs[catalogName].Variants) == 0:
		p.NotReady = "it has no instance types"
	}
	if p.NotReady != "" {
		return nil
	}
	p.Table = m.tableFor(p, catalogName, previous)
	p.Open()
	return nil
}

// tableFor builds the pool's table, or finds the one of a pool with the same catalog and daemons. One without daemons is taken
// over from the previous model, which may be nil: nothing that is noted in it later depends on the model.
func (m *Model) tableFor(p *nodepool.Pool, catalogName string, previous *Model) *nodepool.Table {
	c := m.catalogs[catalogName]
	masks := daemonset.Masks(m.daemonSets, registered(p.Template, m.vocab), p.Taints, c)
	text := nodepool.TableText(catalogName, masks)
	if t, ok := m.tables[text]; ok {
		return t
	}
	if len(masks) == 0 && previous != nil && m.devices == nil && slices.Equal(previous.resources.Names, m.resources.Names) {
		if t := previous.tables[text]; t != nil && t.Catalog == c {
			m.tables[text] = t
			return t
		}
	}
	t := nodepool.NewTable(c, m.resources, masks, m.devices)
	m.tables[text] = t
	return t
}

// registered are the labels of a node with those given once it is ready for pods.
func registered(labels requirements.Set, vocab *requirements.Lookup) requirements.Set {
	return labels.Merge(vocab.FromLabels(map[string]string{labelRegistered: "true", labelInitialized: "true"}))
}

// findResidents notes, on the rows of all tables, the DaemonSet pods that topology rules could notice.
func (m *Model) findResidents() {
	if len(m.topology) == 0 {
		return
	}
	classes := make([]int32, len(m.daemonSets))
	for i := range m.daemonSets {
		classes[i] = m.daemonSets[i].Class
		if m.classes[classes[i]].Topology == nil {
			classes[i] = -1
		}
	}
	sets := map[string]int32{}
	for _, t := range m.tables {
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

// domains are the labels whose values topology rules tell apart.
func (m *Model) domains() nodepool.Domains {
	return nodepool.Domains{Keys: m.topologyKeys, OnNodes: m.layout().ValuesOnNodes}
}

// shop is what nodes may be bought.
func (m *Model) shop() *offers.Market {
	s := &offers.Market{Dims: m.resources.Len(), Pools: m.pools, Stages: m.stages, Classes: m.classes, Rules: m.topology, Domains: m.domains()}
	if m.costs != nil {
		s.Commitments = len(m.costs.Commitments)
	}
	return s
}
