// Package snapshots makes small, difficult cluster snapshots at random. They have a few pools, instance types, nodes and workloads, with as
// many constraints at the same time as the given features allow. Use them for properties of planners:
//
//	rapid.Check(t, func(t *rapid.T) {
//		snapshot := snapshots.Of(snapshots.All()).Draw(t, "snapshot")
//		…
//	})
//
// All values are drawn so that shrinking leads to fewer and simpler objects: a drawn zero means that an object is absent.
package snapshots

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is one kind of constraint that a snapshot may have. Its text is the name of the feature that users write.
type Feature string

// The features. A snapshot without features has instance types, one pool without constraints, and pods that request only CPU and memory.
const (
	// Extended: extended resources, requests of init containers and sidecars.
	Extended Feature = "extended"
	// Pools: several pools, their weights and requirements.
	Pools Feature = "pools"
	// Selectors: node selectors and required node affinity.
	Selectors Feature = "selectors"
	// Preferences: preferred node affinity.
	Preferences Feature = "preferences"
	// CustomLabels: labels that only pools and nodes have.
	CustomLabels Feature = "labels"
	// Taints: taints of pools and nodes, startup taints, tolerations.
	Taints Feature = "taints"
	// Limits of pools.
	Limits Feature = "limits"
	// Daemons: DaemonSets.
	Daemons Feature = "daemons"
	// Nodes: nodes that exist or are being launched, with pods on them.
	Nodes Feature = "nodes"
	// Offerings: offerings out of stock, and offerings with capacity or overhead of their own.
	Offerings Feature = "offerings"
	// Priorities of pods.
	Priorities Feature = "priorities"
	// Spread: topology spread constraints over zones, hosts, capacity types and custom labels.
	Spread Feature = "spread"
	// Affinity between pods.
	Affinity Feature = "affinity"
	// AntiAffinity between pods.
	AntiAffinity Feature = "antiaffinity"
	// Namespaces: pods in several namespaces, and terms of pod (anti-)affinity that select other namespaces.
	Namespaces Feature = "namespaces"
	// Ports: host ports.
	Ports Feature = "ports"
	// Volumes: claims that are bound to zonal volumes, and claims that wait for a consumer.
	Volumes Feature = "volumes"
	// SharedClaims: claims that several pods use together. It has no effect without Volumes.
	SharedClaims Feature = "sharedclaims"
	// AttachLimits: nodes with a limit on attached volumes. It has no effect without Volumes.
	AttachLimits Feature = "attachlimits"
	// HandMade: claims of classes that bind immediately or have no provisioner, and free volumes that were created manually, some of them
	// local. It has no effect without Volumes.
	HandMade Feature = "handmade"
	// Overlays: NodeOverlays of prices and capacities.
	Overlays Feature = "overlays"
	// Reservations: reserved offerings, and queries that wait for reserved capacity.
	Reservations Feature = "reservations"
	// MinValues: minValues of pools, and queries that accept fewer values.
	MinValues Feature = "minvalues"
	// StaticPools: pools with a fixed number of nodes, in addition to other pools. It has no effect without Pools.
	StaticPools Feature = "static"
	// Buffers: placeholders of CapacityBuffers.
	Buffers Feature = "buffers"
	// OddCapacities: instance types that have room for almost no pod, fractions of cores, odd numbers of bytes, or more overhead than
	// capacity.
	OddCapacities Feature = "oddcapacities"
	// NodeStates: nodes that are cordoned, not ready or not registered, that have their startup taints again, or that report less than
	// their type has. It has no effect without Nodes.
	NodeStates Feature = "nodestates"
	// DefaultSpread: the cluster's default spread constraints, with Services and controllers.
	DefaultSpread Feature = "defaultspread"
	// InlineDisks: disks that pods use directly, without a claim.
	InlineDisks Feature = "inlinedisks"
	// NodeNames: required node affinity on the names of nodes. It has no effect without Nodes and Selectors.
	NodeNames Feature = "nodenames"
	// Attachments: VolumeAttachments of volumes that no pod on the node uses. It has no effect without AttachLimits.
	Attachments Feature = "attachments"
)

// All features.
func All() []Feature {
	return []Feature{Extended, Pools, Selectors, Preferences, CustomLabels, Taints, Limits, Daemons, Nodes, Offerings, Priorities,
		Spread, Affinity, AntiAffinity, Namespaces, Ports, Volumes, SharedClaims, AttachLimits, HandMade,
		Overlays, Reservations, MinValues, StaticPools, Buffers, OddCapacities, NodeStates, DefaultSpread, InlineDisks, NodeNames, Attachments}
}

// Parse parses a list of features separated by commas. A leading "-" means all features except those in the list: "-volumes,-ports".
func Parse(text string) ([]Feature, error) {
	var out []Feature
	if strings.HasPrefix(text, "-") {
		out = All()
	}
	for name := range strings.SplitSeq(text, ",") {
		bare, without := strings.CutPrefix(strings.TrimSpace(name), "-")
		if !slices.Contains(All(), Feature(bare)) {
			return nil, fmt.Errorf("there is no feature %q: use some of %v", bare, All())
		}
		if without {
			out = slices.DeleteFunc(out, func(f Feature) bool { return f == Feature(bare) })
		} else {
			out = append(out, Feature(bare))
		}
	}
	return out, nil
}
