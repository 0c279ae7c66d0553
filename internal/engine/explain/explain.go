package explain

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// WriteUnschedulable writes the pending pods to out, with reasons that are computed once per class.
func (t Explaining) WriteUnschedulable(out *planning.Plan, q *trial.PodQueues) {
	type waitingPod struct {
		at  int
		key planning.PodKey
		c   int32
	}
	var list []waitingPod
	for c := range t.M.Classes {
		if t.S.Waiting[c] == 0 {
			continue
		}
		pending := trial.GangsOf(t.Trial).QueueOf(int32(c))
		for i, key := range q.Take(nil, int32(c), int(t.S.Waiting[c])) {
			at := len(t.M.Pods)
			if first := q.Next[c] - int(t.S.Waiting[c]) + i; first < len(pending) {
				at = int(pending[first])
			}
			list = append(list, waitingPod{at, key, int32(c)})
		}
	}
	reasons := map[int32][]planning.Reason{}
	for _, i := range trial.GangsOf(t.Trial).Withheld() {
		gang := t.M.Gangs.Of[i]
		list = append(list, waitingPod{int(i), planning.KeyOf(t.M.Pods[i]), -1 - gang})
		if reasons[-1-gang] == nil {
			reasons[-1-gang] = []planning.Reason{{Code: planning.ReasonGang, Detail: out.Gangs[gang].String()}}
		}
	}
	slices.SortStableFunc(list, func(a, b waitingPod) int { return cmp.Compare(a.at, b.at) })
	shared := newExplanations(t.Trial)
	for _, w := range list {
		if _, ok := reasons[w.c]; !ok {
			reasons[w.c] = shared.explainer(w.c).reasons()
		}
		why := reasons[w.c]
		if limits := t.M.Spot.Why(w.at); limits != "" && t.M.Classes[max(w.c, 0)].Invalid == nil {
			why = slices.Concat([]planning.Reason{{Code: planning.ReasonSpotLimits, Detail: limits}}, why)
		}
		if w.c >= 0 && t.M.Classes[w.c].Invalid == nil { // pods of gangs (w.c is negative) have the reason of their gang
			why = slices.Concat(runTimeReason(t.M, w.at), why)
		}
		out.Unschedulable = append(out.Unschedulable, planning.Unschedulable{Pod: w.key, Reasons: why})
	}
}

func newExplanations(t *trial.Trial) *explanations {
	x := &explanations{t: t, shut: map[*market.Catalog]map[variantSlot]int64{}, pools: make([]*poolFacts, len(t.M.Pools)), questions: map[questionKey]*question{}, barred: map[int32]bool{},
		everyone: map[int32][]int32{}, hosts: map[admission]topology.Host{}, groups: map[int32][]groupFailings{}, onNodes: map[string]bool{}, rules: map[ruleKey]planning.Rule{}, values: map[valuesKey][]string{}, resources: map[*market.Catalog][]string{}, near: map[nearKey][]string{},
	}
	if t.S.Topology != nil {
		x.cells = layout.NewCells(t.M.Pools, t.M.TopologyKeys, t.S.Topology)
	}
	x.twins = twinPools(t.M)
	return x
}

// twinPools returns, for each pool, the index of the first pool that is equal for all pods. Equal pools launch the same nodes with the same
// labels except for the pool's name, which no pod requires, and have no limits. So a check that keeps a pod out of a pool also keeps the
// pod out of all equal pools.
func twinPools(m *model.Model) []int {
	out := make([]int, len(m.Pools))
	for i, p := range m.Pools {
		out[i] = i
		if p.Table == nil || p.Limits != nil || m.AskedKeys[p.Key.LabelKey()] {
			continue
		}
		out[i] = slices.IndexFunc(m.Pools[:i+1], func(o *nodepool.Pool) bool {
			return o == p || o.SellsLike(p) && reflect.DeepEqual(&p.Object.Spec.Template, &o.Object.Spec.Template)
		})
	}
	return out
}

func (x *explanations) explainer(class int32) *explainer {
	t := x.t
	out := &explainer{
		explanations: x, m: t.M, c: t.M.Classes[class], brief: x.looks > maxLooks,
		roomy: map[*nodepool.Table]bitset.Set{}, admitted: map[admission]bool{}, varied: map[varietySite]bool{},
	}
	out.s = t.M.Shapes[out.c.Shape]
	out.demands = alternatives(out.s)
	out.awaits = t.AwaitsReservation(out.c)
	out.mayAwait = t.Options.Reserved == planning.ReservedStrict && slices.ContainsFunc(t.M.Pools, func(p *nodepool.Pool) bool {
		return p.Table != nil && len(p.Table.Catalog.Reservations) > 0
	})
	return out
}

// reasons says, first for each pool and then for the existing nodes, why they have no place for pods of the class.
func (x *explainer) reasons() []planning.Reason {
	switch {
	case x.c.Invalid != nil:
		return []planning.Reason{{Code: planning.ReasonPodInvalid, Detail: "the pod can't be planned: " + x.c.Invalid.Error()}}
	case x.apart() != "":
		return []planning.Reason{{Code: planning.ReasonNotPlaced, Detail: x.apart()}}
	case x.optsOut():
		r := nodeFaultsOf(x).existing()
		r.Code = planning.ReasonOptedOut
		return []planning.Reason{r}
	case len(x.m.Pools) == 0:
		r := nodeFaultsOf(x).existing()
		r.NearestMiss = x.cureOfDevices(r.NearestMiss, nil)
		if r.Nodes != nil {
			r.Unknown = x.unknownOnNodes()
		}
		return []planning.Reason{r}
	}
	nodes := 0
	if len(x.m.Nodes) > 0 && x.nodeLooks < maxNodeLooks {
		nodes = 1
	}
	out := make([]planning.Reason, len(x.m.Pools), len(x.m.Pools)+nodes)
	for i, p := range x.m.Pools {
		if x.twins[i] < i {
			continue
		}
		var best finding
		out[i], best = x.pool(int32(i), p)
		var missed *devices.Miss
		if out[i].Code == planning.ReasonInstanceTypes {
			out[i].Devices, missed = x.missingDevices(int32(i), p)
		}
		if out[i].NearestMiss = x.cureOfDevices(missesOf(x).nearest(int32(i), p, best), missed); out[i].NearestMiss == nil && out[i].Code != planning.ReasonTaint {
			missesOf(x).further(&out[i], int32(i), p)
		}
	}
	missesOf(x).furtherTaints(out)
	for i, p := range x.m.Pools {
		out[i] = out[x.twins[i]]
		out[i].Pool = p.Key
	}
	if nodes > 0 {
		r := nodeFaultsOf(x).existing()
		r.NearestMiss = x.cureOfDevices(r.NearestMiss, nil)
		r.Code = planning.ReasonExistingNodes
		out = append(out, r)
	}
	return out
}

// optsOut reports whether the pods opt out of all pools: they require that the label that names a node's pool is absent, for every
// generation of the existing pools.
func (x *explainer) optsOut() bool {
	if len(x.m.Pools) == 0 {
		return x.s.OptsOut(v1.NodePoolLabelKey)
	}
	return !slices.ContainsFunc(x.m.Pools, func(p *nodepool.Pool) bool { return !x.s.OptsOut(p.Key.LabelKey()) })
}

// pool explains why the pool has no place for the class. It also finds the nearest miss among the pool's nodes that fail a single check.
func (x *explainer) pool(at int32, p *nodepool.Pool) (planning.Reason, finding) {
	if p.Table == nil {
		return planning.Reason{Code: planning.ReasonNodePoolNotReady, Detail: "it launches no nodes: " + p.NotReady}, finding{}
	}
	if taints := intolerable(x.s.Tolerations, p.Taints); len(taints) > 0 {
		r := planning.Reason{Code: planning.ReasonTaint, Taint: &taints[0]}
		if len(intolerable(x.c.Sample.Spec.Tolerations, taints[:1])) == 0 {
			r.Detail = "a pod that shares claims with it"
		}
		for i := range taints[1:min(len(taints), maxAlso)] {
			r.Also = append(r.Also, planning.Reason{Code: planning.ReasonTaint, Taint: &taints[i+1]})
		}
		return r, finding{}
	}
	return x.nodesOf(at, p)
}

// nodesOf does the same as x.pool, but ignores the pool's taints. p.Table must not be nil.
func (x *explainer) nodesOf(at int32, p *nodepool.Pool) (planning.Reason, finding) {
	if p.Rows.Empty() {
		return planning.Reason{Code: planning.ReasonNoInstanceTypes, Detail: fmt.Sprintf("the pool's own requirements leave none of its %d instance types with an available offering",
			len(p.Table.Catalog.Types))}, finding{}
	}
	var questions []*question
	for i, d := range x.demands {
		if q := x.ask(questionKey{at: at, demand: i}, func() (match.Needs, *nodepool.Pool) { return d.both(), p }); q != nil && len(questions) < maxDemands {
			questions = append(questions, q)
		}
	}
	if len(questions) == 0 {
		r := x.excluded(p)
		r.Unknown, r.NotKnown = x.unknownsOf(p), x.notKnown(p)
		return r, finding{}
	}
	return x.counted(at, p, questions)
}

// demand combines one alternative of the pods' own needs with one alternative of their volumes' needs.
type demand struct{ own, volumes match.Needs }

func (d demand) both() match.Needs { return d.own.And(d.volumes) }

// maxDemands is the maximum number of a class's alternatives that are examined for one pool, not counting those that the pool excludes. It
// is also the maximum number of alternatives for which changes are tried.
const maxDemands = 16

// alternatives returns all demands of the shape for a new node. The pods' own needs and the needs of their volumes may contradict each
// other.
func alternatives(s *podclass.Shape) []demand {
	var out []demand
	for _, own := range s.Terms {
		if s.Volumes.Alternatives == nil {
			out = append(out, demand{own: own})
		}
		for _, a := range s.Volumes.Alternatives {
			out = append(out, demand{own, match.Of(a)})
		}
	}
	return out
}

// counted returns how many instance types of the pool each check rules out, and the nearest miss.
func (x *explainer) counted(at int32, p *nodepool.Pool, questions []*question) (planning.Reason, finding) {
	v := x.newSurvey(p)
	for _, q := range questions {
		v.walk(q)
	}
	r := planning.Reason{Requests: x.requests(), Removed: v.removed()}
	portsOnly := true
	for i := range v.rules {
		if v.refusing[i] {
			rule := ruleFaultsOf(x).described(&v.rules[i])
			rule.Holders = v.held[i]
			r.Rules = append(r.Rules, rule)
			portsOnly = portsOnly && v.rules[i].kind == topology.Exclusive
		}
	}
	if v.newDomain {
		r.Rules, portsOnly = append(r.Rules, planning.Rule{Kind: planning.RuleNewDomain, Text: newDomainRule}), false
	}
	switch slices.Max(v.came) {
	case checksPassed:
		r.Code, r.Detail = planning.ReasonNotPlaced, "it has a node that would do for the pod alone, which the plan does not launch"
	case checkTopology:
		r.Code = planning.ReasonTopology
		if portsOnly && len(r.Rules) > 0 {
			r.Code = planning.ReasonHostPorts
		}
	case checkVariety:
		r.Code = planning.ReasonMinValues
		for i, asked := range p.Variety {
			if v.found[i] < asked.N {
				r.MinValues = append(r.MinValues, planning.MinValuesShortfall{Key: asked.Key, Asked: asked.N, Found: v.found[i]})
			}
		}
	case checkReservation:
		r.Code, r.Detail = planning.ReasonReservation, "no reservation that it could use has an instance left"
	case checkLimits:
		r.Code, r.Detail = planning.ReasonLimits, Of(x.t).limitsDetail(at)
	default:
		r.Code = planning.ReasonInstanceTypes
		if x.s.Volumes.Alternatives != nil && x.anyWithout(at, p) {
			removed := r.Removed
			r = x.volumesReason()
			r.Removed = removed
		}
	}
	if r.Code == planning.ReasonInstanceTypes {
		r.Unknown, r.NotKnown = x.unknownsOf(p), x.notKnown(p)
	} else {
		r.Requests = nil
	}
	return r, v.nearest()
}

// anyWithout reports whether the pool has a node for the pod without its volumes.
func (x *explainer) anyWithout(at int32, p *nodepool.Pool) bool {
	found := false
	for i := range x.s.Terms {
		q := x.askWithoutVolumes(at, p, i)
		below := int64(market.NoPrice)
		x.fitting(q, &below, func(cand *candidate) {
			found = found || (x.keepsVariety(q, cand) && ruleFaultsOf(x).admits(q, cand, false))
		})
	}
	return found
}

func (x *explainer) askWithoutVolumes(at int32, p *nodepool.Pool, term int) *question {
	return x.ask(questionKey{at: at, demand: term, code: planning.MissVolumes}, func() (match.Needs, *nodepool.Pool) { return x.s.Terms[term], p })
}

// requests returns the requests of the class as readable text.
func (x *explainer) requests() corev1.ResourceList {
	out := x.m.Resources.List(x.c.Requests)
	for d, name := range x.m.Resources.Names {
		if resources.Attaches(name) && x.c.Requests[d] > 0 {
			out[name] = resources.Quantity(name, x.c.Requests[d])
		}
	}
	return out
}

func (t Explaining) limitsDetail(pl int32) string {
	p := t.M.Pools[pl]
	var parts []string
	for i, name := range p.Limits.Names {
		used, limit := resources.Quantity(name, t.S.Limits.Usage[pl][i]), resources.Quantity(name, p.Limits.Max[i])
		parts = append(parts, fmt.Sprintf("%s %s of %s", name, used.String(), limit.String()))
	}
	for i, name := range p.Limits.Names {
		if p.Limits.Reached(t.S.Limits.Standing[pl], i) {
			return fmt.Sprintf("the nodepool was created as %s and launches nothing more while its limit of %s is reached (in use: %s)", p.Key.Generation, name, strings.Join(parts, ", "))
		}
	}
	return "all instance types that would fit exceed the nodepool's limits (in use: " + strings.Join(parts, ", ") + ")"
}
