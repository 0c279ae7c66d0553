package harness

import (
	"fmt"
	"regexp"
	"sync"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/cache"
)

// nominated is the reason of the events in which a controller says where a pod should go.
const nominated = "Nominated"

// placements has the nodes on which pods should be, from the latest event of each pod. Pods are identified by name: each pod of a workload
// gets a new name, and an event may contain nothing else.
type placements struct {
	mu     sync.Mutex
	target map[string]target
}

// target is the target of a nomination: a claim that has no node yet, or a node, or both.
type target struct{ claim, node string }

// These expressions match parts of the message of a Nominated event: "Pod should schedule on: nodeclaim/default-x2x4q, node/node-1". One of
// the two parts may be missing.
var (
	claimInMessage = regexp.MustCompile(`nodeclaim/([a-z0-9.-]*[a-z0-9])`)
	nodeInMessage  = regexp.MustCompile(`\bnode/([a-z0-9.-]*[a-z0-9])`)
)

// targetOf parses a message. Parts that it does not contain are empty.
func targetOf(message string) target {
	var t target
	if m := claimInMessage.FindStringSubmatch(message); m != nil {
		t.claim = m[1]
	}
	if m := nodeInMessage.FindStringSubmatch(message); m != nil {
		t.node = m[1]
	}
	return t
}

func (p *placements) watch(informer cache.SharedIndexInformer) error {
	p.target = map[string]target{}
	note := func(object any) {
		event, ok := object.(*eventsv1.Event)
		if !ok || event.Reason != nominated || event.Regarding.Kind != "Pod" {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.target[event.Regarding.Name] = targetOf(event.Note)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, object any) { note(object) }})
	return err
}

// Placements says how many of the bound pods are where the planner placed them.
type Placements struct {
	// Bound is the number of bound pods.
	Bound int
	// Told is the number of bound pods with a known planned node. It may be smaller than Bound, because controllers limit the rate of such
	// events.
	Told int
	// Met is the number of these pods that are on their planned node.
	Met int
	// Elsewhere names the pods that were bound to another node, with both nodes.
	Elsewhere []string
	// Deserted are the planned nodes of pods that were bound to another node.
	Deserted map[string]bool
}

// Rate returns the share of the pods with a known planned node that are on this node, from 0 to 1. It is 1 if no planned node is known.
func (p Placements) Rate() float64 {
	if p.Told == 0 {
		return 1
	}
	return float64(p.Met) / float64(p.Told)
}

// String returns a line for a test's log.
func (p Placements) String() string {
	return fmt.Sprintf("%d pods bound; of %d the plan is known: %d (%.1f %%) are on that very node, %d on another of the planned instances",
		p.Bound, p.Told, p.Met, 100*p.Rate(), p.Told-p.Met)
}

// Placements compares the nodes of the pods in the test's namespace with their planned nodes.
func (c *Cluster) Placements() Placements {
	c.t.Helper()
	claims, err := c.Claims()
	c.check(err)
	node := map[string]string{}
	for i := range claims {
		node[claims[i].Name] = claims[i].Status.NodeName
	}
	c.meant.mu.Lock()
	defer c.meant.mu.Unlock()
	p := Placements{Deserted: map[string]bool{}}
	for _, pod := range c.Pods("") {
		if pod.Spec.NodeName == "" {
			continue
		}
		p.Bound++
		t, told := c.meant.target[pod.Name]
		if !told {
			continue
		}
		p.Told++
		want := t.node
		if want == "" {
			want = node[t.claim]
		}
		if pod.Spec.NodeName == want {
			p.Met++
		} else {
			p.Deserted[want] = true
			p.Elsewhere = append(p.Elsewhere, fmt.Sprintf("%s is on %s, meant was %s (%+v)", pod.Name, pod.Spec.NodeName, want, t))
		}
	}
	return p
}

// OnNode returns the pods of the test's namespace on a node.
func (c *Cluster) OnNode(name string) []*corev1.Pod {
	c.t.Helper()
	var on []*corev1.Pod
	for _, pod := range c.Pods("") {
		if pod.Spec.NodeName == name {
			on = append(on, pod)
		}
	}
	return on
}
