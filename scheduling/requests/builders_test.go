package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

func start() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// world is a cluster with requests, in which rounds are made.
type world struct {
	t    *testing.T
	in   Input
	plan *scheduling.Plan
	// round is the last one.
	round *Round
}

// newWorld is a cluster with so many nodes of four cores, and a PodTemplate for pods of two.
func newWorld(t *testing.T, nodes int) *world {
	w := &world{t: t, in: Input{Snapshot: &scheduling.Snapshot{Time: start()}, PodTemplates: []*corev1.PodTemplate{template("worker", "cpu", "2")}}}
	for i := range nodes {
		w.addNode(fmt.Sprintf("n%d", i+1))
	}
	return w
}

func (w *world) addNode(name string) {
	w.in.Snapshot.Nodes = append(w.in.Snapshot.Nodes, scheduling.Node{Name: name, Object: build.Node(name, build.OfType(large(), "", ""))})
}

// large has four cores for pods.
func large() *cloudprovider.InstanceType {
	return build.InstanceType("large", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("zone-a", 0.5))
}

// withPool lets nodes be launched, within a limit of cores.
func (w *world) withPool(cores string) *world {
	w.in.Snapshot.Catalogs = map[string][]*cloudprovider.InstanceType{"c": {large()}}
	w.in.Snapshot.NodePools = []scheduling.NodePool{{Object: build.Pool("p", build.Limit("cpu", cores)), Catalog: "c"}}
	return w
}

func template(name string, requests ...string) *corev1.PodTemplate {
	return &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: build.Amounts(requests...)},
		}}}},
	}
}

// ask adds a request for so many workers; parameters are names and values.
func (w *world) ask(name, class string, workers int32, parameters ...string) *v1.ProvisioningRequest {
	r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(w.in.Snapshot.Time)}}
	r.Spec = v1.ProvisioningRequestSpec{ProvisioningClassName: class, PodSets: []v1.PodSet{{PodTemplateRef: v1.Reference{Name: "worker"}, Count: workers}}}
	for i := 0; i+1 < len(parameters); i += 2 {
		if r.Spec.Parameters == nil {
			r.Spec.Parameters = map[string]v1.Parameter{}
		}
		r.Spec.Parameters[parameters[i]] = v1.Parameter(parameters[i+1])
	}
	w.in.Requests = append(w.in.Requests, r)
	return r
}

// request is the one of that name as it is now.
func (w *world) request(name string) *v1.ProvisioningRequest {
	for _, r := range w.in.Requests {
		if r != nil && r.Name == name {
			return r
		}
	}
	w.t.Fatalf("there is no request %s", name)
	return nil
}

// worker is a pod that uses the request.
func worker(name, request string, options ...build.PodOption) *corev1.Pod {
	return build.Pod(name, append([]build.PodOption{build.CPU("2"), build.Annotations(v1.ConsumeAnnotationKey, request)}, options...)...)
}

func (w *world) bind(node string, pods ...*corev1.Pod) {
	for i := range w.in.Snapshot.Nodes {
		if n := &w.in.Snapshot.Nodes[i]; n.Name == node {
			for _, pod := range pods {
				pod.Spec.NodeName = node
			}
			n.Pods = append(n.Pods, pods...)
		}
	}
}

// turn makes a round; the requests have its answers afterwards.
func (w *world) turn() *world {
	w.t.Helper()
	round, err := Begin(w.t.Context(), w.in)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := scheduling.Compile(round.Snapshot)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.plan, err = m.Solve(w.t.Context(), scheduling.Query{}); err != nil {
		w.t.Fatal(err)
	}
	answers, err := round.Answer(w.t.Context(), w.plan)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range answers {
		for i, r := range w.in.Requests {
			if r.Name == a.Request.Name {
				w.in.Requests[i] = a.Request
			}
		}
	}
	w.round = round
	return w
}

// after moves the clock on.
func (w *world) after(d time.Duration) *world {
	s := *w.in.Snapshot
	s.Time = s.Time.Add(d)
	w.in.Snapshot = &s
	return w
}

// state is the conditions of a request that are known: "+Accepted(Accepted) -Provisioned(CapacityIsNotFound)".
func state(r *v1.ProvisioningRequest) string {
	var parts []string
	for _, c := range r.Status.Conditions {
		sign := "-"
		if c.Status == metav1.ConditionTrue {
			sign = "+"
		}
		parts = append(parts, fmt.Sprintf("%s%s(%s)", sign, c.Type, c.Reason))
	}
	return strings.Join(parts, " ")
}

func (w *world) wantState(name, want string) {
	w.t.Helper()
	if got := state(w.request(name)); got != want {
		w.t.Errorf("%s is %s, want %s: %+v", name, got, want, w.request(name).Status)
	}
}

// booked is where room is booked: "n1 2; n2 1".
func booked(r *v1.ProvisioningRequest) string {
	return strings.ReplaceAll(strings.TrimSpace(string(r.Status.ProvisioningClassDetails[v1.DetailBooking])), "\n", "; ")
}

func (w *world) wantBooked(name, want string) {
	w.t.Helper()
	if got := booked(w.request(name)); got != want {
		w.t.Errorf("%s is booked at %q, want %q", name, got, want)
	}
}

// wantLaunched is how many nodes the last plan launches.
func (w *world) wantLaunched(nodes int) {
	w.t.Helper()
	if got := len(w.plan.NewNodes); got != nodes {
		w.t.Errorf("%d nodes are launched, want %d", got, nodes)
	}
}
