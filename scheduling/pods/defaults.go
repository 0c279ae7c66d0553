package pods

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// Default changes a pod spec in place: it sets the defaults that the API server sets for pods but not in pod templates, as far as planning
// reads them. Missing requests become equal to the limits. A missing pod-level request is only set if no container requests the resource.
// If the pod uses the host's network, container ports become host ports. A port without a protocol is TCP. It copies maps before it adds
// entries to them.
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

// Containers yields all containers of the spec, init containers first. The caller may change them in place.
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

// takeOver adds to the list into the amounts of the list from for those resources that neither into nor except has. It replaces into by a
// changed copy, because pods of one template share the list.
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
