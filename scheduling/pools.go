package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// compilePools makes the snapshot's pools ready, ordered by weight (higher first), then generation (later first), then name
// (later first). Pools of one weight compete by price all the same; the order decides between equals.
func (m *Model) compilePools(s *Snapshot, previous *Model) error {
	m.poolIndex = make(map[v1.PoolKey]int, len(s.NodePools))
	for i := range s.NodePools {
		np := &s.NodePools[i]
		m.pools = append(m.pools, &pool{key: np.Identity(), object: np.Object, notReady: np.NotReady, catalogName: m.poolCatalog[i], byText: map[string]int{}})
		if np.Object.Spec.Weight != nil {
			m.pools[i].weight = *np.Object.Spec.Weight
		}
		if err := m.compilePool(m.pools[i], m.poolCatalog[i], previous); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.pools, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(age(a.key), age(b.key)), cmp.Compare(b.key.Name, a.key.Name))
	})
	for i, p := range m.pools {
		if _, twice := m.poolIndex[p.key]; twice {
			return &SnapshotError{Path: "nodePools", Rule: fmt.Sprintf("pool %s stands twice", p.key), Cure: "keep one of them"}
		}
		m.poolIndex[p.key] = i
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

func (m *Model) compilePool(p *pool, catalogName string, previous *Model) error {
	spec := &p.object.Spec.Template
	p.taints = spec.Spec.Taints
	set, err := poolRequirements(p.object, p.key, m.vocab)
	if err != nil {
		return err
	}
	labels := make(map[string]string, len(spec.Labels)+2)
	for k, v := range spec.Labels {
		labels[k] = v
	}
	labels[PoolLabel(p.key)] = p.key.Name
	// Nodes of the first generation have no label of their node class.
	if class := p.object.Spec.Template.Spec.NodeClassRef; class.Kind != "" && p.key.Generation != v1.GenerationV1Alpha5 {
		labels[nodeClassLabel(class.Group, class.Kind)] = class.Name
	}
	p.variety = varietyOf(set)
	p.template = set.Merge(m.vocab.FromLabels(labels))
	if p.limits, err = poolLimits(p.object, p.key); err != nil {
		return err
	}
	switch {
	case p.notReady != "":
	case p.object.DeletionTimestamp != nil:
		p.notReady = "it is being deleted"
	case p.object.Spec.Replicas != nil:
		p.notReady = "it is static: its nodes are counted, not planned"
	case catalogName == "" || len(m.catalogs[catalogName].Variants) == 0:
		p.notReady = "it has no instance types"
	}
	if p.notReady != "" {
		return nil
	}
	p.table = m.tableFor(p, catalogName, previous)
	p.open()
	return nil
}

// tableFor builds the pool's table, or finds the one of a pool with the same catalog and daemons. One without daemons is taken
// over from the previous model, which may be nil: nothing that is noted in it later depends on the model.
func (m *Model) tableFor(p *pool, catalogName string, previous *Model) *table {
	c := m.catalogs[catalogName]
	masks := daemonMasks(m.daemonSets, registered(p.template, m.vocab), p.taints, c)
	text := tableText(catalogName, masks)
	if t, ok := m.tables[text]; ok {
		return t
	}
	if len(masks) == 0 && previous != nil && slices.Equal(previous.resources.Names, m.resources.Names) {
		if t := previous.tables[text]; t != nil && t.catalog == c {
			m.tables[text] = t
			return t
		}
	}
	t := newTable(c, m.resources, masks)
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
		classes[i] = m.daemonSets[i].class
		if m.classes[classes[i]].topology == nil {
			classes[i] = -1
		}
	}
	sets := map[string]int32{}
	for _, t := range m.tables {
		for r := range t.rows {
			row := &t.rows[r]
			for _, d := range t.on[r] {
				if classes[d] >= 0 {
					row.residents = append(row.residents, classes[d])
				}
			}
			if len(row.residents) == 0 {
				continue
			}
			text := fmt.Sprint(row.residents)
			if _, ok := sets[text]; !ok {
				sets[text] = int32(len(sets) + 1)
			}
			row.resident = sets[text]
		}
	}
}

// domains are the labels whose values topology rules tell apart.
func (m *Model) domains() domains {
	return domains{keys: m.topologyKeys, onNodes: m.valuesOnNodes}
}

// valuesOnNodes are the values of a label on machines of the snapshot, sorted.
func (m *Model) valuesOnNodes(key string) []string {
	var out []string
	for i := range m.groups {
		if v := match.OnlyValue(m.groups[i].labels.Get(key)); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
