package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// makesRoom reports whether the pod is being deleted for a pod of higher priority that is nominated for its node.
func (c *checker) makesRoom(n *scheduling.Node, pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && slices.ContainsFunc(c.s.Pods, func(p *corev1.Pod) bool {
		return p.Spec.NodeName == "" && p.Status.NominatedNodeName == n.Name && priorityOf(p) > priorityOf(pod)
	})
}

// preemptions checks each preemption of the plan. The victims must be on the node and have a lower priority than their pod. The pod must be
// allowed to preempt. Without the victims, the pod must fit on the node: the node must have enough resources, and it must meet the
// conditions that preemption can't change. Several pods may use the resources of one victim. If the plan relies on a preemption, the pod
// and the pods that the plan places on the node must be compatible. The plan does not rely on a preemption if it also places the pod on
// another node or lists it as unschedulable. In these cases, the plan places the other pods as if there were no preemption.
func (c *checker) preemptions() {
	gone := map[scheduling.PodKey]bool{}
	came := map[string]corev1.ResourceList{}
	for i := range c.p.Preemptions {
		x := &c.p.Preemptions[i]
		pod, n := c.pods[x.Pod], c.nodes[x.Node]
		if pod == nil || n == nil || n.Leaving || len(x.Victims) == 0 {
			c.fault(x.Pod.String(), "preempts nothing on %s", x.Node)
			continue
		}
		if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever {
			c.fault(x.Pod.String(), "never preempts")
		}
		v := c.view(n)
		if blocking(&pod.Spec, v.taints) != nil || !c.accepts(v.labels, &pod.Spec) {
			c.fault(x.Pod.String(), "can't go on %s whatever is preempted there", x.Node)
		}
		free := c.freeOn(n, v)
		highest := int32(-1 << 31)
		for _, key := range x.Victims {
			at := slices.IndexFunc(n.Pods, func(p *corev1.Pod) bool { return p.Namespace == key.Namespace && p.Name == key.Name })
			if at < 0 || priorityOf(n.Pods[at]) >= priorityOf(pod) {
				c.fault(x.Pod.String(), "can't preempt %s", key)
				continue
			}
			gone[key] = true
			highest = max(highest, priorityOf(n.Pods[at]))
		}
		for _, p := range n.Pods {
			if gone[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] {
				plus(free, requestsOf(p))
			}
		}
		if highest != x.HighestPriority {
			c.fault(x.Pod.String(), "says its victims have priority %d at most, which is %d", x.HighestPriority, highest)
		}
		if came[x.Node] == nil {
			came[x.Node] = corev1.ResourceList{}
		}
		plus(came[x.Node], requestsOf(pod))
		if short := lack(came[x.Node], free); short != "" {
			c.fault(x.Pod.String(), "does not fit on %s: %s", x.Node, short)
		}
		if !c.placed(x.Pod) && !c.without(x.Pod) {
			c.company(pod, n)
		}
	}
}

// placed reports whether the plan places the pod.
func (c *checker) placed(key scheduling.PodKey) bool {
	return slices.Contains(c.p.Order, key)
}

// without reports whether the plan lists the pod as unschedulable.
func (c *checker) without(key scheduling.PodKey) bool {
	return slices.ContainsFunc(c.p.Unschedulable, func(u scheduling.Unschedulable) bool { return u.Pod == key })
}

// company checks a pod that comes to the node by preemption. Host ports, disks and anti-affinity by hostname must allow this pod on the
// node together with the pods that the plan places on the node.
func (c *checker) company(pod *corev1.Pod, n *scheduling.Node) {
	keepsAway := func(a, b *corev1.Pod) bool {
		return slices.ContainsFunc(antiTerms(a), func(t corev1.PodAffinityTerm) bool {
			return t.TopologyKey == corev1.LabelHostname && c.picksOf(&t, a).has(b)
		})
	}
	for i := range c.p.Existing {
		if c.p.Existing[i].Name != n.Name {
			continue
		}
		for _, key := range c.p.Existing[i].Pods {
			other := []*corev1.Pod{c.pods[key]}
			clash := portClash(other, pod) + diskClash(other, pod)
			if keepsAway(pod, other[0]) || keepsAway(other[0], pod) {
				clash += "anti-affinity"
			}
			if clash != "" {
				c.fault(key.String(), "is placed on %s, where %s comes by preemption: %s", n.Name, pod.Name, clash)
			}
		}
	}
}
