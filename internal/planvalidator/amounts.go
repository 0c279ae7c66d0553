package planvalidator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// plus adds each amount of the resource list list to the resource list sum.
func plus(sum, list corev1.ResourceList) {
	for name, q := range list {
		have := sum[name]
		have.Add(q)
		sum[name] = have
	}
}

func minus(sum, list corev1.ResourceList) {
	for name, q := range list {
		have := sum[name]
		have.Sub(q)
		sum[name] = have
	}
}

func larger(into, list corev1.ResourceList) {
	for name, q := range list {
		if have, ok := into[name]; !ok || q.Cmp(have) > 0 {
			into[name] = q
		}
	}
}

func copyOf(list corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	plus(out, list)
	return out
}

// lackNew does the same as lack(need, have), for a new node. It also names a resource of which the node has a negative amount, because
// DaemonSets must not overcommit a new node.
func lackNew(need, have corev1.ResourceList) string {
	for name, q := range have {
		if q.Sign() < 0 {
			return fmt.Sprintf("%s is overcommitted by %s", name, q.String())
		}
	}
	return lack(need, have)
}

// lack names a resource of which the needed amount exceeds the amount that the node has. It returns "" if no resource is lacking. It
// compares only requested resources, as in kube-scheduler's NodeResourcesFit: a node that is overcommitted in a resource still accepts pods
// that don't request this resource.
func lack(need, have corev1.ResourceList) string {
	for name, q := range need {
		if h := have[name]; q.Sign() > 0 && q.Cmp(h) > 0 {
			return fmt.Sprintf("%s: needs %s, has %s", name, q.String(), h.String())
		}
	}
	return ""
}

// requestsOf returns what kube-scheduler counts as the requests of a pod, plus 1 of the resource "pods".
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	stubborn := pod.Status.Resize == corev1.PodResizeStatusInfeasible
	for _, cond := range pod.Status.Conditions {
		if cond.Type == corev1.PodResizePending && cond.Status == corev1.ConditionTrue && cond.Reason == corev1.PodReasonInfeasible {
			stubborn = true
		}
	}
	one := func(ctr corev1.Container) corev1.ResourceList {
		out := copyOf(ctr.Resources.Requests)
		for _, st := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
			if st.Name != ctr.Name || st.Resources == nil {
				continue
			}
			if stubborn {
				out = corev1.ResourceList{}
			}
			larger(out, st.Resources.Requests)
			larger(out, st.AllocatedResources)
		}
		return out
	}
	running, sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for _, ctr := range pod.Spec.Containers {
		plus(running, one(ctr))
	}
	for _, ctr := range pod.Spec.InitContainers {
		if ctr.RestartPolicy != nil && *ctr.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			plus(sidecars, one(ctr))
			continue
		}
		phase := copyOf(sidecars)
		plus(phase, one(ctr))
		larger(peak, phase)
	}
	plus(running, sidecars)
	larger(running, peak)
	if pod.Spec.Resources != nil {
		for name, q := range pod.Spec.Resources.Requests {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory || strings.HasPrefix(string(name), "hugepages-") {
				running[name] = q
			}
		}
	}
	plus(running, pod.Spec.Overhead)
	running[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return running
}

// daemonPod returns a pod that represents the pods of the DaemonSet. The result is the newest pod of the DaemonSet on a node that is not
// being removed, but with the node affinity of the DaemonSet's template. If there is no such pod, the result is made from the template.
func (c *checker) daemonPod(set *appsv1.DaemonSet) *corev1.Pod {
	var newest *corev1.Pod
	for i := range c.s.Nodes {
		for _, pod := range c.s.Nodes[i].Pods {
			if !daemonOf(pod, set) || pod.DeletionTimestamp != nil || c.s.Nodes[i].Leaving {
				continue
			}
			if newest == nil || cmp.Or(pod.CreationTimestamp.Compare(newest.CreationTimestamp.Time), cmp.Compare(pod.Name, newest.Name)) > 0 {
				newest = pod
			}
		}
	}
	template := set.Spec.Template.Spec
	if newest != nil {
		out := newest.DeepCopy()
		if template.Affinity == nil || template.Affinity.NodeAffinity == nil {
			if out.Spec.Affinity != nil {
				out.Spec.Affinity.NodeAffinity = nil
			}
			return out
		}
		if out.Spec.Affinity == nil {
			out.Spec.Affinity = &corev1.Affinity{}
		}
		out.Spec.Affinity.NodeAffinity = template.Affinity.NodeAffinity
		return out
	}
	out := &corev1.Pod{Spec: *template.DeepCopy()}
	out.Namespace, out.Name, out.Labels = set.Namespace, set.Name, set.Spec.Template.Labels
	for _, list := range [][]corev1.Container{out.Spec.Containers, out.Spec.InitContainers} {
		for i := range list {
			requests := copyOf(list[i].Resources.Limits)
			for name, q := range list[i].Resources.Requests {
				requests[name] = q
			}
			list[i].Resources.Requests = requests
		}
	}
	return out
}

// tolerateDistress adds the tolerations that the DaemonSet controller adds to each of its pods. Source: "Taints and tolerations" in the
// Kubernetes documentation on DaemonSets.
func tolerateDistress(spec *corev1.PodSpec) {
	add := func(effect corev1.TaintEffect, keys ...string) {
		for _, key := range keys {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
		}
	}
	add(corev1.TaintEffectNoExecute, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
	add(corev1.TaintEffectNoSchedule, "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
		"node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable")
	if spec.HostNetwork {
		add(corev1.TaintEffectNoSchedule, "node.kubernetes.io/network-unavailable")
	}
}

func daemonOf(pod *corev1.Pod, set *appsv1.DaemonSet) bool {
	return set.UID != "" && slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "DaemonSet" && o.APIVersion == "apps/v1" && o.UID == set.UID
	})
}

// room returns the allocatable resources of a node with this type and offering.
func room(it *cloudprovider.InstanceType, o *cloudprovider.Offering) corev1.ResourceList {
	out := capacity(it, o)
	var huge resource.Quantity
	for name, q := range out {
		if strings.HasPrefix(string(name), "hugepages-") {
			huge.Add(q)
		}
	}
	parts := func(x *cloudprovider.Overhead) [3]corev1.ResourceList {
		return [3]corev1.ResourceList{x.KubeReserved, x.SystemReserved, x.EvictionThreshold}
	}
	for i, list := range parts(&it.Overhead) {
		kept := copyOf(list)
		if o.Overhead != nil {
			for name, q := range parts(o.Overhead)[i] {
				kept[name] = q
			}
		}
		for name := range kept {
			if _, ok := out[name]; !ok {
				delete(kept, name)
			}
		}
		minus(out, kept)
	}
	if memory, ok := out[corev1.ResourceMemory]; ok {
		memory.Sub(huge)
		out[corev1.ResourceMemory] = memory
	}
	for name, q := range out {
		if q.Sign() < 0 {
			out[name] = resource.Quantity{}
		}
	}
	return out
}

// capacity returns the capacity of a node with this type and offering.
func capacity(it *cloudprovider.InstanceType, o *cloudprovider.Offering) corev1.ResourceList {
	out := copyOf(it.Capacity)
	for name, q := range o.Capacity {
		out[name] = q
	}
	return out
}
