package overlay

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

// view is a list of instance types for a group of pools, with the changes by the overlays so far. Every overlay treats the pools of a group
// in the same way.
type view struct {
	list *list
	// labels are the labels of these pools that overlays use.
	labels requirements.Set
	pools  []Pool
	// prices is indexed like offerings; nil while no overlay has set a price.
	prices []say
	// capacity is indexed like types; nil while no overlay has set a capacity.
	capacity [][]share
	// matches are the indices of the offerings that the current overlay selects, ascending.
	matches []int32
}

// say records which overlays set one price or resource, as indices of rules plus 1; 0 means no overlay. The overlay in the field first
// takes effect. The overlay in the field last has the lowest weight so far, so the next overlay can conflict only with it.
type say struct{ first, last int32 }

func (s *say) add(rule int) {
	s.last = int32(rule) + 1
	if s.first == 0 {
		s.first = s.last
	}
}

// rival returns the rule that set the same price or resource before, if it has the same weight as r, or else nil.
func (s say) rival(rules []*rule, r *rule) *rule {
	if s.last == 0 || rules[s.last-1].weight != r.weight {
		return nil
	}
	return rules[s.last-1]
}

// share says which overlays set one resource of a type.
type share struct {
	name corev1.ResourceName
	say
}

// newViews makes a view for each group of pools that all overlays treat in the same way, in the order of the pools' keys.
func newViews(pools []Pool, taken taken, lookup *requirements.Lookup) []*view {
	sorted := slices.Clone(pools)
	slices.SortStableFunc(sorted, func(a, b Pool) int { return a.Key.Compare(b.Key) })
	type identity struct {
		list      *list
		signature string
	}
	keys := taken.keys()
	var (
		views  []*view
		byWhat = make(map[identity]*view)
		lists  = shelf{keys: keys, byFirst: make(map[*cloudprovider.InstanceType][]*list)}
	)
	for _, p := range sorted {
		labels := askedLabels(p, keys, lookup)
		l := lists.of(p.Types)
		id := identity{l, l.signature(labels, taken.rules)}
		v, ok := byWhat[id]
		if !ok {
			v = &view{list: l, labels: labels}
			byWhat[id] = v
			views = append(views, v)
		}
		v.pools = append(v.pools, p)
	}
	return views
}

// askedLabels returns the labels that each node of the pool has and that overlays use.
func askedLabels(p Pool, keys []string, lookup *requirements.Lookup) requirements.Set {
	labels := map[string]string{}
	if p.Object != nil {
		for key, value := range p.Object.Spec.Template.Labels {
			if _, asked := slices.BinarySearch(keys, lookup.Canonical(key)); asked {
				labels[key] = value
			}
		}
	}
	if _, asked := slices.BinarySearch(keys, lookup.Canonical(p.Key.LabelKey())); asked {
		labels[p.Key.LabelKey()] = p.Key.Name
	}
	return lookup.FromLabels(labels)
}

// shelf stores each distinct list of types only once.
type shelf struct {
	keys    []string
	byFirst map[*cloudprovider.InstanceType][]*list
}

func (s *shelf) of(types []*cloudprovider.InstanceType) *list {
	var first *cloudprovider.InstanceType
	if len(types) > 0 {
		first = types[0]
	}
	for _, l := range s.byFirst[first] {
		if slices.Equal(l.types, types) {
			return l
		}
	}
	l := newList(types, s.keys)
	s.byFirst[first] = append(s.byFirst[first], l)
	return l
}

// match finds the offerings that the rule selects in the view.
func (v *view) match(r *rule) {
	v.matches = v.matches[:0]
	if open, none := v.list.conditions(r.want, v.labels); !none {
		v.matches = v.list.matching(open, v.matches)
	}
}

// conflict returns the first offering whose price the rule r and an earlier rule of equal weight both set, or else the first instance type
// of which both set the same resource. It returns nil if there is no conflict.
func (v *view) conflict(rules []*rule, r *rule) *Conflict {
	pool := v.pools[0].Key
	if r.sets() && v.prices != nil {
		for number, places := range v.matchedTypes {
			for _, place := range places {
				if rival := v.prices[place].rival(rules, r); rival != nil {
					t := v.list.types[number]
					offering := &t.Offerings[int(place)-v.list.first[number]]
					return &Conflict{With: rival.name, Pool: pool, Offering: cloudprovider.KeyOf(t, offering)}
				}
			}
		}
	}
	if len(r.capacity) == 0 || v.capacity == nil {
		return nil
	}
	for number := range v.matchedTypes {
		for _, s := range v.capacity[number] {
			if rival := s.rival(rules, r); rival != nil && r.states(s.name) {
				key := cloudprovider.OfferingKey{InstanceType: v.list.types[number].Name}
				return &Conflict{With: rival.name, Pool: pool, Offering: key, Resource: string(s.name)}
			}
		}
	}
	return nil
}

// apply applies a rule. match was called for it before, and it has no conflict.
func (v *view) apply(number int, r *rule) {
	if len(v.matches) == 0 {
		return
	}
	if r.sets() {
		if v.prices == nil {
			v.prices = make([]say, v.list.offerings())
		}
		for _, place := range v.matches {
			v.prices[place].add(number)
		}
	}
	if len(r.capacity) == 0 {
		return
	}
	if v.capacity == nil {
		v.capacity = make([][]share, len(v.list.types))
	}
	for t := range v.matchedTypes {
		for _, a := range r.capacity {
			v.shareOf(t, a.name).add(number)
		}
	}
}

func (v *view) shareOf(t int, name corev1.ResourceName) *share {
	i := slices.IndexFunc(v.capacity[t], func(s share) bool { return s.name == name })
	if i < 0 {
		i = len(v.capacity[t])
		v.capacity[t] = append(v.capacity[t], share{name: name})
	}
	return &v.capacity[t][i]
}

// matchedTypes yields the index of each type with a matching offering, and the indices of these offerings.
func (v *view) matchedTypes(yield func(number int, places []int32) bool) {
	number := 0
	for from := 0; from < len(v.matches); {
		for v.list.first[number+1] <= int(v.matches[from]) {
			number++
		}
		to := from
		for to < len(v.matches) && int(v.matches[to]) < v.list.first[number+1] {
			to++
		}
		if !yield(number, v.matches[from:to]) {
			return
		}
		from = to
	}
}

// states reports whether the overlay sets the resource.
func (r *rule) states(name corev1.ResourceName) bool {
	return slices.ContainsFunc(r.capacity, func(a amount) bool { return a.name == name })
}
