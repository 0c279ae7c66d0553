package requests

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// Whatever requests, pods and nodes come and go: after each round no room is promised twice, a request that was provisioned has all
// its room until its booking ends, nothing is launched for requests that check capacity, and a launch for others is for all their
// pods.
func TestNoRoomIsPromisedTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rapid.IntRange(0, 4).Draw(rt, "nodes"))
		launches := rapid.Bool().Draw(rt, "launches")
		if launches {
			w.withPool(fmt.Sprint(4 * rapid.IntRange(0, 6).Draw(rt, "limit")))
		}
		for step := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			s := *w.in.Snapshot
			s.Nodes, s.Pods = slices.Clone(s.Nodes), slices.Clone(s.Pods)
			w.in.Snapshot = &s
			w.change(rt, step, launches)
			w.turn()
			w.judge(rt)
		}
	})
}

// change is something that happens to the cluster.
func (w *world) change(rt *rapid.T, step int, launches bool) {
	s := w.in.Snapshot
	switch rapid.IntRange(0, 6).Draw(rt, "change") {
	case 0, 1:
		class := check
		if launches && rapid.Bool().Draw(rt, "atomic") {
			class = atomic
		}
		w.ask(fmt.Sprintf("r%d", step), class, int32(rapid.IntRange(1, 6).Draw(rt, "workers")))
	case 2:
		w.addNode(fmt.Sprintf("more%d", step))
	case 3:
		if len(s.Nodes) > 0 {
			at := rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "gone")
			s.Nodes = slices.Delete(s.Nodes, at, at+1)
		}
	case 4: // a pod that kube-scheduler binds where there is room, since it knows no bookings
		pod := build.Pod(fmt.Sprintf("web%d", step), build.CPU("1"))
		if len(s.Nodes) > 0 {
			if n := &s.Nodes[rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "node")]; n.Object != nil && cores(n.Pods) < 4 {
				w.bind(n.Name, pod)
				return
			}
		}
		s.Pods = append(s.Pods, pod)
	case 5: // a pod of a request comes, or is bound where it was nominated for
		if len(w.in.Requests) == 0 {
			return
		}
		r := rapid.SampledFrom(w.in.Requests).Draw(rt, "request")
		s.Pods = append(s.Pods, worker(fmt.Sprintf("w%d", step), r.Name))
		if w.round != nil {
			w.settle()
		}
	case 6:
		w.after(time.Duration(rapid.IntRange(1, 12).Draw(rt, "minutes")) * time.Minute)
		if launches && w.round != nil {
			w.launch()
			w.initialize()
		}
	}
}

// settle binds pods that the last round nominated.
func (w *world) settle() {
	var left []*corev1.Pod
	for _, pod := range w.in.Snapshot.Pods {
		node := w.round.nominee[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]
		at := slices.IndexFunc(w.in.Snapshot.Nodes, func(n scheduling.Node) bool { return n.Name == node && cores(n.Pods) <= 2 })
		if at < 0 {
			left = append(left, pod)
			continue
		}
		bound := pod.DeepCopy()
		w.bind(node, bound)
	}
	w.in.Snapshot.Pods = left
}

// cores are those that pods ask for.
func cores(list []*corev1.Pod) int64 {
	var n int64
	for _, pod := range list {
		cpu := scheduling.PodRequests(pod)[corev1.ResourceCPU]
		n += cpu.Value()
	}
	return n
}

// judge looks at the cluster after a round.
func (w *world) judge(rt *rapid.T) {
	held, promised := w.round.held, map[string]int{}
	for i := range w.in.Snapshot.Nodes {
		n := &w.in.Snapshot.Nodes[i]
		nominated := 0
		for key, node := range w.round.nominee {
			if node == n.Name && key.Name != "" {
				nominated++
			}
		}
		if got := cores(n.Pods) + cores(held[n.Name]) + int64(2*nominated); got > 4 && (len(held[n.Name]) > 0 || nominated > 0) {
			rt.Fatalf("%d cores of node %s are promised, and it has 4", got, n.Name)
		}
		if told := Held(w.in)[n.Name]; len(told) > 0 && cores(n.Pods)+cores(told) > 4 {
			rt.Fatalf("node %s is said to hold room for %d pods besides %d", n.Name, len(told), len(n.Pods))
		}
		for _, pod := range held[n.Name] {
			promised[pod.Annotations[v1.ConsumeAnnotationKey]]++
		}
	}
	for _, pods := range held {
		for _, pod := range pods {
			if !slices.ContainsFunc(w.in.Snapshot.Nodes, func(n scheduling.Node) bool { return n.Name == pod.Spec.NodeName }) {
				rt.Fatalf("room is held on node %s, which has gone", pod.Spec.NodeName)
			}
		}
	}
	for _, r := range w.in.Requests {
		if !r.Booked() {
			if promised[r.Name] > 0 {
				rt.Fatalf("room is held for %s: %s", r.Name, state(r))
			}
			continue
		}
		used := 0
		for _, c := range findConsumers(w.in.Snapshot)[nameOf(r)] {
			if used < int(r.Spec.PodSets[0].Count) && c.pod != nil {
				used++
			}
		}
		if got := promised[r.Name] + used; got < int(r.Spec.PodSets[0].Count) {
			rt.Fatalf("%s has room for %d of %d pods: %s, booked at %s", r.Name, got, r.Spec.PodSets[0].Count, state(r), booked(r))
		}
	}
	launched := map[string]int{}
	for _, n := range w.plan.NewNodes {
		for _, key := range n.Pods {
			if name, ok := strings.CutPrefix(key.Name, namePrefix); ok {
				name, _, _ = strings.Cut(name, "-")
				launched[name]++
			}
		}
	}
	for name := range launched {
		if r := w.request(name); r.Spec.ProvisioningClassName != atomic || r.Done() || r.Is(v1.ConditionProvisioned) {
			rt.Fatalf("nodes are launched for %s: %s", name, state(r))
		}
	}
	for _, p := range w.plan.Gangs {
		if p.Reason == nil && p.Bound+p.Placed < p.Members {
			rt.Fatalf("gang %s is placed in part", p.Gang)
		}
	}
}
