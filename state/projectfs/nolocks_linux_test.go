package projectfs

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutLocks calls f where the kernel refuses flock, as some file systems do.
func withoutLocks(t *testing.T, f func()) {
	t.Helper()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FLOCK, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var err error
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with this goroutine
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
			err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
		}
		if err == nil {
			f()
		}
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
}

func TestWrite_fileSystemWithoutLocks_leavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two"} {
		var err error
		withoutLocks(t, func() { err = In(dir).Write(path, []byte(text), 0o600) })
		got, _ := os.ReadFile(path)
		entries, _ := os.ReadDir(dir)
		if err != nil || string(got) != text || len(entries) != 1 {
			t.Errorf("%v, %q, %v", err, got, entries)
		}
	}
}
