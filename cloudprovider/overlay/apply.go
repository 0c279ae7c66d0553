package overlay

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Input has the pools and instance types to which overlays are applied. Nothing in it is changed, and nothing in it may be changed
// afterwards.
type Input struct {
	// Overlays in any order; names are unique. Each invalid overlay is refused separately.
	Overlays []*v1.NodeOverlay
	// Pools in any order; keys are unique. All pools belong in one call: an overlay is applied to all or to none.
	Pools []Pool
	// Lookup is the provider's vocabulary: requirements are validated with it, and aliases in requirements and labels are replaced by the
	// names that they stand for. Nil knows no aliases and restricts no keys.
	Lookup *requirements.Lookup
	// Previous is the result of an earlier call, or nil. Types with the same result as then keep their identity, so that planners recognise
	// them.
	Previous *Result
}

// Pool is a NodePool and the instances it may launch.
type Pool struct {
	// Key is the pool's identity. Its name is the value of the label Key.LabelKey, which requirements of overlays may use.
	Key v1.PoolKey
	// Object has the labels of the template, which requirements of overlays may use in addition to the labels of types and offerings. Nil
	// has none.
	Object *v1.NodePool
	// Types are the instances as the provider lists them, possibly shared with other pools.
	Types []*cloudprovider.InstanceType
}

// Apply applies overlays to the instance types of pools. It never fails as a whole: the faults of an overlay are in its verdict, and the
// others are applied without it.
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

// firstConflict matches the rule with all views, and returns the first conflict with another rule of equal weight, or nil.
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

// number stores the list of types that results from base, unless an equal list is stored already.
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
