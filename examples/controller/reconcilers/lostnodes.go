package reconcilers

import (
	"slices"

	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// withoutLost returns the view with marks on claims that have lost their node. They count as being removed, so that pods don't wait for a
// node that may never come back. The parameter view is not changed, because views share lists.
func withoutLost(view *cluster.View) *cluster.View {
	out, copied := view, false
	for i := range view.Nodes {
		m := &view.Nodes[i]
		if m.Leaving || m.Claim == nil || !provisioning.NodeLost(m.Claim) {
			continue
		}
		if !copied {
			copied = true
			changed, snapshot := *view, *view.Snapshot
			changed.Snapshot = &snapshot
			changed.Nodes, snapshot.Nodes = slices.Clone(view.Nodes), slices.Clone(snapshot.Nodes)
			out = &changed
		}
		out.Nodes[i].Leaving, out.Snapshot.Nodes[i].Leaving = true, true
	}
	return out
}
