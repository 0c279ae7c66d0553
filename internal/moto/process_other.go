//go:build !unix

package moto

import "os/exec"

func ownGroup(*exec.Cmd) {}

func endGroup(c *exec.Cmd) error { return c.Process.Kill() }
