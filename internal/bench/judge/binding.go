package judge

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// binding binds the pods of a plan one by one.
type binding struct {
	j        *Judge
	nodes    []*node
	target   map[string]*node // by pod
	seen     map[string]int   // how often the plan names a pod
	order    []string         // the pods in the order of the plan, node by node
	peers    *peers
	bound    []boundPod // by the workload
	refusals []string
}

type boundPod struct {
	pod *corev1.Pod
	on  *node
}

func newBinding(j *Judge) *binding {
	return &binding{j: j, target: make(map[string]*node), seen: make(map[string]int)}
}

// add adds a node, and the pods that the plan places on it.
func (b *binding) add(m *node, pods []string) {
	m.freeAtFirst, m.portsAtFirst = m.free, m.ports
	b.nodes = append(b.nodes, m)
	for _, key := range pods {
		b.seen[key]++
		b.target[key] = m
		b.order = append(b.order, key)
	}
}

// stand adds the pods that already run on the existing node n. The node n must be the last node that was added.
func (b *binding) stand(n *scheduling.Node) {
	for _, pod := range n.Pods {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			b.bound = append(b.bound, boundPod{pod, b.nodes[len(b.nodes)-1]})
		}
	}
}

// homeless records pods that the plan places on a node that does not exist.
func (b *binding) homeless(pods []string) {
	for _, key := range pods {
		b.seen[key]++
	}
}

// leaveOut records a pod that the plan does not place.
func (b *binding) leaveOut(key string) { b.seen[key]++ }

// bind tries to bind all pods and returns the refusals. It binds pods in the plan's order if the plan states one, and otherwise node by
// node. It tries refused pods again until no more pods can be bound.
func (b *binding) bind(order []string) []string {
	for key, n := range b.seen {
		if b.j.pods[key] == nil {
			b.refuse("pod %s is planned, but does not wait", key)
		} else if n > 1 {
			b.refuse("pod %s is planned %d times", key, n)
		}
	}
	for _, pod := range b.j.s.Pods {
		if key := pod.Namespace + "/" + pod.Name; b.seen[key] == 0 {
			b.refuse("pod %s is forgotten", key)
		}
	}
	slices.Sort(b.refusals)

	var least []string
	for i, later := range deferrals() {
		b.start()
		refused := b.bindAll(b.waiting(order), later)
		if i == 0 || len(refused) < len(least) {
			least = refused
		}
		if len(least) == 0 {
			break
		}
	}
	return append(b.refusals, least...)
}

// deferrals returns conditions: pods that meet a condition are bound after all other pods. The judge tries to bind all pods, once with each
// condition, until one attempt binds every pod. The plan's own order can fail: it may bind a pod before other pods that the pod's rules
// must count first.
func deferrals() []func(*candidate) bool {
	return []func(*candidate) bool{
		func(*candidate) bool { return false },
		// A pod without rules about other pods can be bound at any time. But if it is bound early, rules of other pods count it and may
		// then refuse those pods. So bind the pods without rules last.
		func(c *candidate) bool { return !c.kind.asks() },
		// A planner may leave the zone of a new node open until it places a pod with a rule about zones on the node. The planner has not
		// counted the pods that it placed on the node before, because their zone was still open. So bind these pods last.
		func(c *candidate) bool { return c.on.zoneless[c.key] },
	}
}

// start removes all bindings except those of pods that already ran before the plan.
func (b *binding) start() {
	for _, m := range b.nodes {
		m.free, m.ports = slices.Clone(m.freeAtFirst), maps.Clone(m.portsAtFirst)
	}
	b.peers = newPeers(b.j, b.nodes)
	for _, m := range b.nodes {
		m.zoneless = make(map[string]bool)
	}
	// kindOf registers the rules of a pod. All rules must be registered before the first pod is counted.
	minded := make(map[*node]bool)
	for _, key := range b.order {
		if a := b.j.pods[key]; a != nil {
			m, k := b.target[key], b.peers.kindOf(a.pod)
			minded[m] = minded[m] || !m.isNew || k.minds(corev1.LabelTopologyZone)
			m.zoneless[key] = !minded[m]
		}
	}
	for _, p := range b.bound {
		b.peers.kindOf(p.pod)
	}
	for _, p := range b.bound {
		b.peers.place(b.peers.kindOf(p.pod), p.on)
	}
}

func (b *binding) refuse(format string, args ...any) {
	b.refusals = append(b.refusals, fmt.Sprintf(format, args...))
}

// waiting returns the pods to bind, each once and with its node. Pods in the parameter order come first, then the other pods of b.order.
func (b *binding) waiting(order []string) []*candidate {
	var out []*candidate
	taken := make(map[string]bool, len(b.order))
	for _, list := range [][]string{order, b.order} {
		for _, key := range list {
			if a := b.j.pods[key]; a != nil && b.target[key] != nil && !taken[key] {
				taken[key] = true
				out = append(out, &candidate{asking: a, kind: b.peers.kindOf(a.pod), on: b.target[key]})
			}
		}
	}
	return out
}

// candidate is a pod to be bound.
type candidate struct {
	*asking
	kind *kind
	on   *node
}

// bindAll binds as many pods as possible, and returns the refusals of the other pods. It does not try pods that their node can never
// accept. Pods for which later(pod) is true are tried after all other pods.
func (b *binding) bindAll(waiting []*candidate, later func(*candidate) bool) []string {
	var refused []string
	var first, last []*candidate
	for _, c := range waiting {
		if why := c.shape.accepts(c.on.node); why != "" {
			refused = append(refused, c.refused(why))
		} else if later(c) {
			last = append(last, c)
		} else {
			first = append(first, c)
		}
	}
	for _, c := range b.pass(append(b.pass(first), last...)) {
		refused = append(refused, c.refused(b.why(c)))
	}
	return refused
}

func (c *candidate) refused(why string) string {
	return fmt.Sprintf("pod %s on %s: %s", c.key, c.on.name, why)
}

// pass tries all waiting pods in turn, and repeats this until no more pod can be bound. It returns the pods that were not bound.
func (b *binding) pass(waiting []*candidate) []*candidate {
	for {
		left := waiting[:0:0]
		for _, c := range waiting {
			if b.why(c) != "" {
				left = append(left, c)
				continue
			}
			c.on.free.subtract(c.need)
			c.on.takePorts(c.pod)
			b.peers.place(c.kind, c.on)
		}
		if len(left) == len(waiting) || len(left) == 0 {
			return left
		}
		waiting = left
	}
}

// why says what keeps the pod from being bound to its node now, or returns "" if the pod can be bound.
func (b *binding) why(c *candidate) string {
	if i := c.on.free.lacking(c.need); i >= 0 {
		return "no room: " + string(b.j.resources[i])
	}
	if c.on.portsTaken(c.pod) {
		return "a host port is taken"
	}
	return b.peers.refuses(c.kind, c.on)
}

// hostPort is a port on a node that a pod uses. An empty address means any address.
type hostPort struct {
	address  string
	protocol corev1.Protocol
	port     int32
}

func hostPorts(pod *corev1.Pod) []hostPort {
	var out []hostPort
	for i := range pod.Spec.Containers {
		for _, p := range pod.Spec.Containers[i].Ports {
			if p.HostPort != 0 {
				h := hostPort{p.HostIP, p.Protocol, p.HostPort}
				if h.address == "0.0.0.0" {
					h.address = ""
				}
				if h.protocol == "" {
					h.protocol = corev1.ProtocolTCP
				}
				out = append(out, h)
			}
		}
	}
	return out
}

func (m *node) takePorts(pod *corev1.Pod) {
	for _, h := range hostPorts(pod) {
		m.ports[h] = true
	}
}

func (m *node) portsTaken(pod *corev1.Pod) bool {
	for _, h := range hostPorts(pod) {
		for taken := range m.ports {
			if taken.port == h.port && taken.protocol == h.protocol && (taken.address == "" || h.address == "" || taken.address == h.address) {
				return true
			}
		}
	}
	return false
}
