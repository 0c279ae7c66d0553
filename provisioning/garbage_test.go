package provisioning_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

// collected are the effects of all garbage of a state that is the same when it is read again.
func collected(s provisioning.GarbageState, now time.Time) []string {
	var effects []string
	for _, g := range provisioning.CollectGarbage(s, now) {
		effects = append(effects, texts(g.Collect(s, now).Effects)...)
	}
	return effects
}

func orphan(id string, edit ...func(*v1.NodeClaim)) *v1.NodeClaim {
	m := build.Claim("m"+id, build.UID("uid-"+id), build.Created(start), build.OfPool("default"), build.ProviderID(id))
	for _, e := range edit {
		e(m)
	}
	return m
}

// PRV-081: the three lists are read at three moments. What came into being meanwhile is not judged by the list that was
// read before.
func TestGarbageOfTheMoment(t *testing.T) {
	pooled := func(n *corev1.Node) { n.Labels[v1.NodePoolLabelKey] = "default" }
	joined := func(second float64) func(*corev1.Node) {
		return func(n *corev1.Node) { n.CreationTimestamp = metav1.Time{Time: at(second)} }
	}
	for name, c := range map[string]struct {
		s    provisioning.GarbageState
		at   float64
		want string
	}{
		"a node joined after the instances were listed, and its claim has yet to hear of its instance": {provisioning.GarbageState{
			Claims: []*v1.NodeClaim{testClaim()}, Nodes: []*corev1.Node{testJoined(pooled, joined(4))}}, 5, ""},
		"a node that joined half a minute before": {provisioning.GarbageState{Nodes: []*corev1.Node{testJoined(pooled, joined(4))}}, 34, "delete node node-1"},
		"a node that joined a little later":       {provisioning.GarbageState{Nodes: []*corev1.Node{testJoined(pooled, joined(4))}}, 33, ""},
		"a node that joined while lists may lag":  {provisioning.GarbageState{Nodes: []*corev1.Node{testJoined(pooled, joined(4))}, Lag: time.Minute}, 60, ""},
		"a claim that registered after the instances were listed": {provisioning.GarbageState{
			Claims: []*v1.NodeClaim{testClaim(registeredAt(at(3)))}, Nodes: []*corev1.Node{testJoined(pooled, joined(2))}}, 1, ""},
		"a claim that registered long before": {provisioning.GarbageState{Claims: []*v1.NodeClaim{testClaim(registeredAt(at(3)))}}, 33, "delete nodeclaim default-1 (garbage_collected)"},
	} {
		if got := strings.Join(collected(c.s, at(c.at)), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// PRV-081: nothing is collected on one reading; each of the three is left alone if the second has what the first lacked.
func TestGarbageIsReadTwice(t *testing.T) {
	pooled := func(n *corev1.Node) { n.Labels[v1.NodePoolLabelKey] = "default" }
	claim := testClaim(registeredAt(start))
	lone := testJoined(pooled)
	for name, c := range map[string]struct {
		first, second provisioning.GarbageState
	}{
		"the provider knows the instance": {
			provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}},
			provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}, Instances: []*v1.NodeClaim{orphan("sim:///1")}},
		},
		"the claim is gone": {provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}}, provisioning.GarbageState{}},
		"the claim is being deleted": {provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}}, provisioning.GarbageState{
			Claims: []*v1.NodeClaim{testClaim(registeredAt(start), leaving)}}},
		"the node is ready": {
			provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}},
			provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}, Nodes: []*corev1.Node{readyNode()}},
		},
		"the instance has a claim": {
			provisioning.GarbageState{Instances: []*v1.NodeClaim{orphan("sim:///1")}},
			provisioning.GarbageState{Instances: []*v1.NodeClaim{orphan("sim:///1")}, Claims: []*v1.NodeClaim{claim}},
		},
		"the instance is ending": {
			provisioning.GarbageState{Instances: []*v1.NodeClaim{orphan("sim:///1")}},
			provisioning.GarbageState{Instances: []*v1.NodeClaim{orphan("sim:///1", leaving)}},
		},
		"the node has a claim": {
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}},
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}, Claims: []*v1.NodeClaim{claim}},
		},
		"the node has an instance": {
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}},
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}, Instances: []*v1.NodeClaim{orphan("sim:///1")}},
		},
		"the node has become ready": {
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}},
			provisioning.GarbageState{Nodes: []*corev1.Node{readyNode(pooled)}},
		},
		"the node is another one of the name": {
			provisioning.GarbageState{Nodes: []*corev1.Node{lone}},
			provisioning.GarbageState{Nodes: []*corev1.Node{testJoined(pooled, func(n *corev1.Node) { n.UID = "another" })}},
		},
	} {
		found := provisioning.CollectGarbage(c.first, at(600))
		if len(found) != 1 || len(found[0].Collect(c.first, at(600)).Effects) != 1 {
			t.Fatalf("%s: found %v", name, found)
		}
		if step := found[0].Collect(c.second, at(601)); len(step.Effects)+len(step.Events) != 0 {
			t.Errorf("%s: %v", name, texts(step.Effects))
		}
	}
}

// PRV-081: the node of an instance goes with it, and what is left of all is told of: the pool, since the claim is gone.
func TestGarbageTakesItsNodeAlong(t *testing.T) {
	s := provisioning.GarbageState{Instances: []*v1.NodeClaim{orphan("sim:///1")}, Nodes: []*corev1.Node{readyNode()}}
	found := provisioning.CollectGarbage(s, at(600))
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	step := found[0].Collect(s, at(600))
	if got := strings.Join(texts(step.Effects), ","); got != "terminate instance of msim:///1,delete node node-1" {
		t.Error(got)
	}
	var told []string
	for _, e := range step.Events {
		told = append(told, e.Kind+"/"+e.Name+" "+string(e.Reason)+": "+e.Message)
	}
	message := " GarbageCollected: Terminating instance sim:///1: no NodeClaim has it"
	if want := []string{"NodePool/default" + message, "Node/node-1" + message}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// A piece of garbage that can't be collected is tried again ever more seldom, but for ever.
func TestGarbageBackOff(t *testing.T) {
	var waits []time.Duration
	for failures := range 8 {
		waits = append(waits, provisioning.GarbageBackOff(failures))
	}
	if want := []time.Duration{0, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, 32 * time.Minute, 32 * time.Minute}; !slices.Equal(waits, want) {
		t.Errorf("%v, want %v", waits, want)
	}
}
