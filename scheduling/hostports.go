package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Host ports: a machine has each (protocol, port) once per address, and a pod that binds all addresses clashes with any
// other on the port. Each address of a port that some pod names is a group with room for one member per machine; a pod
// that binds all addresses is a member of every group of the port.

// wildcardIP is what an empty hostIP means.
const wildcardIP = "0.0.0.0"

type hostPort struct {
	protocol corev1.Protocol
	port     int32
	ip       string
}

func hasHostPorts(spec *corev1.PodSpec) bool {
	for i := range spec.Containers {
		for j := range spec.Containers[i].Ports {
			if spec.Containers[i].Ports[j].HostPort > 0 {
				return true
			}
		}
	}
	for i := range spec.InitContainers {
		if sidecar(&spec.InitContainers[i]) && slices.ContainsFunc(spec.InitContainers[i].Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 }) {
			return true
		}
	}
	return false
}

func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// hostPorts lists the pod's, those of its sidecars included, as kube-scheduler does.
func hostPorts(spec *corev1.PodSpec) []hostPort {
	var out []hostPort
	note := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			hp := hostPort{p.Protocol, p.HostPort, p.HostIP}
			if hp.protocol == "" {
				hp.protocol = corev1.ProtocolTCP
			}
			if hp.ip == "" || hp.ip == "::" {
				hp.ip = wildcardIP
			}
			out = append(out, hp)
		}
	}
	for i := range spec.Containers {
		note(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if sidecar(&spec.InitContainers[i]) {
			note(&spec.InitContainers[i])
		}
	}
	return out
}

// key names the group; it stands where other groups have a topology label.
func (p hostPort) key() string { return fmt.Sprintf("%s/%d/%s", p.protocol, p.port, p.ip) }

func hostPortGroups(spec *corev1.PodSpec, add func(topologyGroup)) {
	for _, p := range hostPorts(spec) {
		add(topologyGroup{kind: kindExclusive, key: p.key(), hard: true, weight: 100})
	}
}

// portMembership lists the port groups the pod takes a place in: its own, and where it binds all addresses, those of
// every address of the port.
func (x *topologyIndex) portMembership(spec *corev1.PodSpec) []int32 {
	var out []int32
	for _, p := range hostPorts(spec) {
		prefix := fmt.Sprintf("%s/%d/", p.protocol, p.port)
		for i := range x.groups {
			g := &x.groups[i]
			if g.kind == kindExclusive && (g.key == p.key() || (len(g.key) > len(prefix) && g.key[:len(prefix)] == prefix && p.ip == wildcardIP)) {
				out = append(out, int32(i))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
