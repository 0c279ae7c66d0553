package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-050, SCH-051: a pod must tolerate every taint of the node, by kube-scheduler's rule.
func TestPodsTolerateTaints(t *testing.T) {
	for _, c := range []struct {
		name       string
		taint      string
		toleration corev1.Toleration
		want       bool
	}{
		{"no toleration", "team=a:NoSchedule", corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}, false},
		{"equal value", "team=a:NoSchedule", toleration("team", corev1.TolerationOpEqual, "a", ""), true},
		{"the empty operator is Equal", "team=a:NoSchedule", toleration("team", "", "a", ""), true},
		{"another value", "team=a:NoSchedule", toleration("team", corev1.TolerationOpEqual, "b", ""), false},
		{"exists", "team=a:NoSchedule", toleration("team", corev1.TolerationOpExists, "", ""), true},
		{"an empty key with Exists tolerates all", "team=a:NoExecute", toleration("", corev1.TolerationOpExists, "", ""), true},
		{"same effect", "team=a:NoExecute", toleration("team", corev1.TolerationOpExists, "", corev1.TaintEffectNoExecute), true},
		{"another effect", "team=a:NoExecute", toleration("team", corev1.TolerationOpExists, "", corev1.TaintEffectNoSchedule), false},
		{"greater than", "level=7:NoSchedule", toleration("level", corev1.TolerationOpGt, "5", ""), true},
		{"not greater than", "level=5:NoSchedule", toleration("level", corev1.TolerationOpGt, "5", ""), false},
		{"less than", "level=4:NoSchedule", toleration("level", corev1.TolerationOpLt, "5", ""), true},
		{"not less than", "level=5:NoSchedule", toleration("level", corev1.TolerationOpLt, "5", ""), false},
		{"less than what is no number", "level=high:NoSchedule", toleration("level", corev1.TolerationOpLt, "5", ""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			onNew := solve(t, cluster(nodePool("tainted", poolTaints(c.taint)), pod("p", tolerates(c.toleration))))
			if placed := len(onNew.NewNodes) == 1; placed != c.want {
				t.Errorf("SCH-051 new node: placed %v, want %v", placed, c.want)
			}
			onExisting := solve(t, cluster(nodePool("none", catalogOf("")), node("n", nodeTaints(c.taint)), pod("p", tolerates(c.toleration))))
			if placed := len(onExisting.Existing) == 1; placed != c.want {
				t.Errorf("SCH-050 existing node: placed %v, want %v", placed, c.want)
			}
		})
	}
}

// SCH-050: all taints count, not only the first.
func TestEveryTaintCounts(t *testing.T) {
	p := solve(t, cluster(nodePool("two", poolTaints("a=1:NoSchedule", "b=2:NoExecute")),
		pod("one", tolerates(toleration("a", corev1.TolerationOpExists, "", ""))),
		pod("both", tolerates(toleration("a", corev1.TolerationOpExists, "", ""), toleration("b", corev1.TolerationOpExists, "", "")))))
	if len(newNodeOf(t, p, "both").Pods) != 1 {
		t.Errorf("pod one shares the node")
	}
	wantReason(t, p, "one", `incompatible with nodepool "two", did not tolerate b=2:NoExecute`)
}

// SCH-051, SCH-078: PreferNoSchedule is kept as long as there is another way, and given up otherwise.
func TestPreferNoScheduleIsSoft(t *testing.T) {
	avoided := nodePool("avoided", weight(50), poolTaints("busy=yes:PreferNoSchedule"))
	t.Run("another pool is better, even of less weight", func(t *testing.T) {
		p := solve(t, cluster(avoided, nodePool("calm"), pod("p")))
		if got := newNodeOf(t, p, "p").Pool.Name; got != "calm" {
			t.Errorf("pool %s, want calm", got)
		}
	})
	t.Run("without another it is used", func(t *testing.T) {
		p := solve(t, cluster(avoided, pod("p")))
		if got := newNodeOf(t, p, "p").Pool.Name; got != "avoided" {
			t.Errorf("pool %s, want avoided", got)
		}
	})
	t.Run("a pod that tolerates it minds nothing", func(t *testing.T) {
		p := solve(t, cluster(avoided, nodePool("calm"), pod("p", tolerates(toleration("busy", corev1.TolerationOpExists, "", "")))))
		if got := newNodeOf(t, p, "p").Pool.Name; got != "avoided" {
			t.Errorf("pool %s, want avoided, the heavier", got)
		}
	})
	t.Run("preferences go first", func(t *testing.T) {
		p := solve(t, cluster(avoided, nodePool("calm", poolNeeds(zoneKey, "In", "a")), pod("p", preferred(1, in(zoneKey, "b")))))
		if got := newNodeOf(t, p, "p").Pool.Name; got != "calm" {
			t.Errorf("pool %s, want calm: the preferred zone is given up before the taint is accepted", got)
		}
	})
	t.Run("a hard taint next to it still counts", func(t *testing.T) {
		p := solve(t, cluster(nodePool("both", poolTaints("busy=yes:PreferNoSchedule", "gpu=yes:NoSchedule")), pod("p")))
		wantReason(t, p, "p", `incompatible with nodepool "both", did not tolerate gpu=yes:NoSchedule`)
	})
}

// SCH-051, API-031: startup taints never count on a new node, not for pods and not for DaemonSets.
func TestStartupTaintsDoNotCountOnNewMachines(t *testing.T) {
	p := solve(t, cluster(nodePool("default", startupTaints("cni=missing:NoExecute")), pod("p", requests("cpu=1500m")), daemonSet("agent", []string{"cpu=600m"})))
	if got := newNodeOf(t, p, "p").InstanceTypes[0].Name; got != "arm" {
		t.Errorf("node %s, want arm: the DaemonSet runs there as well, so small is too small", got)
	}
}

// claimNode is a node of pool "default" in a phase before initialisation.
func claimNode(options ...nodeOption) scheduling.Node {
	n := node("n", ofPool("default"))
	n.Object.Labels[v1.NodeInitializedLabelKey] = ""
	n.Claim.Labels[zoneKey] = "a"
	for _, o := range options {
		o(&n)
	}
	return n
}

// SCH-052, SCH-053, PRV-021: which taints count in which phase of a node's life.
func TestTaintsByPhase(t *testing.T) {
	startup := func(texts ...string) nodeOption {
		return func(n *scheduling.Node) { n.Claim.Spec.StartupTaints = taints(texts...) }
	}
	claimTaints := func(texts ...string) nodeOption {
		return func(n *scheduling.Node) { n.Claim.Spec.Taints = taints(texts...) }
	}
	initialized := nodeLabel(v1.NodeInitializedLabelKey, "true")
	unregistered := nodeLabel(v1.NodeRegisteredLabelKey, "")
	inFlight := func(n *scheduling.Node) { n.Object = nil }
	for _, c := range []struct {
		name string
		node scheduling.Node
		want bool
	}{
		{"initialised: its own taints count", claimNode(nodeTaints("x=:NoSchedule"), initialized), false},
		{"initialised: a startup taint that came back counts", claimNode(nodeTaints("x=:NoSchedule"), startup("x=:NoSchedule"), initialized), false},
		{"initialised: not-ready that came back counts", claimNode(nodeTaints("node.kubernetes.io/not-ready=:NoSchedule"), initialized), false},
		{"initialised: the claim's taints don't count", claimNode(claimTaints("x=:NoSchedule"), initialized), true},
		{"registered: its own taints count", claimNode(nodeTaints("x=:NoSchedule")), false},
		{"registered: startup taints will go", claimNode(nodeTaints("x=:NoSchedule"), startup("x=:NoSchedule")), true},
		{"registered: a startup taint is known by key and effect, not value", claimNode(nodeTaints("x=later:NoSchedule"), startup("x=:NoSchedule")), true},
		{"registered: the same key with another effect stays", claimNode(nodeTaints("x=:NoExecute"), startup("x=:NoSchedule")), false},
		{"registered: not-ready NoSchedule will go", claimNode(nodeTaints("node.kubernetes.io/not-ready=:NoSchedule")), true},
		{"registered: not-ready NoExecute will go", claimNode(nodeTaints("node.kubernetes.io/not-ready=:NoExecute")), true},
		{"registered: unreachable NoSchedule will go", claimNode(nodeTaints("node.kubernetes.io/unreachable=:NoSchedule")), true},
		{"registered: unreachable NoExecute stays", claimNode(nodeTaints("node.kubernetes.io/unreachable=:NoExecute")), false},
		{"registered: uninitialized will go", claimNode(nodeTaints("node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule")), true},
		{"registered: unregistered will go", claimNode(nodeTaints("karpenter.sh/unregistered=:NoExecute")), true},
		{"registered: readiness gates will go", claimNode(nodeTaints("readiness.k8s.io/cni=:NoExecute")), true},
		{"registered: the claim's taints don't count", claimNode(claimTaints("x=:NoSchedule")), true},
		{"not registered: the claim's taints count", claimNode(claimTaints("x=:NoSchedule"), unregistered), false},
		{"not registered: the node's taints don't count", claimNode(nodeTaints("x=:NoSchedule"), unregistered), true},
		{"in flight: the claim's taints count", claimNode(claimTaints("x=:NoSchedule"), inFlight), false},
		{"in flight: startup taints don't count", claimNode(claimTaints("x=:NoSchedule"), startup("x=:NoSchedule"), inFlight), true},
		{"unmanaged: not-ready counts", node("n", nodeTaints("node.kubernetes.io/not-ready=:NoSchedule")), false},
		{"unmanaged: PreferNoSchedule does not", node("n", nodeTaints("x=:PreferNoSchedule")), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(nodePool("default", catalogOf("")), c.node, pod("p")))
			want := "nowhere"
			if c.want {
				want = "on n"
			}
			wantPlace(t, p, "p", want)
		})
	}
}
