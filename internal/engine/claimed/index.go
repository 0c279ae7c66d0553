package claimed

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
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Index contains the devices that pods claim, and the devices of nodes and instance types, as amounts of resources: see devices.Counts.
type Index struct {
	// table has the index of each resource. matcher evaluates selectors. It may be nil.
	table   *resources.Table
	matcher devices.Matcher
	Claims  *Claims
	matches *devices.Matches
	Kinds   *devices.Kinds
	Counts  *devices.Counts
	// needs has the needs of pods that claim devices. Its key is the result of Claims.key.
	needs map[string]deviceNeeds
	// extended lists the requested extended resources that devices can serve.
	extended []extendedResource
	classes  map[string]*resourcev1.DeviceClass
	// OfTypes has the devices of instance types as units, by template. ofNodes has the devices of nodes as units, by node name.
	OfTypes map[Template]devices.Units
	ofNodes map[string]devices.Units
	// ceilings has the upper bounds on the devices of instance types, by template.
	ceilings map[Template]*devices.Ceiling
	// further has the amounts of devices that the units of types and nodes don't count: see addFurther.
	further furtherRoom
	// Inventories and Usages are the inputs from which OfTypes and ofNodes were computed.
	Inventories map[Template]*devices.Inventory
	Usages      map[string]*devices.Usage
	// until, typed and published are copied from deviceStock.
	until            time.Time
	typed, published map[string]bool
	// Dims are the indexes of the device resources in the table of resources, in ascending order.
	Dims []int
}

// deviceNeeds are the needs of a pod, or the reason why they can't be planned.
type deviceNeeds struct {
	Claims []*devices.Claim
	Needs  devices.Needs
	err    error
}

// New returns an Index for the snapshot, or nil if no pod claims devices or requests a resource that devices could serve.
func New(s *planning.Snapshot, r *likeness.Roster, table *resources.Table, terms match.Terms, matcher devices.Matcher) *Index {
	extended := extendedResources(s, r)
	if len(extended) == 0 && !anyClaims(s, r) {
		return nil
	}
	x := &Index{
		table: table, matcher: matcher, extended: extended, classes: deviceClasses(s),
		matches: devices.NewMatches(matcher), Kinds: devices.NewKinds(), needs: map[string]deviceNeeds{},
		OfTypes: map[Template]devices.Units{}, ofNodes: map[string]devices.Units{}, ceilings: map[Template]*devices.Ceiling{},
	}
	stock := newDeviceStock(s)
	if network := newDeviceNetwork(s, stock, x.matches, matcher != nil); network != nil {
		x.Claims = NewClaims(s)
		network.share(r, x.Claims, terms)
		x.Claims.network = network
	}
	for i := range r.Patterns {
		x.resolve(s, r.Patterns[i].First, matcher)
	}
	for _, set := range s.DaemonSets {
		x.resolve(s, &corev1.Pod{ObjectMeta: set.ObjectMeta, Spec: set.Spec.Template.Spec}, matcher)
	}
	x.intern()
	x.internExtended(x.classes, mostOf(s, r, extended))
	x.count(stock)
	x.addFurther(stock)
	x.Inventories, x.Usages = stock.ofTypes, stock.ofNodes
	x.until, x.typed, x.published = stock.until, stock.typed, stock.published
	return x
}

// anyClaims reports whether a pod, or a pod of a DaemonSet, claims devices.
func anyClaims(s *planning.Snapshot, r *likeness.Roster) bool {
	return slices.ContainsFunc(r.Patterns, func(p likeness.Pattern) bool { return likeness.ClaimsDevices(&p.First.Spec) }) ||
		slices.ContainsFunc(s.DaemonSets, func(set *appsv1.DaemonSet) bool { return likeness.ClaimsDevices(&set.Spec.Template.Spec) })
}

// resolve stores the claims of the pod in x.needs, or the reason why the claims can't be planned.
func (x *Index) resolve(s *planning.Snapshot, pod *corev1.Pod, matcher devices.Matcher) {
	if !likeness.ClaimsDevices(&pod.Spec) {
		return
	}
	if x.Claims == nil {
		x.Claims = NewClaims(s)
	}
	key := x.Claims.key(pod)
	if _, known := x.needs[key]; known {
		return
	}
	var n deviceNeeds
	if n.Claims, n.err = x.Claims.of(pod); n.err == nil && matcher == nil && slices.ContainsFunc(n.Claims, (*devices.Claim).Selects) {
		n.err = errNoDeviceMatcher
	}
	x.needs[key] = n
}

// intern computes the needs of the claims in x.needs in a fixed order, so that the result does not depend on the order of pods.
func (x *Index) intern() {
	texts := map[string]string{}
	var keys []string
	for key, n := range x.needs {
		if n.err != nil {
			continue
		}
		for _, c := range n.Claims {
			texts[key] += c.Text() + "\n"
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(texts[a], texts[b]), cmp.Compare(a, b)) })
	for _, key := range keys {
		n := x.needs[key]
		n.Needs, n.err = x.Kinds.Needs(n.Claims)
		x.needs[key] = n
	}
}

// count defines the device resources, and computes their amounts for nodes and types.
func (x *Index) count(stock *deviceStock) {
	var all []devices.Units
	for _, of := range stock.types {
		usage := devices.NewUsage(stock.ofTypes[of])
		units, ceiling := x.Kinds.Units(usage, nil, x.matches), x.Kinds.Ceiling(usage, nil, x.matches)
		x.OfTypes[of], x.ceilings[of] = units, &ceiling
		all = append(all, units)
	}
	for _, name := range stock.nodes {
		units := x.Kinds.Units(stock.ofNodes[name], nil, x.matches)
		x.ofNodes[name] = units
		all = append(all, units)
	}
	x.Counts = devices.NewCounts(x.Kinds, all)
}

// AddNames adds the names of the device resources to the set into.
func (x *Index) AddNames(into map[corev1.ResourceName]struct{}) {
	if x == nil {
		return
	}
	for _, name := range x.Counts.Names() {
		into[resources.Devices(name)] = struct{}{}
	}
}

// Locate finds the indexes of the device resources in the table, after all resources have an index.
func (x *Index) Locate() {
	if x == nil {
		return
	}
	for _, name := range x.Counts.Names() {
		if at, ok := x.table.At(resources.Devices(name)); ok {
			x.Dims = append(x.Dims, at)
		}
	}
	slices.Sort(x.Dims)
}

// Of returns the needs of a pod that claims devices.
func (x *Index) Of(pod *corev1.Pod) deviceNeeds {
	if x != nil && x.Claims != nil {
		if n, ok := x.needs[x.Claims.key(pod)]; ok {
			return n
		}
	}
	return deviceNeeds{err: errUnknownClaims}
}

// Text returns the same text for pods with equal needs.
func (x *Index) Text(pod *corev1.Pod) string {
	n := x.Of(pod)
	if n.err != nil {
		return n.err.Error()
	}
	text := n.Needs.Text()
	if id, leads := x.Claims.Groups.follows(pod); id != "" {
		text += fmt.Sprintf(" %t in %q", leads, id)
	}
	return text
}

// Pins returns selectors for the nodes that can use the devices already allocated to the pod's claims. The pod must run on a node that
// meets all these selectors.
func (x *Index) Pins(pod *corev1.Pod) []*corev1.NodeSelector {
	if x.Claims == nil {
		return nil
	}
	return x.Claims.pins(pod)
}

// Follows returns the group that the pod must run with: see deviceGroups.
func (x *Index) Follows(pod *corev1.Pod) (id string, leads bool) {
	return x.Claims.Groups.follows(pod)
}

// AddTo adds to the requests the devices that the pod claims, and the devices that could serve its extended resources.
func (x *Index) AddTo(pod *corev1.Pod, requests []int64) error {
	if x.Claims != nil {
		x.Claims.Groups.share(x.table, pod, requests)
	}
	x.addExtended(requests)
	if !likeness.ClaimsDevices(&pod.Spec) {
		return nil
	}
	n := x.Of(pod)
	if n.err != nil {
		return n.err
	}
	x.add(x.Counts.Of(n.Needs), requests, false)
	return nil
}

// AddDaemon adds the devices that a DaemonSet's pod claims to its requests. Claims that can't be planned are not added, because the pod
// stays pending and uses no devices.
func (x *Index) AddDaemon(pod *corev1.Pod, requests []int64) {
	if x != nil {
		_ = x.AddTo(pod, requests)
	}
}

// add writes amounts of devices to the vector into. If over is true, they replace the values in the vector. If it is false, they are added
// to these values.
func (x *Index) add(amounts, into []int64, over bool) {
	for i, name := range x.Counts.Names() {
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

// RoomOfType writes to the vector into the amounts of devices of a new node of the type that is bought as the offering.
func (x *Index) RoomOfType(it *cloudprovider.InstanceType, o *cloudprovider.Offering, into []int64) {
	if x == nil || len(it.Devices) == 0 && len(x.extended) == 0 {
		return
	}
	var units devices.Units
	var further []int64
	if len(it.Devices) > 0 {
		known, of := false, TemplateOf(it, o)
		further = x.further.ofTypes[of]
		if units, known = x.OfTypes[of]; !known { // a copied type has no entry, so compute its units
			units = x.Kinds.Units(devices.NewUsage(Inventory(it, o)), nil, devices.NewMatches(x.matcher))
		}
	}
	x.fill(units, further, func(_ corev1.ResourceName, at int) bool { return into[at] <= 0 }, into)
}

// MostOfType writes to the vector into upper bounds on the amounts of devices of a new node of the type that is bought as the offering: see
// devices.Ceiling.
func (x *Index) MostOfType(it *cloudprovider.InstanceType, o *cloudprovider.Offering, into []int64) {
	if x == nil || len(it.Devices) == 0 && len(x.extended) == 0 {
		return
	}
	ceiling := &devices.Ceiling{}
	if len(it.Devices) > 0 {
		known := false
		if ceiling, known = x.ceilings[TemplateOf(it, o)]; !known { // a copied type has no entry, so compute its ceiling
			found := x.Kinds.Ceiling(devices.NewUsage(Inventory(it, o)), nil, devices.NewMatches(x.matcher))
			ceiling = &found
		}
	}
	serves := func(resource string) int64 { return x.Counts.MostServed(ceiling, resource) }
	have := x.fillExtended(serves, func(_ corev1.ResourceName, at int) bool { return into[at] <= 0 }, into)
	x.add(x.Counts.Most(ceiling, have), into, true)
}

// RoomOfNode writes the amounts of the node's unused devices to the vector free. It uses the allocated claims, not the pods of the node.
// The parameter allocatable has the node's allocatable resources.
func (x *Index) RoomOfNode(name string, allocatable corev1.ResourceList, free []int64) {
	if x == nil {
		return
	}
	unplugged := map[corev1.ResourceName]bool(nil)
	if len(x.extended) > 0 {
		unplugged = x.Unplugged(allocatable)
	}
	x.fill(x.ofNodes[name], x.further.ofNodes[name], func(name corev1.ResourceName, _ int) bool { return unplugged[name] }, free)
}

// deviceClasses returns the snapshot's DeviceClasses, by name.
func deviceClasses(s *planning.Snapshot) map[string]*resourcev1.DeviceClass {
	out := make(map[string]*resourcev1.DeviceClass, len(s.DeviceClasses))
	for _, c := range s.DeviceClasses {
		if c != nil {
			out[c.Name] = c
		}
	}
	return out
}
