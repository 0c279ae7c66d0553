package trial

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Counting devices shows that the claims on a node can be met together, but it is no proof for devices that exclude each other. However,
// kube-scheduler meets claims one after another, with the first devices that match. If claims compete for the same devices, it can assign
// to one pod a device that another pod needs. Therefore placements are checked by allocating devices pod by pod, as kube-scheduler does, in
// an order in which all pods get their devices. If a node has no such order, some of its pods are placed elsewhere or stay pending.

const (
	// MaxAdmitRounds limits how often pods are placed again because other pods got their devices. After that, pods without devices stay
	// pending.
	MaxAdmitRounds = 16
	// maxOrders is the number of orders that are tried for one node.
	maxOrders = 24
)

// deviceAdmission allocates the devices of nodes for one trial. It caches the results of selectors and allocations.
type deviceAdmission struct {
	t       *Trial
	matches *devices.Matches
	// claims has the claims of a pod, by class. known caches the best order found for a host, by the host's devices and its pods' classes.
	claims map[int32][]claimed.AdmittedClaim
	known  map[string]sequence
	// refused caches, for the devices of an instance type and a sequence of classes, whether some of the pods get no devices.
	refused map[string]bool
	// stocks has the devices of new nodes, which never change.
	stocks map[typeStock]hostStock
	// byName has the types of each catalog by name.
	byName map[*market.Catalog]map[string]*cloudprovider.InstanceType
}

// typeStock identifies a type and its device template.
type typeStock struct {
	it       *cloudprovider.InstanceType
	template claimed.Template
}

// hostStock contains the devices of a host. Hosts with the same devices have equal names. usage is nil if the host has no devices.
type hostStock struct {
	usage *devices.Usage
	name  string
	// unplugged are the extended resources for which the host has no device plugin, so that devices serve them.
	unplugged map[corev1.ResourceName]bool
}

// sequence is an order of a node's pods, given by their classes. At the end are the pods that get no devices; failed is their number.
type sequence struct {
	classes []int32
	failed  int
}

// NewDeviceAdmission returns a deviceAdmission for the trial, or nil if no placed pod needs devices.
func (t *Trial) NewDeviceAdmission() *deviceAdmission {
	x := t.M.Devices
	if x == nil || !slices.ContainsFunc(t.S.Placed.All, func(b state.Binding) bool { return b.Count > 0 && x.Needed(t.M.Classes[b.Class].Requests) }) {
		return nil
	}
	if t.admission == nil {
		t.admission = &deviceAdmission{
			t: t, matches: devices.NewMatches(t.M.Matcher), claims: map[int32][]claimed.AdmittedClaim{}, known: map[string]sequence{}, refused: map[string]bool{},
			stocks: map[typeStock]hostStock{}, byName: map[*market.Catalog]map[string]*cloudprovider.InstanceType{},
		}
	}
	return t.admission
}

// claimsOf returns the claims of a pod of the class.
func (a *deviceAdmission) claimsOf(class int32) []claimed.AdmittedClaim {
	if known, ok := a.claims[class]; ok {
		return known
	}
	c, x := a.t.M.Classes[class], a.t.M.Devices
	var out []claimed.AdmittedClaim
	if likeness.ClaimsDevices(&c.Sample.Spec) {
		for _, claim := range x.Of(c.Sample).Claims {
			out = append(out, claimed.AdmittedClaim{Claim: claim})
		}
	}
	out = append(out, x.ExtendedClaims(c.Requests)...)
	a.claims[class] = out
	return out
}

// stockOf returns the devices of a host.
func (a *deviceAdmission) stockOf(host int32) hostStock {
	m := a.t.M
	if int(host) < len(m.Nodes) {
		name := m.Nodes[host].Name
		view := existing.ViewOf(m.Nodes[host].Source)
		return hostStock{m.Devices.Usages[name], "node " + name, m.Devices.Unplugged(view.Allocatable())}
	}
	mc := a.t.NewNode(host)
	table := m.Pools[mc.Pool].Table
	v := &table.Catalog.Variants[table.Rows[mc.Row].Variant]
	return a.stockOfType(table.Catalog.Types[v.Type], v.Offering)
}

// stockOfType returns the devices of a new node of the instance type. o is its offering; nil means that the devices don't depend on it.
func (a *deviceAdmission) stockOfType(it *cloudprovider.InstanceType, o *cloudprovider.Offering) hostStock {
	if len(it.Devices) == 0 {
		return hostStock{}
	}
	of := typeStock{it, claimed.TemplateOf(it, o)}
	s, known := a.stocks[of]
	if !known {
		if inv := a.t.M.Devices.Inventories[of.template]; inv != nil {
			s = hostStock{devices.NewUsage(inv), fmt.Sprintf("type %d", len(a.stocks)), a.t.M.Devices.Unplugged(it.Allocatable())}
		}
		a.stocks[of] = s
	}
	return s
}

// order tries several orders of pods with these classes. It returns the order in which the most pods get devices of the host. It does not
// change the host's devices.
func (a *deviceAdmission) order(on hostStock, classes []int32) sequence {
	key := keyOf(on.name, classes)
	if known, ok := a.known[key]; ok {
		return known
	}
	best := a.try(on, classes)
	next := classes
	for n := 0; best.failed > 0 && n < maxOrders; n++ {
		if n == 0 {
			next = a.hardestFirst(next)
		} else {
			// Pods that got no devices are first in the next order.
			last := a.try(on, next)
			cut := len(last.classes) - last.failed
			next = slices.Concat(last.classes[cut:], last.classes[:cut])
		}
		if s := a.try(on, next); s.failed < best.failed {
			best = s
		}
	}
	a.known[key] = best
	return best
}

// keyOf returns a text that identifies the devices of a host, by the name of its hostStock, and the classes in their order.
func keyOf(name string, classes []int32) string {
	key := []byte(name)
	for _, c := range classes {
		key = binary.LittleEndian.AppendUint32(key, uint32(c))
	}
	return string(key)
}

// refuses reports whether pods of these classes, in order, get no devices on a new node of the type, for some offering of the claim.
func (a *deviceAdmission) refuses(it *cloudprovider.InstanceType, claim requirements.Set, classes []int32) bool {
	if it.DeviceLabels() == nil {
		return a.refusesAs(it, nil, classes)
	}
	for o := range it.OfferingsWithRoom() {
		if leavesOpen(claim, o) && a.refusesAs(it, o, classes) {
			return true
		}
	}
	return false
}

// leavesOpen reports whether the NodeClaim's requirements allow the offering.
func leavesOpen(claim requirements.Set, o *cloudprovider.Offering) bool {
	for r := range claim.All {
		if o.Requirements.Has(r.Key()) && !match.Meets(o.Requirements, r) {
			return false
		}
	}
	return true
}

// refusesAs does the same as refuses for one offering of the instance type.
func (a *deviceAdmission) refusesAs(it *cloudprovider.InstanceType, o *cloudprovider.Offering, classes []int32) bool {
	on := a.stockOfType(it, o)
	if on.usage == nil {
		return false
	}
	key := keyOf(on.name, classes)
	no, known := a.refused[key]
	if !known {
		no = a.try(on, classes).failed > 0
		a.refused[key] = no
	}
	return no
}

// hardestFirst sorts the classes so that pods that request more or larger devices come first.
func (a *deviceAdmission) hardestFirst(classes []int32) []int32 {
	out := slices.Clone(classes)
	weight := func(class int32) (most int64) {
		for _, at := range a.t.M.Devices.Dims {
			most += a.t.M.Classes[class].Requests[at]
		}
		return most
	}
	slices.SortStableFunc(out, func(x, y int32) int { return cmp.Compare(weight(y), weight(x)) })
	return out
}

// try allocates devices to pods in the given order of their classes. In the result, pods that get no devices are last.
func (a *deviceAdmission) try(on hostStock, classes []int32) sequence {
	usage := on.usage.Clone()
	var got, not []int32
	for _, class := range classes {
		var claims []*devices.Claim
		for _, claim := range a.claimsOf(class) {
			if claim.Resource == "" || on.unplugged[claim.Resource] {
				claims = append(claims, claim.Claim)
			}
		}
		if len(claims) > 0 {
			if allocation, _ := devices.Allocate([]devices.Source{{Usage: usage}}, claims, a.matches); allocation == nil {
				not = append(not, class)
				continue
			}
		}
		got = append(got, class)
	}
	return sequence{append(got, not...), len(not)}
}

// TakeOffRefused removes pods without devices from hosts where no order gives all pods their devices. It also keeps further pods that need
// devices off these hosts. It returns, in ascending order, the classes of the removed pods that may get devices on other nodes.
func (a *deviceAdmission) TakeOffRefused() []int32 {
	t := a.t
	loads := a.loadsOf(t.S.Placed.All)
	var again []int32
	for host := range loads {
		if len(loads[host]) == 0 || t.NewOnly && host < len(t.M.Nodes)+t.Fresh {
			continue
		}
		on := a.stockOf(int32(host))
		if on.usage == nil {
			continue
		}
		s := a.order(on, loads[host])
		if s.failed == 0 {
			continue
		}
		for _, class := range s.classes[len(s.classes)-s.failed:] {
			t.Proof = nil
			t.S.TakeOne(int32(host), class)
			if host < len(t.M.Nodes) || len(s.classes) > 1 { // a pod that is alone on a new node would only get an equal node again
				again = append(again, class)
			}
		}
		t.S.Seal(int32(host), t.M.Devices.Dims)
	}
	t.S.AbandonEmpty()
	slices.Sort(again)
	return slices.Compact(again)
}

// loadsOf returns, for each host, the classes of its pods that have claims, one entry for each pod.
func (a *deviceAdmission) loadsOf(list []state.Binding) [][]int32 {
	t := a.t
	out := make([][]int32, len(t.M.Nodes)+len(t.S.Planned))
	for _, b := range list {
		if b.Count > 0 && len(a.claimsOf(b.Class)) > 0 {
			for range b.Count {
				out[b.Host] = append(out[b.Host], b.Class)
			}
		}
	}
	return out
}

// NewNode returns the new node with the given host number.
func (t *Trial) NewNode(host int32) *state.Node { return &t.S.Planned[int(host)-len(t.M.Nodes)] }

// OrderForDevices sorts the pods of each host so that all pods get their devices if bound in this order. Other pods keep their positions.
func (t *Trial) OrderForDevices(list []state.Binding) []state.Binding {
	a := t.NewDeviceAdmission()
	if a == nil {
		return list
	}
	loads := a.loadsOf(list)
	changed := false
	for host := range loads {
		if len(loads[host]) < 2 {
			continue
		}
		if on := a.stockOf(int32(host)); on.usage != nil {
			s := a.order(on, loads[host])
			changed = changed || !slices.Equal(s.classes, loads[host])
			loads[host] = s.classes
		}
	}
	if !changed {
		return list
	}
	return inOrder(list, loads, func(class int32) bool { return len(a.claimsOf(class)) > 0 })
}

// inOrder sorts the bindings of each host by the host's order of pods in orders. It moves only bindings whose class satisfies about.
func inOrder(list []state.Binding, orders [][]int32, about func(class int32) bool) []state.Binding {
	stages := map[[2]int32]state.Binding{}
	for _, b := range list {
		stages[[2]int32{b.Host, b.Class}] = b
	}
	out := make([]state.Binding, 0, len(list))
	next := make([]int, len(orders))
	for _, b := range list {
		if !about(b.Class) {
			out = append(out, b)
			continue
		}
		for range b.Count {
			class := orders[b.Host][next[b.Host]]
			next[b.Host]++
			one := stages[[2]int32{b.Host, class}]
			one.Count = 1
			out = append(out, one)
		}
	}
	return out
}

// allowed returns the instance types on which pods of these classes, in order, get their devices, or all types if there is no such type.
func (a *deviceAdmission) allowed(c *market.Catalog, node *planning.NewNode, classes []int32) []planning.InstanceTypeOption {
	options := node.InstanceTypes
	byName := a.byName[c]
	if byName == nil {
		byName = make(map[string]*cloudprovider.InstanceType, len(c.Types))
		for _, it := range c.Types {
			byName[it.Name] = it
		}
		a.byName[c] = byName
	}
	refuses := func(o planning.InstanceTypeOption) bool { return a.refuses(byName[o.Name], node.Requirements, classes) }
	if !slices.ContainsFunc(options, refuses) {
		return options
	}
	if left := slices.DeleteFunc(slices.Clone(options), refuses); len(left) > 0 {
		return left
	}
	return options
}

// Options returns the instance types of a new node on which its pods get their devices. If these types are too few for the pool's
// minValues, it returns all types. The instance type for which the order of the pods was found need not be the first in the list: another
// type may cost the same, or may be cheaper for the remaining pods.
func (a *deviceAdmission) Options(node *planning.NewNode, pool int32, loads []state.Binding) []planning.InstanceTypeOption {
	p := a.t.M.Pools[pool]
	if len(node.InstanceTypes) < 2 {
		return node.InstanceTypes
	}
	var classes []int32
	for _, b := range loads {
		for range b.Count {
			if len(a.claimsOf(b.Class)) > 0 {
				classes = append(classes, b.Class)
			}
		}
	}
	if len(classes) == 0 {
		return node.InstanceTypes
	}
	if left := a.allowed(p.Table.Catalog, node, classes); variedEnough(p, left) {
		return left
	}
	return node.InstanceTypes
}

// variedEnough reports whether the types meet the pool's minValues.
func variedEnough(p *nodepool.Pool, options []planning.InstanceTypeOption) bool {
	for _, asked := range p.Variety {
		values := sets.New[string]()
		for _, it := range p.Table.Catalog.Types {
			if slices.ContainsFunc(options, func(o planning.InstanceTypeOption) bool { return o.Name == it.Name }) {
				values.Insert(it.Requirements.Get(asked.Key).Values()...)
			}
		}
		if values.Len() < asked.N {
			return false
		}
	}
	return true
}
