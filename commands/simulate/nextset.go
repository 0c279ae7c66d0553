package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// nextSet is the other set of NodePools, of workloads, or of both, with which diff compares the cluster.
type nextSet struct {
	pools poolSet
	// snapshot is the cluster with the other set's workloads, or the cluster itself if the other set has no workloads. Its NodePools and
	// Catalogs are not used.
	snapshot *scheduling.Snapshot
	sources  []manifests.Source
}

// readNext reads the other set, with which diff compares the cluster. If the set has no NodePool, the NodePools of the input are used. If
// it has no workload, all pods stay. Node classes that the set lacks are taken from the input.
func (s *simulation) readNext(ctx context.Context, snapshot *scheduling.Snapshot) (nextSet, error) {
	s.progress.Enter("reading the other set")
	sources, err := s.readFiles(ctx, []string{s.diff})
	if err != nil {
		return nextSet{}, fmt.Errorf("%s: %w", s.diffName(), err)
	}
	loaded, err := loadManifests(sources, s.manifestOptions())
	if err != nil {
		return nextSet{}, err
	}
	next := nextSet{pools: poolSet{pools: loaded.Snapshot.NodePools, classes: maps.Clone(s.classes)}, snapshot: snapshot, sources: sources}
	maps.Copy(next.pools.classes, classesOf(loaded))
	nodes, work := len(loaded.Snapshot.Nodes), hasWorkloads(loaded)
	switch {
	case len(next.pools.pools) == 0 && (!work || nodes > 0):
		return nextSet{}, fmt.Errorf("%s %s: it has no NodePools and no workloads that can be compared (workloads are ignored if there are also nodes); give the complete new set of NodePools, of workloads, or of both", s.diffName(), s.diff)
	case nodes > 0:
		n := nodes + len(loaded.Snapshot.Pods)
		s.note("OtherObjects", "%s %s: it has nodes, so that only its NodePools and node classes count; %s passed over", s.diffName(), s.diff, counted(n, "other object"))
		work = false
	}
	s.remarkOn(loaded)
	if work {
		if next.snapshot, err = s.withWorkloads(snapshot, sources); err != nil {
			return nextSet{}, err
		}
	}
	if len(next.pools.pools) == 0 {
		s.note("SameNodePools", "%s %s has no NodePool: those of the input stay", s.diffName(), s.diff)
		next.pools.pools, next.snapshot = snapshot.NodePools, withOverlays(next.snapshot, snapshot)
	}
	return next, nil
}

// diffName is the name of the other set's file in messages.
func (s *simulation) diffName() string {
	if s.program == "simulate" {
		return "--diff"
	}
	return "NEW"
}

// hasWorkloads reports whether an input has pods, or objects that create pods, even with 0 replicas.
func hasWorkloads(loaded *manifests.Result) bool {
	s := loaded.Snapshot
	return len(s.Pods)+len(s.DaemonSets)+len(s.Placeholders)+len(s.StatefulSets)+len(s.ReplicaSets) > 0 ||
		slices.ContainsFunc(loaded.Warnings, func(w manifests.Warning) bool { return w.Code == manifests.WarningNoReplicas })
}

// withWorkloads returns the cluster with the workloads of the other set. Workloads of the input's manifests that the other set lacks are
// removed. Other workloads of a running cluster stay.
func (s *simulation) withWorkloads(snapshot *scheduling.Snapshot, sources []manifests.Source) (*scheduling.Snapshot, error) {
	options := s.manifestOptions()
	options.Former, options.Live = s.former, s.live
	loaded, err := loadManifests(sources, options)
	if err != nil {
		return nil, err
	}
	s.ofNamespace(loaded)
	after, err := s.restrictImages(loaded.Snapshot)
	if err != nil {
		return nil, err
	}
	after.CostModel, after.Assumptions = snapshot.CostModel, snapshot.Assumptions
	own := make(map[string]*scheduling.Node, len(snapshot.Nodes))
	for i := range snapshot.Nodes {
		own[snapshot.Nodes[i].Name] = &snapshot.Nodes[i]
	}
	for i := range after.Nodes {
		// Use the node of the input, because standIn and forgetDrift have changed NodeClaims only there.
		if n := own[after.Nodes[i].Name]; n != nil {
			pods := after.Nodes[i].Pods
			after.Nodes[i] = *n
			after.Nodes[i].Pods = pods
		}
	}
	return after, nil
}

// withOverlays returns the snapshot. If the snapshot has no NodeOverlays, withOverlays returns a copy with the NodeOverlays of the argument
// "of".
func withOverlays(snapshot, of *scheduling.Snapshot) *scheduling.Snapshot {
	if len(snapshot.NodeOverlays) > 0 || len(of.NodeOverlays) == 0 {
		return snapshot
	}
	with := *snapshot
	with.NodeOverlays = of.NodeOverlays
	return &with
}
