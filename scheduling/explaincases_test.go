package scheduling_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// reasonFor is the pod's reason of that code.
func reasonFor(t testing.TB, p *scheduling.Plan, name string, code scheduling.ReasonCode) scheduling.Reason {
	t.Helper()
	reasons := reasonsOf(t, p, name)
	at := slices.IndexFunc(reasons, func(r scheduling.Reason) bool { return r.Code == code })
	if at < 0 {
		t.Fatalf("pod %s: no reason of code %s in %q", name, code, reasons)
	}
	return reasons[at]
}

// wantReasonSurvivesJSON fails the test unless the reason says the same after it was written down and read.
func wantReasonSurvivesJSON(t testing.TB, r scheduling.Reason) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read scheduling.Reason
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if read.String() != r.String() {
		t.Errorf("%q becomes %q by way of %s", r, read, data)
	}
}

// csiNode says how many volumes of the driver of boundVolume the node can attach.
func csiNode(name string, n int32) *storagev1.CSINode {
	out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	out.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "csi.example.com", NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &n}}}
	return out
}

// SCH-156: with NodePools the existing nodes are told as well, by the first check that they fail, with an example of each
// and all that keeps the pod off that.
func TestReasonsNameExistingNodes(t *testing.T) {
	full := nodePool("full", limit("cpu=0"))
	for _, c := range []struct {
		name  string
		parts []any
		pod   []podOption
		also  func(*scheduling.Snapshot)
		want  string
		miss  string
		check func(t *testing.T, n *planning.RemovedNodes)
	}{
		{name: "a host port of a pod", parts: []any{node("n1", bound(pod("web", onHostPort(80)))), node("n2", bound(pod("web2", onHostPort(80))))},
			pod:  []podOption{onHostPort(80)},
			want: "no existing node takes it: of 2 existing nodes, 2 have its host port taken (n1: host port TCP/80, held by pod default/web)",
			miss: "would fit if host port TCP/80 were free",
			check: func(t *testing.T, n *planning.RemovedNodes) {
				want := []planning.Holder{{Kind: planning.HolderPod, Namespace: "default", Name: "web"}}
				if diff := cmp.Diff(want, n.Examples[0].Rules[0].Holders); diff != "" || n.HostPorts != 2 {
					t.Errorf("%+v (-want +got):\n%s", n, diff)
				}
			}},
		{name: "a host port of a DaemonSet that is yet to come", parts: []any{node("n1"), daemonSet("proxy", []string{"cpu=100m"}, onHostPort(80))},
			pod:  []podOption{onHostPort(80)},
			want: "no existing node takes it: of 1 existing node, 1 has its host port taken (n1: host port TCP/80, held by DaemonSet kube-system/proxy)",
			miss: "would fit if host port TCP/80 were free"},
		{name: "a host port of a pod that the plan puts there", parts: []any{node("n1"), pod("a", onHostPort(80), func(p *corev1.Pod) { n := int32(9); p.Spec.Priority = &n })},
			pod:  []podOption{onHostPort(80), requests("cpu=2")},
			want: "no existing node takes it: of 1 existing node, 1 has its host port taken (n1: host port TCP/80, held by a planned pod like default/a)",
			miss: "would fit if host port TCP/80 were free"},
		{name: "the limit of a CSI driver", parts: []any{node("n1", bound(pod("db", claiming("c0"))))},
			pod: []podOption{claiming("c1")},
			also: func(s *scheduling.Snapshot) {
				boundVolume(s, "c0", "a")
				boundVolume(s, "c1", "a")
				s.CSINodes = append(s.CSINodes, csiNode("n1", 1))
			},
			want: "no existing node takes it: of 1 existing node, 1 can't attach as many volumes (n1: 0 volumes of csi.example.com free, 1 asked for)",
			miss: "would fit if it asked for 1 less attached volumes of csi.example.com"},
		{name: "anti-affinity of another pod", parts: []any{node("n1", bound(pod("lonely", labelled("l"), awayFrom(corev1.LabelHostname, "w"))))},
			pod: []podOption{labelled("w")},
			want: "no existing node takes it: of 1 existing node, 1 is kept out by topology rules (n1: pod anti-affinity by kubernetes.io/hostname of pods that have a place " +
				"to pods that match app=w in namespace default (kept away by pod default/lonely))",
			miss: "would fit without pod anti-affinity by kubernetes.io/hostname of pods that have a place to pods that match app=w in namespace default"},
		{name: "a cordon, a taint, a label and too little room", parts: []any{node("n1", cordoned), node("n2", nodeTaints("x=1:NoSchedule", "y=:NoExecute")), node("n3", nodeLabel(zoneKey, "b")),
			node("n4", func(n *scheduling.Node) { delete(n.Object.Labels, zoneKey) }), node("n5", allocatable("cpu=1", "memory=1Gi")), node("n6", leaving)},
			pod: []podOption{selector(zoneKey + "=a"), requests("cpu=2", "memory=2Gi")},
			want: "no existing node takes it: of 6 existing nodes, 1 takes no pods (n6 is leaving), 1 is cordoned (n1), 1 has taints it does not tolerate (n2: x=1:NoSchedule, y=:NoExecute), " +
				"2 don't meet the requirements (n3: topology.kubernetes.io/zone is b), 1 has too little room (n5: 1 cpu free, 2 asked for, 1Gi memory free, 2Gi asked for)",
			miss: "would fit if it tolerated node.kubernetes.io/unschedulable=:NoSchedule",
			check: func(t *testing.T, n *planning.RemovedNodes) {
				if n.Cordoned != 1 || n.Requirements != 2 || n.Taints != 1 || n.Resources != 1 || n.Unavailable != 1 || n.Total != 6 {
					t.Errorf("counts %+v", n)
				}
			}},
		{name: "a label that the node lacks", parts: []any{node("n4", func(n *scheduling.Node) { delete(n.Object.Labels, zoneKey) })},
			pod:  []podOption{selector(zoneKey + "=a")},
			want: "no existing node takes it: of 1 existing node, 1 does not meet the requirements (n4 has no label topology.kubernetes.io/zone)",
			miss: "would fit if it asked nothing of label topology.kubernetes.io/zone"},
		{name: "two changes: a taint and a label", parts: []any{node("n1", nodeTaints("x=:NoSchedule"), nodeLabel(archKey, "arm64"))},
			pod:  []podOption{selector(archKey + "=amd64")},
			want: "no existing node takes it: of 1 existing node, 1 has taints it does not tolerate (n1: x=:NoSchedule; also kubernetes.io/arch is arm64)",
			miss: "would fit if it tolerated x=:NoSchedule and it allowed kubernetes.io/arch arm64"},
		{name: "two changes: a label and a resource", parts: []any{node("n1", nodeLabel(archKey, "arm64"))},
			pod:  []podOption{selector(archKey + "=amd64"), requests("cpu=5")},
			want: "no existing node takes it: of 1 existing node, 1 does not meet the requirements (n1: kubernetes.io/arch is arm64; also 4 cpu free, 5 asked for)",
			miss: "would fit if it allowed kubernetes.io/arch arm64 and it asked for 1 less cpu"},
		{name: "two changes: two resources", parts: []any{node("n1")},
			pod:  []podOption{requests("cpu=5", "memory=17Gi")},
			want: "no existing node takes it: of 1 existing node, 1 has too little room (n1: 4 cpu free, 5 asked for, 16Gi memory free, 17Gi asked for)",
			miss: "would fit if it asked for 1 less cpu and it asked for 1Gi less memory"},
		{name: "three changes", parts: []any{node("n1", nodeTaints("x=:NoSchedule"), nodeLabel(archKey, "arm64"))},
			pod:  []podOption{selector(archKey + "=amd64"), requests("cpu=5")},
			want: "no existing node takes it: of 1 existing node, 1 has taints it does not tolerate (n1: x=:NoSchedule; also kubernetes.io/arch is arm64; also 4 cpu free, 5 asked for)"},
		{name: "all checks of one node", parts: []any{node("n1", cordoned, nodeTaints("x=:NoSchedule"), nodeLabel(archKey, "arm64"), nodeLabel(zoneKey, "b"),
			bound(pod("web", onHostPort(80))), bound(pod("lonely", labelled("l"), awayFrom(corev1.LabelHostname, "w"))))},
			pod: []podOption{selector(archKey+"=amd64", zoneKey+"=a"), requests("cpu=5"), onHostPort(80), labelled("w")},
			want: "no existing node takes it: of 1 existing node, 1 is cordoned (n1; also x=:NoSchedule; also kubernetes.io/arch is arm64; also topology.kubernetes.io/zone is b; " +
				"also 2 cpu free, 5 asked for; also host port TCP/80, held by pod default/web; also pod anti-affinity by kubernetes.io/hostname of pods that have a place " +
				"to pods that match app=w in namespace default (kept away by pod default/lonely))"},
		{name: "volumes and a cordon", parts: []any{node("n1", nodeLabel(zoneKey, "b"), cordoned)}, pod: []podOption{claiming("c1")},
			also: func(s *scheduling.Snapshot) { boundVolume(s, "c1", "a") },
			want: "no existing node takes it: of 1 existing node, 1 is cordoned (n1; also can't have its volumes)"},
		{name: "the node that fails the fewest is the example", parts: []any{node("n1", nodeTaints("x=:NoSchedule"), nodeLabel(archKey, "arm64")), node("n2", nodeTaints("y=:NoSchedule"))},
			pod:  []podOption{selector(archKey + "=amd64")},
			want: "no existing node takes it: of 2 existing nodes, 2 have taints it does not tolerate (n2: y=:NoSchedule)",
			miss: "would fit if it tolerated y=:NoSchedule"},
		{name: "a spread that takes notice of some nodes", parts: []any{node("n1", nodeLabel(zoneKey, "a")), node("n2", nodeLabel(zoneKey, "b"), nodeLabel(archKey, "arm64")),
			node("n3", nodeLabel(zoneKey, "b"), nodeTaints("x=:NoSchedule"), bound(pod("w1", labelled("w"))))},
			pod: []podOption{labelled("w"), selector(archKey + "=amd64"), requests("cpu=5"), spreadOver(corev1.TopologySpreadConstraint{TopologyKey: zoneKey, MaxSkew: 1,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: matching("app", "w")})},
			want: "no existing node takes it: of 3 existing nodes, 1 has taints it does not tolerate (n3: x=:NoSchedule; also 3 cpu free, 5 asked for; also topology spread by " +
				"topology.kubernetes.io/zone with maxSkew 1 of pods that match app=w in namespace default (a has 0, b has 1; a holds it back, where node n1 has too little room)), " +
				"1 does not meet the requirements (n2: kubernetes.io/arch is arm64; also 4 cpu free, 5 asked for), 1 has too little room (n1: 4 cpu free, 5 asked for)",
			miss: "would fit if it asked for 1 less cpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func() *scheduling.Snapshot {
				s := cluster(append([]any{full, pod("p", c.pod...)}, c.parts...)...)
				if c.also != nil {
					c.also(s)
				}
				return copyOf(s)
			}
			p := solve(t, build())
			r := reasonFor(t, p, "p", scheduling.ReasonExistingNodes)
			if reasons := reasonsOf(t, p, "p"); len(reasons) != 2 || reasons[0].Pool != v1.NewPoolKey("full") {
				t.Errorf("reasons %q, want one of the pool and one of the nodes", reasons)
			}
			if r.String() != c.want {
				t.Errorf("%q, want\n%q", r, c.want)
			}
			if c.check != nil {
				c.check(t, r.Nodes)
			}
			wantReasonSurvivesJSON(t, r)
			if r.NearestMiss == nil || c.miss == "" {
				if r.NearestMiss != nil || c.miss != "" {
					t.Fatalf("nearest miss %v, want %q", r.NearestMiss, c.miss)
				}
				return
			}
			if r.NearestMiss.String() != c.miss {
				t.Fatalf("nearest miss %q, want %q", r.NearestMiss, c.miss)
			}
			s := build()
			cure(t, s, v1.PoolKey{}, r.NearestMiss, strings.Join(r.NearestMiss.Values, ""), 0)
			if after := solve(t, s); place(after, "p") != "on "+r.NearestMiss.Node {
				t.Errorf("after the cure %s, want on %s: %s", place(after, "p"), r.NearestMiss.Node, reasonsOf(t, after, "p"))
			}
		})
	}
}

// SCH-156: what is told of existing nodes does not grow with the cluster, and is counted for all of them.
func TestReasonsOfManyNodesAreBounded(t *testing.T) {
	parts := []any{nodePool("full", limit("cpu=0")), pod("p", requests("cpu=5"), selector(archKey+"=amd64"))}
	for i := range 300 {
		parts = append(parts, node(fmt.Sprintf("n%03d", i), nodeTaints(fmt.Sprintf("x=%d:NoSchedule", i%7), "y=:NoExecute", "z=:NoExecute", "v=:NoExecute", "w=:NoExecute")), node(fmt.Sprintf("m%03d", i)))
	}
	r := reasonFor(t, solve(t, cluster(parts...)), "p", scheduling.ReasonExistingNodes)
	want := "no existing node takes it: of 600 existing nodes, 300 have taints it does not tolerate (n000: x=0:NoSchedule, y=:NoExecute, z=:NoExecute, v=:NoExecute, 1 more; also 4 cpu free, 5 asked for), " +
		"300 have too little room (m000: 4 cpu free, 5 asked for)"
	if r.String() != want {
		t.Errorf("%q, want\n%q", r, want)
	}
}

// SCH-159: names that nothing has are told as such, with what may have been meant.
func TestUnknownNames(t *testing.T) {
	gpu := typeOf("gpu", 1, "cpu=4", "memory=16Gi", "nvidia.com/gpu=1")
	six := sold(typeOf("six", 1, "cpu=4", "memory=16Gi"))
	for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"} {
		six.Offerings = append(six.Offerings, offering(zone, v1.CapacityTypeOnDemand, 1))
	}
	var many []*cloudprovider.InstanceType
	for _, family := range []string{"c5", "m5", "r5"} {
		for _, size := range []string{"large", "xlarge", "2xlarge", "4xlarge"} {
			many = append(many, with(typeOf(family+"."+size, 1, "cpu=4", "memory=16Gi"), requirements.In("example.com/family", family)))
		}
	}
	for _, c := range []struct {
		name  string
		parts []any
		pod   []podOption
		want  []planning.Unknown
		text  string
		miss  string
	}{
		{"a resource", []any{catalogue(), gpu}, []podOption{requests("cpu=1", "memory=1Gi", "nvidia.com/gpus=1")},
			[]planning.Unknown{{Kind: planning.UnknownResource, Name: "nvidia.com/gpus", Nearest: []string{"nvidia.com/gpu"}}},
			`no instance type has resource nvidia.com/gpus (did you mean nvidia.com/gpu?): of 5, 5 are too small for cpu 1, memory 1Gi, nvidia.com/gpus 1`,
			"would fit if it asked for 1 less nvidia.com/gpus"},
		{"a resource like no other", nil, []podOption{requests("cpu=1", "example.com/fpga=1")},
			[]planning.Unknown{{Kind: planning.UnknownResource, Name: "example.com/fpga"}},
			`no instance type has resource example.com/fpga: of 4, 4 are too small for cpu 1, example.com/fpga 1`,
			"would fit if it asked for 1 less example.com/fpga"},
		{"a well-known label", nil, []podOption{selector("topology.kubernetes.io/zones=a")},
			[]planning.Unknown{{Kind: planning.UnknownLabel, Name: "topology.kubernetes.io/zones", Nearest: []string{zoneKey}}},
			`incompatible requirements, label "topology.kubernetes.io/zones" does not have known values: the nodepool must state it as a label or a requirement; did you mean topology.kubernetes.io/zone?`,
			"would fit if it asked nothing of label topology.kubernetes.io/zones"},
		{"a label of nodes", []any{node("n", nodeLabel("example.com/team", "a"), nodeTaints("x=:NoSchedule"))}, []podOption{selector("example.com/taem=a")},
			[]planning.Unknown{{Kind: planning.UnknownLabel, Name: "example.com/taem", Nearest: []string{"example.com/team"}}},
			`incompatible requirements, label "example.com/taem" does not have known values: the nodepool must state it as a label or a requirement; did you mean example.com/team?`,
			"would fit if it asked nothing of label example.com/taem"},
		{"a zone", []any{six}, []podOption{selector(zoneKey + "=us-east-1z")},
			[]planning.Unknown{{Kind: planning.UnknownValue, Key: zoneKey, Name: "us-east-1z", KnownCount: 6,
				Known: []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"}}},
			`no instance type has topology.kubernetes.io/zone us-east-1z (known: us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f): ` +
				`of 1, 1 have no available offering that meets the requirements`,
			"would fit if it allowed topology.kubernetes.io/zone us-east-1a or us-east-1b or us-east-1c or others"},
		{"a zone that the pool does not have either", []any{nodePool("banana", poolNeeds(zoneKey, opIn, "a"))}, []podOption{selector(zoneKey + "=z")},
			[]planning.Unknown{{Kind: planning.UnknownValue, Key: zoneKey, Name: "z", KnownCount: 2, Nearest: []string{"a", "b"}, Known: []string{"a", "b"}}},
			`incompatible requirements, key topology.kubernetes.io/zone: the pod wants In [z], the pool allows In [a]; no instance type has topology.kubernetes.io/zone z (did you mean a or b? known: a, b)`,
			"would fit if it allowed topology.kubernetes.io/zone a"},
		{"an instance type", []any{many}, []podOption{selector(typeKey + "=m5.larg")},
			[]planning.Unknown{{Kind: planning.UnknownValue, Key: typeKey, Name: "m5.larg", KnownCount: 12, Nearest: []string{"m5.large"}}},
			`no instance type has node.kubernetes.io/instance-type m5.larg (did you mean m5.large?): of 12, 12 don't meet the requirements`,
			"would fit if it allowed node.kubernetes.io/instance-type c5.2xlarge or c5.4xlarge or c5.large or others"},
		{"an instance family", []any{many}, []podOption{selector("example.com/family=m55")},
			[]planning.Unknown{{Kind: planning.UnknownValue, Key: "example.com/family", Name: "m55", KnownCount: 3, Nearest: []string{"m5"}, Known: []string{"c5", "m5", "r5"}}},
			`no instance type has example.com/family m55 (did you mean m5? known: c5, m5, r5): of 12, 12 don't meet the requirements`,
			"would fit if it allowed example.com/family c5 or m5 or r5"},
		{"a label that only nodes have", []any{node("n", nodeLabel("team", "a"), nodeTaints("x=:NoSchedule"))}, []podOption{selector("team=a")}, nil,
			`incompatible requirements, label "team" does not have known values: the nodepool must state it as a label or a requirement`,
			"would fit if it asked nothing of label team"},
		{"one of two zones", []any{six, nodePool("banana", limit("cpu=0"))}, []podOption{required(in(zoneKey, "us-east-1a", "us-east-1z"))}, nil,
			"all instance types that would fit exceed the nodepool's limits (in use: cpu 0 of 0)", "would fit if limit cpu were raised by 4"},
		{"a zone in one of two alternatives", []any{six}, []podOption{required(in(zoneKey, "us-east-1z")), required(in(zoneKey, "us-east-1a"), in(archKey, "arm64"))},
			[]planning.Unknown{
				{Kind: planning.UnknownValue, Key: zoneKey, Name: "us-east-1z", KnownCount: 6,
					Known: []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"}},
				{Kind: planning.UnknownValue, Key: archKey, Name: "arm64", KnownCount: 1, Known: []string{"amd64"}},
			}, `no instance type has topology.kubernetes.io/zone us-east-1z (known: us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f); ` +
				`no instance type has kubernetes.io/arch arm64 (known: amd64): of 1, 1 have no available offering that meets the requirements`,
			"would fit if it allowed topology.kubernetes.io/zone us-east-1a or us-east-1b or us-east-1c or others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(append(c.parts, pod("p", c.pod...))...))
			r := reasonsOf(t, p, "p")[0]
			if diff := cmp.Diff(c.want, r.Unknown); diff != "" {
				t.Errorf("unknown names (-want +got):\n%s", diff)
			}
			if _, text, _ := strings.Cut(r.String(), ", "); text != c.text {
				t.Errorf("%q, want\n%q", text, c.text)
			}
			if r.NearestMiss == nil || r.NearestMiss.String() != c.miss {
				t.Errorf("nearest miss %v, want %q", r.NearestMiss, c.miss)
			}
			wantReasonSurvivesJSON(t, r)
		})
	}
}

// SCH-159: without NodePools, names that no node has are told.
func TestUnknownNamesWithoutNodePools(t *testing.T) {
	s := cluster(node("n", nodeLabel("example.com/team", "a"), allocatable("cpu=4", "memory=16Gi", "nvidia.com/gpu=1")),
		pod("p", requests("nvidia.com/gpus=1"), selector("example.com/taem=a")))
	s.NodePools = nil
	wantReason(t, solve(t, s), "p", "there is no nodepool to launch nodes from, and of 1 existing node, 1 does not meet the requirements (n has no label example.com/taem; also 0 nvidia.com/gpus free, 1 asked for); "+
		"no node has resource nvidia.com/gpus (did you mean nvidia.com/gpu?); no node has label example.com/taem (did you mean example.com/team?)")
}

// SCH-159: of a topology rule it is told what it counts, and which domain holds a spread back, why.
func TestReasonsOfTopologyRules(t *testing.T) {
	inZone := func(zone string) *cloudprovider.InstanceType {
		return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), offering(zone, v1.CapacityTypeOnDemand, 0.2))
	}
	one := func(name, zone string) scheduling.Node {
		return node(name, nodeLabel(zoneKey, zone), bound(pod("w-"+name, labelled("w"), requests("cpu=4"))))
	}
	honour := func(p *corev1.Pod) {
		policy := corev1.NodeInclusionPolicyHonor
		p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &policy
	}
	atLeast := func(n int32) podOption {
		return func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MinDomains = &n }
	}
	var wide []any
	for i := range 12 {
		wide = append(wide, one(fmt.Sprintf("n%02d", i), fmt.Sprintf("z%02d", i)))
	}
	for _, c := range []struct {
		name  string
		parts []any
		pod   []podOption
		want  string
		check func(t *testing.T, r planning.Rule)
	}{
		{"a spread held back by the node of a tainted zone", []any{inZone("a"), one("n1", "a"), one("n2", "b"), node("n3", nodeLabel(zoneKey, "c"), nodeTaints("x=:NoSchedule"))},
			[]podOption{labelled("w"), spreadBy(zoneKey, 1, "w")},
			"topology spread by topology.kubernetes.io/zone with maxSkew 1 of pods that match app=w in namespace default (c has 0, a has 1, b has 1; " +
				"c holds it back, where node n3 has taints it does not tolerate (x=:NoSchedule; with nodeTaintsPolicy Honor it would not count))",
			func(t *testing.T, r planning.Rule) {
				want := []planning.RuleDomain{{Name: "c", HoldsBack: true, Node: "n3", Check: planning.NodeTaints, Taint: &corev1.Taint{Key: "x", Effect: corev1.TaintEffectNoSchedule}}, {Name: "a", Pods: 1}, {Name: "b", Pods: 1}}
				if diff := cmp.Diff(want, r.Domains); diff != "" || r.Kind != planning.RuleSpread || r.MaxSkew != 1 || !slices.Equal(r.Keys, []string{zoneKey}) {
					t.Errorf("%+v (-want +got):\n%s", r, diff)
				}
			}},
		{"a spread that honours taints, held back by a full node", []any{inZone("a"), one("n1", "a"), one("n2", "a"), node("n3", nodeLabel(zoneKey, "c"), bound(pod("x", requests("cpu=4"))))},
			[]podOption{labelled("w"), spreadBy(zoneKey, 1, "w"), honour},
			"topology spread by topology.kubernetes.io/zone with maxSkew 1 of pods that match app=w in namespace default (c has 0, a has 2; c holds it back, where node n3 has too little room)", nil},
		{"fewer domains than minDomains", []any{inZone("a"), one("n1", "a")}, []podOption{labelled("w"), spreadBy(zoneKey, 1, "w"), atLeast(3)},
			"topology spread by topology.kubernetes.io/zone with maxSkew 1 and minDomains 3 of pods that match app=w in namespace default (a has 1; of 3 domains there are 1)", nil},
		{"more domains than are told", append([]any{inZone("z00"), node("last", nodeLabel(zoneKey, "zz"), cordoned)}, wide...), []podOption{labelled("w"), spreadBy(zoneKey, 1, "w")},
			"topology spread by topology.kubernetes.io/zone with maxSkew 1 of pods that match app=w in namespace default (zz has 0, z00 has 1, z01 has 1, z02 has 1, z03 has 1, z04 has 1, z05 has 1, z06 has 1, and 5 more; " +
				"zz holds it back, where node last is cordoned (node.kubernetes.io/unschedulable=:NoSchedule; with nodeTaintsPolicy Honor it would not count))", nil},
		{"a key that no node has", nil, []podOption{labelled("w"), spreadBy("rack", 1, "w")},
			"topology spread by rack with maxSkew 1 of pods that match app=w in namespace default (no node has label rack)",
			func(t *testing.T, r planning.Rule) {
				if diff := cmp.Diff([]planning.Unknown{{Kind: planning.UnknownLabel, Name: "rack"}}, r.Unknown); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}},
		{"a key that is misspelt", nil, []podOption{labelled("w"), closeTo("topology.kubernetes.io/zoen", "w")},
			"pod affinity by topology.kubernetes.io/zoen to pods that match app=w in namespace default, of which none has a place yet (no node has label topology.kubernetes.io/zoen (did you mean topology.kubernetes.io/zone?))", nil},
		{"a key that no node has yet, but instance types", nil, []podOption{closeTo(zoneKey, "nobody")},
			"pod affinity by topology.kubernetes.io/zone to pods that match app=nobody in namespace default, of which none has a place yet", nil},
		{"anti-affinity", []any{inZone("a"), one("n1", "a")}, []podOption{awayFrom(zoneKey, "w")},
			"pod anti-affinity by topology.kubernetes.io/zone to pods that match app=w in namespace default (a has 1)", nil},
		{"a host port of a DaemonSet", []any{daemonSet("proxy", []string{"cpu=100m"}, onHostPort(80))}, []podOption{onHostPort(80)},
			"host port TCP/80, held by DaemonSet kube-system/proxy",
			func(t *testing.T, r planning.Rule) {
				if diff := cmp.Diff([]planning.Holder{{Kind: planning.HolderDaemonSet, Namespace: "kube-system", Name: "proxy"}}, r.Holders); diff != "" || r.Kind != planning.RuleHostPort {
					t.Errorf("%+v (-want +got):\n%s", r, diff)
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(append(c.parts, pod("p", c.pod...))...))
			r := reasonsOf(t, p, "p")[0]
			if want := `incompatible with nodepool "default", each node that would hold it is kept out by ` + c.want; r.String() != want {
				t.Errorf("%q, want\n%q", r, want)
			}
			if c.check != nil {
				c.check(t, r.Rules[0])
			}
			wantReasonSurvivesJSON(t, r)
		})
	}
}

// SCH-156: all faults are told, not only the first, and two changes that would do together.
func TestAllFaults(t *testing.T) {
	arm := with(typeOf("arm", 0.19, "cpu=4", "memory=16Gi"), requirements.In(archKey, "arm64"))
	for _, c := range []struct {
		name  string
		parts []any
		pod   []podOption
		want  string
		miss  string
	}{
		{"a taint and an architecture", []any{arm, nodePool("banana", poolTaints("x=:NoSchedule"), poolNeeds(archKey, opIn, "arm64"))}, []podOption{selector(archKey + "=amd64")},
			"did not tolerate x=:NoSchedule; also incompatible requirements, key kubernetes.io/arch: the pod wants In [amd64], the pool allows In [arm64]; no instance type has kubernetes.io/arch amd64 (known: arm64)",
			"would fit if it tolerated x=:NoSchedule and it allowed kubernetes.io/arch arm64"},
		{"two taints", []any{nodePool("banana", poolTaints("x=:NoSchedule", "y=1:NoExecute"))}, nil,
			"did not tolerate x=:NoSchedule and y=1:NoExecute", "would fit if it tolerated x=:NoSchedule and y=1:NoExecute"},
		{"a taint and limits", []any{nodePool("banana", poolTaints("x=:NoSchedule"), limit("cpu=1"))}, nil,
			"did not tolerate x=:NoSchedule; also all instance types that would fit exceed the nodepool's limits (in use: cpu 0 of 1)",
			"would fit if it tolerated x=:NoSchedule and limit cpu were raised by 1"},
		{"a taint and an offering", []any{sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), shut(offering("a", v1.CapacityTypeSpot, 0.1))), nodePool("banana", poolTaints("x=:NoSchedule"))}, nil,
			"did not tolerate x=:NoSchedule; also the pool's own requirements leave none of its 1 instance types with an available offering",
			"would fit if it tolerated x=:NoSchedule and medium, spot in a, were available"},
		{"an architecture and a zone that the pool excludes", []any{nodePool("banana", poolNeeds(archKey, opIn, "amd64"), poolNeeds(zoneKey, opIn, "a"))}, []podOption{selector(archKey+"=arm64", zoneKey+"=b")},
			"incompatible requirements, key kubernetes.io/arch: the pod wants In [arm64], the pool allows In [amd64]; " +
				"also incompatible requirements, key topology.kubernetes.io/zone: the pod wants In [b], the pool allows In [a]",
			"would fit if it allowed kubernetes.io/arch amd64 and it allowed topology.kubernetes.io/zone a"},
		{"an architecture and a size", []any{nodePool("banana", poolNeeds(archKey, opIn, "amd64"))}, []podOption{selector(archKey + "=arm64"), requests("cpu=9")},
			"incompatible requirements, key kubernetes.io/arch: the pod wants In [arm64], the pool allows In [amd64]; " +
				"also no instance type fits: of 4, 1 don't meet the requirements, 3 are too small for cpu 9",
			"would fit if it allowed kubernetes.io/arch amd64 and it asked for 1 less cpu"},
		{"a zone and a size, without the pool excluding either", nil, []podOption{selector(zoneKey + "=z"), requests("cpu=9")},
			"no instance type has topology.kubernetes.io/zone z (did you mean a or b? known: a, b): of 4, 4 are too small for cpu 9",
			"would fit if it allowed topology.kubernetes.io/zone a and it asked for 1 less cpu"},
		{"two labels of which types have neither together", []any{arm, catalogue()[0]}, []podOption{selector(archKey+"=arm64", typeKey+"=small", zoneKey+"=z")},
			"no instance type has topology.kubernetes.io/zone z (did you mean a or b? known: a, b): of 2, 2 don't meet the requirements",
			"would fit if it allowed kubernetes.io/arch amd64 and it allowed topology.kubernetes.io/zone a"},
		{"a label that no node has, and limits", []any{nodePool("banana", limit("cpu=1"))}, []podOption{labelled("w"), spreadBy("rack", 1, "w")},
			"all instance types that would fit exceed the nodepool's limits (in use: cpu 0 of 1); also each node that would hold it is kept out by " +
				"topology spread by rack with maxSkew 1 of pods that match app=w in namespace default (no node has label rack)", ""},
		{"a label that no node has, and a size", nil, []podOption{labelled("w"), closeTo("rack", "w"), requests("cpu=9")},
			"no instance type fits: of 4, 4 are too small for cpu 9; also each node that would hold it is kept out by " +
				"pod affinity by rack to pods that match app=w in namespace default, of which none has a place yet (no node has label rack)", ""},
		{"a label that no node has, and a zone that the pool excludes", []any{nodePool("banana", poolNeeds(zoneKey, opIn, "a"))},
			[]podOption{labelled("w"), spreadBy("rack", 1, "w"), selector(zoneKey + "=b")},
			"incompatible requirements, key topology.kubernetes.io/zone: the pod wants In [b], the pool allows In [a]; also each node that would hold it is kept out by " +
				"topology spread by rack with maxSkew 1 of pods that match app=w in namespace default (no node has label rack)", ""},
		{"three faults", []any{nodePool("banana", poolTaints("x=:NoSchedule"), poolNeeds(archKey, opIn, "amd64"))}, []podOption{selector(archKey + "=arm64"), requests("cpu=9")},
			"did not tolerate x=:NoSchedule; also incompatible requirements, key kubernetes.io/arch: the pod wants In [arm64], the pool allows In [amd64]; " +
				"also no instance type fits: of 4, 1 don't meet the requirements, 3 are too small for cpu 9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func() *scheduling.Snapshot { return copyOf(cluster(append(c.parts, pod("p", c.pod...))...)) }
			r := reasonsOf(t, solve(t, build()), "p")[0]
			if _, text, _ := strings.Cut(r.String(), ", "); text != c.want {
				t.Errorf("%q, want\n%q", text, c.want)
			}
			wantReasonSurvivesJSON(t, r)
			if r.NearestMiss == nil || c.miss == "" {
				if r.NearestMiss != nil || c.miss != "" {
					t.Fatalf("nearest miss %v, want %q", r.NearestMiss, c.miss)
				}
				return
			}
			if r.NearestMiss.String() != c.miss {
				t.Fatalf("nearest miss %q, want %q", r.NearestMiss, c.miss)
			}
			s := build()
			cure(t, s, r.Pool, r.NearestMiss, strings.Join(r.NearestMiss.Values, ""), 0)
			if after := solve(t, s); place(after, "p") == "nowhere" {
				t.Errorf("still without a place after the cure: %s", reasonsOf(t, after, "p"))
			}
		})
	}
}

// SCH-156: pools that differ in nothing but taints and the pool that has none are told the same of a pod that has other faults.
func TestFaultsBeyondTaintsAreShared(t *testing.T) {
	p := solve(t, cluster(nodePool("plain"), nodePool("red", poolTaints("red=:NoSchedule")), nodePool("blue", poolTaints("blue=:NoSchedule")), pod("p", requests("cpu=9"))))
	var got []string
	for _, r := range reasonsOf(t, p, "p") {
		got = append(got, fmt.Sprintf("%s: %s", r, r.NearestMiss))
	}
	want := []string{
		`incompatible with nodepool "red", did not tolerate red=:NoSchedule; also no instance type fits: of 4, 4 are too small for cpu 9: would fit if it tolerated red=:NoSchedule and it asked for 1 less cpu`,
		`incompatible with nodepool "plain", no instance type fits: of 4, 4 are too small for cpu 9: would fit if it asked for 1 less cpu`,
		`incompatible with nodepool "blue", did not tolerate blue=:NoSchedule; also no instance type fits: of 4, 4 are too small for cpu 9: would fit if it tolerated blue=:NoSchedule and it asked for 1 less cpu`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SCH-159: of minValues it is told how many values there are.
func TestMinValuesShortfall(t *testing.T) {
	varied := func(np *scheduling.NodePool) {
		n := 3
		np.Object.Spec.Template.Spec.Requirements = append(np.Object.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: typeKey, Operator: opExists, MinValues: &n})
	}
	p := solve(t, cluster(nodePool("banana", varied), pod("p", requests("cpu=3"), selector(archKey+"=amd64"))))
	r := reasonsOf(t, p, "p")[0]
	if diff := cmp.Diff([]planning.MinValuesShortfall{{Key: typeKey, Asked: 3, Found: 2}}, r.MinValues); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantReason(t, p, "p", `incompatible with nodepool "banana", the instance types that would do are less varied than its minValues ask for: 3 values of node.kubernetes.io/instance-type, and there are 2`)
}
