package plane

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// startLogLines is how many log lines of each component are shown if a start fails.
const startLogLines = 15

func (c *ControlPlane) logPath(component string) string { return c.path(component + ".log") }

// CopyLogs copies the current logs of all components into a folder ("etcd.log" and so on). It creates the folder if necessary.
func (c *ControlPlane) CopyLogs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range Components() {
		content, err := os.ReadFile(c.logPath(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".log"), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tails returns the last lines of each log, to show them in an error.
func (c *ControlPlane) tails(lines int) string {
	var b strings.Builder
	for _, name := range Components() {
		content, err := os.ReadFile(c.logPath(name))
		if err != nil {
			continue
		}
		all := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
		fmt.Fprintf(&b, "%s.log ends:\n", name)
		for _, line := range all[max(0, len(all)-lines):] {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	return b.String()
}
