package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// inNamespaces reports whether objects of a kind have a namespace. Tests also set a namespace on objects of other kinds.
func inNamespaces(kind string) bool {
	switch kind {
	case "Pod", "Service", "ReplicationController", "DaemonSet", "ReplicaSet", "StatefulSet", "PodDisruptionBudget", "PersistentVolumeClaim",
		"ResourceClaim", "ResourceClaimTemplate", "CapacityBuffer", "PodTemplate", "Deployment", "ConfigMap", "Secret", "Lease", "Event":
		return true
	}
	return false
}

func clusterScoped(obj client.Object) bool {
	gvk, err := apiutil.GVKForObject(obj, scheme.Scheme)
	return err == nil && !inNamespaces(gvk.Kind)
}

func unscope(obj client.Object) {
	if clusterScoped(obj) {
		obj.SetNamespace("")
	}
}

// setDefaults sets the fields that an API server would have set and that planning reads.
func setDefaults(obj client.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		podDefaults(&o.Spec)
		if o.Status.Phase == "" {
			o.Status.Phase = corev1.PodPending
		}
	case *appsv1.DaemonSet:
		podDefaults(&o.Spec.Template.Spec)
	}
}

func podDefaults(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			for name, q := range c.Resources.Limits {
				if _, ok := c.Resources.Requests[name]; ok {
					continue
				}
				if c.Resources.Requests == nil {
					c.Resources.Requests = corev1.ResourceList{}
				}
				c.Resources.Requests[name] = q.DeepCopy()
			}
			for j := range c.Ports {
				if c.Ports[j].Protocol == "" {
					c.Ports[j].Protocol = corev1.ProtocolTCP
				}
				if spec.HostNetwork && c.Ports[j].HostPort == 0 {
					c.Ports[j].HostPort = c.Ports[j].ContainerPort
				}
			}
		}
	}
}
