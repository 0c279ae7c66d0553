package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
)

// A claim has no instance while its launch is under way. Its pods are still pending, so a plan without the claim would launch the same node
// again. The node's capacity is only known from the claim's requirements. They name the allowed instance types, and each of these types has
// room for the claim's pods. So planning assumes the smallest allocatable amount of each resource among these types, and the labels that
// are equal in all of these types. For the pool's limits, it assumes the largest capacity.

// shape is the assumed form of a node until its provider reports it.
type shape struct {
	labels                map[string]string
	capacity, allocatable corev1.ResourceList
}

// shapeCache caches shapes and the copies of claims that have them.
type shapeCache struct {
	// lists are the instance types from which the shapes were made, by pool. If the types of a pool change, the shapes must be made again.
	lists map[v1.PoolKey][]*cloudprovider.InstanceType
	// byText has the shapes by a text of pool and requirements, because many claims of one plan have equal requirements.
	byText map[string]*shape
	claims map[string]shapedClaim
}

type shapedClaim struct {
	claim, shaped *v1.NodeClaim
	shape         *shape
}

// withoutCapacity reports whether the claim does not state the capacity of its node yet.
func withoutCapacity(claim *v1.NodeClaim) bool {
	return claim != nil && len(claim.Status.Capacity) == 0 && len(claim.Status.Allocatable) == 0
}

// addShapes gives claims without an instance the shapes that planning assumes.
func (s *State) addShapes(snapshot *scheduling.Snapshot, q Query) {
	if len(s.unlaunched) == 0 {
		s.shapes = shapeCache{}
		return
	}
	types := s.typesOf(snapshot)
	next := shapeCache{lists: types, byText: make(map[string]*shape), claims: make(map[string]shapedClaim, len(s.unlaunched))}
	for key := range s.unlaunched {
		n := s.nodeOf(snapshot, key)
		list := types[n.Pool]
		if len(list) == 0 {
			continue
		}
		before := s.shapes.byText
		if !sameTypes(s.shapes.lists[n.Pool], list) {
			before = nil
		}
		made := s.shapeOf(n, list, before, next.byText)
		if made == nil {
			continue
		}
		known := s.shapes.claims[v1.QualifiedName(n.Claim)]
		if known.claim != n.Claim || known.shape != made {
			known = shapedClaim{n.Claim, made.on(n.Claim), made}
		}
		next.claims[v1.QualifiedName(n.Claim)] = known
		n.Claim = known.shaped
	}
	s.shapes = next
}

// typesOf returns the instance types of each pool, with overlays applied.
func (s *State) typesOf(snapshot *scheduling.Snapshot) map[v1.PoolKey][]*cloudprovider.InstanceType {
	out := make(map[v1.PoolKey][]*cloudprovider.InstanceType, len(snapshot.NodePools))
	in := overlay.Input{Overlays: snapshot.NodeOverlays, Lookup: s.lookup, Previous: s.overlaid}
	for i := range snapshot.NodePools {
		p := &snapshot.NodePools[i]
		out[p.Key] = snapshot.Catalogs[p.Catalog]
		in.Pools = append(in.Pools, overlay.Pool{Key: p.Key, Object: p.Object, Types: snapshot.Catalogs[p.Catalog]})
	}
	if len(snapshot.NodeOverlays) == 0 {
		return out
	}
	s.overlaid = overlay.Apply(in)
	for key := range out {
		if list, err := s.overlaid.InstanceTypes(key); err == nil {
			out[key] = list
		}
	}
	return out
}

func sameTypes(a, b []*cloudprovider.InstanceType) bool { return slices.Equal(a, b) }

// shapeOf returns the claim's shape, from the cache or computed now, or nil if no type is compatible.
func (s *State) shapeOf(n *scheduling.Node, types []*cloudprovider.InstanceType, before, now map[string]*shape) *shape {
	want, err := s.lookup.ParseSet(n.Claim.Spec.Requirements)
	if err != nil {
		return nil // the requirements are invalid, so the provider can't launch this claim either
	}
	text := n.Pool.String() + "\x00" + want.String()
	if made, ok := now[text]; ok {
		return made
	}
	made, ok := before[text]
	if !ok {
		for _, c := range cloudprovider.LaunchOrder(types, want, nil) {
			made = made.with(c)
		}
	}
	now[text] = made
	return made
}

// with extends the shape to nodes that are bought as the candidate c. For each resource, the result has the larger of the two capacities
// and the smaller of the two allocatable amounts. It has the labels that are equal in the shape and the candidate. If the shape is nil, the
// result is the shape of the candidate.
func (sh *shape) with(c cloudprovider.Candidate) *shape {
	capacity, allocatable := c.Type.CapacityOf(c.Offering), c.Type.AllocatableOf(c.Offering)
	if sh == nil {
		return &shape{labels: labelsOf(c), capacity: maps.Clone(capacity), allocatable: maps.Clone(allocatable)}
	}
	for name, amount := range capacity {
		if have, ok := sh.capacity[name]; !ok || amount.Cmp(have) > 0 {
			sh.capacity[name] = amount
		}
	}
	for name, have := range sh.allocatable {
		amount, ok := allocatable[name]
		switch {
		case !ok:
			delete(sh.allocatable, name)
		case amount.Cmp(have) < 0:
			sh.allocatable[name] = amount
		}
	}
	for key, value := range sh.labels {
		stated := c.Offering.Requirements.Get(key)
		if !c.Offering.Requirements.Has(key) {
			stated = c.Type.Requirements.Get(key)
		}
		if values := stated.Values(); len(values) != 1 || values[0] != value {
			delete(sh.labels, key)
		}
	}
	return sh
}

// labelsOf returns the labels of a node that is bought as the candidate.
func labelsOf(c cloudprovider.Candidate) map[string]string {
	out := make(map[string]string)
	for _, set := range []requirements.Set{c.Type.Requirements, c.Offering.Requirements} {
		for r := range set.All {
			if values := r.Values(); !r.Complement() && len(values) == 1 {
				out[r.Key()] = values[0]
			}
		}
	}
	return out
}

// on returns a copy of the claim with the shape as its status. If the claim and the shape have different values for a label, the claim's
// value is used.
func (sh *shape) on(claim *v1.NodeClaim) *v1.NodeClaim {
	out := *claim
	out.Labels = maps.Clone(sh.labels)
	maps.Copy(out.Labels, claim.Labels)
	out.Status.Capacity, out.Status.Allocatable = sh.capacity, sh.allocatable
	return &out
}
