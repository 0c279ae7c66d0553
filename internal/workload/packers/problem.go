package packers

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// Problem has pods, and the nodes that can be bought for them.
type Problem struct {
	// Resources are the resources, in the order of all lists of amounts. Amounts of CPU are in thousandths of a CPU, amounts of memory are
	// in bytes, and other resources are counted in whole units. The last resource is the number of pods.
	Resources []corev1.ResourceName
	// Types are the instance types, in the order of the catalog.
	Types []Type
	// Classes are classes of pods with equal requests, in the order of their first pods.
	Classes []Class
	// Ruled is the number of pods that have rules or preferences about other pods or nodes (spread constraints, affinity, anti-affinity).
	// The packing algorithms ignore these rules and preferences, so a plan that keeps them may cost more than a packing.
	Ruled int
}

// Type is a kind of node that can be bought.
type Type struct {
	Name string
	// Room is the room for pods, after subtracting the requests of DaemonSets.
	Room []int64
	// Price is the price of the cheapest available offering, in USD per hour.
	Price float64
}

// Class is a number of pods with equal requests.
type Class struct {
	Need  []int64
	Count int
}

// Of returns the problem of a snapshot's pending pods. A snapshot with nodes, or with pods that select nodes, is an error, because the
// packing algorithms don't know which node accepts which pod.
func Of(s *scheduling.Snapshot) (*Problem, error) {
	if len(s.Nodes) > 0 {
		return nil, fmt.Errorf("the snapshot has %d nodes: only new nodes are packed", len(s.Nodes))
	}
	p := &Problem{}
	byNeed := make(map[string]int)
	var all []corev1.ResourceList
	found := make(map[corev1.ResourceName]bool)
	for _, pod := range s.Pods {
		if len(pod.Spec.NodeSelector) > 0 || choosesNodes(pod.Spec.Affinity) || len(pod.Spec.InitContainers) > 0 || len(pod.Spec.Volumes) > 0 {
			return nil, fmt.Errorf("pod %s/%s has node constraints, init containers or volumes, which the packers ignore", pod.Namespace, pod.Name)
		}
		if len(pod.Spec.TopologySpreadConstraints) > 0 || pod.Spec.Affinity != nil {
			p.Ruled++
		}
		list := requests(&pod.Spec)
		all = append(all, list)
		for name := range list {
			found[name] = true
		}
	}
	p.Resources = append(slices.Sorted(maps.Keys(found)), corev1.ResourcePods)
	for _, list := range all {
		need := p.amounts(list)
		need[len(need)-1] = 1
		key := fmt.Sprint(need)
		at, known := byNeed[key]
		if !known {
			at = len(p.Classes)
			byNeed[key] = at
			p.Classes = append(p.Classes, Class{Need: need})
		}
		p.Classes[at].Count++
	}
	return p, p.addTypes(s)
}

// addTypes adds the types that some pool can buy, with the room that DaemonSets leave.
func (p *Problem) addTypes(s *scheduling.Snapshot) error {
	daemons := make([]int64, len(p.Resources))
	for _, set := range s.DaemonSets {
		spec := &set.Spec.Template.Spec
		if len(spec.NodeSelector) > 0 || spec.Affinity != nil || len(spec.InitContainers) > 0 {
			return fmt.Errorf("the DaemonSet %s/%s has node constraints or init containers, which the packers ignore", set.Namespace, set.Name)
		}
		for i, n := range p.amounts(requests(spec)) {
			daemons[i] += n
		}
		daemons[len(daemons)-1]++
	}
	for i := range s.NodePools {
		pool := &s.NodePools[i]
		spec := &pool.Object.Spec
		if len(spec.Limits) > 0 || len(spec.Template.Spec.Taints) > 0 {
			return fmt.Errorf("the NodePool %s has limits or taints, which the packers ignore", pool.Object.Name)
		}
		want, err := requirements.ParseSet(spec.Template.Spec.Requirements)
		if err != nil {
			return fmt.Errorf("the NodePool %s: %w", pool.Object.Name, err)
		}
		for _, t := range s.Catalogs[pool.Catalog] {
			price := math.Inf(1)
			for o := range t.OfferingsWithRoom() {
				if t.Offers(o, want) {
					price = min(price, o.Price)
				}
			}
			if math.IsInf(price, 1) {
				continue
			}
			room := p.amounts(t.Allocatable())
			for r := range room {
				room[r] -= daemons[r]
			}
			p.Types = append(p.Types, Type{t.Name, room, price})
		}
	}
	return nil
}

func (p *Problem) amounts(list corev1.ResourceList) []int64 {
	out := make([]int64, len(p.Resources))
	for i, name := range p.Resources {
		q := list[name]
		if name == corev1.ResourceCPU {
			out[i] = q.MilliValue()
		} else {
			out[i] = q.Value()
		}
	}
	return out
}

func requests(spec *corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(list corev1.ResourceList) {
		for name, q := range list {
			have := sum[name]
			have.Add(q)
			sum[name] = have
		}
	}
	for i := range spec.Containers {
		add(spec.Containers[i].Resources.Requests)
	}
	add(spec.Overhead)
	return sum
}

func choosesNodes(a *corev1.Affinity) bool {
	return a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// Packing is the result of a packing algorithm.
type Packing struct {
	// Cost is the cost of all nodes, in USD per hour. It is +Inf if some pod fits on no type.
	Cost float64
	// Nodes is the number of nodes.
	Nodes int
}

// best calls pack(start) with each type as the start type, and returns the cheapest packing. If several packings are equally cheap, it
// returns the first.
func (p *Problem) best(pack func(start *Type) Packing) Packing {
	best := Packing{Cost: math.Inf(1)}
	for i := range p.Types {
		if found := pack(&p.Types[i]); found.Cost < best.Cost {
			best = found
		}
	}
	return best
}

// cheapest returns the price of the cheapest type that can hold the amounts used, or infinity if no type can.
func (p *Problem) cheapest(used []int64) float64 {
	price := math.Inf(1)
	for i := range p.Types {
		if t := &p.Types[i]; t.Price < price && fits(used, t.Room) {
			price = t.Price
		}
	}
	return price
}

func fits(need, room []int64) bool {
	for r, n := range need {
		if n > 0 && n > room[r] {
			return false
		}
	}
	return true
}

// Steps estimates the work of VectorGreedy: how many classes it checks, summed over all pods and all types.
func (p *Problem) Steps() int64 {
	pods := int64(0)
	for i := range p.Classes {
		pods += int64(p.Classes[i].Count)
	}
	return pods * int64(len(p.Classes)) * int64(len(p.Types))
}
