package e2e_test

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel end a process together with the test that started it, however that ends.
func endWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
