//go:build unix

package confine

import "golang.org/x/sys/unix"

// limitProcesses lowers the limit of processes to most. It never raises a limit.
func limitProcesses(most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most})
}
