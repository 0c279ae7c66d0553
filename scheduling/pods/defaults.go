package pods

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// Default completes a pod spec in place with what the API server fills in for pods but not for the templates they come
// from, as far as planning reads it: limits stand in for requests that are missing, for the pod as a whole only where
// no container asks for the resource; a container port of a pod in the host's network is a host port; and a port
// without a protocol is TCP. Maps that it adds to are its own afterwards.
func Default(spec *corev1.PodSpec) {
	if spec == nil {
		return
	}
	asked := make(map[corev1.ResourceName]bool)
	for c := range Containers(spec) {
		takeOver(&c.Resources.Requests, c.Resources.Limits, nil)
		for name := range c.Resources.Requests {
			asked[name] = true
		}
		for i := range c.Ports {
			port := &c.Ports[i]
			if spec.HostNetwork && port.HostPort == 0 {
				port.HostPort = port.ContainerPort
			}
			if port.Protocol == "" {
				port.Protocol = corev1.ProtocolTCP
			}
		}
	}
	if spec.Resources != nil {
		takeOver(&spec.Resources.Requests, spec.Resources.Limits, asked)
	}
}

// Containers are all containers of the spec, init containers first. What is yielded may be changed in place.
func Containers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// takeOver copies the amounts that into lacks and except does not name. A map that is added to is copied first, since
// pods of one template share it.
func takeOver(into *corev1.ResourceList, from corev1.ResourceList, except map[corev1.ResourceName]bool) {
	copied := false
	for name, amount := range from {
		if _, ok := (*into)[name]; ok || except[name] {
			continue
		}
		if !copied {
			own := make(corev1.ResourceList, len(*into)+len(from))
			for n, q := range *into {
				own[n] = q
			}
			*into, copied = own, true
		}
		(*into)[name] = amount
	}
}
