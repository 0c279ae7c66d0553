package topology

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// On a node, only one pod can use a combination of protocol, host port and address. A pod that binds all addresses conflicts with any other
// pod that uses the port. For each address of a port that some pod names, a group allows one member per node. A pod that binds all
// addresses is a member of every group of the port.

// wildcardIP is the address that an empty hostIP means.
const wildcardIP = "0.0.0.0"

// HostPort is a port of the node that a pod uses.
type HostPort struct {
	Protocol corev1.Protocol
	Port     int32
	IP       string
}

// HasHostPorts reports whether the pod uses host ports.
func HasHostPorts(spec *corev1.PodSpec) bool {
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

// HostPorts lists the pod's host ports, including those of its sidecars, as kube-scheduler does.
func HostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
	note := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			hp := HostPort{p.Protocol, p.HostPort, p.HostIP}
			if hp.Protocol == "" {
				hp.Protocol = corev1.ProtocolTCP
			}
			if hp.IP == "" || hp.IP == "::" {
				hp.IP = wildcardIP
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

// key identifies the port's group. It is stored in Group.Key, which contains the topology label for groups of other kinds.
func (p HostPort) key() string { return fmt.Sprintf("%s/%d/%s", p.Protocol, p.Port, p.IP) }

func hostPortGroups(spec *corev1.PodSpec, add func(Group)) {
	for _, p := range HostPorts(spec) {
		add(Group{Kind: Exclusive, Key: p.key(), Hard: true, Weight: 100})
	}
}

// PortMembership lists the port groups of which the pod is a member. These are the groups of the pod's own ports and, if the pod binds all
// addresses, the groups of every address of the port.
func (x *Index) PortMembership(spec *corev1.PodSpec) []int32 {
	var out []int32
	for _, p := range HostPorts(spec) {
		prefix := fmt.Sprintf("%s/%d/", p.Protocol, p.Port)
		for i := range x.Groups {
			g := &x.Groups[i]
			if g.Kind == Exclusive && (g.Key == p.key() || (len(g.Key) > len(prefix) && g.Key[:len(prefix)] == prefix && p.IP == wildcardIP)) {
				out = append(out, int32(i))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
