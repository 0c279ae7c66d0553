//go:build unix

package plane

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl-C from the components: they are stopped in their order.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func askToEnd(p *process) { _ = p.command.Process.Signal(syscall.SIGTERM) }

// claim takes a folder's lock for the life of this process, whose end the kernel notices. False when another has it.
func claim(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
