package redact

import (
	corev1 "k8s.io/api/core/v1"
)

func stripPod(in *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metadata(&in.ObjectMeta), Spec: podSpec(&in.Spec),
		Status: corev1.PodStatus{
			Phase: in.Status.Phase, NominatedNodeName: in.Status.NominatedNodeName, StartTime: in.Status.StartTime, QOSClass: in.Status.QOSClass,
			Resize: in.Status.Resize, AllocatedResources: in.Status.AllocatedResources, Resources: in.Status.Resources,
			ContainerStatuses: containerStatuses(in.Status.ContainerStatuses), InitContainerStatuses: containerStatuses(in.Status.InitContainerStatuses),
			ResourceClaimStatuses: in.Status.ResourceClaimStatuses,
		},
	}
	for _, c := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, LastTransitionTime: c.LastTransitionTime, ObservedGeneration: c.ObservedGeneration,
		})
	}
	return out
}

func template(in *corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metadata(&in.ObjectMeta), Spec: podSpec(&in.Spec)}
}

func podSpec(in *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: in.NodeName, NodeSelector: in.NodeSelector, Affinity: in.Affinity, Tolerations: in.Tolerations,
		TopologySpreadConstraints: in.TopologySpreadConstraints, SchedulingGates: in.SchedulingGates, SchedulerName: in.SchedulerName,
		Containers: containers(in.Containers), InitContainers: containers(in.InitContainers),
		Overhead: in.Overhead, Resources: in.Resources, ResourceClaims: in.ResourceClaims, RuntimeClassName: in.RuntimeClassName,
		Priority: in.Priority, PriorityClassName: in.PriorityClassName, PreemptionPolicy: in.PreemptionPolicy,
		RestartPolicy: in.RestartPolicy, TerminationGracePeriodSeconds: in.TerminationGracePeriodSeconds, ActiveDeadlineSeconds: in.ActiveDeadlineSeconds,
		HostNetwork: in.HostNetwork, OS: in.OS, Volumes: volumes(in.Volumes),
	}
}

// containers keeps the names, resources and ports of containers, and their restart and resize policies.
func containers(in []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for i := range in {
		c := &in[i]
		kept := corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy, ResizePolicy: c.ResizePolicy}
		for _, p := range c.Ports {
			kept.Ports = append(kept.Ports, corev1.ContainerPort{Name: p.Name, HostPort: p.HostPort, ContainerPort: p.ContainerPort, Protocol: p.Protocol, HostIP: p.HostIP})
		}
		out = append(out, kept)
	}
	return out
}

func containerStatuses(in []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in {
		c := &in[i]
		out = append(out, corev1.ContainerStatus{Name: c.Name, Ready: c.Ready, Started: c.Started, AllocatedResources: c.AllocatedResources, Resources: c.Resources})
	}
	return out
}
