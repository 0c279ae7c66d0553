// Package snapshots makes small, nasty cluster snapshots at random: a few pools, instance types, nodes and workloads,
// with as many constraints at once as the features given allow. They are made for properties of planners:
//
//	rapid.Check(t, func(t *rapid.T) {
//		snapshot := snapshots.Of(snapshots.All()).Draw(t, "snapshot")
//		…
//	})
//
// Everything is drawn so that shrinking leads to fewer and plainer objects: zero means absent.
package snapshots

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is one kind of constraint a snapshot may hold. Its text is how a user names it.
type Feature string

// The features. A snapshot without any has pods that request cores and memory, one open pool, and instance types.
const (
	// Extended: extended resources, requests of init containers and sidecars.
	Extended Feature = "extended"
	// Pools: several pools, their weights and requirements.
	Pools Feature = "pools"
	// Selectors: node selectors and required node affinity.
	Selectors Feature = "selectors"
	// Preferences: preferred node affinity.
	Preferences Feature = "preferences"
	// CustomLabels: labels that only pools and nodes state.
	CustomLabels Feature = "labels"
	// Taints: taints of pools and nodes, startup taints, tolerations.
	Taints Feature = "taints"
	// Limits of pools.
	Limits Feature = "limits"
	// Daemons: DaemonSets.
	Daemons Feature = "daemons"
	// Nodes: nodes that exist or are being launched, with pods on them.
	Nodes Feature = "nodes"
	// Offerings: offerings out of stock, and such with resources of their own.
	Offerings Feature = "offerings"
	// Priorities of pods.
	Priorities Feature = "priorities"
	// Spread: topology spread constraints over zones, hosts, capacity types and custom labels.
	Spread Feature = "spread"
	// Affinity between pods.
	Affinity Feature = "affinity"
	// AntiAffinity between pods.
	AntiAffinity Feature = "antiaffinity"
	// Namespaces: pods in several namespaces, and terms of pod (anti-)affinity that reach over.
	Namespaces Feature = "namespaces"
	// Ports of the host.
	Ports Feature = "ports"
	// Volumes: claims bound to zonal volumes, and such that wait for a consumer.
	Volumes Feature = "volumes"
	// SharedClaims: pods that use one volume claim together. Does nothing without Volumes.
	SharedClaims Feature = "sharedclaims"
	// AttachLimits: nodes with a bound on attached volumes. Does nothing without Volumes.
	AttachLimits Feature = "attachlimits"
	// HandMade volumes: claims of classes that bind immediately or make no volumes themselves, and free volumes made by
	// hand, some of them local. Does nothing without Volumes.
	HandMade Feature = "handmade"
	// Overlays: NodeOverlays of prices and capacities.
	Overlays Feature = "overlays"
	// Reservations: reserved offerings, and queries that wait for them.
	Reservations Feature = "reservations"
	// MinValues of pools, and queries that settle for less.
	MinValues Feature = "minvalues"
	// StaticPools: pools of a fixed number of nodes in addition to the others. Does nothing without Pools.
	StaticPools Feature = "static"
	// Buffers: placeholders of CapacityBuffers.
	Buffers Feature = "buffers"
	// OddCapacities: nodes with room for hardly any pod, parts of cores, odd bytes, or less than they keep for
	// themselves.
	OddCapacities Feature = "oddcapacities"
	// NodeStates: nodes that are cordoned, not ready, have startup taints again, registered or not, shrunken.
	// Does nothing without Nodes.
	NodeStates Feature = "nodestates"
	// DefaultSpread: the cluster's default spread constraints, with Services and controllers.
	DefaultSpread Feature = "defaultspread"
	// InlineDisks that pods name without a claim.
	InlineDisks Feature = "inlinedisks"
	// NodeNames: required node affinity on the names of nodes. Does nothing without Nodes and Selectors.
	NodeNames Feature = "nodenames"
	// Attachments: VolumeAttachments of volumes that no pod of their node uses. Does nothing without AttachLimits.
	Attachments Feature = "attachments"
)

// All features.
func All() []Feature {
	return []Feature{Extended, Pools, Selectors, Preferences, CustomLabels, Taints, Limits, Daemons, Nodes, Offerings, Priorities,
		Spread, Affinity, AntiAffinity, Namespaces, Ports, Volumes, SharedClaims, AttachLimits, HandMade,
		Overlays, Reservations, MinValues, StaticPools, Buffers, OddCapacities, NodeStates, DefaultSpread, InlineDisks, NodeNames, Attachments}
}

// Parse reads a list of features separated by commas. A leading "-" takes a feature away from all: "-volumes,-ports".
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
