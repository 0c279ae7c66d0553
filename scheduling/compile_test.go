package scheduling_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// A snapshot that contradicts itself is refused whole, with the path of the field.
func TestCompileRefuses(t *testing.T) {
	priced := func(price float64) *cloudprovider.InstanceType { return typeOf("x", price, "cpu=1", "memory=1Gi") }
	edit := func(parts []any, change func(*scheduling.Snapshot)) *scheduling.Snapshot {
		s := cluster(parts...)
		change(s)
		return s
	}
	for _, c := range []struct {
		name string
		s    *scheduling.Snapshot
		want string
	}{
		{"two pods of one name", cluster(pod("p"), pod("p")), "default/p"},
		{"a waiting pod and a bound pod of one name", cluster(pod("p"), node("n", bound(pod("p")))), "default/p"},
		{"two bound pods of one name", cluster(node("n", bound(pod("p"))), node("m", bound(pod("p")))), "default/p"},
		{"a null pod", edit(nil, func(s *scheduling.Snapshot) { s.Pods = []*corev1.Pod{nil} }), "pods[0]"},
		{"a null bound pod", cluster(node("n", func(n *scheduling.Node) { n.Pods = []*corev1.Pod{nil} })), "nodes"},
		{"a null DaemonSet", edit(nil, func(s *scheduling.Snapshot) { s.DaemonSets = []*appsv1.DaemonSet{nil} }), "daemonSets[0]"},
		{"a pool without an object", edit(nil, func(s *scheduling.Snapshot) { s.NodePools[0].Object = nil }), "nodePools[0].object"},
		{"two pools of one key", cluster(nodePool("a"), nodePool("a")), "a"},
		{"a catalog that is not there", cluster(nodePool("a", catalogOf("nope"))), "nope"},
		{"an invalid requirement of a pool", cluster(nodePool("a", poolNeeds("x", "Almost"))), "a"},
		{"a negative limit", cluster(nodePool("a", limit("cpu=-1"))), "spec.limits"},
		{"two nodes of one name", cluster(node("n"), node("n")), "n"},
		{"a node without a name", cluster(node("")), "nodes"},
		{"a node without object and claim", cluster(node("n", func(n *scheduling.Node) { n.Object = nil })), "nodes[n]"},
		{"a null instance type", cluster([]*cloudprovider.InstanceType{nil}), "catalogs"},
		{"an instance type without a name", cluster(typeOf("", 1, "cpu=1")), "catalogs"},
		{"two instance types of one name", cluster(priced(1), priced(2)), "catalogs"},
		{"a negative price", cluster(priced(-1)), "price"},
		{"a price that is no number", cluster(priced(math.NaN())), "price"},
		{"an infinite price", cluster(priced(math.Inf(1))), "price"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scheduling.Compile(c.s)
			if err == nil {
				t.Fatal("compiled")
			}
			var typed *scheduling.SnapshotError
			if !errors.As(err, &typed) {
				t.Errorf("%v is no *SnapshotError", err)
			} else if typed.Path == "" || typed.Rule == "" || typed.Cure == "" {
				t.Errorf("%+v lacks a path, a rule or a cure", typed)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not name %q", err, c.want)
			}
		})
	}
	if _, err := scheduling.Compile(nil); err == nil {
		t.Error("nil compiled")
	}
}

// SCH-014, SCH-093: a pod that can't be planned is no error of the snapshot: it alone stays behind, and is told why.
func TestInvalidPodsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []podOption
		want    string
	}{
		{"negative requests", []podOption{requests("cpu=-1")}, "spec.containers[0].resources.requests[cpu] is negative (-1)"},
		{"negative requests of one container", []podOption{containers(container("a", "cpu=-1"), container("b", "cpu=2"))}, "negative"},
		{"a unit typo", []podOption{requests("cpu=1500000")}, "check the unit"},
		{"absurd memory", []podOption{requests("memory=8Ei")}, "check the unit"},
		{"more cpu than any node has", []podOption{requests("cpu=2000")}, "spec.containers[0].resources.requests[cpu] is 2k cores, more than any node has"},
		{"more in sum than any node has", []podOption{containers(container("a", "cpu=1500"), container("b", "cpu=1500"))}, "requests in sum[cpu] is 3k cores"},
		{"a sidecar's", []podOption{initContainers(sidecar("s", "memory=200Ti"))}, "spec.initContainers[0].resources.requests[memory] is 200Ti"},
		{"the pod's own", []podOption{podLevel("memory=-1")}, "spec.resources.requests[memory] is negative"},
		{"overhead", []podOption{overhead("memory=1e30")}, "spec.overhead[memory] is 1e30"},
		{"absurd beyond all bounds", []podOption{requests("memory=1e40")}, "check the unit"},
		{"absurd cpu beyond all bounds", []podOption{requests("cpu=1e40")}, "check the unit"},
		{"matchFields on what the API does not know", []podOption{requiredFields(in("spec.podCIDR", "n"))}, "matchFields"},
		{"matchFields with several names", []podOption{requiredFields(in("metadata.name", "n", "o"))}, "one name"},
		{"an unknown operator", []podOption{required(expression("x", "Almost", "y"))}, "operator"},
		{"Gte, which pods may not use", []podOption{required(expression("x", "Gte", "1"))}, "Gt"},
		{"In without values", []podOption{required(in("x"))}, "x"},
		{"a selector value that is no label value", []podOption{selector("x=a b")}, "nodeSelector"},
		{"SCH-064 an empty term", []podOption{required()}, "matches no node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(pod("bad", c.options...), pod("good"), node("n")))
			r := reasonsOf(t, p, "bad")
			if len(r) != 1 || r[0].Code != scheduling.ReasonPodInvalid || !r[0].Pool.IsZero() || !strings.Contains(r[0].String(), c.want) {
				t.Errorf("reasons %q, want one of code PodInvalid with %q", r, c.want)
			}
			if place(p, "good") == "nowhere" {
				t.Errorf("the other pod has no place")
			}
		})
	}
}

// A preference that can't be read is dropped, as any preference may be; the pod is placed.
func TestInvalidPreferenceIsDropped(t *testing.T) {
	p := solve(t, cluster(pod("p", preferred(1, expression("x", "Almost", "y")), preferred(2, in(zoneKey, "b")))))
	wantPlace(t, p, "p", "new small/b/spot")
}

// The zero Vocabulary stands for the core one.
func TestZeroVocabulary(t *testing.T) {
	s := cluster(pod("p", selector(corev1.LabelFailureDomainBetaZone+"=b")))
	s.Vocabulary = requirements.Vocabulary{}
	wantPlace(t, solve(t, s), "p", "new small/b/spot")
}

// Nothing to plan is a plan as well.
func TestEmptySnapshot(t *testing.T) {
	p := solve(t, &scheduling.Snapshot{})
	if len(p.NewNodes)+len(p.Existing)+len(p.Unschedulable) != 0 || p.HourlyCost != 0 {
		t.Errorf("plan of nothing: %+v", p)
	}
}

// A cancelled context gives its error and no plan.
func TestSolveIsCancelled(t *testing.T) {
	m, err := scheduling.Compile(cluster(pods("p", 100), node("n")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err := m.Solve(ctx, scheduling.Query{}); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("plan %v, error %v", p, err)
	}
}

// SCH-176: planning binds nothing and launches nothing: the snapshot is as it was.
func TestSolveLeavesTheSnapshotAlone(t *testing.T) {
	build := func() *scheduling.Snapshot {
		return copyOf(cluster(node("n", bound(pod("b", labelled("w")))), daemonSet("d", []string{"cpu=100m"}),
			pods("p", 3, labelled("w"), spreadBy(zoneKey, 1, "w"), preferred(1, in(zoneKey, "b"))), pod("none", selector("x=y"))))
	}
	s := build()
	solveQuery(t, s, scheduling.Query{})
	before, after := new(bytes.Buffer), new(bytes.Buffer)
	if err := errors.Join(build().Encode(before), s.Encode(after)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.String(), after.String()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// SCH-093: a pod that asks for nodes without a pool is refused for that alone, so that a caller who reports refusals can pass
// over it; on such a node it is placed.
func TestPodsThatOptOut(t *testing.T) {
	out := required(expression(v1.NodePoolLabelKey, opDoesNotExist))
	const said = "it asks for nodes that no nodepool made"
	for _, c := range []struct {
		name  string
		parts []any
		want  string
	}{
		{"no node", []any{pod("p", out)}, said},
		{"nodes that don't do", []any{node("own", ofPool("default")), node("full", bound(pod("f", requests("cpu=4")))), pod("p", out)},
			said + ", and of 2 existing nodes, 1 does not meet the requirements (own: karpenter.sh/nodepool is default), 1 has too little room (full: 0 cpu free, 1 asked for)"},
		{"each alternative", []any{pod("p", required(in(zoneKey, "a"), expression(v1.NodePoolLabelKey, opDoesNotExist)), out)}, said},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(c.parts...))
			wantReason(t, p, "p", c.want)
			if r := reasonsOf(t, p, "p")[0]; r.Code != scheduling.ReasonOptedOut {
				t.Errorf("code %s", r.Code)
			}
		})
	}
	wantPlace(t, solve(t, cluster(node("n"), pod("p", out))), "p", "on n")
	wantPlace(t, solve(t, cluster(pod("p", out, required(in(zoneKey, "b"))))), "p", "new small/b/spot")
}
