package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// view has the properties of a node in its present phase: launched, registered or initialized.
type view struct {
	labels         labels
	taints         []corev1.Taint
	capacity, room corev1.ResourceList
}

func (c *checker) view(n *scheduling.Node) view {
	initialized := n.Claim == nil || n.Object != nil && n.Object.Labels[v1.NodeInitializedLabelKey] == "true"
	registered := n.Object != nil && (n.Claim == nil || n.Object.Labels[v1.NodeRegisteredLabelKey] == "true")
	var out view
	if registered {
		out.labels, out.taints = c.fromMap(n.Object.Labels), n.Object.Spec.Taints
	} else {
		out.labels, out.taints = c.claimLabels(n.Claim), n.Claim.Spec.Taints
	}
	if !initialized {
		out.taints = slices.DeleteFunc(slices.Clone(out.taints), func(t corev1.Taint) bool { return passing(t, n.Claim.Spec.StartupTaints) })
	}
	if cordon := (corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}); n.Object != nil && n.Object.Spec.Unschedulable {
		out.taints = append(slices.Clone(out.taints), cordon)
	}
	switch {
	case n.Object == nil:
		out.capacity, out.room = copyOf(n.Claim.Status.Capacity), copyOf(n.Claim.Status.Allocatable)
	case initialized:
		out.capacity, out.room = copyOf(n.Object.Status.Capacity), copyOf(n.Object.Status.Allocatable)
	default:
		out.capacity = fill(n.Object.Status.Capacity, n.Claim.Status.Capacity)
		out.room = fill(n.Object.Status.Allocatable, n.Claim.Status.Allocatable)
	}
	if n.Object != nil {
		out.labels.and(nodeName, isValue(n.Name))
	}
	out.capacity["nodes"] = *resource.NewQuantity(1, resource.DecimalSI)
	return out
}

// claimLabels returns the NodeClaim's labels, and a label for each requirement that allows only one value.
func (c *checker) claimLabels(claim *v1.NodeClaim) labels {
	single := map[string]string{}
	for _, r := range claim.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			single[r.Key] = r.Values[0]
		}
	}
	for k, v := range claim.Labels {
		single[k] = v
	}
	return c.fromMap(single)
}

// passing reports whether the taint will disappear from a node while the node starts.
func passing(t corev1.Taint, startup []corev1.Taint) bool {
	for _, s := range startup {
		if s.Key == t.Key && s.Effect == t.Effect {
			return true
		}
	}
	switch t.Key + ":" + string(t.Effect) {
	case "node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unreachable:NoSchedule",
		"node.cloudprovider.kubernetes.io/uninitialized:NoSchedule", "karpenter.sh/unregistered:NoExecute":
		return true
	}
	return len(t.Key) >= len("readiness.k8s.io/") && t.Key[:len("readiness.k8s.io/")] == "readiness.k8s.io/"
}

func fill(have, from corev1.ResourceList) corev1.ResourceList {
	out := copyOf(have)
	for name, q := range from {
		if h, ok := out[name]; !ok || h.IsZero() {
			out[name] = q
		}
	}
	return out
}

// freeOn returns the resources of a node that are free for pending pods. It subtracts the requests of bound pods, and of DaemonSet pods
// that are not on the node yet.
func (c *checker) freeOn(n *scheduling.Node, v view) corev1.ResourceList {
	free := copyOf(v.room)
	for _, pod := range n.Pods {
		if !finished(pod) && !c.makesRoom(n, pod) {
			minus(free, requestsOf(pod))
		}
	}
	for i, pod := range c.sets {
		if blocking(&pod.Spec, v.taints) != nil || !c.accepts(v.labels, &pod.Spec) {
			continue
		}
		missing := requestsOf(pod)
		for _, own := range n.Pods {
			if !finished(own) && daemonOf(own, c.s.DaemonSets[i]) {
				minus(missing, requestsOf(own))
			}
		}
		for name, q := range missing {
			if q.Sign() < 0 {
				delete(missing, name)
			}
		}
		minus(free, missing)
	}
	return free
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (c *checker) existingNodes() {
	names := map[string]bool{}
	for i := range c.p.Existing {
		e := &c.p.Existing[i]
		n := c.nodes[e.Name]
		switch {
		case n == nil:
			c.fault(e.Name, "is no node of the snapshot")
			continue
		case n.Leaving:
			c.fault(e.Name, "is leaving and takes no pods")
		case names[e.Name]:
			c.fault(e.Name, "stands twice")
		}
		names[e.Name] = true
		v := c.view(n)
		sum := corev1.ResourceList{}
		for _, key := range e.Pods {
			pod := c.pods[key]
			if pod == nil {
				continue
			}
			plus(sum, requestsOf(pod))
			if t := blocking(&pod.Spec, v.taints); t != nil {
				c.fault(e.Name, "pod %s does not tolerate %s", key, t.ToString())
			}
			if !c.accepts(v.labels, &pod.Spec) {
				c.fault(e.Name, "does not meet what pod %s asks for", key)
			}
		}
		if short := lack(sum, c.freeOn(n, v)); short != "" {
			c.fault(e.Name, "pods don't fit: %s", short)
		}
	}
}
