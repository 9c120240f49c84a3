package confine

import (
	"errors"
	"syscall"

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

// apply uses the system calls of go-landlock, not its Config: that restricts every thread of the process,
// and copies all rules for each.
func (l *Limits) apply() error {
	handled, err := l.handled(Version())
	if err != nil {
		return err
	}
	set, err := ll.LandlockCreateRuleset(&handled, 0)
	if err != nil {
		return err
	}
	defer unix.Close(set)
	files, net := handled.HandledAccessFS, handled.HandledAccessNet
	for _, path := range l.Read {
		err = errors.Join(err, allow(set, path, readDir&files, readFile&files))
	}
	for _, path := range l.Write {
		err = errors.Join(err, allow(set, path, writeDir&files, writeFile&files))
	}
	for _, port := range l.Ports {
		err = errors.Join(err,
			ll.LandlockAddNetPortRule(set, &ll.NetPortAttr{AllowedAccess: net, Port: uint64(port)}, 0))
	}
	if err != nil {
		return err
	}
	if err := dropPowers(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return ll.LandlockRestrictSelf(set, 0)
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
		// EPERM: not root. EINVAL: unknown to an older kernel.
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	return nil
}

const (
	readFile  = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	writeDir  = writeFile | readDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock |
		ll.AccessFSMakeSym | ll.AccessFSRefer
)

// handled has every right that the kernel knows, so that whatever no rule allows is refused.
func (l *Limits) handled(version int) (all ll.RulesetAttr, err error) {
	if version < Min || l.Ports != nil && version < TCP {
		return all, syscall.ENOSYS
	}
	all.HandledAccessFS = writeDir
	if version < 5 {
		all.HandledAccessFS &^= ll.AccessFSIoctlDev
	}
	if l.Ports != nil {
		all.HandledAccessNet = ll.AccessNetConnectTCP
	}
	if version >= Scoped {
		all.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	return all, nil
}

// allow adds a rule for a path, or none if there is no such path. A file cannot have the
// rights of a folder.
func allow(set int, path string, dir, file uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // without a rule, the path is refused anyway
	}
	defer unix.Close(fd)
	beneath := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: dir}
	err = ll.LandlockAddPathBeneathRule(set, &beneath, 0)
	if errors.Is(err, unix.EINVAL) {
		beneath.AllowedAccess = file
		err = ll.LandlockAddPathBeneathRule(set, &beneath, 0)
	}
	return err
}
