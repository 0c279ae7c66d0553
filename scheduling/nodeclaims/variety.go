package nodeclaims

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// demand is the minValues of one requirement of a pool: how many distinct values of the key the instance types of a claim must have.
type demand struct {
	key string
	n   int
}

// demandsOf returns the pool's demands, one for each key with minValues. If a key has several minValues, the largest is used.
func demandsOf(pool *scheduling.NodePool, lookup *requirements.Lookup) []demand {
	var list []demand
	for _, entry := range pool.Object.Spec.Template.Spec.Requirements {
		if entry.MinValues == nil {
			continue
		}
		key := lookup.Canonical(entry.Key)
		at := slices.IndexFunc(list, func(d demand) bool { return d.key == key })
		if at < 0 {
			list = append(list, demand{key, *entry.MinValues})
		} else {
			list[at].n = max(list[at].n, *entry.MinValues)
		}
	}
	slices.SortFunc(list, func(a, b demand) int { return cmp.Compare(a.key, b.key) })
	return list
}

// variety has the values of a node's instance types for the label keys that have minValues in the node's pool.
type variety struct {
	node    *scheduling.NewNode
	pool    *scheduling.NodePool
	demands []demand
	// relaxed means that fewer values than required are accepted.
	relaxed bool
	// values has, for each type name and each index in demands, the values of the demand's key that the node's requirements allow and that
	// an available offering of the type has.
	values map[string][][]string
}

func varietyOf(node *scheduling.NewNode, pool *scheduling.NodePool, lookup *requirements.Lookup, types []*cloudprovider.InstanceType) *variety {
	v := &variety{node: node, pool: pool, demands: demandsOf(pool, lookup), relaxed: node.MinValuesRelaxed}
	if len(v.demands) == 0 {
		return v
	}
	v.values = make(map[string][][]string, len(node.InstanceTypes))
	for _, option := range node.InstanceTypes {
		v.values[option.Name] = nil
	}
	for _, t := range types {
		if _, ok := v.values[t.Name]; ok {
			v.values[t.Name] = v.valuesOf(t, lookup)
		}
	}
	return v
}

func (v *variety) valuesOf(t *cloudprovider.InstanceType, lookup *requirements.Lookup) [][]string {
	found := make([][]string, len(v.demands))
	for o := range t.OfferingsWithRoom() {
		if !t.Offers(o, v.node.Requirements) {
			continue
		}
		labels := lookup.RewriteSet(t.MachineRequirements(o))
		for i, d := range v.demands {
			if !labels.Has(d.key) || labels.Get(d.key).Complement() {
				continue
			}
			for _, value := range labels.Get(d.key).Values() {
				if v.node.Requirements.Get(d.key).Has(value) && !slices.Contains(found[i], value) {
					found[i] = append(found[i], value)
				}
			}
		}
	}
	return found
}

// choose returns the instance types that the node's claim names, with the cheapest type first. These are all types of the node, or the
// cheapest types, as many as a claim may name. If the cheapest types have fewer values of a key than the pool's minValues require, the most
// expensive of them are replaced by the cheapest types with a missing value.
func (v *variety) choose(o Options) ([]scheduling.InstanceTypeOption, error) {
	most := option.Or(o.MaxInstanceTypes, DefaultMaxInstanceTypes)
	if most < 1 {
		return nil, &option.Error{Package: "nodeclaims", Option: "MaxInstanceTypes", Rule: fmt.Sprintf("is %d: a claim names at least one type; nil is the default", most)}
	}
	all := v.node.InstanceTypes
	switch {
	case len(all) <= most:
		return all, nil // the planner has ensured that all of the node's types together meet the minValues
	case len(v.demands) == 0:
		return all[:most], nil
	}
	chosen := v.cheapest(all, most)
	for i, d := range v.demands {
		found := v.distinct(i, chosen)
		switch {
		case found >= d.n || v.relaxed:
		case o.MinValues == scheduling.MinValuesBestEffort:
			v.relaxed = true
		default:
			return nil, &VarietyError{
				Node: v.node.Name, Pool: v.pool.Identity().String(), Key: d.key, MinValues: d.n, Found: found, InstanceTypes: most,
			}
		}
	}
	return chosen, nil
}

// cheapest returns the cheapest types, including all types that the pool's minValues need. The parameter most is the largest number of
// types.
func (v *variety) cheapest(all []scheduling.InstanceTypeOption, most int) []scheduling.InstanceTypeOption {
	needed := v.needed(all)
	room := most - len(needed)
	var chosen []scheduling.InstanceTypeOption
	for at, option := range all {
		if len(chosen) == most {
			break
		}
		if !needed[at] {
			if room <= 0 {
				continue
			}
			room--
		}
		chosen = append(chosen, option)
	}
	return chosen
}

// needed returns the indexes of types that together meet the pool's minValues, if such types exist. Each of them is the cheapest type that
// adds a missing value for a key that still has too few values.
func (v *variety) needed(all []scheduling.InstanceTypeOption) map[int]bool {
	needed := map[int]bool{}
	seen := make([]map[string]bool, len(v.demands))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	for at, option := range all {
		values := v.values[option.Name]
		needed[at] = brings(values, seen, v.demands)
		if !needed[at] {
			delete(needed, at)
			continue
		}
		for i := range values {
			for _, value := range values[i] {
				seen[i][value] = true
			}
		}
	}
	return needed
}

// brings reports whether the type adds a value for a key that still has too few values.
func brings(values [][]string, seen []map[string]bool, demands []demand) bool {
	for i := range values {
		if len(seen[i]) < demands[i].n && slices.ContainsFunc(values[i], func(value string) bool { return !seen[i][value] }) {
			return true
		}
	}
	return false
}

// distinct returns how many different values the chosen types have for the key of the i-th demand.
func (v *variety) distinct(i int, chosen []scheduling.InstanceTypeOption) int {
	seen := map[string]bool{}
	for _, option := range chosen {
		if values := v.values[option.Name]; values != nil {
			for _, value := range values[i] {
				seen[value] = true
			}
		}
	}
	return len(seen)
}

// minValues returns the claim's minValues for the key: the pool's minValues or, if they are relaxed, the number of values that the types
// have. It is nil if the pool has no minValues for the key.
func (v *variety) minValues(key string, chosen []scheduling.InstanceTypeOption) *int {
	for i, d := range v.demands {
		if d.key != key {
			continue
		}
		n := d.n
		if v.relaxed {
			found := v.distinct(i, chosen)
			if key == corev1.LabelInstanceTypeStable {
				found = len(chosen)
			}
			n = min(n, found)
		}
		if n == 0 {
			return nil
		}
		return &n
	}
	return nil
}
