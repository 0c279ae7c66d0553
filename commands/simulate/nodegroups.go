package simulate

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// nodeKind is the key for grouping planned nodes in the text output. Nodes of one group have the same instance type, offering and price.
type nodeKind struct {
	pool         v1.PoolKey
	instanceType string
	zone         string
	capacityType string
	price        float64
	// reservation is the name of the reservation; empty for none.
	reservation string
	// terms is the calculation of the price; empty for a list price.
	terms string
	// minValuesRelaxed is true if the nodes allow fewer values (such as instance types) than the minValues of the pool require.
	minValuesRelaxed bool
}

// nodeGroup are the planned nodes of one kind.
type nodeGroup struct {
	nodeKind
	nodes []*scheduling.NewNode
}

// placeholders returns the placeholders on the group's nodes.
func (g nodeGroup) placeholders(held headroom) []scheduling.PodKey {
	var placeholders []scheduling.PodKey
	for _, node := range g.nodes {
		placeholders = append(placeholders, held.launched[node.Name]...)
	}
	return placeholders
}

// cost is the cost of the group, in USD per hour.
func (g nodeGroup) cost() float64 { return g.price * float64(len(g.nodes)) }

// pods returns the pods on the group's nodes.
func (g nodeGroup) pods() []scheduling.PodKey {
	var pods []scheduling.PodKey
	for _, node := range g.nodes {
		pods = append(pods, node.Pods...)
	}
	return pods
}

// podInterval returns the least and the greatest number of pods on a node of the group.
func (g nodeGroup) podInterval() (low, high int) {
	low, high = len(g.nodes[0].Pods), len(g.nodes[0].Pods)
	for _, node := range g.nodes[1:] {
		low, high = min(low, len(node.Pods)), max(high, len(node.Pods))
	}
	return low, high
}

// fill returns the share of a resource of the group's nodes that is requested, and whether they have the resource.
func (g nodeGroup) fill(resource corev1.ResourceName) (float64, bool) {
	var used, have float64
	for _, node := range g.nodes {
		used += amount(node.Requests, resource)
		have += amount(node.Allocatable, resource)
	}
	if have == 0 {
		return 0, false
	}
	return used / have, true
}

func amount(list corev1.ResourceList, name corev1.ResourceName) float64 {
	q, ok := list[name]
	if !ok {
		return 0
	}
	return q.AsApproximateFloat64()
}

// poolSection contains a pool's nodes; the kinds with the highest cost come first.
type poolSection struct {
	pool   v1.PoolKey
	groups []nodeGroup
}

func (s poolSection) instances() int {
	n := 0
	for _, group := range s.groups {
		n += len(group.nodes)
	}
	return n
}

func (s poolSection) cost() float64 {
	sum := 0.0
	for _, group := range s.groups {
		sum += group.cost()
	}
	return sum
}

// groupNodes sorts planned nodes into pools and kinds.
func groupNodes(nodes []scheduling.NewNode) []poolSection {
	index := make(map[nodeKind]int)
	var groups []nodeGroup
	for at := range nodes {
		kind := kindOf(&nodes[at])
		i, ok := index[kind]
		if !ok {
			i = len(groups)
			index[kind] = i
			groups = append(groups, nodeGroup{nodeKind: kind})
		}
		groups[i].nodes = append(groups[i].nodes, &nodes[at])
	}
	slices.SortFunc(groups, func(a, b nodeGroup) int {
		return cmp.Or(a.pool.Compare(b.pool), cmp.Compare(b.cost(), a.cost()),
			strings.Compare(a.instanceType, b.instanceType), strings.Compare(a.zone, b.zone),
			strings.Compare(a.capacityType, b.capacityType), cmp.Compare(a.price, b.price),
			strings.Compare(a.reservation, b.reservation), strings.Compare(a.terms, b.terms),
			boolCompare(a.minValuesRelaxed, b.minValuesRelaxed))
	})
	var sections []poolSection
	for _, group := range groups {
		if last := len(sections) - 1; last < 0 || sections[last].pool != group.pool {
			sections = append(sections, poolSection{pool: group.pool})
		}
		section := &sections[len(sections)-1]
		section.groups = append(section.groups, group)
	}
	return sections
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func kindOf(node *scheduling.NewNode) nodeKind {
	kind := nodeKind{pool: node.Pool, minValuesRelaxed: node.MinValuesRelaxed}
	if len(node.InstanceTypes) > 0 {
		cheapest := node.InstanceTypes[0]
		kind.instanceType, kind.zone, kind.capacityType, kind.price =
			cheapest.Name, cheapest.Zone, cheapest.CapacityType, cheapest.Price
		kind.reservation, kind.terms = reservation(cheapest), strings.Join(termItems(cheapest.Terms), " ")
	}
	return kind
}

// shownResources returns the resources whose use the text shows: CPU, memory, and devices that some pod requests.
func shownResources(nodes []scheduling.NewNode) []corev1.ResourceName {
	devices := make(map[corev1.ResourceName]bool)
	for _, node := range nodes {
		for name := range node.Requests {
			if strings.Contains(string(name), "/") && amount(node.Requests, name) > 0 {
				devices[name] = true
			}
		}
	}
	shown := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	sorted := make([]corev1.ResourceName, 0, len(devices))
	for name := range devices {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return append(shown, sorted...)
}

// resourceTitle returns the head of a resource's column: "CPU", "MEMORY", "GPU" for nvidia.com/gpu, or the whole name if another shown
// resource has the same name after the slash.
func resourceTitle(name corev1.ResourceName, shown []corev1.ResourceName) string {
	_, short, ok := strings.Cut(string(name), "/")
	if !ok {
		return strings.ToUpper(string(name))
	}
	for _, other := range shown {
		if other != name && strings.HasSuffix(string(other), "/"+short) {
			return string(name)
		}
	}
	return strings.ToUpper(short)
}
