//go:build unix

package moto

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a process in a new process group, because moto_server may be a script that starts the real server.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the process and all processes that it started.
func endGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
