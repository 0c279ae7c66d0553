package plane

import (
	"net"
	"testing"
)

// TestFreePorts has ports be different and free, and none of those that the kernel gives to connections, as long as there are others.
func TestFreePorts(t *testing.T) {
	ports, err := FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || port < 1 || firstPort < anyPort() && (port < firstPort || port >= anyPort()) {
			t.Errorf("ports are %v, the kernel gives away those from %d", ports, anyPort())
		}
		seen[port] = true
	}
	if ports, err := freePorts(2, 0, 0); err != nil || len(ports) != 2 || ports[0] == ports[1] {
		t.Errorf("where the kernel gives away all ports: %v, %v", ports, err)
	}
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	if ports, err := freePorts(1, port, port+1); err == nil {
		t.Errorf("of a port that is taken: %v", ports)
	}
}
