package ptyexec

import "syscall"

// orphans are the processes that a guard leaves behind when it is killed.
type orphans struct {
	leader int    // the child; 0: unknown
	guard  int    // that was killed
	mark   uint64 // of every process of the command

	status syscall.WaitStatus // of the child
	told   map[int]bool       // those that were asked to end, or killed
}
