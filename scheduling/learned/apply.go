package learned

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Corrector applies corrections to snapshots. It keeps corrected instance types from one call to the next, because planners share work
// between snapshots with the same types. The zero value is ready to use, and safe for concurrent use.
type Corrector struct {
	mu    sync.Mutex
	types map[typeKey]*cloudprovider.InstanceType
	lists map[string][]*cloudprovider.InstanceType
	last  lesson
}

// lesson contains the last result of Learn, and the inputs from which Learn made it.
type lesson struct {
	from        *sources
	corrections Corrections
	problems    []error
}

// Learn returns Devices for the snapshot, and computes it again only if its inputs have changed. The results are shared and must not be
// changed.
func (c *Corrector) Learn(s *scheduling.Snapshot) (Corrections, []error) {
	if s == nil {
		return nil, nil
	}
	from := sourcesOf(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.from == nil || !c.last.from.equal(from) {
		corrections, problems := Devices(s)
		c.last = lesson{from, corrections, problems}
	}
	return c.last.corrections, c.last.problems
}

// typeKey identifies a corrected instance type by the provider's instance type and the device pools that replace the pools of this type.
type typeKey struct {
	of      *cloudprovider.InstanceType
	devices string
}

// Apply replaces Catalogs and NodePools of the snapshot, without changing the objects that they point to: corrected instance types are new
// objects with the same name. A NodePool whose corrected instance types differ from those of other pools gets its own catalog. Corrections
// that are Unconfirmed are left out. A nil snapshot is ignored.
func (c *Corrector) Apply(s *scheduling.Snapshot, corrections Corrections) {
	if s == nil {
		return
	}
	byKind := map[kind]Corrections{}
	for i := range corrections {
		if one := &corrections[i]; !one.Unconfirmed {
			byKind[one.kind()] = append(byKind[one.kind()], *one)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	types, lists := map[typeKey]*cloudprovider.InstanceType{}, map[string][]*cloudprovider.InstanceType{}
	defer func() { c.types, c.lists = types, lists }()
	if len(byKind) == 0 {
		return
	}
	catalogs, pools := maps.Clone(s.Catalogs), slices.Clone(s.NodePools)
	for i := range pools {
		pool := &pools[i]
		was, now := s.Catalogs[pool.Catalog], []*cloudprovider.InstanceType(nil)
		for k, it := range was {
			if it == nil {
				continue
			}
			list := byKind[kind{pool.Identity(), it.Name}]
			if len(list) == 0 {
				continue
			}
			if now == nil {
				now = slices.Clone(was)
			}
			now[k] = c.corrected(it, list, types)
		}
		if now != nil {
			pool.Catalog = nameOf(catalogs, pool, now, s.Catalogs)
			if old := c.lists[pool.Catalog]; slices.Equal(old, now) {
				now = old
			}
			catalogs[pool.Catalog], lists[pool.Catalog] = now, now
		}
	}
	s.Catalogs, s.NodePools = dropUnused(catalogs, pools), pools
}

// nameOf returns the name of the list of instance types. This is the name under which another pool uses the same list, or a new name that
// is made from the pool's name.
func nameOf(catalogs map[string][]*cloudprovider.InstanceType, pool *scheduling.NodePool, list []*cloudprovider.InstanceType, before map[string][]*cloudprovider.InstanceType) string {
	for _, name := range slices.Sorted(maps.Keys(catalogs)) {
		if _, old := before[name]; !old && slices.Equal(catalogs[name], list) {
			return name
		}
	}
	name := pool.Catalog + " as nodes of " + pool.Identity().String() + " have it"
	for catalogs[name] != nil {
		name += "'"
	}
	return name
}

// dropUnused leaves out catalogs that no pool names.
func dropUnused(catalogs map[string][]*cloudprovider.InstanceType, pools []scheduling.NodePool) map[string][]*cloudprovider.InstanceType {
	maps.DeleteFunc(catalogs, func(name string, _ []*cloudprovider.InstanceType) bool {
		return !slices.ContainsFunc(pools, func(p scheduling.NodePool) bool { return p.Catalog == name })
	})
	return catalogs
}

// corrected returns the instance type with the devices that its nodes publish.
func (c *Corrector) corrected(it *cloudprovider.InstanceType, list Corrections, types map[typeKey]*cloudprovider.InstanceType) *cloudprovider.InstanceType {
	var text strings.Builder
	for i := range list {
		text.WriteString(list[i].Driver + textOfPools(list[i].Pools) + "\n")
	}
	key := typeKey{it, text.String()}
	if types[key] != nil {
		return types[key]
	}
	if c.types[key] != nil {
		types[key] = c.types[key]
		return types[key]
	}
	out := *it
	out.Devices = slices.Clone(it.Devices)
	for i := range list {
		one := &list[i]
		out.Devices = slices.DeleteFunc(out.Devices, func(p cloudprovider.DevicePool) bool { return p.Driver == one.Driver })
		out.Devices = append(out.Devices, boundAs(one.Pools, ofDriver(it.Devices, one.Driver))...)
		out.Capacity = countDevices(out.Capacity, one)
	}
	slices.SortStableFunc(out.Devices, func(a, b cloudprovider.DevicePool) int { return strings.Compare(a.Driver, b.Driver) })
	types[key] = &out
	return &out
}

// countDevices corrects the number of the driver's devices in the capacity, if the capacity lists this number. The correction is needed
// because a NodePool may limit the number.
func countDevices(capacity corev1.ResourceList, c *Correction) corev1.ResourceList {
	name := cloudprovider.DeviceCount(c.Driver)
	if _, listed := capacity[name]; !listed {
		return capacity
	}
	total := int64(0)
	for i := range c.Pools {
		total += c.Pools[i].Count()
	}
	out := maps.Clone(capacity)
	out[name] = *resource.NewQuantity(total, resource.DecimalSI)
	return out
}
