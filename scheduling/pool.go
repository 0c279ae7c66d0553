package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// table is the machines a pool could launch, with what its DaemonSets take already taken off. Pools with the same
// catalog and the same daemons on it share one.
type table struct {
	catalog *market.Catalog
	rows    []row
	// alloc is indexed [row*resources+resource]: what is left for pods.
	alloc []int64
	// daemons is indexed alike: what DaemonSets take.
	daemons []int64
	// split tells that some type has several rows: what it holds depends on where it is bought.
	split bool
	// on is indexed by row: the DaemonSets there, by number.
	on [][]int32
	// inOrder is for cheapestFirst alone.
	inOrder *purchases
}

// row is a variant in those slots where the same DaemonSets run.
type row struct {
	variant int
	slots   bitset.Set
	// residents are the classes of the DaemonSet pods on it that topology rules could notice; resident numbers the
	// set, 0 for none.
	residents []int32
	resident  int32
}

func (t *table) allocOf(row, dims int) []int64 { return t.alloc[row*dims : (row+1)*dims] }

// pool is a NodePool made ready for planning.
type pool struct {
	key    v1.PoolKey
	object *v1.NodePool
	// weight, the higher the sooner; pools of one weight compete by price.
	weight int32
	// notReady says why the pool launches nothing; then table is nil.
	notReady string
	// catalogName is the pool's catalog's in Model.catalogs; empty for none.
	catalogName string
	table       *table
	// rows and slots meet the pool's own requirements.
	rows, slots bitset.Set
	// template is what every machine of the pool is known to carry: requirements, labels and pool label.
	template requirements.Set
	taints   []corev1.Taint
	limits   *limits
	// variety is what the pool's minValues ask for, by key.
	variety []variety
	// profiles are the distinct demands of pod classes on this pool.
	profiles []profile
	byText   map[string]int
}

// profile is a demand on a pool: which of its machines can meet it, and the labels left open that it narrows.
type profile struct {
	rows, slots bitset.Set
	// demand it was made for.
	demand match.Needs
	// open are requirements on keys for which the pool or a type leaves several values: machines carry the
	// intersection of all their pods'. Sorted by key.
	open []requirements.Requirement
	// robust are the rows that meet the pool's minValues: see Model.robust. Filled while the model is compiled.
	robust bitset.Set
}

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
	c := m.catalogs[catalogName]
	p.table = m.tableFor(p, catalogName, previous)
	p.rows, p.slots = bitset.Full(len(p.table.rows)), c.AllSlots.Clone()
	for r := range p.template.All {
		m.narrow(p, r, p.rows, p.slots)
	}
	for i := range p.table.rows {
		if p.rows.Has(i) && !m.sellable(p.table, i, p.slots) {
			p.rows.Remove(i)
		}
	}
	return nil
}

// narrow strikes the rows and slots that can't meet r; keys no machine states are none of its business.
func (m *Model) narrow(p *pool, r requirements.Requirement, rows, slots bitset.Set) {
	c := p.table.catalog
	switch key := r.Key(); {
	case c.OfferingKeys[key]:
		slots.And(c.SlotMask(r))
	default:
		if _, stated := c.TypeKeys[key]; !stated {
			return
		}
		mask := c.VariantMask(r)
		for i := range rows.Members {
			if !mask.Has(p.table.rows[i].variant) {
				rows.Remove(i)
			}
		}
	}
}

// sellable reports whether some offering of the row in one of slots is available.
func (m *Model) sellable(t *table, row int, slots bitset.Set) bool {
	for s := range t.rows[row].slots.Members {
		if slots.Has(s) && t.catalog.Price(t.rows[row].variant, s) != market.NoPrice {
			return true
		}
	}
	return false
}

// profileOf returns the number of the profile for a demand on the pool, or -1 and why no machine of the pool can meet
// it.
func (m *Model) profileOf(p *pool, demand match.Needs) (int, *Reason) {
	rows, slots := p.rows.Clone(), p.slots.Clone()
	var open []requirements.Requirement
	for _, r := range demand {
		key := r.Key()
		if reason := m.demandKey(p, r); reason != nil {
			return -1, reason
		}
		m.narrow(p, p.template.Get(key).Intersect(r), rows, slots)
		if m.leftOpen(p, key) {
			open = append(open, r)
		}
	}
	for i := range rows.Members {
		if !m.sellable(p.table, i, slots) {
			rows.Remove(i)
		}
	}
	if rows.Empty() {
		return -1, nil
	}
	text := profileText(rows, slots, open)
	if n, ok := p.byText[text]; ok {
		return n, nil
	}
	n := len(p.profiles)
	p.profiles = append(p.profiles, profile{rows: rows, slots: slots, demand: demand, open: open})
	p.byText[text] = n
	return n, nil
}

// demandKey checks one requirement of a pod against what the pool says of the key, machines aside.
func (m *Model) demandKey(p *pool, r requirements.Requirement) *Reason {
	key := r.Key()
	refuse := func(detail string) *Reason {
		return &Reason{Pool: p.key, Code: ReasonRequirements, Key: key, Detail: "incompatible requirements, " + detail}
	}
	if p.template.Has(key) {
		have := p.template.Get(key)
		if !match.Meets(requirements.NewSet(have), r) {
			return refuse(asked(key, match.Needs{r}, have))
		}
		return nil
	}
	c := p.table.catalog
	if _, stated := c.TypeKeys[key]; stated || c.OfferingKeys[key] || match.AbsentMeets(r) {
		return nil
	}
	switch {
	case key == match.NodeName:
		return refuse("field metadata.name names one node, and a new node's name is not known before it is launched")
	case key == labelHostname:
		return refuse("label " + key + " names one node, and a new node's name is not known before it is launched")
	case m.vocab.IsWellKnown(key):
		return refuse("label " + key + " is stated by none of the pool's instance types")
	}
	return refuse(fmt.Sprintf("label %q does not have known values: the nodepool must state it as a label or a requirement", key))
}

// leftOpen reports whether machines of the pool may end with different values for the key although pool, type and
// offering are fixed.
func (m *Model) leftOpen(p *pool, key string) bool {
	c := p.table.catalog
	if c.OfferingKeys[key] {
		return false
	}
	if multi, stated := c.TypeKeys[key]; stated {
		return multi
	}
	return p.template.Has(key) && !match.SingleValued(p.template.Get(key))
}

func profileText(rows, slots bitset.Set, open []requirements.Requirement) string {
	text := make([]byte, 0, 8*(len(rows)+len(slots)))
	for _, set := range []bitset.Set{rows, slots} {
		for _, w := range set {
			for i := range 8 {
				text = append(text, byte(w>>(8*i)))
			}
		}
	}
	for _, r := range open {
		text = append(append(text, r.String()...), 0)
	}
	return string(text)
}
