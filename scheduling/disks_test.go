package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// kube-scheduler's VolumeRestrictions: two pods of one node can't use the same disk, unless both only read it, and one of
// EBS not even then.
func TestDisksThatPodsNameConflict(t *testing.T) {
	const ro, rw = true, false
	for _, c := range []struct {
		name     string
		has, new corev1.VolumeSource
		together bool
	}{
		{"GCE, written by both", gceDisk("d", rw), gceDisk("d", rw), false},
		{"GCE, written by the first", gceDisk("d", rw), gceDisk("d", ro), false},
		{"GCE, written by the second", gceDisk("d", ro), gceDisk("d", rw), false},
		{"GCE, read by both", gceDisk("d", ro), gceDisk("d", ro), true},
		{"two GCE disks", gceDisk("d", rw), gceDisk("e", rw), true},
		{"EBS", ebsDisk("vol-1", rw), ebsDisk("vol-1", rw), false},
		{"EBS, read by both", ebsDisk("vol-1", ro), ebsDisk("vol-1", ro), false},
		{"two of EBS", ebsDisk("vol-1", rw), ebsDisk("vol-2", rw), true},
		{"iSCSI, written by both", iscsiDisk("iqn.1", rw), iscsiDisk("iqn.1", rw), false},
		{"iSCSI, read by both", iscsiDisk("iqn.1", ro), iscsiDisk("iqn.1", ro), true},
		{"two iSCSI targets", iscsiDisk("iqn.1", rw), iscsiDisk("iqn.2", rw), true},
		{"RBD with a monitor in common", rbdDisk("p", "i", rw, "m1", "m2"), rbdDisk("p", "i", ro, "m2", "m3"), false},
		{"RBD without a monitor in common", rbdDisk("p", "i", rw, "m1"), rbdDisk("p", "i", rw, "m2"), true},
		{"RBD images of two pools", rbdDisk("p", "i", rw, "m1"), rbdDisk("q", "i", rw, "m1"), true},
		{"two RBD images", rbdDisk("p", "i", rw, "m1"), rbdDisk("p", "j", rw, "m1"), true},
		{"RBD, read by both", rbdDisk("p", "i", ro, "m1"), rbdDisk("p", "i", ro, "m1"), true},
		{"disks of two kinds", gceDisk("d", rw), ebsDisk("d", rw), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "on n"
			if !c.together {
				want = "nowhere"
			}
			p := solve(t, cluster(nothingNew(), node("n", bound(pod("b", onDisk(c.has)))), pod("p", onDisk(c.new))))
			wantPlace(t, p, "p", want)
			// Likewise for two pods that wait.
			p = solve(t, cluster(nothingNew(), node("n"), pod("p", onDisk(c.has)), pod("q", onDisk(c.new))))
			if placed := 2 - len(p.Unschedulable); placed == 2 != c.together {
				t.Errorf("%d of two pods that wait are placed", placed)
			}
			p = solve(t, cluster(pod("p", onDisk(c.has)), pod("q", onDisk(c.new))))
			if together := len(p.NewNodes) == 1; together != c.together || len(p.Unschedulable) > 0 {
				t.Errorf("%d new nodes, want them together: %v", len(p.NewNodes), c.together)
			}
		})
	}
}

// A pod that uses a disk twice does not conflict with itself, and pods that have ended use none.
func TestDisksOfOnePod(t *testing.T) {
	twice := pod("p", onDisk(gceDisk("d", false)), onDisk(gceDisk("d", true)))
	ended := node("n", bound(pod("b", onDisk(gceDisk("d", false)))), func(n *scheduling.Node) { n.Pods[0].Status.Phase = corev1.PodFailed })
	wantPlace(t, solve(t, cluster(nothingNew(), ended, twice)), "p", "on n")
}

func TestDiskConflictIsExplained(t *testing.T) {
	s := cluster(nothingNew(), node("n", bound(pod("b", onDisk(ebsDisk("vol-1", false))))), pod("p", onDisk(ebsDisk("vol-1", false))))
	s.NodePools = nil
	p := solve(t, s)
	r := reasonsOf(t, p, "p")
	if len(r) != 1 || r[0].Nodes == nil || r[0].Nodes.Topology != 1 || r[0].NearestMiss == nil || !strings.Contains(r[0].NearestMiss.String(), "EBS volume vol-1") {
		t.Errorf("reasons %q, nearest miss %v", r, r[0].NearestMiss)
	}
}

// Pods of one Deployment that all only read a disk share nodes, as long as none writes it.
func TestManyReadersShareADisk(t *testing.T) {
	p := solve(t, cluster(pods("r", 10, requests("cpu=100m"), onDisk(gceDisk("d", true)))))
	if len(p.NewNodes) != 1 {
		t.Errorf("%d new nodes for readers alone", len(p.NewNodes))
	}
	p = solve(t, cluster(pods("r", 10, requests("cpu=100m"), onDisk(gceDisk("d", true))), pods("w", 2, requests("cpu=100m"), onDisk(gceDisk("d", false)))))
	if len(p.NewNodes) != 3 {
		t.Errorf("%d new nodes, want one for the readers and one for each writer", len(p.NewNodes))
	}
}
