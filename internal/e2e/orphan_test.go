package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/e2e/plane"
)

// orphanVariable has this test binary start a control plane and wait to be killed.
const orphanVariable = "E2E_ORPHAN"

// orphan is the process that is killed: it prints a line "component pid" for each component, then "ready".
func orphan() int {
	c, err := plane.Start(context.Background(), plane.Options{Binary: os.Getenv(plane.BinaryVariable)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, pid := range c.PIDs() {
		fmt.Println(name, pid)
	}
	fmt.Println("ready", filepath.Dir(c.Kubeconfig()))
	select {}
}

// TestNothingOutlivesItsTest kills a process with a control plane without warning, as "go test" does with one that takes too
// long: soon no component is left, and the next one to start removes its folder.
func TestNothingOutlivesItsTest(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a second control plane")
	}
	binary, err := plane.Binary(t.Context())
	if err != nil {
		t.Skip(err)
	}
	// A folder of the test's own: control planes of other processes remove what dead ones have left. Its path is to be short.
	folder, err := os.MkdirTemp("", "dk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), orphanVariable+"=1", plane.BinaryVariable+"="+binary)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	var dir string
	lines := bufio.NewScanner(output)
	for dir == "" && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name == "ready" {
			dir = value
			continue
		}
		var pid int
		if _, err := fmt.Sscan(value, &pid); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		pids[name] = pid
	}
	_ = command.Process.Kill()
	_ = command.Wait()
	if len(pids) != len(plane.Components()) {
		t.Fatalf("the process had components %v, want all of %v", pids, plane.Components())
	}
	deadline := time.Now().Add(patience)
	for name, pid := range pids {
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Errorf("%s, process %d, is still there", name, pid)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the folder of the killed process: %v", err)
	}
	c, err := plane.Start(t.Context(), plane.Options{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Dir(c.Kubeconfig())
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	for _, d := range []string{dir, own} {
		if _, err := os.Stat(d); !os.IsNotExist(err) {
			t.Errorf("%s is left behind (%v)", d, err)
		}
	}
}

// alive reports whether there is such a process, dead ones that nobody has waited for excepted.
func alive(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(rest, "Z")
}
