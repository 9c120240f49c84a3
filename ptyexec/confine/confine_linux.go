package confine

import (
	"errors"
	"os"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Version returns the version of Landlock that the kernel has; 0: none.
func Version() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

func (l *Limits) apply() error {
	config, err := l.config(Version())
	if err != nil {
		return err
	}
	var rules []landlock.Rule
	for _, path := range l.Read {
		rules = append(rules, fileRule(path, readFile&config.HandledAccessFS, readDir&config.HandledAccessFS)...)
	}
	for _, path := range l.Write {
		rules = append(rules, fileRule(path, writeFile&config.HandledAccessFS, writeDir&config.HandledAccessFS)...)
	}
	for _, port := range l.Ports {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	if err := dropPowers(); err != nil {
		return err
	}
	return config.Restrict(rules...)
}

// dropPowers takes from root what Landlock does not: looking into other processes
// (even CAP_PERFMON lets it read their environment), mounting, devices, modules.
// The child gets what this thread has, since this thread starts it.
func dropPowers() error {
	for _, power := range []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF,
		unix.CAP_CHECKPOINT_RESTORE,
		unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_MKNOD, unix.CAP_SYS_CHROOT,
		unix.CAP_NET_ADMIN,
		unix.CAP_DAC_READ_SEARCH, unix.CAP_SYSLOG, unix.CAP_AUDIT_CONTROL, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE} {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, power, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) { // not root; unknown to an older kernel
			return err
		}
	}
	return nil
}

const (
	readFile  = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	writeDir  = writeFile | readDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
		ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// config handles everything that the kernel knows.
func (l *Limits) config(version int) (landlock.Config, error) {
	var files landlock.AccessFSSet = writeDir
	if version < Min || l.Ports != nil && version < TCP {
		return landlock.Config{}, syscall.ENOSYS
	}
	if version < 5 {
		files &^= ll.AccessFSIoctlDev
	}
	args := []any{files}
	if l.Ports != nil {
		args = append(args, landlock.AccessNetSet(ll.AccessNetConnectTCP))
	}
	if version >= Scoped {
		args = append(args, landlock.ScopedSet(ll.ScopeAbstractUnixSocket|ll.ScopeSignal))
	}
	config, err := landlock.NewConfig(args...)
	if err != nil {
		return landlock.Config{}, err
	}
	return *config, nil
}

// fileRule is a rule for a path, or none if there is no such path.
func fileRule(path string, file, dir landlock.AccessFSSet) []landlock.Rule {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	access := file
	if info.IsDir() {
		access = dir
	}
	return []landlock.Rule{landlock.PathAccess(access, path).IgnoreIfMissing()}
}
