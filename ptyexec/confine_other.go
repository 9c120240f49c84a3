//go:build !linux

package ptyexec

import "syscall"

// ConfineVersion returns 0: only Linux has Landlock.
func ConfineVersion() int { return 0 }

func (c *Confinement) apply() error { return syscall.ENOSYS }
