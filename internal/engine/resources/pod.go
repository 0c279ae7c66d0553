package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// OfPod returns the amounts that a pod takes of a node's allocatable, including "pods: 1", as kube-scheduler counts them. Each amount is
// the larger of two amounts: the total of the pod's containers and sidecars, and the largest need of an init container together with the
// sidecars that start before it. An amount that is set for the pod as a whole replaces this amount. The runtime's overhead is added. During
// a resize, the larger of the requested and the allocated amount counts.
func OfPod(pod *corev1.Pod) corev1.ResourceList {
	if pod == nil {
		return corev1.ResourceList{}
	}
	total := make(corev1.ResourceList, 4)
	spec := &pod.Spec
	statuses := resizing(pod)
	for i := range spec.Containers {
		addList(total, containerRequests(&spec.Containers[i], statuses))
	}
	if len(spec.InitContainers) > 0 {
		maxLists(total, initRequests(spec.InitContainers, total, statuses))
	}
	if spec.Resources != nil {
		for name, q := range spec.Resources.Requests {
			if podLevel(name) {
				total[name] = bounded(q)
			}
		}
	}
	addList(total, spec.Overhead)
	total[corev1.ResourcePods] = Quantity(corev1.ResourcePods, 1)
	return total
}

// initRequests returns the largest need during the init phase. running is the sum of the containers' requests. initRequests adds the
// requests of the sidecars to this sum, because sidecars keep running.
func initRequests(init []corev1.Container, running corev1.ResourceList, statuses map[string]*corev1.ContainerStatus) corev1.ResourceList {
	sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range init {
		requests := containerRequests(&init[i], statuses)
		if init[i].RestartPolicy != nil && *init[i].RestartPolicy == corev1.ContainerRestartPolicyAlways {
			addList(running, requests)
			addList(sidecars, requests)
			maxLists(peak, sidecars)
			continue
		}
		phase := sidecars.DeepCopy()
		addList(phase, requests)
		maxLists(peak, phase)
	}
	return peak
}

// resizing returns, by container name, the container statuses whose resources may differ from the spec, or nil if no status states
// resources.
func resizing(pod *corev1.Pod) map[string]*corev1.ContainerStatus {
	var out map[string]*corev1.ContainerStatus
	note := func(statuses []corev1.ContainerStatus) {
		for i := range statuses {
			if statuses[i].Resources == nil {
				continue
			}
			if out == nil {
				out = make(map[string]*corev1.ContainerStatus)
			}
			out[statuses[i].Name] = &statuses[i]
		}
	}
	note(pod.Status.ContainerStatuses)
	note(pod.Status.InitContainerStatuses)
	if out != nil && resizeInfeasible(pod) {
		// The node can't grant the requested size, so only the current allocation counts. A status with an empty Name means that the
		// requests in the spec don't count.
		for name, status := range out {
			held := *status
			held.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
			maxLists(held.Resources.Requests, status.Resources.Requests)
			maxLists(held.Resources.Requests, status.AllocatedResources)
			held.AllocatedResources = nil
			held.Name = ""
			out[name] = &held
		}
	}
	return out
}

func containerRequests(c *corev1.Container, statuses map[string]*corev1.ContainerStatus) corev1.ResourceList {
	status, ok := statuses[c.Name]
	if !ok {
		return c.Resources.Requests
	}
	if status.Name == "" {
		return status.Resources.Requests
	}
	out := corev1.ResourceList{}
	maxLists(out, c.Resources.Requests)
	maxLists(out, status.Resources.Requests)
	maxLists(out, status.AllocatedResources)
	return out
}

func resizeInfeasible(pod *corev1.Pod) bool {
	if pod.Status.Resize == corev1.PodResizeStatusInfeasible {
		return true
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonInfeasible {
			return true
		}
	}
	return false
}

// podLevel reports whether a pod may state an amount of the resource for all its containers together.
func podLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func addList(into, list corev1.ResourceList) {
	for name, q := range list {
		q = bounded(q)
		if have, ok := into[name]; ok {
			have.Add(q)
			into[name] = have
			continue
		}
		into[name] = q.DeepCopy()
	}
}

func maxLists(into, list corev1.ResourceList) {
	for name, q := range list {
		q = bounded(q)
		if have, ok := into[name]; !ok || have.Cmp(q) < 0 {
			into[name] = q.DeepCopy()
		}
	}
}
