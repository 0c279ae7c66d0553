package explain

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/spelling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxKnown limits Unknown.Known, maxUnknown the number of unknown names in a reason.
const maxKnown, maxUnknown = 10, 4

// unknownsOf returns the names that pods of the class require of a pool and that do not exist on any object. If the pods have alternatives,
// names are reported only if each alternative has an unknown name.
func (x *explainer) unknownsOf(p *nodepool.Pool) []planning.Unknown {
	out := x.unknownResources(p)
	var names []planning.Unknown
	for _, term := range x.s.Terms {
		before := len(names)
		for _, r := range term {
			if u := x.unknownNeed(p, r); u != nil {
				names = append(names, *u)
			}
		}
		if len(names) == before {
			names = nil
			break
		}
	}
	for _, u := range names {
		if !slices.ContainsFunc(out, func(o planning.Unknown) bool { return o.Kind == u.Kind && o.Key == u.Key && o.Name == u.Name }) {
			out = append(out, u)
		}
	}
	return out[:min(len(out), maxUnknown)]
}

// unknownNeed returns the label or the value of the requirement that does not exist on any object, or nil if both exist.
func (x *explainer) unknownNeed(p *nodepool.Pool, r requirements.Requirement) *planning.Unknown {
	key := r.Key()
	values, listed := x.knownValues(p.Table.Catalog, key)
	switch {
	case listed && r.Operator() == requirements.OpIn && !slices.ContainsFunc(r.Values(), func(v string) bool { _, ok := slices.BinarySearch(values, v); return ok }):
		u := planning.Unknown{Kind: planning.UnknownValue, Key: key, Name: strings.Join(r.Values()[:min(len(r.Values()), maxKnown)], " or "), KnownCount: len(values)}
		if len(r.Values()) == 1 {
			u.Nearest = x.nearest3(values, u.Name)
		}
		if len(values) <= maxKnown {
			u.Known = values
		}
		return &u
	case listed || p.Template.Has(key) || match.AbsentMeets(r) || key == corev1.LabelHostname || x.stated(p.Table.Catalog, key) || x.m.Vocab.IsWellKnown(key) || x.onSomeNode(key):
		return nil
	}
	return &planning.Unknown{Kind: planning.UnknownLabel, Name: key, Nearest: x.nearLabels(p.Template, key, r)}
}

func (x *explanations) stated(c *market.Catalog, key string) bool {
	_, typed := c.TypeKeys[key]
	return typed || c.OfferingKeys[key]
}

// onSomeNode reports whether some node of the snapshot has the label. It examines the groups of nodes, which record the labels that pods
// require.
func (x *explainer) onSomeNode(key string) bool {
	known, ok := x.onNodes[key]
	if !ok {
		known = slices.ContainsFunc(x.m.Groups, func(g existing.Group) bool { return g.Labels.Has(key) })
		x.onNodes[key] = known
	}
	return known
}

// nearLabels returns known labels of which the unknown label may be a misspelling. Labels of the pool and well-known labels come first,
// then labels of instance types and nodes.
func (x *explainer) nearLabels(known requirements.Set, key string, r requirements.Requirement) []string {
	var e *requirements.IncompatibleError
	if err := x.m.Vocab.Compatible(known, requirements.NewSet(r)); errors.As(err, &e) {
		if hint := e.Hint(); hint != "" {
			return []string{hint}
		}
	}
	return x.nearest3(x.labelKeys(), key)
}

// nearest3 is spelling.Nearest with a cache, because all pods of a workload have the same mistake.
func (x *explanations) nearest3(known []string, name string) []string {
	if len(known) == 0 {
		return nil
	}
	key := nearKey{&known[0], len(known), name}
	if out, ok := x.near[key]; ok {
		return out
	}
	out := spelling.Nearest(name, known)
	x.near[key] = out
	return out
}

// nearKey identifies a call of spelling.Nearest: one of the lists that explanations keeps, and a name.
type nearKey struct {
	list *string
	n    int
	name string
}

// valuesKey identifies a label of a catalog.
type valuesKey struct {
	c   *market.Catalog
	key string
}

// knownValues returns the values that instance types or offerings of the catalog state for a label, sorted. It returns false if no type or
// offering states a value, or if one of them states the label without listing values.
func (x *explanations) knownValues(c *market.Catalog, key string) ([]string, bool) {
	if !x.stated(c, key) {
		return nil, false
	}
	if known, ok := x.values[valuesKey{c, key}]; ok {
		return known, known != nil
	}
	seen, open := map[string]bool{}, false
	note := func(set requirements.Set) {
		if !set.Has(key) {
			return
		}
		r := set.Get(key)
		open = open || r.Complement()
		for _, v := range r.Values() {
			seen[v] = true
		}
	}
	if c.OfferingKeys[key] {
		for i := range c.Slots {
			note(c.Slots[i].Labels)
		}
	} else {
		for _, it := range c.Types {
			note(it.Requirements)
		}
	}
	var out []string
	if !open {
		out = sortedSet(seen)
	}
	x.values[valuesKey{c, key}] = out
	return out, out != nil
}

func sortedSet[K ~string](set map[K]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}

// unknownResources returns the resources that the pods request and that no type of the pool's catalog has.
func (x *explainer) unknownResources(p *nodepool.Pool) []planning.Unknown {
	var out []planning.Unknown
	for d, name := range x.m.Resources.Names {
		if d < resources.Base || x.c.Requests[d] <= 0 || resources.Hidden(name) {
			continue
		}
		known := x.resourcesOf(p.Table.Catalog)
		if _, ok := slices.BinarySearch(known, string(name)); !ok {
			out = append(out, planning.Unknown{Kind: planning.UnknownResource, Name: string(name), Nearest: x.nearest3(known, string(name))})
		}
	}
	return out
}

// notKnown returns the requested resources whose amount is unknown for some types of the pool.
func (x *explainer) notKnown(p *nodepool.Pool) []planning.NotKnown {
	var out []planning.NotKnown
	for d, name := range x.m.Resources.Names {
		if d < resources.Base || x.c.Requests[d] <= 0 {
			continue
		}
		n := 0
		for _, it := range p.Table.Catalog.Types {
			if slices.Contains(it.NotKnown, name) {
				n++
			}
		}
		if n > 0 {
			out = append(out, planning.NotKnown{Resource: name, Types: n})
		}
	}
	return out
}

// resourcesOf returns the resources that types of the catalog have, sorted.
func (x *explanations) resourcesOf(c *market.Catalog) []string {
	if known, ok := x.resources[c]; ok {
		return known
	}
	seen := map[corev1.ResourceName]bool{}
	for i := range c.Variants {
		for name, q := range c.Variants[i].Capacity {
			if !seen[name] && q.Sign() > 0 {
				seen[name] = true
			}
		}
	}
	out := sortedSet(seen)
	x.resources[c] = out
	return out
}

// maxNodesRead is the number of nodes whose labels are read to find similar names.
const maxNodesRead = 64

// labelKeys returns the labels of instance types, offerings and nodes, sorted.
func (x *explanations) labelKeys() []string {
	if x.keys != nil {
		return x.keys
	}
	seen := map[string]bool{}
	for _, c := range x.t.M.Catalogs {
		for key := range c.TypeKeys {
			seen[key] = true
		}
		for key := range c.OfferingKeys {
			seen[key] = true
		}
	}
	for i := range x.t.M.Nodes[:min(len(x.t.M.Nodes), maxNodesRead)] {
		if o := x.t.M.Nodes[i].Source.Object; o != nil {
			for key := range o.Labels {
				seen[x.t.M.Vocab.Canonical(key)] = true
			}
		}
	}
	for _, p := range x.t.M.Pools {
		for _, key := range p.Template.Keys() {
			seen[key] = true
		}
	}
	x.keys = sortedSet(seen)
	return x.keys
}

// unknownOnNodes returns the names that the pods require and no node of the snapshot has.
func (x *explainer) unknownOnNodes() []planning.Unknown {
	var out []planning.Unknown
	for d, name := range x.m.Resources.Names {
		if d < resources.Base || x.c.Requests[d] <= 0 || resources.Hidden(name) {
			continue
		}
		seen := map[corev1.ResourceName]bool{}
		for i := range x.m.Nodes {
			if q := x.m.Nodes[i].Capacity[name]; q.Sign() > 0 {
				seen[name] = true
				break
			}
			if i < maxNodesRead {
				for n, q := range x.m.Nodes[i].Capacity {
					seen[n] = seen[n] || q.Sign() > 0
				}
			}
		}
		if !seen[name] {
			delete(seen, name)
			out = append(out, planning.Unknown{Kind: planning.UnknownResource, Name: string(name), Nearest: spelling.Nearest(string(name), sortedSet(seen))})
		}
	}
	if len(x.s.Terms) == 1 {
		for _, r := range x.s.Terms[0] {
			if match.AbsentMeets(r) || r.Key() == corev1.LabelHostname || x.onSomeNode(r.Key()) ||
				slices.ContainsFunc(out, func(u planning.Unknown) bool { return u.Kind == planning.UnknownLabel && u.Name == r.Key() }) {
				continue
			}
			out = append(out, planning.Unknown{Kind: planning.UnknownLabel, Name: r.Key(), Nearest: x.nearLabels(requirements.Set{}, r.Key(), r)})
		}
	}
	return out[:min(len(out), maxUnknown)]
}
