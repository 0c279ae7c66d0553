package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Bound returns a lower bound on the hourly cost of new nodes for those of the given pods that don't fit on existing nodes. The certificate
// of a plan is only a hint, because Bound makes its own proof. Each pod gets a value. The values are lowered until no node that can be
// bought can hold pods with a total value above its price. The bound is the value of all pods, minus the largest value of the pods that
// existing nodes can hold. Bound ignores all rules between pods, except rules that keep equal pods apart. This can only lower the bound.
func (j *Judge) Bound(hint *scheduling.Certificate, pods []string) float64 {
	if hint == nil {
		return 0
	}
	whole := j.wholeUnits(hint)
	multipliers := hints{l: make(map[string][]float64, len(hint.Types)), counted: map[string]wholePods{}}
	for _, t := range hint.Types {
		l := make([]float64, len(j.resources), len(j.resources)+len(whole))
		for i, name := range j.resources {
			l[i] = t.Multipliers[name]
			if name == corev1.ResourceCPU {
				l[i] /= 1000 // the certificate's multipliers are per core, but the judge's multipliers are per thousandth of a core
			}
		}
		for _, u := range whole {
			l = append(l, t.RuleMultipliers[u.rule])
		}
		multipliers.l[t.Name] = l
		if pods := j.wholePods(&t); pods != nil {
			multipliers.counted[t.Name] = pods
		}
	}
	classes := j.classes(pods)
	values := j.hint(hint, classes)
	for _, c := range classes {
		c.need = whole.counted(c.need)
	}
	best := j.proven(values, classes, multipliers, whole)
	if len(classes) > manyClasses {
		return best
	}
	// hint only guesses the values of classes with equal requests. So exchange two such values if this proves a higher bound.
	for a := range classes {
		for b := range a {
			if values[a] == values[b] || !slices.Equal(classes[a].need, classes[b].need) {
				continue
			}
			values[a], values[b] = values[b], values[a]
			if bound := j.proven(values, classes, multipliers, whole); bound > best {
				best = bound
			} else {
				values[a], values[b] = values[b], values[a]
			}
		}
	}
	return best
}

// hints has the certificate's multipliers, and the resources that it counts in whole pods, both by instance type.
type hints struct {
	l       map[string][]float64
	counted map[string]wholePods
}

// manyClasses is the largest number of classes for which Bound improves the guessed values. The time grows with the square of this number.
const manyClasses = 200

// proven returns the bound that the hinted values prove after j.prove has lowered them as far as necessary.
func (j *Judge) proven(hinted []float64, classes []*class, multipliers hints, whole wholeUnits) float64 {
	values := slices.Clone(hinted)
	j.prove(values, classes, multipliers, whole)
	total := 0.0
	for i, c := range classes {
		total += float64(c.count) * values[i]
	}
	return max(0, total-j.absorbed(classes, values, multipliers, whole))
}

// class is a set of pods that the proof of the bound treats as equal.
type class struct {
	need  amounts
	shape *shape
	// single is true if no two pods of the class fit on one node
	single bool
	count  int
	// alone is the lowest price per pod of a node that holds only pods of this class
	alone float64
}

// classes divides the pods into classes, in the order of the first pod of each class.
func (j *Judge) classes(pods []string) []*class {
	type key struct {
		need, shape string
		single      bool
	}
	found := make(map[key]*class)
	var out []*class
	for _, name := range pods {
		a := j.pods[name]
		if a == nil {
			continue
		}
		k := key{amountsKey(a.need), a.shape.key, j.keepsAway(a.pod)}
		if found[k] == nil {
			found[k] = &class{need: a.need, shape: a.shape, single: k.single}
			out = append(out, found[k])
		}
		found[k].count++
	}
	for _, c := range out {
		c.alone = math.Inf(1)
		for _, o := range j.offers() {
			if n := c.most(o); n > 0 {
				c.alone = min(c.alone, o.price/float64(n))
			}
		}
	}
	return out
}

func amountsKey(a amounts) string {
	b := make([]byte, 0, 8*len(a))
	for _, n := range a {
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(n>>shift))
		}
	}
	return string(b)
}

// keepsAway reports whether the pod's anti-affinity keeps two equal pods from sharing a node.
func (j *Judge) keepsAway(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false
	}
	p := newPeers(j, nil)
	return slices.ContainsFunc(p.kindOf(pod).apart, func(r rule) bool { return r.self && r.group.key == corev1.LabelHostname })
}

// offer is an empty node that a pool can buy, with its DaemonSet pods.
type offer struct {
	name    string
	node    *corev1.Node
	room    amounts
	price   float64
	accepts map[*shape]bool
}

// offers returns the nodes that the pools can buy. Of nodes with equal type, equal resources and equal values of the labels that pods use,
// it returns only the cheapest.
func (j *Judge) offers() []*offer {
	if j.bought != nil {
		return j.bought
	}
	shapes := slices.SortedFunc(maps.Values(j.shapes), func(a, b *shape) int { return strings.Compare(a.key, b.key) })
	found := make(map[string]*offer)
	for _, name := range slices.Sorted(maps.Keys(j.pools)) {
		p := j.pools[name]
		for _, typ := range slices.Sorted(maps.Keys(p.options)) {
			for i := range p.options[typ] {
				o := p.offer(&p.options[typ][i], shapes)
				for _, pod := range j.daemons {
					if j.runsOn(pod, o.node) {
						o.room.subtract(j.requests(pod))
					}
				}
				key := []byte(o.name + amountsKey(o.room))
				for _, s := range shapes {
					if o.accepts[s] {
						key = append(key, '+')
					} else {
						key = append(key, '-')
					}
				}
				if found[string(key)] == nil || o.price < found[string(key)].price {
					found[string(key)] = o
				}
			}
		}
	}
	j.bought = slices.SortedFunc(maps.Values(found), func(a, b *offer) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.price, b.price))
	})
	return j.bought
}

// offer converts an option of the pool to an offer. If the pool has a requirement about a label that the option does not state, the node
// may get any value of that label. Then the node counts as accepting all pods that tolerate its taints.
func (p *pool) offer(o *option, shapes []*shape) *offer {
	out := &offer{name: o.it.Name, node: &corev1.Node{}, room: slices.Clone(o.room), price: o.offering.Price, accepts: make(map[*shape]bool, len(shapes))}
	out.node.Labels, out.node.Spec.Taints = o.labels, p.object.Spec.Template.Spec.Taints
	open := slices.ContainsFunc(p.object.Spec.Template.Spec.Requirements, func(e v1.NodeSelectorRequirementWithMinValues) bool { return !o.stated[e.Key] })
	for _, s := range shapes {
		_, repelled := s.untolerated(out.node)
		out.accepts[s] = !repelled && (open || s.accepts(out.node) == "")
	}
	return out
}

// most returns the largest number of pods of the class that fit on an empty node of the offer.
func (c *class) most(o *offer) int64 {
	if !o.accepts[c.shape] {
		return 0
	}
	return c.fitting(o.room)
}

// fitting returns how many pods of the class fit into the room.
func (c *class) fitting(room amounts) int64 {
	n := int64(c.count)
	if n == 0 {
		n = math.MaxInt64
	}
	if c.single {
		n = 1
	}
	for i, need := range c.need {
		if need > 0 {
			n = min(n, max(room[i], 0)/need)
		}
	}
	return n
}

// hint returns a value for each class: the value of the certificate's class with equal requests. Of classes with equal requests, those with
// the highest price class.alone get the highest values. Each value is used for the number of pods that the certificate states.
func (j *Judge) hint(stated *scheduling.Certificate, classes []*class) []float64 {
	byNeed := make(map[string][]planning.CertificateClass)
	for _, c := range stated.Classes {
		k := amountsKey(j.vector(c.Requests))
		byNeed[k] = append(byNeed[k], c)
	}
	alike := make(map[string][]int)
	for i, c := range classes {
		k := amountsKey(c.need)
		alike[k] = append(alike[k], i)
	}
	values := make([]float64, len(classes))
	for k, indices := range alike {
		hints := byNeed[k]
		slices.SortFunc(hints, func(a, b planning.CertificateClass) int { return cmp.Compare(b.Value, a.Value) })
		slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(classes[b].alone, classes[a].alone) })
		at, left := 0, 0 // at is an index into hints, and left is the number of pods of hints[at] that have not got its value yet
		for _, i := range indices {
			// The value of a class is the mean of the values that its pods got.
			sum, n := 0.0, 0
			for n < classes[i].count && at < len(hints) {
				if left == 0 {
					left = hints[at].Count
				}
				take := min(left, classes[i].count-n)
				sum += float64(take) * hints[at].Value
				n += take
				if left -= take; left == 0 {
					at++
				}
			}
			if n > 0 {
				values[i] = sum / float64(n)
			}
		}
	}
	return values
}

// prove lowers the values until no offer can hold pods with a total value above its price.
func (j *Judge) prove(values []float64, classes []*class, multipliers hints, whole wholeUnits) {
	none := make([]float64, len(j.resources)+len(whole))
	for _, o := range j.offers() {
		l := multipliers.l[o.name]
		if l == nil {
			l = none
		}
		p := pile{classes: classes, values: values, multipliers: slices.Clone(l), room: whole.counted(o.room), accepts: func(c *class) bool { return o.accepts[c.shape] },
			counted: multipliers.counted[o.name]}
		if base, excess := p.worth(); base+excess <= o.price {
			continue
		}
		if p.counted == nil {
			p.improve(o.price) // the certificate's multipliers were made for the type's cheapest offering, so find better multipliers for this offering
		}
		base, excess := p.worth()
		if base > o.price { // scale the multipliers down, so that the base is at most the price
			for r := range p.multipliers {
				p.multipliers[r] *= o.price / base
			}
			base, excess = p.worth()
		}
		if base+excess > o.price {
			p.lower(max(0, o.price-base) / excess)
		}
	}
}

// pile has the data for computing the highest total value of the pods that one node can hold.
type pile struct {
	classes     []*class
	values      []float64
	multipliers []float64
	room        amounts
	accepts     func(*class) bool
	// counted are the resources that are counted in whole pods, or nil if no resource is.
	counted wholePods
}

// worth returns an upper bound on the total value of pods that fit on the node together, as the sum of base and excess. Any multipliers λ
// >= 0 prove such a bound. base is Σ room·λ over the resources, and excess is Σ fitting·max(0, value - need·λ) over the classes. If some
// resources are counted in whole pods, excess includes only a set of pods that fit together, the set with the highest value.
func (p *pile) worth() (base, excess float64) {
	for r, l := range p.multipliers {
		base += l * float64(max(p.room[r], 0))
	}
	over := make([]float64, len(p.classes))
	for i, c := range p.classes {
		if over[i] = p.values[i] - p.paid(c); over[i] > 0 && !p.accepts(c) {
			over[i] = 0
		}
	}
	if p.counted != nil {
		return base, p.counted.most(p.classes, over, p.room)
	}
	for i, c := range p.classes {
		if over[i] > 0 {
			excess += float64(c.fitting(p.room)) * over[i]
		}
	}
	return base, excess
}

// paid returns need·λ for one pod of the class.
func (p *pile) paid(c *class) float64 {
	sum := 0.0
	for r, l := range p.multipliers {
		sum += l * float64(c.need[r])
	}
	return sum
}

// improve searches for multipliers with which the sum that worth returns is lower. This sum is convex in the multipliers. The search first
// scales all multipliers together, and then changes them one after another.
func (p *pile) improve(price float64) {
	start := p.multipliers
	if base, _ := p.worth(); base > 0 {
		p.search(price/base, func(x float64) []float64 {
			l := slices.Clone(start)
			for r := range l {
				l[r] *= x
			}
			return l
		})
	}
	for range 3 {
		for r := range p.multipliers {
			if p.room[r] <= 0 {
				continue
			}
			from := p.multipliers
			p.search(price/float64(p.room[r]), func(x float64) []float64 {
				l := slices.Clone(from)
				l[r] = x
				return l
			})
		}
	}
}

// search finds the x from 0 to high with which the multipliers at(x) give the lowest bound. It uses them if they lower the bound.
func (p *pile) search(high float64, at func(float64) []float64) {
	value := func(l []float64) float64 {
		q := *p
		q.multipliers = l
		base, excess := q.worth()
		return base + excess
	}
	low := 0.0
	for range 14 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if value(at(a)) < value(at(b)) {
			high = b
		} else {
			low = a
		}
	}
	if l := at((low + high) / 2); value(l) < value(p.multipliers) {
		p.multipliers = l
	}
}

// lower reduces the values of the classes that fit on the node. It multiplies the part of each value above need·λ by the parameter share.
func (p *pile) lower(share float64) {
	share *= 1 - 1e-12 // a slightly smaller share, so that rounding errors don't invalidate the proof
	for i, c := range p.classes {
		paid := p.paid(c)
		if over := p.values[i] - paid; over > 0 && p.accepts(c) && c.fitting(p.room) > 0 {
			p.values[i] = paid + share*over
		}
	}
}

// absorbed returns an upper bound on the total value of the pods that the existing nodes can hold.
func (j *Judge) absorbed(classes []*class, values []float64, multipliers hints, whole wholeUnits) float64 {
	// Any multipliers prove an upper bound on this value. Only some of the certificate's multipliers are tried, to limit the time.
	names := slices.Sorted(maps.Keys(multipliers.l))
	if fractions := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return multipliers.counted[n] != nil }); len(fractions) > 0 {
		names = fractions
	}
	step := max(1, len(names)/16)
	sum := 0.0
	for i := range j.s.Nodes {
		if j.s.Nodes[i].Leaving {
			continue
		}
		m := j.standing(&j.s.Nodes[i])
		accepted := make(map[*shape]bool)
		accepts := func(c *class) bool {
			ok, known := accepted[c.shape]
			if !known {
				ok = c.shape.accepts(m.node) == ""
				accepted[c.shape] = ok
			}
			return ok
		}
		least, room := math.Inf(1), whole.counted(m.free)
		for n := 0; n < len(names); n += step {
			p := pile{classes: classes, values: values, multipliers: multipliers.l[names[n]], room: room, accepts: accepts}
			base, excess := p.worth()
			least = min(least, base+excess)
		}
		if !math.IsInf(least, 1) {
			sum += least
		}
	}
	return sum
}
