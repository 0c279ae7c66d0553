package model

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Pending pods of a gang are withheld until they are placed together. To keep pods in one domain, each pod exists in several variants: the
// unchanged pod, and one variant for each domain. A variant is read as if the node selector named its domain. The variants for domains are
// classes that have no pods of their own. While a gang is tried in a domain, its pods are pending as members of such a class. So other
// parts of planning need no code for gangs.

// The pending states of a gang's pods. The pods are pending as single pods, or are not pending at all, or are pending in an option. Each
// option has two states: with the needed pods only, and with all pods.
const (
	GangAsPods   = 0
	GangWithheld = 1
	GangOptions  = 2
)

// mostRunIn is the maximum number of domains in GangClosed.RunIn.
const mostRunIn = 4

// gangPods says which number each pod of a snapshot has while its gangs are read. Equal pods share a number. If the model is compiled, this
// is the number of the pods' pattern in the roster. If the model is updated, it is the number of their kind.
type gangPods interface {
	// waiting returns the number of a pod of Snapshot.Pods, by index. bound returns the number of a node's pod, by the indexes of the node
	// and of the pod.
	waiting(pod int32) int32
	bound(node, pod int) int32
	// readAs returns the pod from which the pods with the number like are read. The result is not the parameter pod if limits on spot nodes
	// or the pod's run time restrict where it may run.
	readAs(like int32, pod *corev1.Pod) *corev1.Pod
	// variant returns a number for pods like pod, which is restricted to a domain. The parameter like is their number without this
	// restriction. original states the topology rules of these pods.
	variant(like int32, original, pod *corev1.Pod) int32
}

// variantKey identifies equal pods that are restricted to the same domains.
type variantKey struct {
	like int32
	in   string
}

// gangVariant represents equal pods that are restricted to the same domains. They are read from the first of the members by
// likeness.Compare, as if its node selector named the domains.
type gangVariant struct {
	key           variantKey
	like          int32
	original, pod *corev1.Pod
}

// rosterPods implements gangPods for the pods of a roster.
type rosterPods struct {
	*likeness.Roster
	// offset has, for each node, the roster index of its first pod.
	offset []int
}

func (p *rosterPods) waiting(pod int32) int32   { return p.Like[pod] }
func (p *rosterPods) bound(node, pod int) int32 { return p.Like[p.offset[node]+pod] }

func (p *rosterPods) readAs(like int32, pod *corev1.Pod) *corev1.Pod {
	return p.Patterns[like].ReadAs(pod)
}

func (p *rosterPods) variant(like int32, _, pod *corev1.Pod) int32 {
	was := p.Patterns[like]
	p.Patterns = append(p.Patterns, likeness.Pattern{First: pod, RuledAs: was.Ruled(), Refused: was.Refused, Rules: topology.NoRules})
	return int32(len(p.Patterns) - 1)
}

// readGangs reads the snapshot's gangs, and adds to the roster the variants of their pods for each domain. It returns nil if there are no
// gangs.
func readGangs(s *planning.Snapshot, r *likeness.Roster, lookup *requirements.Lookup) (*gangBuilder, error) {
	if len(s.Gangs) == 0 {
		return nil, nil
	}
	p := &rosterPods{Roster: r, offset: make([]int, len(s.Nodes))}
	for i, span := range r.OfNodes {
		p.offset[i] = span.From
	}
	b := newGangBuilder(s, p, lookup)
	b.build()
	for _, v := range b.list {
		r.Patterns[v.like].First = v.pod
	}
	return b, b.err
}

// gangBuilder builds a GangIndex.
type gangBuilder struct {
	s      *planning.Snapshot
	pods   gangPods
	lookup *requirements.Lookup
	index  *GangIndex
	// labels has the labels of nodes, indexed like Snapshot.Nodes; an entry is nil until it is read. hosts has, for each gang, the nodes
	// with members.
	labels []map[string]string
	hosts  [][]int
	// memberOf has the number of each member's gang. hosting has the nodes with members, by name. settled reports whether a node, given by
	// index, is known to have no members.
	memberOf map[planning.PodKey]int32
	hosting  map[string]bool
	settled  func(node int) bool
	// variants has the variants by key, and list has them in the order in which they were found. earlier has the variants of the previous
	// model.
	variants, earlier map[variantKey]*gangVariant
	list              []*gangVariant
	// domains has the domains of each list of keys. ranked has the same domains, sorted by their number of nodes, largest first. sold has
	// the domains that new nodes could be in.
	domains, ranked, sold map[string][][]string
	pools                 []gangs.Pool
	err                   error
}

func newGangBuilder(s *planning.Snapshot, pods gangPods, lookup *requirements.Lookup) *gangBuilder {
	x := &GangIndex{ByKey: map[planning.PodKey]int32{}, Of: make([]int32, len(s.Pods)+len(s.Placeholders))}
	for i := range x.Of {
		x.Of[i] = -1
	}
	return &gangBuilder{
		s: s, pods: pods, lookup: lookup, index: x, hosting: map[string]bool{}, settled: func(int) bool { return false },
		variants: map[variantKey]*gangVariant{}, labels: make([]map[string]string, len(s.Nodes)), domains: map[string][][]string{}, ranked: map[string][][]string{}, sold: map[string][][]string{},
	}
}

// build reads the gangs.
func (b *gangBuilder) build() {
	b.findMembers()
	b.index.findFamilies()
	for i := range b.s.Gangs {
		b.addOptions(int32(i))
	}
	b.addMoves()
}

// labelsOf returns the labels of the node.
func (b *gangBuilder) labelsOf(node int) map[string]string {
	if b.labels[node] == nil {
		b.labels[node] = existing.LabelsOf(&b.s.Nodes[node])
	}
	return b.labels[node]
}

// readPools reads, once, which nodes the pools could launch.
func (b *gangBuilder) readPools() {
	if b.pools != nil || b.err != nil {
		return
	}
	b.pools = []gangs.Pool{}
	for i := range b.s.NodePools {
		np := &b.s.NodePools[i]
		if np.Catalog == "" || np.NotReady != "" {
			continue
		}
		set, err := poolRequirements(np.Object, np.Identity(), b.lookup)
		if err != nil {
			b.err = err
			return
		}
		b.pools = append(b.pools, gangs.Pool{Template: set.Merge(b.lookup.FromLabels(np.Object.Spec.Template.Labels)), Types: b.s.Catalogs[np.Catalog]})
	}
}

// findMembers finds the gangs' members among the pods.
func (b *gangBuilder) findMembers() {
	x := b.index
	x.List, b.hosts = make([]Gang, len(b.s.Gangs)), make([][]int, len(b.s.Gangs))
	for i := range b.s.Gangs {
		x.List[i] = Gang{Source: &b.s.Gangs[i], Priority: math.MinInt32}
	}
	if b.memberOf == nil {
		b.memberOf = membersOf(b.s.Gangs)
	}
	waiting := map[planning.PodKey]int32{}
	for i, pod := range b.s.Pods {
		if g, ok := b.memberOf[planning.KeyOf(pod)]; ok {
			waiting[planning.KeyOf(pod)] = int32(i)
			x.Of[i], x.ByKey[planning.KeyOf(pod)] = g, g
			x.List[g].rank(pod)
		}
	}
	for i := range b.s.Nodes {
		if b.settled(i) {
			continue
		}
		for _, pod := range b.s.Nodes[i].Pods {
			if g, ok := b.memberOf[planning.KeyOf(pod)]; ok && !likeness.Ended(pod) {
				x.List[g].Bound++
				x.List[g].rank(pod)
				b.hosts[g] = append(b.hosts[g], i)
				b.hosting[b.s.Nodes[i].Name] = true
			}
		}
	}
	for i := range x.List {
		g := &x.List[i]
		for _, key := range g.Source.Members {
			if at, ok := waiting[key]; ok {
				g.Pods = append(g.Pods, at)
			}
		}
		g.There, g.Needed = g.Bound+len(g.Pods), max(g.Source.Needs()-g.Bound, 0)
		if g.Source.Priority != nil {
			g.Priority = *g.Source.Priority
		}
		x.Order = append(x.Order, int32(i))
	}
	slices.SortStableFunc(x.Order, func(a, b int32) int { return cmp.Compare(x.List[b].Priority, x.List[a].Priority) })
}

// addOptions finds the domains that the gang could be in.
func (b *gangBuilder) addOptions(number int32) {
	g := &b.index.List[number]
	keys, wishes := topologyKeys(g.Source)
	ways := state.Gang{Ways: make([][]state.Share, GangOptions)}
	for level := 0; level <= len(wishes); level++ {
		var options []GangOption
		for _, values := range b.domainsOf(append(slices.Clone(keys), wishes[:level]...)) {
			if o, ok := b.option(number, append(slices.Clone(keys), wishes[:level]...), values); ok {
				o.Way = int32(len(ways.Ways))
				ways.Ways = append(ways.Ways, nil, nil)
				options = append(options, o)
			}
		}
		g.Levels = append(g.Levels, options)
	}
	if g.Known = len(b.domainsOf(keys)); len(g.Levels[0]) == 0 {
		g.Closed = b.closedBy(number, keys)
	}
	if len(keys) > 0 {
		if o, ok := b.option(number, nil, nil); ok {
			o.Way = int32(len(ways.Ways))
			ways.Ways = append(ways.Ways, nil, nil)
			g.Loose = &o
		}
	}
	b.index.Ways = append(b.index.Ways, ways)
}

// domainsOf returns the domains of the keys. If there are no keys, it returns one domain without a value.
func (b *gangBuilder) domainsOf(keys []string) [][]string {
	if len(keys) == 0 {
		return [][]string{nil}
	}
	text := domainsText(keys)
	if _, ok := b.domains[text]; !ok {
		sold, known := b.sold[text]
		if !known {
			b.readPools()
			sold = gangs.Sold(keys, b.pools)
			b.sold[text] = sold
		}
		for i := range b.labels {
			b.labelsOf(i)
		}
		b.domains[text] = gangs.Domains(keys, b.labels, sold)
	}
	return b.domains[text]
}

// domainsText returns a list of keys, or a list of values, as one text.
func domainsText(list []string) string { return strings.Join(list, "\x00") }

// option returns the option for the gang in a domain. It returns false if members run in another domain or require another domain.
func (b *gangBuilder) option(number int32, keys, values []string) (GangOption, bool) {
	g := &b.index.List[number]
	var o GangOption
	for i, key := range keys {
		o.Domains = append(o.Domains, planning.GangDomain{Key: key, Value: values[i]})
		for _, host := range b.hosts[number] {
			if value, ok := b.labelsOf(host)[key]; !ok || value != values[i] {
				return o, false
			}
		}
	}
	in := planning.DomainsString(o.Domains)
	for _, pod := range g.Pods {
		if !open(b.s.Pods[pod], o.Domains) {
			return o, false
		}
	}
	for _, pod := range g.Pods {
		o.likes = append(o.likes, b.variant(b.pods.waiting(pod), b.s.Pods[pod], o.Domains, in))
	}
	return o, true
}

// closedBy returns why the gang can use no domain of the keys.
func (b *gangBuilder) closedBy(number int32, keys []string) *GangClosed {
	out := &GangClosed{Keys: keys, Pod: -1}
	for _, key := range keys {
		if len(b.domainsOf([]string{key})) == 0 {
			out.Unstated = append(out.Unstated, key)
		}
	}
	left := slices.Clone(b.domainsOf(keys))
	for _, host := range b.hosts[number] {
		for i, key := range keys {
			d := planning.GangDomain{Key: key, Value: b.labelsOf(host)[key]}
			if len(out.RunIn) < mostRunIn && !slices.Contains(out.RunIn, d) {
				out.RunIn = append(out.RunIn, d)
			}
			left = slices.DeleteFunc(left, func(values []string) bool { return values[i] != d.Value })
		}
	}
	for _, pod := range b.index.List[number].Pods {
		if len(left) == 0 {
			break
		}
		left = slices.DeleteFunc(left, func(values []string) bool {
			return !open(b.s.Pods[pod], domainsWith(keys, values))
		})
		if len(left) == 0 {
			out.Pod = pod
		}
	}
	return out
}

// domainsWith returns the keys with their values as domains.
func domainsWith(keys, values []string) []planning.GangDomain {
	out := make([]planning.GangDomain, len(keys))
	for i, key := range keys {
		out[i] = planning.GangDomain{Key: key, Value: values[i]}
	}
	return out
}

// variant returns the number, in the sense of gangPods, of pods like pod that are restricted to the domains. The parameter in is the text
// of the domains. The pod must be able to use these domains.
func (b *gangBuilder) variant(like int32, pod *corev1.Pod, domains []planning.GangDomain, in string) int32 {
	if len(domains) == 0 {
		return like
	}
	key := variantKey{like, in}
	v := b.variants[key]
	switch {
	case v == nil:
		v = &gangVariant{key: key, original: pod, pod: b.podIn(key, pod, domains)}
		v.like = b.pods.variant(like, pod, v.pod)
		b.variants[key], b.list = v, append(b.list, v)
	case likeness.Compare(pod, v.original) < 0:
		v.original, v.pod = pod, b.podIn(key, pod, domains)
	}
	return v.like
}

// podIn returns the pod that the previous model made for the variant, if that model read the variant from the same pod. Otherwise it calls
// the function podIn.
func (b *gangBuilder) podIn(key variantKey, pod *corev1.Pod, domains []planning.GangDomain) *corev1.Pod {
	if was := b.earlier[key]; was != nil && was.original == pod {
		return was.pod
	}
	return podIn(b.pods.readAs(key.like, pod), domains)
}

// podIn returns a copy of the pod as if its node selector named the domains. The original pod still determines what its spreads count: see
// likeness.Pattern.
func podIn(pod *corev1.Pod, domains []planning.GangDomain) *corev1.Pod {
	out := *pod
	out.Spec.NodeSelector = make(map[string]string, len(pod.Spec.NodeSelector)+len(domains))
	for key, value := range pod.Spec.NodeSelector {
		out.Spec.NodeSelector[key] = value
	}
	for _, d := range domains {
		out.Spec.NodeSelector[d.Key] = d.Value
	}
	return &out
}

// open reports whether the pod can use the domains: its node selector names no other values of these labels.
func open(pod *corev1.Pod, domains []planning.GangDomain) bool {
	for _, d := range domains {
		if value, ok := pod.Spec.NodeSelector[d.Key]; ok && value != d.Value {
			return false
		}
	}
	return true
}
