package scheduling_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// hostPort adds a host port of an address and protocol to the pod.
func hostPort(port int32, ip string, protocol corev1.Protocol) podOption {
	return func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port, HostIP: ip, Protocol: protocol})
	}
}

// SCH-107: two pods share a node unless they want one port of one protocol at one address, or either at all of them.
func TestHostPorts(t *testing.T) {
	for _, c := range []struct {
		name     string
		one, two []podOption
		apart    bool
	}{
		{"no ports", nil, nil, false},
		{"one port", []podOption{onHostPort(80)}, []podOption{onHostPort(80)}, true},
		{"two ports", []podOption{onHostPort(80)}, []podOption{onHostPort(81)}, false},
		{"one of several", []podOption{onHostPort(80), onHostPort(81)}, []podOption{onHostPort(81), onHostPort(82)}, true},
		{"two protocols", []podOption{hostPort(53, "", corev1.ProtocolTCP)}, []podOption{hostPort(53, "", corev1.ProtocolUDP)}, false},
		{"no protocol is TCP", []podOption{hostPort(53, "", "")}, []podOption{hostPort(53, "", corev1.ProtocolTCP)}, true},
		{"two addresses", []podOption{hostPort(80, "10.0.0.1", "")}, []podOption{hostPort(80, "10.0.0.2", "")}, false},
		{"one address", []podOption{hostPort(80, "10.0.0.1", "")}, []podOption{hostPort(80, "10.0.0.1", "")}, true},
		{"all addresses and one", []podOption{hostPort(80, "0.0.0.0", "")}, []podOption{hostPort(80, "10.0.0.1", "")}, true},
		{"one address and all", []podOption{hostPort(80, "10.0.0.1", "")}, []podOption{onHostPort(80)}, true},
		{"all addresses, spelt in IPv6", []podOption{hostPort(80, "::", "")}, []podOption{hostPort(80, "10.0.0.1", "")}, true},
		{"a container's port is none of the host's", []podOption{onHostPort(80)}, []podOption{func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}}, false},
		{"a sidecar's port", []podOption{onHostPort(80)}, []podOption{func(p *corev1.Pod) {
			c := sidecar("s")
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
			p.Spec.InitContainers = []corev1.Container{c}
		}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothNew := solveQuery(t, cluster(soldIn("a"), pod("one", c.one...), pod("two", c.two...)), scheduling.Query{})
			if apart := len(bothNew.NewNodes) == 2; apart != c.apart || len(bothNew.Unschedulable) > 0 {
				t.Errorf("new nodes: apart %v, want %v", apart, c.apart)
			}
			together := solveQuery(t, cluster(nothingNew(), node("n", bound(pod("one", c.one...))), pod("two", c.two...)), scheduling.Query{})
			if apart := place(together, "two") == "nowhere"; apart != c.apart {
				t.Errorf("next to a bound pod: apart %v, want %v", apart, c.apart)
			}
		})
	}
}

// SCH-107, SCH-153: a DaemonSet's ports are taken on the nodes it runs on and on no others, like what it requests.
func TestHostPortsOfDaemonSets(t *testing.T) {
	onSmall := daemonSet("proxy", []string{"cpu=100m"}, onHostPort(80), selector(typeKey+"=small"))
	for _, c := range []placeCase{
		{"where it runs", []any{catalogue()[0], onSmall, pod("p", onHostPort(80))}, map[string]string{"p": "nowhere"}},
		{"on types where it does not", []any{catalogue()[0], catalogue()[2], onSmall, pod("p", onHostPort(80)), pod("q")}, map[string]string{"p": "new a"}},
		{"other ports", []any{catalogue()[0], onSmall, pod("p", onHostPort(81))}, map[string]string{"p": "new a"}},
		{"on a node where it is yet to come", []any{nothingNew(), node("n", nodeLabel(typeKey, "small")), onSmall, pod("p", onHostPort(80))}, map[string]string{"p": "nowhere"}},
	} {
		t.Run(c.name, c.check)
	}
	p := solveQuery(t, cluster(catalogue(), onSmall, pod("p", onHostPort(80)), pod("q")), scheduling.Query{})
	if n := newNodeOf(t, p, "p"); n.InstanceTypes[0].Name == "small" || slices.Contains(names(n.InstanceTypes), "small") {
		t.Errorf("the node may be of %v, on small the port is taken", names(n.InstanceTypes))
	}
}
