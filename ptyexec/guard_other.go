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

// newMark, setMark, collectOrphans and stopped do nothing here: nothing is left to this process but its own children.
func newMark() uint64 { return 0 }

func setMark(uint64) {}

func collectOrphans(int) {}

func stopped(int) bool { return false }

// sweep signals the child's group, and returns 1 while there is one.
func (o *orphans) sweep(late bool) (left, busy int) {
	if o.leader == 0 || !groupRemains(o.leader) {
		return 0, 0
	}
	if late {
		_ = syscall.Kill(-o.leader, syscall.SIGKILL)
	} else if !o.told[o.leader] {
		ask(-o.leader)
	}
	o.told[o.leader] = true
	return 1, 0
}
