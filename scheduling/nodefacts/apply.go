package nodefacts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// maxSaid is the largest number of sentences that are added to a snapshot's Assumptions.
const maxSaid = 20

// typeKey identifies a corrected instance type: the provider's instance type, and the corrections as a string.
type typeKey struct {
	of   *cloudprovider.InstanceType
	text string
}

// Apply replaces Catalogs and NodePools of the snapshot, and changes no object that they point to. If nodes of the pool's class report
// other values than an instance type states, a corrected instance type with the same name takes its place. It stays the same object while
// the corrections stay the same. For each correction it adds a sentence to Assumptions, at most 20. A nil snapshot is ignored.
func (b *Book) Apply(s *scheduling.Snapshot) {
	if s == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	newest := b.newest()
	if len(newest) == 0 {
		return
	}
	types, lists := map[typeKey]*cloudprovider.InstanceType{}, map[string][]*cloudprovider.InstanceType{}
	catalogs, pools := maps.Clone(s.Catalogs), slices.Clone(s.NodePools)
	said := map[string]bool{}
	for i := range pools {
		pool := &pools[i]
		if pool.Object == nil {
			continue
		}
		class := classOf(pool.Object.Spec.Template.Spec.NodeClassRef)
		list := b.corrected(s.Catalogs[pool.Catalog], newest, class, types, said)
		if list == nil {
			continue
		}
		name := pool.Catalog + " as nodes of " + class + " have it"
		if old := b.lists[name]; slices.Equal(old, list) {
			list = old
		}
		lists[name], catalogs[name], pool.Catalog = list, list, name
	}
	b.types, b.lists = types, lists
	maps.DeleteFunc(catalogs, func(name string, _ []*cloudprovider.InstanceType) bool {
		return !slices.ContainsFunc(pools, func(p scheduling.NodePool) bool { return p.Catalog == name })
	})
	s.Catalogs, s.NodePools = catalogs, pools
	sentences := slices.Sorted(maps.Keys(said))
	s.Assumptions = append(slices.Clone(s.Assumptions), sentences[:min(len(sentences), maxSaid)]...)
}

// classKey identifies the facts for new nodes, whose image is not known yet.
type classKey struct{ instanceType, class string }

// newest returns, for each type and class, the facts of the image that was seen last.
func (b *Book) newest() map[classKey]*Fact {
	out := map[classKey]*Fact{}
	for key, f := range b.facts {
		at := classKey{key.InstanceType, key.Class}
		if known := out[at]; known == nil || f.Seen.After(known.Seen) || f.Seen.Equal(known.Seen) && key.Compare(known.Key) > 0 {
			out[at] = f
		}
	}
	return out
}

// corrected returns the list of instance types, in which corrected types replace the types that facts contradict. It returns nil if the
// facts contradict no type.
func (b *Book) corrected(list []*cloudprovider.InstanceType, facts map[classKey]*Fact, class string, types map[typeKey]*cloudprovider.InstanceType, said map[string]bool) []*cloudprovider.InstanceType {
	var out []*cloudprovider.InstanceType
	for i, t := range list {
		if t == nil {
			continue
		}
		f := facts[classKey{t.Name, class}]
		if f == nil {
			continue
		}
		text, change := b.changes(t, f)
		if text == "" {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		key := typeKey{t, text}
		own := types[key]
		if own == nil {
			if own = b.types[key]; own == nil {
				own = change()
			}
			types[key] = own
		}
		out[i] = own
		said[fmt.Sprintf("Learned from %d nodes of %s and %s: %s.", f.Nodes, t.Name, class, text)] = true
	}
	return out
}

// changes compares a fact with the instance type. It returns the differences as a text, and a function that makes the type with the values
// of the fact. The text is "" if there are no differences.
func (b *Book) changes(t *cloudprovider.InstanceType, f *Fact) (text string, change func() *cloudprovider.InstanceType) {
	capacity, limits := corev1.ResourceList{}, map[string]int32{}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.Capacity)) {
		seen, estimate := f.Capacity[name], t.Capacity[name]
		if name == corev1.ResourceCPU || seen.Cmp(estimate) == 0 || !b.believable(name, seen, estimate) {
			continue
		}
		capacity[name] = seen
		parts = append(parts, fmt.Sprintf("%s %s, not %s", name, seen.String(), estimate.String()))
	}
	for _, driver := range slices.Sorted(maps.Keys(f.VolumeLimits)) {
		estimate, known := t.VolumeLimits[driver]
		if seen := f.VolumeLimits[driver]; known && seen != estimate && seen > 0 && seen <= 2*estimate {
			limits[driver] = seen
			parts = append(parts, fmt.Sprintf("%d volumes of %s, not %d", seen, driver, estimate))
		}
	}
	return strings.Join(parts, "; "), func() *cloudprovider.InstanceType {
		own := *t
		own.Capacity = maps.Clone(t.Capacity)
		maps.Copy(own.Capacity, capacity)
		if len(limits) > 0 {
			own.VolumeLimits = maps.Clone(t.VolumeLimits)
			maps.Copy(own.VolumeLimits, limits)
		}
		return &own
	}
}

// maxPods is the largest reported number of pods that is used. A larger number is treated as an error of the node.
const maxPods = 1000

// believable reports whether the amount that a node has reported is close enough to the estimate. A number of pods must be from 1 to
// maxPods. For counted resources, such as devices, a node may report fewer than estimated, even 0. It may not report more than estimated,
// because the extra devices may come from a plugin that new nodes would not run.
func (b *Book) believable(name corev1.ResourceName, seen, estimate resource.Quantity) bool {
	switch name {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		is, want := seen.AsApproximateFloat64(), estimate.AsApproximateFloat64()
		return is >= b.options.MinShare*want && is <= b.options.MaxShare*want
	case corev1.ResourcePods:
		return seen.Value() > 0 && seen.Value() <= maxPods
	}
	return seen.Sign() >= 0 && seen.Cmp(estimate) < 0
}
