package clusterdebug

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// The lists are bounded, and the totals count everything.
func TestClusterReportIsBounded(t *testing.T) {
	r := &clusterreport.Report{}
	view := &cluster.View{Snapshot: &scheduling.Snapshot{}}
	for range clusterreport.MaxNodes + 10 {
		view.Nodes = append(view.Nodes, cluster.NodeState{Name: "n", Node: build.Node("n")})
	}
	for range clusterreport.MaxPending + 10 {
		view.Snapshot.Pods = append(view.Snapshot.Pods, build.Pod("p"))
	}
	addNodes(r, view, nil, nil)
	addPending(r, view, nil)
	if len(r.Nodes) != clusterreport.MaxNodes || r.Totals.Nodes != clusterreport.MaxNodes+10 || r.Totals.WithoutPrice != r.Totals.Nodes {
		t.Errorf("%d nodes, %+v", len(r.Nodes), r.Totals)
	}
	if len(r.Pending) != clusterreport.MaxPending || r.Totals.Pending != clusterreport.MaxPending+10 {
		t.Errorf("%d pods, %+v", len(r.Pending), r.Totals)
	}
	key := scheduling.PodKey{Name: "p"}
	p := &clusterreport.Pod{}
	plan := &scheduling.Plan{Unschedulable: []scheduling.Unschedulable{{Pod: key, Reasons: []scheduling.Reason{{Code: "X", Detail: strings.Repeat("ü", longestReason)}}}}}
	if addPlaces(map[scheduling.PodKey]*clusterreport.Pod{key: p}, plan); len(p.Reason) > longestReason+len("…") || p.Reason == "" {
		t.Errorf("a reason of %d bytes", len(p.Reason))
	}
}

func TestNodeState(t *testing.T) {
	gone := &v1.NodeClaim{}
	gone.DeletionTimestamp = &build.Node("n").CreationTimestamp
	ending := gone.DeepCopy()
	ending.Conditions().Set(v1.ConditionInstanceTerminating, "True", "", "", time.Now())
	for want, m := range map[clusterreport.NodeState]cluster.NodeState{
		clusterreport.StateLaunching:    {Claim: &v1.NodeClaim{}},
		clusterreport.StateRegistering:  {Claim: &v1.NodeClaim{}, Phase: cluster.PhaseLaunched},
		clusterreport.StateInitializing: {Claim: &v1.NodeClaim{}, Phase: cluster.PhaseRegistered},
		clusterreport.StateNotReady:     {Node: &corev1.Node{}, Phase: cluster.PhaseInitialized},
		clusterreport.StateLeaving:      {Node: &corev1.Node{}, Phase: cluster.PhaseInitialized, Leaving: true},
		clusterreport.StateDraining:     {Claim: gone, Phase: cluster.PhaseInitialized, Leaving: true},
		clusterreport.StateTerminating:  {Claim: ending, Phase: cluster.PhaseInitialized, Leaving: true},
	} {
		if got := nodeState(&m); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
