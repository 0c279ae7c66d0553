package placing

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Move places pending pods on nodes of the snapshot by the same rules as Place, but one class at a time, the largest pods first. Each pod
// gets the first node in the order of Rank that takes it. Finding a node takes logarithmic time in the number of nodes, so a planner can
// try thousands of removals. As in Place, spreads also count the domains that pools can reach. If Move ignored these domains, it could put
// a pod where provisioning does not allow it. Provisioning would then launch a new node for this pod. Nodes where all preferences are kept
// come first. Move returns how many pods are still pending. Without a Rank it places nothing.
func (t Placing) Move(q planning.Query) (left int) {
	t.Options = planning.PlaceOptions{Query: q, ExistingOnly: true}
	classes := t.WaitingClasses()
	if t.Rooms == nil || len(classes) == 0 {
		return t.S.Waiting.Pods()
	}
	t.MoveClasses(classes)
	if stuck := t.unlaunchable(classes); len(stuck) > 0 {
		t.S.Topology.Binding = true
		t.MoveClasses(stuck)
		t.S.Topology.Binding = false
	}
	for _, c := range classes {
		left += int(t.S.Waiting[c])
	}
	return left
}

// unlaunchable returns the pending classes with hard spreads for which limits allow no new node. For these classes only, spreads count only
// the domains that exist, as in the last step of Place.
func (t Placing) unlaunchable(classes []int32) []int32 {
	if t.S.Topology == nil || !slices.ContainsFunc(t.M.Pools, func(p *nodepool.Pool) bool { return p.Limits != nil }) {
		return nil
	}
	var out []int32
	begun := false
	for _, class := range classes {
		if c := t.M.Classes[class]; t.S.Waiting[class] == 0 || c.Invalid != nil || !spreadHard(t.M, c.Topology) {
			continue
		}
		if !begun {
			begun = t.Begin(classes)
		}
		if SitesOf(t.Trial).FindSite(t.Cells, class) == nil && SitesOf(t.Trial).FindVariedSite(t.Cells, class) == nil {
			out = append(out, class)
		}
	}
	return out
}

// MoveClasses repeats the classes until no more pods find a place, because a pod may need other pods to be placed first.
func (t Placing) MoveClasses(classes []int32) {
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			c := t.M.Classes[class]
			if t.S.Waiting[class] == 0 || c.Invalid != nil {
				continue
			}
			if t.moveClass(class, c, existing.FitFully, false) || t.moveClass(class, c, existing.FitGivingUp, true) {
				progress = progress || c.Topology != nil
			}
		}
	}
}

// moveClass places pods of the class on nodes that accept them with at least the given fit or, if exactly is set, with exactly this fit. It
// returns false if it placed no pod.
func (t Placing) moveClass(class int32, c *podclass.Class, fit uint32, exactly bool) bool {
	moved := false
	need := c.Unshared()
	for t.S.Waiting[class] > 0 {
		node := t.Rooms.First(t.M, class, need, fit, exactly, func(node int32) bool {
			return (len(c.Shared) == 0 || resources.Fits(t.S.Volumes.NeedOn(c, node), t.S.Room.Of(node))) && t.S.Admits(c, node)
		})
		if node < 0 {
			return moved
		}
		t.Add(state.Binding{Class: class, Host: node, Count: t.BulkOn(class, node), Stage: -1, Tight: SpreadsOf(t.Trial).Tightly(class)})
		moved = true
	}
	return moved
}
