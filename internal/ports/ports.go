// Package ports finds TCP ports for processes that tests start and that can't choose one by themselves:
//
//	list, err := ports.Free(2)
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// Free chooses ports from firstPort up to the port below anyPort. The kernel assigns ports from anyPort on to processes that request any
// free port.
const (
	firstPort = 10240
	// anyPortFrom is the first port that the kernel assigns by default.
	anyPortFrom = 32768
	// portAttempts is the maximum number of ports that are tried.
	portAttempts = 1000
)

// Free returns n different TCP ports on which no process listened a moment ago, at any address. The kernel gives these ports only to
// processes that request them by number. It assigns them neither to a listener that requests any free port nor to an outgoing connection.
// So no other process gets one of the ports between the call of Free and the start of the process that will listen on the port.
func Free(n int) ([]int, error) {
	return free(n, firstPort, anyPort())
}

func free(n, from, to int) ([]int, error) {
	var ports []int
	for attempt := 0; len(ports) < n; attempt++ {
		if attempt == portAttempts {
			return nil, fmt.Errorf("%[4]d of %[1]d tried ports from %[2]d to %[3]d are free, want %[5]d", portAttempts, from, to-1, len(ports), n)
		}
		port := 0 // any
		if from < to {
			port = from + rand.IntN(to-from)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer func() { _ = listener.Close() }() // close the listeners only after all ports are found, because the ports must be different
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// anyPort is the first of the ports that the kernel assigns to processes that request any free port.
func anyPort() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return anyPortFrom
	}
	var first, last int
	if _, err := fmt.Sscan(string(text), &first, &last); err != nil {
		return anyPortFrom
	}
	return first
}
