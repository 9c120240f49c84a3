//go:build unix && !linux

package ptyexec

import (
	"errors"
	"os"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

func becomeReaper() {}

// EndWithParent does nothing here: only Linux has such a signal.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// groupRemains reports whether the child's group has a living member. For a group
// of zombies kill returns EPERM.
func groupRemains(group int) bool { return syscall.Kill(-group, 0) == nil }

// children returns none here; the guard falls back to the child's group.
func children() ([]int, error) { return nil, errors.ErrUnsupported }

func sessionMembers(int) ([]int, error) { return nil, errors.ErrUnsupported }
