package scheduling

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Update makes a Model of a later snapshot: the same as Compile(s), at the cost of what has changed. What is unchanged is
// recognised by identity: keep the same pointers for the same objects and the same slices for the same lists, as
// package cluster does. m stays valid.
//
// The first Update of a compiled Model compiles all pods and machines anew and remembers them; so does the second Update
// of one Model, and any that finds other changes than these: pods that come, go, are bound or change, while each is like
// one that was there before or after, and does not use volumes with claims; machines that come, go or change; NodePools
// and DaemonSets whose status changed. Compiled catalogs and what overlays made of them are shared in any case where they
// have not changed.
func (m *Model) Update(s *Snapshot) (*Model, error) {
	if next := m.updated(s); next != nil {
		return next, nil
	}
	return compile(s, m)
}

// updated is the model of a snapshot that differs from m's by little; nil if it has to be compiled.
func (m *Model) updated(s *Snapshot) *Model {
	k := m.memo.take()
	if k == nil || s == nil || !m.sameWorld(s) {
		return nil
	}
	u := &update{
		was: m, memo: k, snapshot: s, scratch: make(map[corev1.ResourceName]struct{}),
		writer: &keyWriter{resources: m.resources, volumes: m.volumes, requests: make([]int64, m.resources.len())},
	}
	next := *m
	u.next = &next
	next.snapshot, next.memo = s, &memoOwner{}
	if !u.findChanges() || !u.changePods() || !u.changeDaemons() || !u.stillAlike() {
		return nil
	}
	u.changeClasses()
	if !u.changeSamples() {
		return nil
	}
	u.changeNodes()
	next.standings = nil
	next.compileStandings()
	u.changePools()
	u.changeTopology()
	next.memo.Store(k)
	return &next
}

// sameWorld reports whether everything is as it was but pods and machines.
func (m *Model) sameWorld(s *Snapshot) bool {
	was := m.snapshot
	v, w := &was.Vocabulary, &s.Vocabulary
	if !slices.Equal(v.WellKnown, w.WellKnown) || !slices.Equal(v.RestrictedDomains, w.RestrictedDomains) ||
		!slices.Equal(v.RestrictedKeys, w.RestrictedKeys) || !maps.Equal(v.Aliases, w.Aliases) ||
		!maps.EqualFunc(v.ValueAliases, w.ValueAliases, maps.Equal[map[string]string, map[string]string]) {
		return false
	}
	spreads := len(was.DefaultTopologySpread)+len(s.DefaultTopologySpread) > 0
	return was.CostModel == s.CostModel && maps.EqualFunc(was.Catalogs, s.Catalogs, sameList) &&
		slices.EqualFunc(was.NodePools, s.NodePools, func(a, b NodePool) bool {
			return a.Key == b.Key && a.Catalog == b.Catalog && a.NotReady == b.NotReady &&
				(a.Object == b.Object || a.Object != nil && b.Object != nil && sameGeneration(&a.Object.ObjectMeta, &b.Object.ObjectMeta))
		}) &&
		slices.EqualFunc(was.DaemonSets, s.DaemonSets, func(a, b *appsv1.DaemonSet) bool {
			return a == b || a != nil && b != nil && sameGeneration(&a.ObjectMeta, &b.ObjectMeta)
		}) &&
		slices.Equal(was.NodeOverlays, s.NodeOverlays) && slices.Equal(was.Namespaces, s.Namespaces) &&
		slices.Equal(was.PersistentVolumeClaims, s.PersistentVolumeClaims) && slices.Equal(was.PersistentVolumes, s.PersistentVolumes) &&
		slices.Equal(was.StorageClasses, s.StorageClasses) &&
		slices.Equal(was.UnsupportedVolumeTopologyKeys, s.UnsupportedVolumeTopologyKeys) &&
		slices.Equal(was.UnsupportedVolumeDrivers, s.UnsupportedVolumeDrivers) &&
		(m.resources.len() == m.resources.withoutVolumes() || slices.Equal(was.CSINodes, s.CSINodes)) && firstNil(s.CSINodes) < 0 && // read for limits on volumes alone
		firstNil(s.PodDisruptionBudgets) < 0 && // not read
		(!spreads || sameList(was.DefaultTopologySpread, s.DefaultTopologySpread) && slices.Equal(was.Services, s.Services) &&
			slices.Equal(was.ReplicaSets, s.ReplicaSets) && slices.Equal(was.StatefulSets, s.StatefulSets) &&
			slices.Equal(was.ReplicationControllers, s.ReplicationControllers)) &&
		firstNil(s.Services) < 0 && firstNil(s.ReplicaSets) < 0 && firstNil(s.StatefulSets) < 0 && firstNil(s.ReplicationControllers) < 0
}

// sameGeneration reports whether the API says that the specs of two versions of one object are the same.
func sameGeneration(a, b *metav1.ObjectMeta) bool {
	return a.Generation > 0 && a.Generation == b.Generation && a.UID != "" && a.UID == b.UID && a.Name == b.Name && a.Namespace == b.Namespace
}

// withoutVolumes is how many resources are none for attached volumes.
func (t *resourceTable) withoutVolumes() int {
	n := 0
	for _, name := range t.names {
		if len(name) < len(attachPrefix) || name[:len(attachPrefix)] != attachPrefix {
			n++
		}
	}
	return n
}

// update is a change from one model to the next.
type update struct {
	was, next *Model
	memo      *memo
	snapshot  *Snapshot
	writer    *keyWriter
	scratch   map[corev1.ResourceName]struct{}
	// changed are the snapshot's machines that are new or other than they were, with what they were: an index into
	// was.nodes, or -1. gone are those of was.nodes that are no more.
	changed []changedNode
	gone    []int
	// kept is indexed like the snapshot's machines: the place among was.nodes of those that are unchanged, else -1.
	kept []int32
	// classes are those of the pods of changed machines, indexed like changed.
	classes [][]int32
	// removed are the pods that are not there any more, or in another place, with their classes; added those that came.
	removed, added []classedPod
	podsChanged    bool
	// swapped are the pods that stand for DaemonSets, where others do now.
	swapped []swappedSample
}

type swappedSample struct {
	class    int32
	old, new *corev1.Pod
}

type changedNode struct {
	at  int
	was int
}

type classedPod struct {
	pod   *corev1.Pod
	class int32
}

// findChanges compares the machines.
func (u *update) findChanges() bool {
	s, m := u.snapshot, u.was
	u.kept = make([]int32, len(s.Nodes))
	seen := make([]bool, len(m.nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		was, known := m.nodeIndex[n.Name]
		if !known || seen[was] { // named twice, or not at all: what Compile refuses
			if known || n.Name == "" || n.Object == nil && n.Claim == nil {
				return false
			}
			u.kept[i] = -1
			u.changed = append(u.changed, changedNode{i, -1})
			continue
		}
		seen[was] = true
		old := m.nodes[was].source
		if old.Object == n.Object && old.Claim == n.Claim && old.Pool == n.Pool && old.Leaving == n.Leaving && (sameList(old.Pods, n.Pods) || slices.Equal(old.Pods, n.Pods)) {
			u.kept[i] = int32(was)
			continue
		}
		if n.Object == nil && n.Claim == nil {
			return false
		}
		u.kept[i] = -1
		u.changed = append(u.changed, changedNode{i, was})
	}
	for was := range seen {
		if !seen[was] {
			u.gone = append(u.gone, was)
		}
	}
	for _, c := range u.changed {
		if CheckNode(&s.Nodes[c.at]) != nil {
			return false
		}
	}
	if u.memo.promised && len(u.changed)+len(u.gone) > 0 {
		return false
	}
	return uniqueNames(s.Nodes, u.changed)
}

// uniqueNames reports whether no two of the changed machines bear one name.
func uniqueNames(nodes []Node, changed []changedNode) bool {
	names := make(map[string]bool, len(changed))
	for _, c := range changed {
		if names[nodes[c.at].Name] {
			return false
		}
		names[nodes[c.at].Name] = true
	}
	return true
}

// changePods counts the pods that went, then those that came, and finds the classes of the latter.
func (u *update) changePods() bool {
	m, s := u.was, u.snapshot
	for _, was := range u.gone {
		for j, pod := range m.nodes[was].source.Pods {
			u.removed = append(u.removed, classedPod{pod, u.memo.classes[was][j]})
		}
	}
	u.classes = make([][]int32, len(u.changed))
	stay := make(map[*corev1.Pod]int32)
	type arrival struct {
		pod  *corev1.Pod
		into *int32
	}
	var arrivals []arrival
	for i, c := range u.changed {
		n := &s.Nodes[c.at]
		clear(stay)
		if c.was >= 0 {
			for j, pod := range m.nodes[c.was].source.Pods {
				stay[pod] = u.memo.classes[c.was][j]
			}
		}
		u.classes[i] = make([]int32, len(n.Pods))
		for j, pod := range n.Pods {
			if class, ok := stay[pod]; ok {
				u.classes[i][j] = class
				delete(stay, pod)
				continue
			}
			arrivals = append(arrivals, arrival{pod, &u.classes[i][j]})
		}
		for pod, class := range stay {
			u.removed = append(u.removed, classedPod{pod, class})
		}
	}
	waiting := s.Pods
	if len(s.Placeholders) > 0 {
		waiting = slices.Concat(s.Pods, s.Placeholders)
	}
	u.next.pods = waiting
	firstPlaceholder := len(arrivals)
	u.podsChanged = !slices.Equal(waiting, m.pods) || len(s.Placeholders) != len(m.snapshot.Placeholders)
	if u.podsChanged {
		type place struct {
			class       int32
			placeholder bool
		}
		old := make(map[*corev1.Pod]place, len(m.pods))
		for i, pod := range m.pods {
			old[pod] = place{m.podClass[i], i >= len(m.snapshot.Pods)}
		}
		u.next.podClass = make([]int32, len(waiting))
		placeholders := []arrival(nil)
		for i, pod := range waiting {
			if was, ok := old[pod]; ok && was.placeholder == (i >= len(s.Pods)) {
				u.next.podClass[i] = was.class
				delete(old, pod)
			} else if i >= len(s.Pods) {
				placeholders = append(placeholders, arrival{pod, &u.next.podClass[i]})
			} else {
				arrivals = append(arrivals, arrival{pod, &u.next.podClass[i]})
			}
		}
		firstPlaceholder = len(arrivals)
		arrivals = append(arrivals, placeholders...)
		for pod, was := range old {
			u.removed = append(u.removed, classedPod{pod, was.class})
		}
	}
	for _, r := range u.removed {
		if usesClaims(r.pod) {
			return false
		}
		u.memo.remove(m, r.pod, r.class, u.scratch)
	}
	for i, a := range arrivals {
		if a.pod == nil || usesClaims(a.pod) {
			return false
		}
		class, known := u.classOf(a.pod, i >= firstPlaceholder)
		if !known || !u.memo.add(m, a.pod, class, u.scratch) {
			return false
		}
		*a.into = class
		u.added = append(u.added, classedPod{a.pod, class})
	}
	return true
}

// usesClaims reports whether the pod has volumes that other pods or objects have a say in.
func usesClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.EmptyDir == nil && v.DownwardAPI == nil && v.HostPath == nil
	})
}

// classOf is the pod's class, if there is one of its kind.
func (u *update) classOf(pod *corev1.Pod, placeholder bool) (int32, bool) {
	clear(u.scratch)
	resourceNames(pod, u.scratch)
	for name := range u.scratch {
		if _, ok := u.was.resources.index[name]; !ok {
			return 0, false
		}
	}
	text, _, _ := u.memo.index.m.classText(pod, u.writer, placeholder, u.memo.index.remember(pod))
	class, known := u.memo.classOf[string(text)]
	return class, known
}

// changeDaemons finds the pods that stand for DaemonSets now (SCH-150). They must be like those before.
func (u *update) changeDaemons() bool {
	m := u.next
	if len(m.daemonSets) == 0 {
		return true
	}
	daemons := make([][]*corev1.Pod, 0, len(u.snapshot.Nodes))
	for i, was := range u.kept {
		if was >= 0 {
			daemons = append(daemons, u.memo.daemons[was])
		} else {
			daemons = append(daemons, daemonPods(u.snapshot.Nodes[i].Pods))
		}
	}
	newest := (&memo{daemons: daemons}).representatives()
	old := u.memo.representatives()
	byName := make(map[PodKey]*appsv1.DaemonSet, len(u.snapshot.DaemonSets))
	for _, set := range u.snapshot.DaemonSets {
		byName[PodKey{set.Namespace, set.Name}] = set
	}
	m.daemonSets = slices.Clone(m.daemonSets)
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		d.set = byName[PodKey{d.set.Namespace, d.set.Name}]
		if newest[d.set.UID] == old[d.set.UID] {
			continue
		}
		sample := representative(d.set, newest)
		class, known := u.classOf(sample, false)
		if !known || class != d.class || usesClaims(sample) {
			return false
		}
		u.swapped = append(u.swapped, swappedSample{d.class, d.sample, sample})
		d.sample, d.tolerations = sample, sample.Spec.Tolerations
	}
	return len(byName) >= len(u.snapshot.DaemonSets)
}

// stillAlike reports whether there are pods of all classes, and of no others, and whatever else depends on which pods
// there are is as it was: then classes, shapes, rules and all that is made of them are.
func (u *update) stillAlike() bool {
	k := u.memo
	if len(k.index.groups) > len(u.was.topology) || len(k.index.m.askedKeys) > len(u.was.askedKeys) || slices.Contains(k.members, 0) {
		return false
	}
	for at, name := range u.was.resources.names {
		if _, fixed := k.fixed[name]; at >= baseDims && !fixed && k.names[name] == 0 {
			return false
		}
	}
	for namespace, n := range k.implicit {
		if _, known := k.index.namespaceLabels[namespace]; !known || n == 0 {
			return false
		}
	}
	return true
}

// changeClasses finds anew which pods of each class wait.
func (u *update) changeClasses() {
	m := u.next
	if !u.podsChanged {
		return
	}
	waiting := make([]int32, len(m.classes))
	for _, c := range m.podClass {
		waiting[c]++
	}
	m.classes = slices.Clone(m.classes)
	flat := make([]int32, 0, len(m.podClass))
	for i, c := range m.classes {
		if waiting[i] == 0 && len(c.pending) == 0 {
			continue
		}
		own := *c
		own.pending = flat[len(flat) : len(flat) : len(flat)+int(waiting[i])]
		flat = flat[:len(flat)+int(waiting[i])]
		m.classes[i] = &own
	}
	for i, c := range m.podClass {
		m.classes[c].pending = append(m.classes[c].pending, int32(i))
	}
	for i, c := range m.classes {
		if waiting[i] > 0 {
			m.sortPending(c)
		} else {
			c.pending = nilIfEmpty(c.pending)
		}
	}
}

func nilIfEmpty(list []int32) []int32 {
	if len(list) == 0 {
		return nil
	}
	return list
}

// changeSamples sees to it that each class is read from the first of its pods.
func (u *update) changeSamples() bool {
	m := u.next
	samples := make(map[int32]*corev1.Pod)
	lost := make(map[int32]bool)
	for _, r := range u.removed {
		if m.classes[r.class].sample == r.pod {
			lost[r.class] = true
		}
	}
	candidate := func(class int32, pod *corev1.Pod) {
		best := samples[class]
		if best == nil {
			best = m.classes[class].sample
		}
		if comparePods(pod, best) < 0 {
			samples[class] = pod
		}
	}
	for _, d := range u.swapped {
		if m.classes[d.class].sample == d.old {
			lost[d.class] = true
		}
		candidate(d.class, d.new)
	}
	for _, a := range u.added {
		candidate(a.class, a.pod)
	}
	if len(lost) > 0 {
		for class := range lost {
			delete(samples, class)
		}
		u.findSamples(lost, samples)
	}
	if len(samples) == 0 {
		return true
	}
	if sameList(m.classes, u.was.classes) {
		m.classes = slices.Clone(m.classes)
	}
	for class, sample := range samples {
		own := *m.classes[class]
		if own.invalid != nil || checkPod(sample) != nil {
			return false // what is wrong is told of the sample
		}
		own.sample = sample
		m.classes[class] = &own
	}
	return true
}

// findSamples looks for the first pod of classes that lost theirs.
func (u *update) findSamples(lost map[int32]bool, samples map[int32]*corev1.Pod) {
	m := u.next
	want := make([]bool, len(m.classes))
	for class := range lost {
		want[class] = true
	}
	consider := func(class int32, pod *corev1.Pod) {
		if want[class] && (samples[class] == nil || comparePods(pod, samples[class]) < 0) {
			samples[class] = pod
		}
	}
	for i, pod := range m.pods {
		consider(m.podClass[i], pod)
	}
	for i := range m.daemonSets {
		consider(m.daemonSets[i].class, m.daemonSets[i].sample)
	}
	for i, was := range u.kept {
		if was >= 0 {
			for j, class := range u.memo.classes[was] {
				if want[class] {
					consider(class, u.snapshot.Nodes[i].Pods[j])
				}
			}
		}
	}
	for i, c := range u.changed {
		for j, class := range u.classes[i] {
			consider(class, u.snapshot.Nodes[c.at].Pods[j])
		}
	}
}

// changeNodes makes the machines that changed ready and puts all in their order.
func (u *update) changeNodes() {
	m, s, dims := u.next, u.snapshot, u.next.resources.len()
	views := make([]nodeView, len(u.changed))
	fresh := make([]int32, len(s.Nodes)) // the place in changed
	for i, c := range u.changed {
		views[i], fresh[c.at] = viewOf(&s.Nodes[c.at]), int32(i)
	}
	initialized := func(i int) bool {
		if was := u.kept[i]; was >= 0 {
			return u.was.nodes[was].initialized
		}
		return views[fresh[i]].initialized
	}
	m.nodes, m.groups, m.free = slices.Grow([]node(nil), len(s.Nodes)), nil, make([]int64, 0, len(s.Nodes)*dims)
	m.nodeIndex = make(map[string]int, len(s.Nodes))
	groups, renumbered := make(map[string]int32), make([]int32, len(u.was.groups))
	limits := &attachLimits{}
	if dims > m.resources.withoutVolumes() {
		limits = newAttachLimits(s)
	}
	classes, daemons := make([][]int32, 0, len(s.Nodes)), make([][]*corev1.Pod, 0, len(s.Nodes))
	for _, i := range nodeOrder(s.Nodes, initialized) {
		n := &s.Nodes[i]
		m.nodeIndex[n.Name] = len(m.nodes)
		if was := u.kept[i]; was >= 0 {
			compiled := u.was.nodes[was]
			compiled.source = n
			compiled.group = m.regroup(u.was, compiled.group, groups, renumbered)
			m.nodes = append(m.nodes, compiled)
			m.free = append(m.free, u.was.free[int(was)*dims:(int(was)+1)*dims]...)
			classes, daemons = append(classes, u.memo.classes[was]), append(daemons, u.memo.daemons[was])
			continue
		}
		at := fresh[i]
		compiled, free := m.compileNode(n, &views[at], u.classes[at], m.groupOf(&views[at], groups), limits)
		m.nodes, m.free = append(m.nodes, compiled), append(m.free, free...)
		classes, daemons = append(classes, u.classes[at]), append(daemons, daemonPods(n.Pods))
	}
	if slices.EqualFunc(m.groups, u.was.groups, func(a, b nodeGroup) bool { return a.text == b.text }) {
		m.groups, m.compat = u.was.groups, u.was.compat
	} else {
		m.compat = make([]atomic.Uint32, len(m.shapes)*len(m.groups))
	}
	u.memo.classes, u.memo.daemons = classes, daemons
	m.volumesBound = make(map[volumeOn]int32, len(u.was.volumesBound))
	for on, n := range u.was.volumesBound {
		// Pods with such volumes are where they were.
		m.volumesBound[volumeOn{int32(m.nodeIndex[u.was.nodes[on.host].name]), on.id}] = n
	}
}

// regroup is the number that a group of the model before has now. renumbered holds those that are known, from 1 on.
func (m *Model) regroup(was *Model, group int32, groups map[string]int32, renumbered []int32) int32 {
	if renumbered[group] > 0 {
		return renumbered[group] - 1
	}
	text := was.groups[group].text
	g, known := groups[text]
	if !known {
		g = int32(len(m.groups))
		m.groups = append(m.groups, was.groups[group])
		groups[text] = g
	}
	renumbered[group] = g + 1
	return g
}

// nodeOrder is the order of machines in a model: those that are initialised first, then by name.
func nodeOrder(nodes []Node, initialized func(i int) bool) []int {
	byName := func(a, b int) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) }
	ready, others := make([]int, 0, len(nodes)), []int(nil)
	for i := range nodes {
		if initialized(i) {
			ready = append(ready, i)
		} else {
			others = append(others, i)
		}
	}
	for _, list := range [][]int{ready, others} {
		if !slices.IsSortedFunc(list, byName) {
			slices.SortFunc(list, byName)
		}
	}
	return append(ready, others...)
}

// changePools gives pools the objects of the snapshot, whose status may have changed.
func (u *update) changePools() {
	m := u.next
	if slices.EqualFunc(u.was.snapshot.NodePools, u.snapshot.NodePools, func(a, b NodePool) bool { return a.Object == b.Object }) {
		return
	}
	m.pools = slices.Clone(m.pools)
	for i := range u.snapshot.NodePools {
		at := m.poolIndex[poolKey(&u.snapshot.NodePools[i])]
		own := *m.pools[at]
		own.object = u.snapshot.NodePools[i].Object
		m.pools[at] = &own
	}
}

// changeTopology counts pods anew.
func (u *update) changeTopology() {
	m := u.next
	if len(m.topology) == 0 {
		return
	}
	m.base = newTopologyState(m)
	if sameDomains(m.base.domains, u.was.base.domains, u.was.hostDomains) {
		m.base.domains = u.was.base.domains
	} else {
		m.hostDomains = m.base.domainCounts()
		m.findReachable()
	}
	m.base.owned = false
}

// sameDomains reports whether hosts are in the first so many of the known domains, and numbered alike.
func sameDomains(hosts, known []map[string]int32, of []int) bool {
	for i := range hosts {
		if len(hosts[i]) != of[i] {
			return false
		}
		for value, n := range hosts[i] {
			if have, ok := known[i][value]; !ok || have != n {
				return false
			}
		}
	}
	return true
}
