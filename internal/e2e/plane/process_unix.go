//go:build unix

package plane

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps the Ctrl-C of a terminal from reaching the components, because they must be stopped in a certain order.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func askToEnd(p *process) { _ = p.command.Process.Signal(syscall.SIGTERM) }

// claim locks a folder as long as this process lives: the kernel releases the lock when the process ends. It returns false if another
// process has the lock.
func claim(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
