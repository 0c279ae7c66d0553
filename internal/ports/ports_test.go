package ports

import (
	"net"
	"testing"
)

// TestFree has ports be different and free, and none of those that the kernel gives to connections, as long as there are others.
func TestFree(t *testing.T) {
	list, err := Free(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range list {
		if seen[port] || port < 1 || firstPort < anyPort() && (port < firstPort || port >= anyPort()) {
			t.Errorf("ports are %v, the kernel gives away those from %d", list, anyPort())
		}
		seen[port] = true
	}
	if list, err := free(2, 0, 0); err != nil || len(list) != 2 || list[0] == list[1] {
		t.Errorf("where the kernel gives away all ports: %v, %v", list, err)
	}
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	if list, err := free(1, port, port+1); err == nil {
		t.Errorf("of a port that is taken: %v", list)
	}
}
