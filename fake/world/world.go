// Package world is a cluster for tests and examples: NodePools, nodes with their pods, pods that wait, and a clock that is moved by hand.
// It gives what planners take.
//
//	w := world.New(fake.GenericTypes(60))
//	w.Pool(build.Pool("default"))
//	w.Node("half", "m1.xlarge", build.Pod("web-0", build.CPU("1")))
//	w.Pending(build.Pods("batch", 12, build.CPU("1500m"))...)
//	w.Clock.Advance(24 * time.Hour)
//	model, err := scheduling.Compile(w.Snapshot())
//
// A World is not safe for concurrent use; the snapshots it gives share its objects, which planners don't change.
//
// Stability: beta.
package world

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// catalog is the name under which pools find the world's instance types.
const catalog = "world"

// World is a cluster with a clock. Make one with New.
type World struct {
	// Clock is the world's time. It stands at noon of 2026-01-01, UTC, until it is moved.
	Clock *fake.SimClock
	// Vocabulary is which labels pools may use and what they mean. New sets that of the cloud in package fake.
	Vocabulary requirements.Vocabulary

	types   []*cloudprovider.InstanceType
	pools   []scheduling.NodePool
	nodes   []scheduling.Node
	pending []*corev1.Pod
}

// New is a world without anything in it, where these instance types are sold.
func New(instanceTypes []*cloudprovider.InstanceType) *World {
	return &World{
		Clock:      fake.NewSimClock(time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)),
		Vocabulary: fake.GenericCapabilities().Vocabulary,
		types:      slices.Clone(instanceTypes),
	}
}

// Pool adds a NodePool, which may launch any of the world's instance types that its requirements allow.
func (w *World) Pool(pool *v1.NodePool) {
	if pool != nil {
		w.pools = append(w.pools, scheduling.NodePool{Key: pool.Key(), Object: pool, Catalog: catalog})
	}
}

// Pending adds pods that wait for a place.
func (w *World) Pending(pods ...*corev1.Pod) {
	w.pending = append(w.pending, slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p == nil })...)
}

// Node adds a node of the world's first pool, with its NodeClaim: of an instance type, as its first offering on demand sells it, initialized
// now. The pods run on it. A type that the world does not sell is one without anything. The Node and the claim that it returns may be
// changed.
func (w *World) Node(name, instanceType string, pods ...*corev1.Pod) (*corev1.Node, *v1.NodeClaim) {
	now := w.now()
	it := w.instanceType(instanceType)
	instance := build.OfType(it, zoneOnDemand(it), v1.CapacityTypeOnDemand)
	id := build.ProviderID("world:///" + name)
	created, uid := build.Created(now), build.UID("node-"+name)
	object := build.Node(name, instance, id, created, uid, w.ofPool(), build.Initialized(now))
	claim := build.Claim(name, instance, id, created, build.UID("claim-"+name), w.ofPool(), build.Initialized(now))
	claim.Status.NodeName = name
	node := scheduling.JoinNode(object, claim)
	for _, pod := range pods {
		if pod != nil {
			build.On(name)(pod)
			node.Pods = append(node.Pods, pod)
		}
	}
	w.nodes = append(w.nodes, node)
	return object, claim
}

// ofPool is the label of the first pool; nil without any.
func (w *World) ofPool() build.MetaOption {
	if len(w.pools) == 0 {
		return nil
	}
	return build.Labels(w.pools[0].Key.LabelKey(), w.pools[0].Key.Name)
}

func (w *World) instanceType(name string) *cloudprovider.InstanceType {
	for _, it := range w.types {
		if it != nil && it.Name == name {
			return it
		}
	}
	return build.InstanceType(name)
}

// zoneOnDemand is the first zone, by name, where the type is sold on demand; empty for none.
func zoneOnDemand(it *cloudprovider.InstanceType) string {
	first := ""
	for _, o := range it.Offerings {
		if !o.Requirements.Get(v1.CapacityTypeLabelKey).Has(v1.CapacityTypeOnDemand) {
			continue
		}
		for _, zone := range o.Requirements.Get(corev1.LabelTopologyZone).Values() {
			if first == "" || zone < first {
				first = zone
			}
		}
	}
	return first
}

// Remove takes a node out of the world, as when its instance has gone. Its pods wait, as those that their controllers make again.
func (w *World) Remove(name string) {
	i := slices.IndexFunc(w.nodes, func(n scheduling.Node) bool { return n.Name == name })
	if i < 0 {
		return
	}
	for _, pod := range w.nodes[i].Pods {
		again := pod.DeepCopy()
		again.Spec.NodeName, again.Status = "", corev1.PodStatus{}
		w.pending = append(w.pending, again)
	}
	w.nodes = slices.Delete(w.nodes, i, i+1)
}

// Snapshot is the world as planners see it, at the time of its clock. Nodes are in the order of their names.
func (w *World) Snapshot() *scheduling.Snapshot {
	nodes := slices.Clone(w.nodes)
	slices.SortStableFunc(nodes, func(a, b scheduling.Node) int { return strings.Compare(a.Name, b.Name) })
	return &scheduling.Snapshot{
		Time:       w.now(),
		Vocabulary: w.Vocabulary,
		Catalogs:   map[string][]*cloudprovider.InstanceType{catalog: slices.Clone(w.types)},
		NodePools:  slices.Clone(w.pools),
		Nodes:      nodes,
		Pods:       slices.Clone(w.pending),
	}
}

func (w *World) now() time.Time {
	if w.Clock == nil {
		return time.Time{}
	}
	return w.Clock.Now()
}
