// Package world simulates a cluster for tests and examples: NodePools, nodes with their pods, pending pods, and a clock that tests move.
// Its snapshots are the input of planners.
//
//	w := world.New(fake.GenericTypes(60))
//	w.Pool(build.Pool("default"))
//	w.Node("half", "m1.xlarge", build.Pod("web-0", build.CPU("1")))
//	w.Pending(build.Pods("batch", 12, build.CPU("1500m"))...)
//	w.Clock.Advance(24 * time.Hour)
//	model, err := scheduling.Compile(w.Snapshot())
//
// A World is not safe for concurrent use. Its snapshots share its objects. Planners don't change these objects.
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

// catalog is the name of the catalog of the world's instance types.
const catalog = "world"

// World is a cluster with a clock. Make one with New.
type World struct {
	// Clock shows the time of the world. It shows 2026-01-01 12:00 UTC until a test advances it.
	Clock *fake.SimClock
	// Vocabulary defines which labels pools may use and what the labels mean. New sets it to the vocabulary of the cloud in package fake.
	Vocabulary requirements.Vocabulary

	types   []*cloudprovider.InstanceType
	pools   []scheduling.NodePool
	nodes   []scheduling.Node
	pending []*corev1.Pod
}

// New returns an empty world in which these instance types can be bought.
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

// Pending adds pods that have no node yet.
func (w *World) Pending(pods ...*corev1.Pod) {
	w.pending = append(w.pending, slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p == nil })...)
}

// Node adds an initialized node of the world's first pool, with its NodeClaim. The node has the given instance type, bought by the first
// on-demand offering of this type. The given pods run on the node. If the world does not sell the type, the node has no capacity. Callers
// may change the returned Node and NodeClaim.
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

// ofPool returns the label of the first pool, or nil if there are no pools.
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

// zoneOnDemand returns the first zone, in the order of names, in which the type is sold on demand, or "" if there is no such zone.
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

// Remove removes a node, as if its instance had ended. Its pods become pending, as if their controllers had replaced them.
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

// Snapshot returns the snapshot of the world at the time of its clock. The nodes are sorted by name.
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
