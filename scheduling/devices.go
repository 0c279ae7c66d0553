package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// deviceIndex is what pods claim of devices, and what nodes and instance types have of them, as resources: see devices.Counts.
type deviceIndex struct {
	// table numbers the resources; matcher evaluates selectors, nil without.
	table   *resources.Table
	matcher DeviceMatcher
	claims  *deviceClaims
	matches *devices.Matches
	kinds   *devices.Kinds
	counts  *devices.Counts
	// needs are by the text of deviceClaims.key.
	needs map[string]deviceNeeds
	// extended are the extended resources that devices serve as well.
	extended []extendedResource
	// ofTypes are the units of instance types, by the first of their pools, which copies of a type share; ofNodes those of nodes, by name.
	ofTypes map[*cloudprovider.DevicePool]devices.Units
	ofNodes map[string]devices.Units
	// ceilings are, by the same pools, what types have at most.
	ceilings map[*cloudprovider.DevicePool]*devices.Ceiling
	// inventories and usages are what the units were found in.
	inventories map[*cloudprovider.DevicePool]*devices.Inventory
	usages      map[string]*devices.Usage
	// until, typed and published are those of deviceStock.
	until            time.Time
	typed, published map[string]bool
	// dims are the places of the resources in table, ascending.
	dims []int
}

// deviceNeeds is what a pod claims, or why that can't be planned.
type deviceNeeds struct {
	claims []*devices.Claim
	needs  devices.Needs
	err    error
}

// newDeviceIndex is nil where no pod claims devices, or asks for what devices could serve.
func newDeviceIndex(s *Snapshot, r *likeness.Roster, table *resources.Table, matcher DeviceMatcher) *deviceIndex {
	extended := extendedResources(s, r)
	if len(extended) == 0 && !anyClaims(s, r) {
		return nil
	}
	x := &deviceIndex{
		table: table, matcher: matcher, extended: extended,
		matches: devices.NewMatches(matcher), kinds: devices.NewKinds(), needs: map[string]deviceNeeds{},
		ofTypes: map[*cloudprovider.DevicePool]devices.Units{}, ofNodes: map[string]devices.Units{},
		ceilings: map[*cloudprovider.DevicePool]*devices.Ceiling{},
	}
	for i := range r.Patterns {
		x.resolve(s, r.Patterns[i].First, matcher)
	}
	for _, set := range s.DaemonSets {
		x.resolve(s, &corev1.Pod{ObjectMeta: set.ObjectMeta, Spec: set.Spec.Template.Spec}, matcher)
	}
	stock := newDeviceStock(s)
	x.intern()
	x.internExtended(deviceClasses(s), mostOf(s, r, extended))
	x.count(stock)
	x.inventories, x.usages = stock.ofTypes, stock.ofNodes
	x.until, x.typed, x.published = stock.until, stock.typed, stock.published
	return x
}

// anyClaims reports whether a pod, or one of a DaemonSet's, claims devices.
func anyClaims(s *Snapshot, r *likeness.Roster) bool {
	return slices.ContainsFunc(r.Patterns, func(p likeness.Pattern) bool { return likeness.ClaimsDevices(&p.First.Spec) }) ||
		slices.ContainsFunc(s.DaemonSets, func(set *appsv1.DaemonSet) bool { return likeness.ClaimsDevices(&set.Spec.Template.Spec) })
}

// resolve finds the claims of the pod.
func (x *deviceIndex) resolve(s *Snapshot, pod *corev1.Pod, matcher DeviceMatcher) {
	if !likeness.ClaimsDevices(&pod.Spec) {
		return
	}
	if x.claims == nil {
		x.claims = newDeviceClaims(s)
	}
	key := x.claims.key(pod)
	if _, known := x.needs[key]; known {
		return
	}
	var n deviceNeeds
	if n.claims, n.err = x.claims.of(pod); n.err == nil && matcher == nil && slices.ContainsFunc(n.claims, (*devices.Claim).Selects) {
		n.err = errNoDeviceMatcher
	}
	x.needs[key] = n
}

// intern finds out what the claims need, in an order of their own, so that the order of pods plays no part.
func (x *deviceIndex) intern() {
	texts := map[string]string{}
	var keys []string
	for key, n := range x.needs {
		if n.err != nil {
			continue
		}
		for _, c := range n.claims {
			texts[key] += c.Text() + "\n"
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(texts[a], texts[b]), cmp.Compare(a, b)) })
	for _, key := range keys {
		n := x.needs[key]
		n.needs, n.err = x.kinds.Needs(n.claims)
		x.needs[key] = n
	}
}

// count finds the resources and what nodes and types have of them.
func (x *deviceIndex) count(stock *deviceStock) {
	var all []devices.Units
	for _, it := range stock.types {
		usage := devices.NewUsage(stock.ofTypes[&it.Devices[0]])
		units, ceiling := x.kinds.Units(usage, nil, x.matches), x.kinds.Ceiling(usage, nil, x.matches)
		x.ofTypes[&it.Devices[0]], x.ceilings[&it.Devices[0]] = units, &ceiling
		all = append(all, units)
	}
	for _, name := range stock.nodes {
		units := x.kinds.Units(stock.ofNodes[name], nil, x.matches)
		x.ofNodes[name] = units
		all = append(all, units)
	}
	counts, ok := devices.NewCounts(x.kinds, all)
	if !ok {
		for key, n := range x.needs {
			if n.err == nil {
				n.err = errTooManyOverlaps
				x.needs[key] = n
			}
		}
		for i := range x.extended {
			x.extended[i].err = errTooManyOverlaps
		}
		counts, _ = devices.NewCounts(devices.NewKinds(), nil)
	}
	x.counts = counts
}

// addNames adds the resources.
func (x *deviceIndex) addNames(into map[corev1.ResourceName]struct{}) {
	if x == nil {
		return
	}
	for _, name := range x.counts.Names() {
		into[resources.Devices(name)] = struct{}{}
	}
}

// locate finds the places of the resources, once all have one.
func (x *deviceIndex) locate() {
	if x == nil {
		return
	}
	for _, name := range x.counts.Names() {
		if at, ok := x.table.At(resources.Devices(name)); ok {
			x.dims = append(x.dims, at)
		}
	}
	slices.Sort(x.dims)
}

// of is what the pod, which claims devices, needs.
func (x *deviceIndex) of(pod *corev1.Pod) deviceNeeds {
	if x != nil && x.claims != nil {
		if n, ok := x.needs[x.claims.key(pod)]; ok {
			return n
		}
	}
	return deviceNeeds{err: errUnknownClaims}
}

// Text is equal for pods that need the same.
func (x *deviceIndex) Text(pod *corev1.Pod) string {
	n := x.of(pod)
	if n.err != nil {
		return n.err.Error()
	}
	text := n.needs.Text()
	if id, leads := x.claims.groups.follows(pod); id != "" {
		text += fmt.Sprintf(" %t in %q", leads, id)
	}
	return text
}

// Pins are where the devices are that the pod's claims have already: it has to go to nodes that all of them select.
func (x *deviceIndex) Pins(pod *corev1.Pod) []*corev1.NodeSelector {
	if x.claims == nil {
		return nil
	}
	return x.claims.pins(pod)
}

// follows says with which pods the pod has to run, see deviceGroups.
func (x *deviceIndex) follows(pod *corev1.Pod) (id string, leads bool) {
	return x.claims.groups.follows(pod)
}

// AddTo adds what the pod claims of devices to its requests, and what devices could serve of these.
func (x *deviceIndex) AddTo(pod *corev1.Pod, requests []int64) error {
	if x.claims != nil {
		x.claims.groups.share(x.table, pod, requests)
	}
	x.addExtended(requests)
	if !likeness.ClaimsDevices(&pod.Spec) {
		return nil
	}
	n := x.of(pod)
	if n.err != nil {
		return n.err
	}
	x.add(x.counts.Of(n.needs), requests, false)
	return nil
}

// addDaemon adds what a DaemonSet's pod claims of devices to its requests. What can't be planned is left out: the pod waits.
func (x *deviceIndex) addDaemon(pod *corev1.Pod, requests []int64) {
	if x != nil {
		_ = x.AddTo(pod, requests)
	}
}

// add writes amounts of devices to their places in a vector: over what is there, or on top of it.
func (x *deviceIndex) add(amounts, into []int64, over bool) {
	for i, name := range x.counts.Names() {
		at, ok := x.table.At(resources.Devices(name))
		if !ok {
			continue
		}
		if over {
			into[at] = 0
		}
		into[at] += amounts[i]
	}
}

// RoomOfType fills in how many devices a new node of the type has, next to its other amounts.
func (x *deviceIndex) RoomOfType(it *cloudprovider.InstanceType, into []int64) {
	if x == nil || len(it.Devices) == 0 && len(x.extended) == 0 {
		return
	}
	var units devices.Units
	if len(it.Devices) > 0 {
		known := false
		if units, known = x.ofTypes[&it.Devices[0]]; !known { // a copy of a type that the snapshot has
			units = x.kinds.Units(devices.NewUsage(devices.NewInventory(templateSlices(it.Devices, "", nil))), nil, devices.NewMatches(x.matcher))
		}
	}
	x.fill(units, func(_ corev1.ResourceName, at int) bool { return into[at] <= 0 }, into)
}

// MostOfType fills in how many devices a new node of the type has at most, for bounds: see devices.Ceiling.
func (x *deviceIndex) MostOfType(it *cloudprovider.InstanceType, into []int64) {
	if x == nil || len(it.Devices) == 0 && len(x.extended) == 0 {
		return
	}
	ceiling := &devices.Ceiling{}
	if len(it.Devices) > 0 {
		known := false
		if ceiling, known = x.ceilings[&it.Devices[0]]; !known { // a copy of a type that the snapshot has
			found := x.kinds.Ceiling(devices.NewUsage(devices.NewInventory(templateSlices(it.Devices, "", nil))), nil, devices.NewMatches(x.matcher))
			ceiling = &found
		}
	}
	serves := func(resource string) int64 { return x.counts.MostServed(ceiling, resource) }
	have := x.fillExtended(serves, func(_ corev1.ResourceName, at int) bool { return into[at] <= 0 }, into)
	x.add(x.counts.Most(ceiling, have), into, true)
}

// RoomOfNode fills in how many devices of the node are free, whatever its pods claim: claims say what they have. allocatable is what the
// node has in all.
func (x *deviceIndex) RoomOfNode(name string, allocatable corev1.ResourceList, free []int64) {
	if x == nil {
		return
	}
	unplugged := map[corev1.ResourceName]bool(nil)
	if len(x.extended) > 0 {
		unplugged = x.unplugged(allocatable)
	}
	x.fill(x.ofNodes[name], func(name corev1.ResourceName, _ int) bool { return unplugged[name] }, free)
}

// deviceClasses are the snapshot's, by name.
func deviceClasses(s *Snapshot) map[string]*resourcev1.DeviceClass {
	out := make(map[string]*resourcev1.DeviceClass, len(s.DeviceClasses))
	for _, c := range s.DeviceClasses {
		if c != nil {
			out[c.Name] = c
		}
	}
	return out
}
