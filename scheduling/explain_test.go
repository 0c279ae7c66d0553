package scheduling_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func solveQuery(t testing.TB, s *scheduling.Snapshot, q scheduling.Query) *scheduling.Plan {
	t.Helper()
	p, err := compile(t, s).Solve(t.Context(), q)
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return p
}

// SCH-156, SCH-159: types are counted by the first check that their best node fails, and the rules that keep a pod out
// are said in words.
func TestRemovedCountsAndRules(t *testing.T) {
	tight := typeOf("tight", 1, "cpu=1", "memory=1Gi")
	free := sold(typeOf("free", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.2))
	reservedOnly := sold(typeOf("reserved", 0.2, "cpu=4", "memory=16Gi"), reservedOffering("a", "r1", 0))
	unsold := sold(typeOf("unsold", 0.2, "cpu=4", "memory=16Gi"), shut(offering("a", v1.CapacityTypeOnDemand, 0.2)))
	arm := with(typeOf("arm", 0.2, "cpu=4", "memory=16Gi"), requirements.In(archKey, "arm64"))
	wide := typeOf("wide", 0.9, "cpu=4", "memory=99Gi")
	away := func(p *corev1.Pod) {
		spreadBy(zoneKey, 1, "w")(p)
		p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32)
		*p.Spec.TopologySpreadConstraints[0].MinDomains = 2
		awayFrom(zoneKey, "w")(p)
	}
	for _, c := range []struct {
		name  string
		parts []any
		want  planning.Removed
		text  string
	}{
		{"each check", []any{nodePool("banana", limit("memory=20Gi")), tight, free, reservedOnly, unsold, arm, wide,
			node("n", bound(pod("w", labelled("w"), requests("cpu=4")))),
			pod("p", requests("cpu=2"), selector(archKey+"=amd64"), labelled("w"), away)},
			planning.Removed{Requirements: 1, Resources: 1, Offering: 1, Limits: 1, Reservation: 1, Topology: 1},
			`incompatible with nodepool "banana", each node that would hold it is kept out by ` +
				"topology spread by topology.kubernetes.io/zone with maxSkew 1 and minDomains 2 of pods that match app=w in namespace default " +
				"(b has 0, a has 1; of 2 domains there are 1); " +
				"and by pod anti-affinity by topology.kubernetes.io/zone to pods that match app=w in namespace default (a has 1)"},
		{"limits before reservations", []any{nodePool("banana", limit("cpu=1")), free, reservedOnly, pod("p")}, planning.Removed{Limits: 2},
			`incompatible with nodepool "banana", all instance types that would fit exceed the nodepool's limits (in use: cpu 0 of 1)`},
		{"a reservation", []any{nodePool("banana"), reservedOnly, pod("p")}, planning.Removed{Reservation: 1},
			`incompatible with nodepool "banana", no reservation that it could use has an instance left`},
		{"a host port", []any{nodePool("banana"), free, daemonSet("proxy", []string{"cpu=1"}, onHostPort(80)), pod("p", onHostPort(80))}, planning.Removed{Topology: 1},
			`incompatible with nodepool "banana", each node that would hold it is kept out by host port TCP/80, held by DaemonSet kube-system/proxy`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solveQuery(t, cluster(c.parts...), scheduling.Query{})
			if got := reasonsOf(t, p, "p")[0].Removed; got != c.want {
				t.Errorf("removed %+v, want %+v", got, c.want)
			}
			wantReason(t, p, "p", c.text)
		})
	}
}

// SCH-156: pods that share a volume which has yet to be made go where the first of them goes.
func TestReasonOfASharedVolume(t *testing.T) {
	s := cluster(pod("first", claiming("data"), selector(zoneKey+"=a"), func(p *corev1.Pod) { n := int32(9); p.Spec.Priority = &n }), pod("p", claiming("data"), selector(zoneKey+"=b")))
	mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "late"
	s.StorageClasses = append(s.StorageClasses, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "csi.example.com", VolumeBindingMode: &mode})
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	pvc.Spec.StorageClassName = &class
	s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, pvc)
	plan := solveQuery(t, s, scheduling.Query{})
	wantReason(t, plan, "p", `incompatible with nodepool "default", each node that would hold it is kept out by the volume of claim default/data, which it shares with pods that have their places elsewhere (a has 1)`)
	// A topology rule is checked after the labels, so that the nearest miss is to do without the volume.
	if got, want := reasonsOf(t, plan, "p")[0].NearestMiss.String(), "would fit without the volume of claim default/data, which it shares with pods that have their places elsewhere"; got != want {
		t.Errorf("nearest miss %q, want %q", got, want)
	}
}

// SCH-159: minValues and volumes have their own words.
func TestReasonsInWords(t *testing.T) {
	for _, c := range missCases() {
		want := map[string]string{
			"minValues":          `incompatible with nodepool "banana", the instance types that would do are less varied than its minValues ask for: 3 values of node.kubernetes.io/instance-type, and there are 2`,
			"a volume elsewhere": `incompatible with nodepool "default", its volumes can be used only where topology.kubernetes.io/zone In [z], and the nodepool has no node for the pod there`,
			"a taint":            `incompatible with nodepool "banana", did not tolerate example.com/x=:NoSchedule`,
			"volumes attached":   `incompatible with nodepool "default", no instance type fits: of 1, 1 are too small for attachable-volumes-csi-csi.example.com 4, cpu 1, memory 1Gi`,
		}[c.name]
		if want != "" {
			t.Run(c.name, func(t *testing.T) { wantReason(t, solveQuery(t, c.snapshot(), c.query), "p", want) })
		}
	}
}

// SCH-156: without any nodepool the nodes there are stand for it: how many were looked at, which check failed first,
// and what the nearest of them lacks; that is true as well.
func TestReasonsWithoutNodePools(t *testing.T) {
	cordoned := node("gone", leaving)
	tainted := node("tainted", nodeTaints("x=:NoSchedule"))
	elsewhere := node("elsewhere", nodeLabel(zoneKey, "b"))
	full := node("full", bound(pod("f", requests("cpu=3"))))
	crowded := node("crowded", bound(pod("w", labelled("w"), requests("cpu=1"))))
	inA := selector(zoneKey + "=a")
	for _, c := range []struct {
		name  string
		nodes []any
		pod   []podOption
		want  string
		miss  string
		on    string
	}{
		{"no node", nil, nil, "there is no nodepool to launch nodes from", "", ""},
		{"each check", []any{cordoned, tainted, elsewhere, full, crowded}, []podOption{inA, requests("cpu=2"), labelled("w"), awayFrom(corev1.LabelHostname, "w")},
			"there is no nodepool to launch nodes from, and of 5 existing nodes, 1 takes no pods (gone is leaving), 1 has taints it does not tolerate (tainted: x=:NoSchedule), " +
				"1 does not meet the requirements (elsewhere: topology.kubernetes.io/zone is b), 1 has too little room (full: 1 cpu free, 2 asked for), " +
				"1 is kept out by topology rules (crowded: pod anti-affinity by kubernetes.io/hostname to pods that match app=w in namespace default (kept away by pod default/w))",
			"would fit if it tolerated x=:NoSchedule", "tainted"},
		{"a rule", []any{cordoned, full, crowded}, []podOption{requests("cpu=2"), labelled("w"), awayFrom(corev1.LabelHostname, "w")},
			"there is no nodepool to launch nodes from, and of 3 existing nodes, 1 takes no pods (gone is leaving), 1 has too little room (full: 1 cpu free, 2 asked for), " +
				"1 is kept out by topology rules (crowded: pod anti-affinity by kubernetes.io/hostname to pods that match app=w in namespace default (kept away by pod default/w))",
			"would fit without pod anti-affinity by kubernetes.io/hostname to pods that match app=w in namespace default", "crowded"},
		{"a label", []any{elsewhere, full}, []podOption{inA, requests("cpu=2")},
			"there is no nodepool to launch nodes from, and of 2 existing nodes, 1 does not meet the requirements (elsewhere: topology.kubernetes.io/zone is b), 1 has too little room (full: 1 cpu free, 2 asked for)",
			"would fit if it allowed topology.kubernetes.io/zone b", "elsewhere"},
		{"a resource", []any{full}, []podOption{requests("cpu=1500m")},
			"there is no nodepool to launch nodes from, and of 1 existing node, 1 has too little room (full: 1 cpu free, 1500m asked for)", "would fit if it asked for 500m less cpu", "full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func() *scheduling.Snapshot {
				s := cluster(append(c.nodes, pod("p", c.pod...))...)
				s.NodePools = nil
				return copyOf(s)
			}
			p := solveQuery(t, build(), scheduling.Query{})
			wantReason(t, p, "p", c.want)
			miss := reasonsOf(t, p, "p")[0].NearestMiss
			if miss == nil {
				if c.miss != "" {
					t.Errorf("no nearest miss, want %q", c.miss)
				}
				return
			}
			if miss.String() != c.miss || miss.Node != c.on {
				t.Fatalf("nearest miss %q on %q, want %q on %q", miss, miss.Node, c.miss, c.on)
			}
			s := build()
			value := strings.Join(miss.Values, "")
			cure(t, s, v1.PoolKey{}, miss, value, 0)
			wantPlace(t, solveQuery(t, s, scheduling.Query{}), "p", "on "+c.on)
		})
	}
}

// OPP-17: an explanation is data: it survives being written down, and is the same in each run.
func TestReasonsAreData(t *testing.T) {
	for _, c := range missCases() {
		t.Run(c.name, func(t *testing.T) {
			write := func() string {
				data, err := json.Marshal(reasonsOf(t, solveQuery(t, c.snapshot(), c.query), "p"))
				if err != nil {
					t.Fatal(err)
				}
				return string(data)
			}
			first := write()
			var read []scheduling.Reason
			if err := json.Unmarshal([]byte(first), &read); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			if string(again) != first {
				t.Errorf("written %s, read and written again %s", first, again)
			}
			if second := write(); second != first {
				t.Errorf("first %s, then %s", first, second)
			}
		})
	}
}

// SCH-156: explaining is bounded: with very many kinds of refused pods all are told why, the later ones no more than that.
func TestExplanationsAreBounded(t *testing.T) {
	var types []*cloudprovider.InstanceType
	for i := range 500 {
		types = append(types, typeOf(fmt.Sprintf("t%d", i), float64(i+1), "cpu=4", "memory=16Gi"))
	}
	parts := []any{types}
	for i := range 3000 {
		parts = append(parts, pod(fmt.Sprintf("p%d", i), requests(fmt.Sprintf("cpu=%dm", 1000+i)), selector(zoneKey+"=c")))
	}
	plan := solveQuery(t, cluster(parts...), scheduling.Query{})
	missed := 0
	for _, u := range plan.Unschedulable {
		if u.Reasons[0].Removed != (planning.Removed{Offering: 500}) {
			t.Fatalf("pod %s: %+v", u.Pod, u.Reasons[0])
		}
		if u.Reasons[0].NearestMiss != nil {
			missed++
		}
	}
	if len(plan.Unschedulable) != 3000 || missed == 0 || missed == 3000 {
		t.Errorf("%d pods refused, %d with a nearest miss: want 3000, and only some of them with one", len(plan.Unschedulable), missed)
	}
}
