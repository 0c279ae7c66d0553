package learned

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	// Lifetime is how long a correction is used after the last node that it was learned from was seen.
	Lifetime = 30 * 24 * time.Hour
	// day is the precision of Correction.Seen, so that annotations are not written more often.
	day = 24 * time.Hour
	// witnesses is the maximum number of nodes that a correction names. A correction that removes devices needs this number of nodes.
	witnesses = 2
)

// Correction contains the devices that a driver publishes on the nodes of a type in a pool, instead of those that the instance type lists.
type Correction struct {
	Pool         v1.PoolKey
	InstanceType string
	Driver       string
	// Pools replace the instance type's device pools of the driver.
	Pools []cloudprovider.DevicePool
	// Nodes are up to two nodes that published the devices, sorted; they may be deleted.
	Nodes []string
	// Seen is the day on which such a node last existed.
	Seen time.Time
	// Unconfirmed means that the correction is not applied: only a single node has published fewer devices than the instance type lists,
	// and it may be broken.
	Unconfirmed bool
	// Difference describes the difference from the instance type in words; empty if the only differences are attributes that the type does
	// not list, or if it is not known.
	Difference string
}

func (c *Correction) kind() kind { return kind{c.Pool, c.InstanceType} }

func compareCorrections(a, b Correction) int {
	return cmp.Or(a.kind().compare(b.kind()), strings.Compare(a.Driver, b.Driver))
}

// Corrections are sorted by pool, instance type and driver.
type Corrections []Correction

// Since returns the corrections that the earlier list (the parameter before) does not contain, or contains with different devices.
func (c Corrections) Since(before Corrections) Corrections {
	return slices.DeleteFunc(slices.Clone(c), func(one Correction) bool {
		return slices.ContainsFunc(before, func(old Correction) bool { return compareCorrections(old, one) == 0 && same(old.Pools, one.Pools) })
	})
}

// Devices learns from a snapshot whose catalogs are the provider's own. Initialised nodes take precedence: for a pool and an instance type,
// only the newest 32 nodes are used. Of the devices that these nodes publish, the most frequent are used. If several publications are
// equally frequent, the one with the fewest devices is used. Each capacity is the lowest among the nodes with these devices. If a single
// node has fewer devices than the instance type lists, its correction is Unconfirmed. If there are no nodes, or a single node with fewer
// devices than known before, annotations of NodePools are used. If a driver has published nothing on a node, nothing is learned about the
// next node. Devices that equal those of the instance type are not a correction.
//
// Problems are annotations that can't be read, each an *AnnotationError; they count as empty. In a snapshot without a time, corrections
// don't become too old.
func Devices(s *scheduling.Snapshot) (corrections Corrections, problems []error) {
	if s == nil {
		return nil, nil
	}
	known, templates := map[kind]map[string]*Correction{}, templatesOf(s)
	for i := range s.NodePools {
		list, err := Kept(s.NodePools[i].Identity(), s.NodePools[i].Object)
		if err != nil {
			problems = append(problems, err)
		}
		for k := range list {
			list[k].compare(templates)
			put(known, &list[k])
		}
	}
	for _, fresh := range observed(s, templates) {
		old := known[fresh.kind()][fresh.Driver]
		if old != nil && !old.Unconfirmed && len(fresh.Nodes) < witnesses && devicesIn(fresh.Pools) < devicesIn(old.Pools) {
			continue
		}
		if old != nil && same(old.Pools, fresh.Pools) {
			fresh.Nodes = more(old.Nodes, fresh.Nodes)
		}
		fresh.compare(templates)
		put(known, fresh)
	}
	for k, drivers := range known {
		for driver, c := range drivers {
			it := templates[k]
			old := !s.Time.IsZero() && s.Time.Sub(c.Seen) >= Lifetime+day
			if old || it != nil && same(unbound(ofDriver(it.Devices, driver)), c.Pools) {
				continue
			}
			c.Nodes = more(nil, c.Nodes)
			corrections = append(corrections, *c)
		}
	}
	slices.SortFunc(corrections, compareCorrections)
	return corrections, problems
}

// compare sets those fields of the correction that depend on the instance type's template.
func (c *Correction) compare(templates map[kind]*cloudprovider.InstanceType) {
	if it := templates[c.kind()]; it != nil {
		stated := ofDriver(it.Devices, c.Driver)
		c.Unconfirmed = len(c.Nodes) < witnesses && devicesIn(c.Pools) < devicesIn(stated)
		c.Difference = difference(stated, c.Pools)
	}
}

func put(known map[kind]map[string]*Correction, c *Correction) {
	if known[c.kind()] == nil {
		known[c.kind()] = map[string]*Correction{}
	}
	known[c.kind()][c.Driver] = c
}

// observed returns the corrections that follow from the devices that existing nodes have published.
func observed(s *scheduling.Snapshot, templates map[kind]*cloudprovider.InstanceType) []*Correction {
	all := publications(s)
	if len(all) == 0 {
		return nil
	}
	repeated := repeatedValues(all)
	var out []*Correction
	for k, nodes := range all {
		it := templates[k]
		if it == nil {
			continue // no plan uses this instance type, so nothing needs to be corrected
		}
		rule := &attributeRule{repeated: repeated, stated: map[attribute]bool{}, bound: map[attribute]bool{}, alone: len(nodes) == 1}
		for i := range it.Devices {
			for _, b := range it.Devices[i].Bindings {
				rule.bound[attributeOf(it.Devices[i].Driver, b.Attribute)] = true
			}
			eachAttribute(it.Devices[i].Driver, it.Devices[i:i+1], func(v value) { rule.stated[v.name] = true })
		}
		byDriver := map[string][]publication{}
		for i := range nodes {
			for driver, pools := range rule.apply(nodes[i]).drivers {
				byDriver[driver] = append(byDriver[driver], publication{nodes[i].node, pools})
			}
		}
		for driver, list := range byDriver {
			pools, names := agreed(list)
			out = append(out, &Correction{Pool: k.pool, InstanceType: k.instanceType, Driver: driver, Pools: pools, Nodes: names, Seen: s.Time.UTC().Truncate(day)})
		}
	}
	return out
}

// templatesOf returns the instance types of the pools' catalogs.
func templatesOf(s *scheduling.Snapshot) map[kind]*cloudprovider.InstanceType {
	out := map[kind]*cloudprovider.InstanceType{}
	for i := range s.NodePools {
		for _, it := range s.Catalogs[s.NodePools[i].Catalog] {
			if it != nil {
				out[kind{s.NodePools[i].Identity(), it.Name}] = it
			}
		}
	}
	return out
}

func ofDriver(pools []cloudprovider.DevicePool, driver string) []cloudprovider.DevicePool {
	return slices.DeleteFunc(slices.Clone(pools), func(p cloudprovider.DevicePool) bool { return p.Driver != driver })
}

func devicesIn(pools []cloudprovider.DevicePool) int {
	n := 0
	for i := range pools {
		n += len(pools[i].Devices)
	}
	return n
}

// more adds further names to a list of names, until the list has as many names as the constant witnesses says.
func more(names, further []string) []string {
	out := slices.Clone(names)
	for _, name := range further {
		if len(out) < witnesses && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// same reports whether two lists of pools are equal, including the names of devices.
func same(a, b []cloudprovider.DevicePool) bool {
	return len(a) == len(b) && devicesIn(a) == devicesIn(b) && textOfPools(a) == textOfPools(b)
}

func textOfPools(pools []cloudprovider.DevicePool) string {
	text, err := json.Marshal(pools)
	if err != nil {
		return "" // never: all values can be written as JSON
	}
	return string(text)
}
