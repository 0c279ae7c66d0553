package explain

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

const (
	// mostGangsExplained is the number of gangs that are explained in detail. For other gangs, the plan reports only how many members fit
	// in the domain that Likeliest returns first.
	mostGangsExplained = 50
	// mostPoolsCured is the number of pools for which higher limits are tried.
	mostPoolsCured = 16
	// limitsLifted is an amount that is more than any pool uses, and small enough for sums.
	limitsLifted = 1 << 60
)

// gangFaults finds what prevents a gang from being placed as a whole.
type gangFaults struct{ solving.Gangs }

func gangFaultsOf(t *trial.Trial) gangFaults { return gangFaults{solving.GangsOf(t)} }

// WriteGangs writes the results of the gangs to out. It leaves the trial unchanged.
func (t Explaining) WriteGangs(ctx context.Context, out *planning.Plan) {
	x := t.M.Gangs
	if x == nil {
		return
	}
	placed := make([]int, len(x.List))
	for _, key := range out.Order {
		if number, ok := x.ByKey[key]; ok {
			placed[number]++
		}
	}
	explained := 0
	for i := range x.List {
		g := &x.List[i]
		p := planning.GangPlacement{Gang: g.Source.Key(), Members: g.Source.Size(), Minimum: g.Source.Needs(), Bound: g.Bound, Placed: placed[i]}
		switch o := g.Option(t.S.Ways[i]); {
		case o != nil:
			p.Domains = o.Domains
		case p.Bound+p.Placed < p.Minimum:
			p.Reason = gangFaultsOf(t.Trial).reasonOf(ctx, int32(i), explained < mostGangsExplained)
			explained++
		}
		out.Gangs = append(out.Gangs, p)
	}
}

// reasonOf returns the reason why the gang has no place. If the gang alone has a place, the reason is that other gangs, which must be
// placed together with it, have no place.
func (t gangFaults) reasonOf(ctx context.Context, number int32, inDepth bool) *planning.GangReason {
	x := t.M.Gangs
	r := t.reason(ctx, number, inDepth)
	family := x.List[number].Family
	if family < 0 || r.Fit < r.Needed || r.Code == planning.GangIncomplete || r.Code == planning.GangDeadlinePassed {
		return r
	}
	out := &planning.GangReason{Code: planning.GangParentHasNoPlace, Fit: r.Fit, Needed: r.Needed, Domains: r.Domains, Parent: wholeOf(x.List[number].Source)}
	for at := family; at >= 0; at = x.Families[at].Within {
		for _, other := range x.Families[at].Needed {
			if other == number || t.S.Ways[other] != model.GangWithheld {
				continue
			}
			if why := t.reason(ctx, other, inDepth); why.Fit < why.Needed || why.Code == planning.GangDeadlinePassed {
				key := x.List[other].Source.Key()
				out.Sibling, out.Because = &key, why
				return out
			}
		}
	}
	if inDepth && x.Families[family].Within < 0 {
		out.Cures = t.familyCures(ctx, &x.Families[family])
	}
	return out
}

// wholeOf returns the name of the outermost group whose gangs are placed together with the gang or not at all.
func wholeOf(gang *planning.Gang) string {
	if whole, ok := gang.Whole(); ok {
		return whole.Name
	}
	return gang.Parent
}

// familyCures returns raised limits with which all gangs of the family would have places.
func (t gangFaults) familyCures(ctx context.Context, family *gangs.Family) []planning.GangCure {
	looked := 0
	for i, p := range t.M.Pools {
		if p.Limits == nil || p.Table == nil || looked == mostPoolsCured {
			continue
		}
		looked++
		usage := t.S.Limits.Usage[i]
		t.lift(int32(i), -limitsLifted)
		before, over := t.Mark(), make([]int64, len(p.Limits.Max))
		fits := t.PlaceFamily(ctx, family)
		for k := range over {
			over[k] = max(usage[k]+limitsLifted-p.Limits.Max[k], 0)
		}
		t.Undo(before)
		t.lift(int32(i), limitsLifted)
		if fits && slices.ContainsFunc(over, func(n int64) bool { return n > 0 }) {
			return []planning.GangCure{{Pool: p.Key, Limits: limitsList(p.Limits, over)}}
		}
	}
	return nil
}

// reason returns the reason why the gang alone has no place. If inDepth is set, it also returns changes that would give the gang a place.
func (t gangFaults) reason(ctx context.Context, number int32, inDepth bool) *planning.GangReason {
	g := &t.M.Gangs.List[number]
	r := &planning.GangReason{Code: planning.GangDoesNotFit, Fit: g.Bound, Needed: g.Source.Needs()}
	switch {
	case g.There < r.Needed:
		r.Code, r.Fit = planning.GangIncomplete, g.There
		return r
	case !g.Plannable(t.M.Snapshot):
		r.Code = planning.GangDeadlinePassed
		return r
	case g.Closed != nil:
		t.noDomain(ctx, number, inDepth, r)
		return r
	case t.S.Ways[number] != model.GangWithheld:
		return r
	}
	aside := state.ChoosingOf(&t.S).SetAside(t.RealClasses())
	defer func() { state.ChoosingOf(&t.S).TakeBack(aside) }()
	best := t.fullestOption(ctx, number, inDepth, r)
	if inDepth {
		t.explainMember(ctx, number, best, r)
		r.Cures = t.cures(ctx, number, best)
	}
	if g.Loose != nil {
		for _, d := range best.Domains {
			r.Keys = append(r.Keys, d.Key)
		}
		r.Known, r.Open, r.Code = g.Known, len(g.Levels[0]), t.domainsCode(number, r)
	}
	return r
}

// noDomain adds to r why the gang can use no domain.
func (t gangFaults) noDomain(ctx context.Context, number int32, inDepth bool, r *planning.GangReason) {
	g := &t.M.Gangs.List[number]
	r.Code, r.Keys, r.Known = planning.GangDomainsClosed, g.Closed.Keys, g.Known
	if g.Known == 0 {
		r.Code = planning.GangNoSuchDomain
		x := newExplanations(t.Trial)
		for _, key := range g.Closed.Unstated {
			r.Unknown = append(r.Unknown, planning.Unknown{Kind: planning.UnknownLabel, Name: key, Nearest: x.nearest3(x.labelKeys(), key)})
		}
	} else {
		r.RunIn = g.Closed.RunIn
		if at := g.Closed.Pod; at >= 0 {
			key := planning.KeyOf(t.M.Pods[at])
			r.Pod = &key
		}
	}
	if !inDepth || t.S.Ways[number] != model.GangWithheld {
		return
	}
	aside := state.ChoosingOf(&t.S).SetAside(t.RealClasses())
	defer func() { state.ChoosingOf(&t.S).TakeBack(aside) }()
	if t.fitsLoose(ctx, number) {
		r.Cures = []planning.GangCure{{Without: r.Keys}}
	}
}

// domainsCode returns GangDomainsForbidden if some domain has room for the gang but excludes it for another reason. Otherwise it returns
// GangDomainsTooSmall.
func (t gangFaults) domainsCode(number int32, r *planning.GangReason) planning.GangReasonCode {
	room := func(reason planning.Reason) bool {
		return reason.Code == planning.ReasonInstanceTypes || reason.Code == planning.ReasonExistingNodes || reason.Code == planning.ReasonReservationEnds
	}
	if len(r.Reasons) > 0 && !slices.ContainsFunc(r.Reasons, func(reason planning.Reason) bool { return !room(reason) }) {
		return planning.GangDomainsTooSmall
	}
	g := &t.M.Gangs.List[number]
	if slices.ContainsFunc(g.Levels[0], func(o model.GangOption) bool { return t.couldHold(number, &o) }) {
		return planning.GangDomainsForbidden
	}
	return planning.GangDomainsTooSmall
}

// couldHold reports whether existing or new nodes of the option have room for the pods of each class, so that only other reasons than room
// may exclude the pods.
func (t gangFaults) couldHold(number int32, o *model.GangOption) bool {
	shares := t.M.Gangs.Ways[number].Ways[o.Way]
	if !slices.ContainsFunc(shares, func(s state.Share) bool {
		return len(t.M.Classes[s.Class].Stages) > 0 || t.M.Classes[s.Class].Topology != nil
	}) {
		return false // now only a lack of room can be the cause; room is counted last because counting it takes the most work
	}
	return !slices.ContainsFunc(shares, func(s state.Share) bool {
		c := t.M.Classes[s.Class]
		return c.Invalid != nil || len(c.Stages) == 0 && t.RoomFor(s.Class, int(s.Count)) < int(s.Count)
	})
}

// fitsLoose reports whether the gang would have a place without its topology constraints.
func (t gangFaults) fitsLoose(ctx context.Context, number int32) bool {
	o := t.M.Gangs.List[number].Loose
	if o == nil {
		return false
	}
	before := t.Mark()
	defer t.Undo(before)
	return t.FitsOption(ctx, number, o)
}

// fullestOption returns the option in which the most members have a place. If the parameter all is false, it tries only the option that
// Likeliest returns first. It records the number of these members and the option's domains in the reason.
func (t gangFaults) fullestOption(ctx context.Context, number int32, all bool, r *planning.GangReason) *model.GangOption {
	g := &t.M.Gangs.List[number]
	options := g.Levels[0]
	order := t.Likeliest(number, options)
	if !all {
		order = order[:1]
	}
	best := &options[order[0]]
	for i, at := range order {
		before := t.Mark()
		t.FillOption(ctx, number, &options[at])
		if fit := g.Bound + t.S.Placed.PodsSince(&t.S.Log, before.At); i == 0 || fit > r.Fit {
			best, r.Fit, r.Domains = &options[at], fit, options[at].Domains
		}
		t.Undo(before)
		if ctx.Err() != nil {
			break
		}
	}
	return best
}

// explainMember finds the first member without a place in the option, and explains why it has no place.
func (t gangFaults) explainMember(ctx context.Context, number int32, o *model.GangOption, r *planning.GangReason) {
	before := t.Mark()
	defer t.Undo(before)
	if t.FillOption(ctx, number, o) {
		return
	}
	for _, share := range t.M.Gangs.Ways[number].Ways[o.Way] {
		left := t.S.Waiting[share.Class]
		if left == 0 {
			continue
		}
		members := t.M.Gangs.List[number].NeededOf(o, share.Class)
		pod := members[len(members)-int(left)]
		key := planning.KeyOf(t.M.Pods[pod])
		r.Pod = &key
		if t.S.Topology != nil {
			t.S.Topology.Binding = true
			defer func() { t.S.Topology.Binding = false }()
		}
		r.Reasons = slices.Concat(runTimeReason(t.M, int(pod)), newExplanations(t.Trial).explainer(share.Class).reasons())
		return
	}
}

// runTimeReason returns the reservations that the pending pod with the index at can't use because of its run time, or nil if there are no
// such reservations.
func runTimeReason(m *model.Model, at int) []planning.Reason {
	if ends := m.RunTimes.Why(at); ends != "" {
		return []planning.Reason{{Code: planning.ReasonReservationEnds, Detail: ends}}
	}
	return nil
}

// cures returns single changes that would give the gang a place.
func (t gangFaults) cures(ctx context.Context, number int32, best *model.GangOption) []planning.GangCure {
	var out []planning.GangCure
	looked := 0
	for i, p := range t.M.Pools {
		if p.Limits == nil || p.Table == nil || looked == mostPoolsCured {
			continue
		}
		looked++
		if raised, in := t.raisedLimits(ctx, number, int32(i)); raised != nil {
			out = append(out, planning.GangCure{Pool: p.Key, Limits: raised, Domains: in})
			break
		}
	}
	if t.fitsLoose(ctx, number) {
		var keys []string
		for _, d := range best.Domains {
			keys = append(keys, d.Key)
		}
		out = append(out, planning.GangCure{Without: keys})
	}
	return out
}

// raisedLimits returns by how much the pool's limits must be raised so that the gang has a place, and in which domains. It returns nil if
// raising the limits is not enough.
func (t gangFaults) raisedLimits(ctx context.Context, number, pool int32) (raised corev1.ResourceList, in []planning.GangDomain) {
	limits, usage := t.M.Pools[pool].Limits, t.S.Limits.Usage[pool]
	t.lift(pool, -limitsLifted)
	defer t.lift(pool, limitsLifted)
	options := t.M.Gangs.List[number].Levels[0]
	var least []int64
	for _, at := range t.Likeliest(number, options) {
		before := t.Mark()
		if t.FitsOption(ctx, number, &options[at]) {
			over := make([]int64, len(limits.Max))
			for i := range over {
				over[i] = max(usage[i]+limitsLifted-limits.Max[i], 0)
			}
			if least == nil || slices.Compare(over, least) < 0 {
				least, in = over, options[at].Domains
			}
		}
		t.Undo(before)
	}
	if least == nil || !slices.ContainsFunc(least, func(n int64) bool { return n > 0 }) {
		return nil, nil
	}
	return limitsList(limits, least), in
}

// lift adds the given amount, which may be negative, to the used amount of each of the pool's limits. A rollback of the trial does not undo
// this change.
func (t gangFaults) lift(pool int32, by int64) {
	for i := range t.S.Limits.Usage[pool] {
		t.S.Limits.Usage[pool][i] += by
	}
}

// limitsList returns the amounts that are not 0, as a ResourceList.
func limitsList(limits *nodepool.Limits, amounts []int64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i, n := range amounts {
		if n > 0 {
			out[limits.Names[i]] = resources.Quantity(limits.Names[i], n)
		}
	}
	return out
}
