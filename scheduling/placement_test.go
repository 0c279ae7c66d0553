package scheduling_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// kube-scheduler's NodeAffinity matches matchFields against the Node's name; it knows no other field. A node that is still
// to be made has no name yet: none that is asked for, and none that is excluded.
func TestMatchFieldsNameNodes(t *testing.T) {
	fields := func(op corev1.NodeSelectorOperator, name string) podOption {
		return requiredFields(expression("metadata.name", op, name))
	}
	full := func(name string) scheduling.Node { return node(name, bound(pod(name+"-full", requests("cpu=4")))) }
	for _, c := range []struct {
		name  string
		nodes []scheduling.Node
		pod   *corev1.Pod
		want  string
	}{
		{"the node of that name", []scheduling.Node{node("a"), node("b"), node("c")}, pod("p", fields(opIn, "b")), "on b"},
		{"not the node of that name", []scheduling.Node{node("a"), full("b")}, pod("p", fields(opNotIn, "a")), "new medium/a/spot"},
		{"another than that node", []scheduling.Node{node("a"), node("b")}, pod("p", fields(opNotIn, "a")), "on b"},
		{"a node that is full", []scheduling.Node{full("a"), node("b")}, pod("p", fields(opIn, "a")), "nowhere"},
		{"a node that there is not", []scheduling.Node{node("a")}, pod("p", fields(opIn, "z")), "nowhere"},
		{"a new node is none of them", nil, pod("p", fields(opIn, "a")), "nowhere"},
		{"a new node is not the excluded one", nil, pod("p", fields(opNotIn, "a")), "new medium/a/spot"},
		{"one alternative of two", []scheduling.Node{node("a"), node("b")}, pod("p", fields(opIn, "z"), fields(opIn, "b")), "on b"},
		{"fields and labels of one term", []scheduling.Node{node("a"), node("b", nodeLabel("team", "x"))},
			pod("p", required(in("team", "x")), func(p *corev1.Pod) {
				p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields =
					[]corev1.NodeSelectorRequirement{in("metadata.name", "a")}
			}), "nowhere"},
		{"a label of that name is not the field", []scheduling.Node{node("a", nodeLabel("metadata.name", "z"))}, pod("p", fields(opIn, "z")), "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(nodePool("default", poolNeeds(typeKey, opIn, "medium")), c.pod)
			s.Nodes = c.nodes
			wantPlace(t, solve(t, s), "p", c.want)
		})
	}
}

// What a pod says of names must not be read in the claim of its new node.
func TestMatchFieldsAreNoRequirementOfNewNodes(t *testing.T) {
	p := solve(t, cluster(nodePool("default", poolNeeds(typeKey, opIn, "medium")), pod("p", requiredFields(expression("metadata.name", opNotIn, "a")))))
	if got := newNodeOf(t, p, "p").Requirements.String(); strings.Contains(got, "metadata.name") {
		t.Errorf("requirements %s", got)
	}
}

func TestMatchFieldsAreExplained(t *testing.T) {
	s := cluster(nodePool("default", poolNeeds(typeKey, opIn, "medium")), node("a", bound(pod("full", requests("cpu=4")))),
		pod("p", requiredFields(in("metadata.name", "a"))))
	r := reasonsOf(t, solve(t, s), "p")
	if len(r) != 2 || !strings.Contains(r[0].String(), "field metadata.name names one node") {
		t.Errorf("reasons %q", r)
	}
	// Both the node that is not named and the one that is named are explained in words.
	s = cluster(nodePool("default", poolNeeds(typeKey, opIn, "medium")), node("n"), pod("p", requiredFields(in("metadata.name", "a"))))
	r = reasonsOf(t, solve(t, s), "p")
	for text, want := range map[string]string{
		r[0].NearestMiss.String(): "would fit if it asked nothing of field metadata.name",
		r[1].String():             "no existing node takes it: of 1 existing node, 1 does not meet the requirements (n: field metadata.name is n)",
		r[1].NearestMiss.String(): "would fit if it allowed field metadata.name n",
	} {
		if text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// A joined Node has a name; a NodeClaim's is not that of its Node.
func TestMatchFieldsDoNotNameClaims(t *testing.T) {
	n := node("a", ofPool("default"))
	n.Object = nil
	wantPlace(t, solve(t, cluster(nodePool("default", catalogOf("")), n, pod("p", requiredFields(in("metadata.name", "a"))))), "p", "nowhere")
}

// Spread constraints count the nodes that the pod's node affinity leaves, fields included.
func TestSpreadCountsOnlyNodesThatMatchFieldsLeave(t *testing.T) {
	app := labelled("web")
	s := cluster(nodePool("default", catalogOf("")), node("a", nodeLabel(zoneKey, "a")), node("b", nodeLabel(zoneKey, "b")))
	for i := range 3 {
		s.Pods = append(s.Pods, pod(fmt.Sprint("p", i), app, requests("cpu=100m"), requiredFields(in("metadata.name", "a")), spreadBy(zoneKey, 1, "web")))
	}
	p := solve(t, s)
	for i := range 3 {
		wantPlace(t, p, fmt.Sprint("p", i), "on a")
	}
}

// The DaemonSet controller writes its node into each pod that it makes. Such pods don't make each node a group of its own.
func TestDaemonPodsOfManyNodesAreOneClass(t *testing.T) {
	set := daemonSet("agent", []string{"cpu=100m"})
	s := cluster(nodePool("default", catalogOf("")), set)
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		d := pod("agent-"+name, requests("cpu=100m"), requiredFields(in("metadata.name", name)), ownedBy(set))
		d.Spec.NodeName = name
		s.Nodes = append(s.Nodes, node(name, bound(d)))
	}
	if classes, groups := scheduling.ClassesAndGroups(compile(t, s)); classes > 2 || groups != 1 {
		t.Errorf("%d classes and %d groups of nodes, want at most 2 and 1", classes, groups)
	}
}

// kube-scheduler does not look at spec.os; a kubelet of another system rejects the pod (PodOSNotSupported).
func TestOperatingSystemOfThePod(t *testing.T) {
	windows := typeOf("win", 0.1, "cpu=4", "memory=16Gi")
	windows.Requirements = windows.Requirements.Without(corev1.LabelOSStable).With(requirements.In(corev1.LabelOSStable, "windows"))
	for _, c := range []struct {
		name string
		node scheduling.Node
		pod  *corev1.Pod
		want string
	}{
		{"windows on a linux node", node("n"), pod("p", ofOS("windows")), "new win/a/spot"},
		{"linux on a linux node", node("n"), pod("p", ofOS("linux")), "on n"},
		{"linux on a windows node", node("n", nodeLabel(corev1.LabelOSStable, "windows")), pod("p", ofOS("linux")), "new small/a/spot"},
		{"windows on a windows node", node("n", nodeLabel(corev1.LabelOSStable, "windows")), pod("p", ofOS("windows")), "on n"},
		{"no system is any", node("n", nodeLabel(corev1.LabelOSStable, "windows")), pod("p"), "on n"},
		{"with a selector in addition", node("n"), pod("p", ofOS("windows"), selector(zoneKey+"=b")), "new win/b/spot"},
		{"against its selector", node("n"), pod("p", ofOS("windows"), selector(corev1.LabelOSStable+"=linux")), "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(c.node, c.pod)
			s.Catalogs["types"] = append(s.Catalogs["types"], windows)
			wantPlace(t, solve(t, s), "p", c.want)
		})
	}
}
