package placing

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// TakersAmong returns those of the given nodes that could take at least one of the pending pods, in the given order. Closed nodes are
// included. So a planner that keeps pods off nodes which are still starting can detect that it would launch nodes for pods that already
// have room on such nodes. Hidden nodes and unknown names take no pods. TakersAmong does not place the pods. It returns at most as many
// nodes as the parameter most says; 0 means no limit.
func (t Placing) TakersAmong(q planning.Query, nodes []string, most int) []string {
	t.Options = planning.PlaceOptions{Query: q, ExistingOnly: true}
	classes := t.WaitingClasses()
	var out []string
	for _, name := range nodes {
		i, ok := t.M.NodeIndex[name]
		if !ok || !t.M.Nodes[i].Usable || t.S.HiddenSet.Has(i) {
			continue
		}
		if slices.ContainsFunc(classes, func(class int32) bool { return t.wouldTake(int32(i), class) }) {
			out = append(out, name)
		}
		if most > 0 && len(out) == most {
			break
		}
	}
	return out
}

// wouldTake reports whether the node, if it were open, could take a pod of the class.
func (t Placing) wouldTake(node, class int32) bool {
	c := t.M.Classes[class]
	return c.Invalid == nil && resources.Fits(t.S.Volumes.NeedOn(c, node), t.S.Room.Of(node)) && t.M.Fits.Accepts(t.M.Nodes[node].Group, c.Shape) && t.S.Admits(c, node)
}

// RoomyAmong returns those of the given nodes that have room for at least one pod that is pending or could move. It ignores rules about
// other pods and includes closed nodes. TakersAmong can return none of the other nodes, as long as no pods are removed from those nodes. So
// a planner that calls TakersAmong thousands of times passes only the nodes that RoomyAmong returned.
func (t Placing) RoomyAmong(nodes []string) []string {
	classes := bitset.New(len(t.M.Classes))
	for class, n := range t.S.Waiting {
		if n > 0 {
			classes.Add(class)
		}
	}
	for i := range t.M.Nodes {
		for _, p := range t.M.Nodes[i].Movable {
			classes.Add(int(p.Class))
		}
	}
	var out []string
	for _, name := range nodes {
		i, ok := t.M.NodeIndex[name]
		if !ok || !t.M.Nodes[i].Usable || t.S.HiddenSet.Has(i) {
			continue
		}
		for class := range classes.Members {
			c := t.M.Classes[class]
			if c.Invalid == nil && resources.Fits(t.S.Volumes.NeedOn(c, int32(i)), t.S.Room.Of(int32(i))) && t.M.Fits.Accepts(t.M.Nodes[i].Group, c.Shape) {
				out = append(out, name)
				break
			}
		}
	}
	return out
}
