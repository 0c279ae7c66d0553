package scheduling_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-151: which DaemonSets take room on a new node. The pod fits on small (2 cores) only where the DaemonSet, which
// takes one core, does not run.
func TestDaemonSetsOnNewMachines(t *testing.T) {
	core := []string{"cpu=1"}
	onlySmallAndMedium := catalogue()[:2]
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
		set  *appsv1.DaemonSet
		want string
	}{
		{"everywhere", nodePool("default"), daemonSet("d", core), "new medium/a/spot"},
		{"only with a label the pool lacks", nodePool("default"), daemonSet("d", core, selector("team=a")), "new small/a/spot"},
		{"with a label of the pool", nodePool("default", poolLabel("team", "a")), daemonSet("d", core, selector("team=a")), "new medium/a/spot"},
		{"with another value of it", nodePool("default", poolLabel("team", "b")), daemonSet("d", core, selector("team=a")), "new small/a/spot"},
		{"not on this architecture", nodePool("default"), daemonSet("d", core, selector(archKey+"=arm64")), "new small/a/spot"},
		{"on this type alone", nodePool("default"), daemonSet("d", core, selector(typeKey+"=small")), "new medium/a/spot"},
		{"on the other type alone", nodePool("default"), daemonSet("d", core, selector(typeKey+"=medium")), "new small/a/spot"},
		{"OPP-10 the second alternative matches", nodePool("default"), daemonSet("d", core, required(in(archKey, "arm64")), required(in(archKey, "amd64"))), "new medium/a/spot"},
		{"no alternative matches", nodePool("default"), daemonSet("d", core, required(in(archKey, "arm64")), required(in(archKey, "sparc"))), "new small/a/spot"},
		{"SCH-064 an empty term matches nothing", nodePool("default"), daemonSet("d", core, required()), "new small/a/spot"},
		{"preferences play no part", nodePool("default"), daemonSet("d", core, preferred(1, in(archKey, "arm64"))), "new medium/a/spot"},
		{"it does not tolerate the taint", nodePool("default", poolTaints("x=:NoSchedule")), daemonSet("d", core), "new small/a/spot"},
		{"it tolerates the taint", nodePool("default", poolTaints("x=:NoSchedule")),
			daemonSet("d", core, tolerates(toleration("x", corev1.TolerationOpExists, "", ""))), "new medium/a/spot"},
		{"PreferNoSchedule keeps it not away", nodePool("default", poolTaints("x=:PreferNoSchedule")), daemonSet("d", core), "new medium/a/spot"},
		{"it waits for registration", nodePool("default"), daemonSet("d", core, selector(v1.NodeRegisteredLabelKey+"=true")), "new medium/a/spot"},
		{"it waits for initialisation", nodePool("default"), daemonSet("d", core, selector(v1.NodeInitializedLabelKey+"=true")), "new medium/a/spot"},
		{"SCH-155 it claims devices", nodePool("default"), daemonSet("d", core, func(p *corev1.Pod) {
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c"}}
		}), "new medium/a/spot"},
		{"it is bound to one host", nodePool("default"), daemonSet("d", core, selector(corev1.LabelHostname+"=n")), "new small/a/spot"},
		{"OPP-10 only on spot, which still is cheaper", nodePool("default"), daemonSet("d", core, selector(capacityKey+"=spot")), "new medium/a/spot"},
		{"OPP-10 only on demand", nodePool("default"), daemonSet("d", core, selector(capacityKey+"=on-demand")), "new small/a/spot"},
		{"OPP-10 only in zone a", nodePool("default"), daemonSet("d", core, selector(zoneKey+"=a")), "new small/b/spot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(c.pool, c.set, onlySmallAndMedium, pod("p", requests("cpu=1500m"), tolerates(toleration("x", corev1.TolerationOpExists, "", corev1.TaintEffectNoSchedule)))))
			wantPlace(t, p, "p", c.want)
		})
	}
}

// SCH-150, SCH-152: what a DaemonSet takes is judged for each type by itself, whatever the order of the types.
func TestDaemonSetAlternativesPerType(t *testing.T) {
	types := catalogue()
	set := daemonSet("d", []string{"cpu=1"}, required(in(archKey, "amd64")), required(in(archKey, "arm64")))
	for _, order := range [][]int{{0, 1, 3}, {3, 1, 0}, {1, 3, 0}} {
		var list []*cloudprovider.InstanceType
		for _, i := range order {
			list = append(list, types[i])
		}
		p := solve(t, cluster(list, set, pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new arm/a/spot")
		p = solve(t, cluster(list, set, pod("p", requests("cpu=1500m"), selector(archKey+"=amd64"))))
		wantPlace(t, p, "p", "new medium/a/spot")
	}
}

// SCH-174: the node's requests are the pods' and those of the DaemonSets that run on it.
func TestRequestsIncludeDaemonSets(t *testing.T) {
	p := solve(t, cluster(daemonSet("d", []string{"cpu=100m", "memory=64Mi"}), daemonSet("e", []string{"cpu=50m"}), pod("p", requests("cpu=1", "memory=1Gi"))))
	got := newNodeOf(t, p, "p").Requests
	for name, want := range amounts("cpu=1150m", "memory=1088Mi", "pods=3") {
		if q := got[name]; q.Cmp(want) != 0 {
			t.Errorf("%s: %s, want %s", name, q.String(), want.String())
		}
	}
}

// SCH-150: the newest bound pod stands for its DaemonSet, since admission may have changed it; without one the template
// does, limits read as requests.
func TestDaemonSetRepresentative(t *testing.T) {
	set := daemonSet("d", []string{"cpu=100m"}, required(in(archKey, "amd64")))
	at := func(minutes int) podOption {
		return func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC))
		}
	}
	t.Run("newest", func(t *testing.T) {
		full := node("n", bound(pod("d-old", ownedBy(set), requests("cpu=100m"), at(1)), pod("d-new", ownedBy(set), requests("cpu=1"), at(2)), pod("d-older", ownedBy(set), requests("cpu=100m"), at(0))), allocatable("cpu=2", "memory=8Gi"))
		p := solve(t, cluster(catalogue()[:2], set, full, pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new medium/a/spot")
	})
	t.Run("not one that goes", func(t *testing.T) {
		// The set asks for more than it did when the pods were made that are about to go.
		grown := daemonSet("g", []string{"cpu=1"})
		old := func() *corev1.Pod { return pod("g-old", ownedBy(grown), requests("cpu=100m"), at(1)) }
		leaving := node("n", bound(old()), allocatable("cpu=2", "memory=8Gi"))
		leaving.Leaving = true
		p := solve(t, cluster(catalogue()[:2], grown, leaving, pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new medium/a/spot")
		ending := old()
		ending.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		p = solve(t, cluster(catalogue()[:2], grown, node("n", bound(ending), allocatable("cpu=1", "memory=8Gi")), pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new medium/a/spot")
	})
	t.Run("its node affinity is the template's", func(t *testing.T) {
		// The bound pod's own affinity was narrowed to its node.
		pinned := pod("d-1", ownedBy(set), requests("cpu=1"), required(in(corev1.LabelHostname, "n")))
		p := solve(t, cluster(catalogue()[:2], set, node("n", bound(pinned), allocatable("cpu=1", "memory=8Gi")), pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new medium/a/spot")
	})
	t.Run("limits", func(t *testing.T) {
		limited := daemonSet("l", nil)
		limited.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: amounts("cpu=1")}
		before := limited.DeepCopy()
		p := solve(t, cluster(catalogue()[:2], limited, pod("p", requests("cpu=1500m"))))
		wantPlace(t, p, "p", "new medium/a/spot")
		if before.String() != limited.String() {
			t.Errorf("the DaemonSet was changed")
		}
	})
}

// SCH-154: on a node of the snapshot room is kept for the DaemonSet pods that belong there and are not bound yet.
func TestDaemonSetsOnExistingMachines(t *testing.T) {
	set := daemonSet("d", []string{"cpu=1", "memory=1Gi"})
	arm := daemonSet("arm", []string{"cpu=3"}, selector(archKey+"=arm64"))
	tainted := nodeTaints("x=:NoSchedule")
	anyTaint := tolerates(toleration("", corev1.TolerationOpExists, "", ""))
	for _, c := range []struct {
		name  string
		parts []any
		cpu   string
		want  bool
	}{
		{"reserved", []any{set, node("n")}, "cpu=3001m", false},
		{"the rest can be had", []any{set, node("n")}, "cpu=3", true},
		{"bound already", []any{set, node("n", bound(pod("d-1", ownedBy(set), requests("cpu=1", "memory=1Gi"))))}, "cpu=3", true},
		{"bound already, not more than that", []any{set, node("n", bound(pod("d-1", ownedBy(set), requests("cpu=1", "memory=1Gi"))))}, "cpu=3001m", false},
		{"bound with less than the newest", []any{set, node("n", bound(pod("d-1", ownedBy(set), requests("cpu=500m")))), node("m", nodeTaints("y=:NoExecute"), bound(pod("d-2", ownedBy(set), requests("cpu=1"),
			func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) })))}, "cpu=3001m", false},
		{"not for this architecture", []any{arm, node("n")}, "cpu=4", true},
		{"any alternative counts", []any{daemonSet("d", []string{"cpu=1"}, required(in(archKey, "arm64")), required(in(archKey, "amd64"))), node("n")}, "cpu=4", false},
		{"does not tolerate the node's taint", []any{set, node("n", tainted)}, "cpu=4", true},
		{"PreferNoSchedule keeps it not away", []any{set, node("n", nodeTaints("x=:PreferNoSchedule"))}, "cpu=4", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "nowhere"
			if c.want {
				want = "on n"
			}
			p := solve(t, cluster(append(c.parts, nodePool("none", catalogOf("")), pod("p", requests(c.cpu), anyTaint, required(in(corev1.LabelHostname, "n"))))...))
			wantPlace(t, p, "p", want)
		})
	}
}

// OPP-10: where a DaemonSet runs in one zone alone, the claim must not leave open a zone in which the pods don't fit.
func TestClaimKeepsOffWhereDaemonSetsLeaveNoRoom(t *testing.T) {
	p := solve(t, cluster(daemonSet("d", []string{"cpu=1"}, selector(zoneKey+"=a")), pod("p", requests("cpu=7500m"))))
	n := newNodeOf(t, p, "p")
	if zones := n.Requirements.Get(zoneKey); zones.Has("a") {
		t.Errorf("the claim allows %v; in zone a the DaemonSet leaves 7 cores of large", zones)
	}
}
