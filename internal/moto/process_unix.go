//go:build unix

package moto

import (
	"os/exec"
	"syscall"
)

// ownGroup has a process lead a group of its own: moto_server may be a script that starts the real one.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the process and what it started.
func endGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
