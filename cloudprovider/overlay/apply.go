package overlay

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Input has the overlays, and the pools and instance types to which they are applied. Apply does not change it. Callers must not change it
// afterwards either.
type Input struct {
	// Overlays may be in any order; their names must be unique. Each invalid overlay is refused separately.
	Overlays []*v1.NodeOverlay
	// Pools may be in any order; their keys must be unique. Pass all pools in one call, because an overlay is applied to all pools or to
	// none.
	Pools []Pool
	// Lookup is the provider's vocabulary. Requirements are validated with it, and aliases in requirements and labels are replaced by the
	// canonical names. Nil means no aliases and no restricted keys.
	Lookup *requirements.Lookup
	// Previous is the result of an earlier call, or nil. If a type has the same result as in that call, the same object is returned,
	// because planners compare types by pointer.
	Previous *Result
}

// Pool is a NodePool and the instance types that it may launch.
type Pool struct {
	// Key identifies the pool. Its name is the value of the label Key.LabelKey, which requirements of overlays may use.
	Key v1.PoolKey
	// Object is the NodePool. Requirements of overlays may use the labels of its template, in addition to the labels of types and
	// offerings. Nil means that the pool has no such labels.
	Object *v1.NodePool
	// Types are the instance types as the provider lists them; they may be shared with other pools.
	Types []*cloudprovider.InstanceType
}

// Apply applies overlays to the instance types of pools. It never returns an error. An overlay with faults is left out: its verdict
// contains the faults, and the other overlays are applied.
func Apply(in Input) *Result {
	taken := take(in.Overlays, in.Lookup)
	views := newViews(in.Pools, taken, in.Lookup)
	for i, r := range taken.rules {
		if r == nil {
			continue
		}
		if conflict := firstConflict(views, taken.rules, r); conflict != nil {
			taken.refuse(i, ReasonConflict, conflict.String())
			taken.verdicts[i].Conflict = conflict
			continue
		}
		for _, v := range views {
			v.apply(i, r)
			taken.verdicts[i].Offerings += len(v.matches) * len(v.pools)
		}
	}
	return newResult(views, taken, in)
}

// firstConflict matches rule r with all views. It returns the first conflict with another rule of equal weight, or nil.
func firstConflict(views []*view, rules []*rule, r *rule) *Conflict {
	for _, v := range views {
		v.match(r)
		if conflict := v.conflict(rules, r); conflict != nil {
			return conflict
		}
	}
	return nil
}

func newResult(views []*view, taken taken, in Input) *Result {
	result := &Result{
		Pools:    make([]PoolTypes, 0, len(in.Pools)),
		Verdicts: taken.verdicts,
		byPool:   make(map[v1.PoolKey]int, len(in.Pools)),
		copies:   make(map[*cloudprovider.InstanceType][]*corrected),
		known:    make(map[*cloudprovider.InstanceType]*corrected),
	}
	workshop := &workshop{result: result, previous: in.Previous}
	made := make(map[*list][]int)
	for _, v := range views {
		number := result.number(made, v.list, workshop.correct(v, taken.rules))
		for _, p := range v.pools {
			result.Pools = append(result.Pools, PoolTypes{Key: p.Key, Types: result.Lists[number], List: number})
		}
	}
	slices.SortStableFunc(result.Pools, func(a, b PoolTypes) int { return a.Key.Compare(b.Key) })
	for i := range slices.Backward(result.Pools) {
		result.byPool[result.Pools[i].Key] = i
	}
	return result
}

// number returns the index in Lists of the types that result from base. It stores the list unless an equal list is stored already.
func (r *Result) number(made map[*list][]int, base *list, types []*cloudprovider.InstanceType) int {
	for _, number := range made[base] {
		if slices.Equal(r.Lists[number], types) {
			return number
		}
	}
	number := len(r.Lists)
	r.Lists = append(r.Lists, types)
	made[base] = append(made[base], number)
	return number
}
