//go:build !linux

package projectfs

import "golang.org/x/sys/unix"

// search opens a folder to reach what is in it.
const search = unix.O_RDONLY
