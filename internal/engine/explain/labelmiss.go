package explain

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// valued groups nodes by their values of a label. It keeps the values that have the cheapest nodes, each with its cheapest node.
type valued struct {
	// The field most is the maximum number of values that are kept.
	most   int
	values []string
	prices []int64
	option *planning.InstanceTypeOption
	least  int64
	// cheapest is the node that option describes.
	cheapest candidate
}

// keptValues is the number of values that are kept: one more than are named, to detect whether there are more.
const keptValues = maxMissValues + 1

// wants reports whether a node with this value and price would change the values or prices in v.
func (v *valued) wants(value string, price int64) bool {
	if at := slices.Index(v.values, value); at >= 0 {
		return price < v.prices[at]
	}
	return len(v.values) < keptValues || price < slices.Max(v.prices)
}

// tooDear returns the price at and above which no node changes the values or prices in v, whatever value of the label the node has.
func (v *valued) tooDear() int64 {
	if len(v.values) == 0 || len(v.values) < min(v.most, keptValues) {
		return market.NoPrice
	}
	return slices.Max(v.prices)
}

func (v *valued) note(value string, price int64, cand *candidate) {
	if at := slices.Index(v.values, value); at >= 0 {
		v.prices[at] = price
	} else {
		if len(v.values) == keptValues {
			worst := slices.Index(v.prices, slices.Max(v.prices))
			v.values, v.prices = slices.Delete(v.values, worst, worst+1), slices.Delete(v.prices, worst, worst+1)
		}
		v.values, v.prices = append(v.values, value), append(v.prices, price)
	}
	if len(v.values) == 1 || price < v.least {
		v.least, v.cheapest = price, *cand
	}
}

// take makes a miss with this code from the values in v, and stores it in best if it is nearer than the miss in best.
func (v *valued) take(best *finding, code planning.MissCode, key string) {
	if v.option == nil || !best.nearer(code, 0, v.least) {
		return
	}
	price := map[string]int64{}
	for i, value := range v.values {
		if value != "" {
			price[value] = v.prices[i]
		}
	}
	values := slices.SortedFunc(maps.Keys(price), func(a, b string) int {
		return cmp.Or(cmp.Compare(price[a], price[b]), cmp.Compare(a, b))
	})
	more := len(values) > maxMissValues
	*best = finding{miss: &planning.NearestMiss{Code: code, Key: key, Values: values[:min(len(values), maxMissValues)], MoreValues: more, InstanceType: v.option}, price: v.least}
}

// labelled groups the nodes that meet the demand of q by their values of a label. The function allowed may exclude nodes.
func (x misses) labelled(q *question, key string, allowed func(cand *candidate, value string) bool) *valued {
	v := &valued{most: keptValues}
	if q == nil {
		return v
	}
	// If offerings don't state the label, its value is the same for all offerings of a type. If types don't state it either, its value is
	// the same for all types.
	c := q.p.Table.Catalog
	_, typed := c.TypeKeys[key]
	last, known := candidate{row: -1, assign: -1}, ""
	value := func(cand *candidate) string {
		if cand.assign != last.assign || (typed && cand.row != last.row) {
			last, known = *cand, x.labelOn(q, cand, key)
		}
		return known
	}
	switch {
	case c.OfferingKeys[key]:
		bySlot, different := make([]string, len(c.Slots)), map[string]bool{}
		for s := range c.Slots {
			bySlot[s] = match.OnlyValue(c.Slots[s].Labels.Get(key))
			different[bySlot[s]] = true
		}
		v.most = len(different)
		value = func(cand *candidate) string { return bySlot[cand.slot] }
	case !typed:
		v.most = len(q.assigned)
	}
	below := int64(market.NoPrice)
	x.fitting(q, &below, func(cand *candidate) {
		value := value(cand)
		if v.wants(value, cand.price) && allowed(cand, value) && x.keepsVariety(q, cand) && ruleFaultsOf(x.explainer).admits(q, cand, false) {
			v.note(value, cand.price, cand)
			below = v.tooDear()
		}
	})
	if len(v.values) > 0 {
		v.option = x.option(q, &v.cheapest)
	}
	return v
}

func anyValue(*candidate, string) bool { return true }

// withoutLabels tries to leave out the pod's own label requirements, one key at a time.
func (x misses) withoutLabels(best *finding, at int32, p *nodepool.Pool) {
	for i, d := range x.fewDemands() {
		for _, key := range x.deciding(p, d.own, d.own.Keys()) {
			q := x.ask(questionKey{at: at, demand: i, code: planning.MissLabel, key: key}, func() (match.Needs, *nodepool.Pool) { return d.own.Without(key).And(d.volumes), p })
			x.labelled(q, key, anyValue).take(best, planning.MissLabel, key)
			x.blameSystem(best.miss)
		}
	}
}

// maxMissKeys is the number of labels of one demand for which leaving out one label is tried. Each try examines all nodes, and a pod can
// name thousands of labels.
const maxMissKeys = 64

// deciding returns at most maxMissKeys of the keys: those where leaving out this single key may be enough for the pool to accept the needs.
// If no node of the pool can meet the requirement on one label, leaving out any other label is not enough. If there are several such
// labels, leaving out a single label is never enough.
func (x misses) deciding(p *nodepool.Pool, n match.Needs, keys []string) []string {
	switch refused := x.refusedKeys(p, n); {
	case len(refused) > 1:
		return nil
	case len(refused) == 1:
		return slices.DeleteFunc(keys, func(key string) bool { return key != refused[0] })
	}
	return x.fewKeys(p, keys)
}

// fewKeys returns at most maxMissKeys of the keys. If there are more keys than that, it prefers keys for which the pool's nodes have
// different values and keys that the pool states, because other keys exclude no node.
func (x misses) fewKeys(p *nodepool.Pool, keys []string) []string {
	if len(keys) <= maxMissKeys {
		return keys
	}
	idle := func(key string) int {
		switch {
		case x.stated(p.Table.Catalog, key):
			return 0
		case p.Template.Has(key):
			return 1
		}
		return 2
	}
	out := slices.Clone(keys)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(idle(a), idle(b)) })
	return out[:maxMissKeys]
}

// podSystem is the Rule of a MissLabel that is caused by the pod's spec.os.
const podSystem = "spec.os"

// blameSystem sets the rule of a miss for the operating system's label to podSystem if the pod's spec.os causes the miss: changing only
// node selector and affinity would not be enough.
func (x misses) blameSystem(miss *planning.NearestMiss) {
	if miss == nil || miss.Code != planning.MissLabel || miss.Key != corev1.LabelOSStable || x.c.Sample.Spec.OS == nil || x.c.Sample.Spec.OS.Name == "" {
		return
	}
	if system := string(x.c.Sample.Spec.OS.Name); !slices.Contains(miss.Values, system) || len(miss.Values) > 1 {
		miss.Rule = podSystem
	}
}
