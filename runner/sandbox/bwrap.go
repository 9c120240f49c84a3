package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"ralph/ptyexec"
	"ralph/ptyexec/confine"
)

const bwrapProgram = "bwrap"

// bwrap runs the command in namespaces of its own: a read-only root, its own processes, and its own /tmp, /run and
// /dev. Without capabilities, it cannot change its mounts, even as root.
func bwrap(c ptyexec.Command, v *view, n network) (ptyexec.Command, error) {
	args := []string{bwrapProgram, "--die-with-parent", "--cap-drop", "ALL", "--unshare-pid", "--unshare-ipc",
		"--unshare-uts", "--unshare-cgroup-try", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	if os.Geteuid() == 0 { // root needs no capability to set, say, the program that the kernel starts after a crash
		for _, name := range []string{"sys", "sysrq-trigger", "fs", "acpi", "scsi", "mtrr", "driver"} {
			args = append(args, "--ro-bind-try", "/proc/"+name, "/proc/"+name)
		}
	}
	if !n.All {
		args = append(args, "--unshare-net")
	}
	if len(n.List.Loopback()) > 0 {
		args = append(args, "--cap-add", "CAP_NET_BIND_SERVICE") // for the bridge, on a loopback of its own
	}
	for _, dir := range existing([]string{"/run", "/tmp", "/var/tmp"}) {
		args = append(args, "--tmpfs", dir)
	}
	// Name resolution reads files in /run on many systems.
	args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	// Folders with sockets outside /run.
	for _, path := range existing([]string{"/var/snap/lxd/common/lxd", "/var/lib/lxd", "/var/lib/incus"}) {
		args = append(args, "--tmpfs", path)
	}
	hasHome := isDir(v.home.dir)
	for _, path := range v.temp {
		if path != "/tmp" && path != "/var/tmp" && within(v.home.dir, path) {
			args = append(args, "--bind", path, path)
		}
	}
	if hasHome {
		args = append(args, "--tmpfs", v.home.dir)
	}
	for _, path := range v.reads {
		args = append(args, "--ro-bind", path, path)
	}
	args = append(args, v.binds()...)
	for _, l := range v.links {
		args = append(args, "--symlink", l.target, l.path)
	}
	for _, path := range v.hidden {
		args = append(args, v.cover(path)...)
	}
	if v.gitCopy != "" {
		args = append(args, "--ro-bind", v.gitCopy, v.gitCopy)
	}
	// ralph looks it up, because bwrap would also search relative elements of PATH.
	program, err := ptyexec.LookUp(c)
	if err != nil {
		return c, err
	}
	self, _ := os.Executable() // an agent CLI starts it for ralph's hooks; empty: it cannot
	for _, path := range []string{program, self, n.route.Hub, filepath.Dir(n.route.Socket)} {
		if within(path, "/tmp") || within(path, "/var/tmp") || within(path, "/run") { // the command has its own
			args = append(args, "--ro-bind", path, path)
		}
	}
	if hasHome {
		args = append(args, "--remount-ro", v.home.dir)
	}
	inside, env, err := n.bridge(slices.Concat([]string{program}, c.Args[1:]), programEnv(c.Env))
	if err != nil {
		return c, err
	}
	args = append(args, "--chdir", cmp.Or(c.Dir, v.Dir), "--")
	c.Args, c.Env = slices.Concat(args, inside), env
	c.Confine = &confine.Limits{Processes: maxProcesses}
	return c, nil
}

// binds mounts the paths that the command may write, and over them those that it may only read.
func (v *view) binds() (args []string) {
	for _, path := range slices.Concat([]string{v.Dir}, v.Write, v.temp) {
		if path == "/tmp" || path == "/var/tmp" || path != v.Dir && within(path, v.Dir) || within(v.home.dir, path) {
			continue // the command has its own, the project contains it, or it is mounted below the home folder
		}
		args = append(args, "--bind", path, path)
	}
	v.mounts(func(from, to string, readOnly bool) {
		if readOnly {
			args = append(args, "--ro-bind", from, to)
		} else {
			args = append(args, "--bind", from, to)
		}
	})
	return args
}

// cover mounts an empty file or folder on a secret.
func (v *view) cover(path string) []string {
	if isDir(path) {
		return []string{"--tmpfs", path}
	}
	return []string{"--ro-bind", v.blank(""), path}
}

// tryTimeout limits how long a test of a sandbox may take.
const tryTimeout = 10 * time.Second

func bwrapWorks(Settings) error {
	path, err := exec.LookPath(bwrapProgram)
	if err != nil {
		return errors.New("bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--unshare-pid", "--unshare-net", "--", "/bin/sh", "-c", ":").CombinedOutput()
	if err != nil {
		return fmt.Errorf("bubblewrap cannot make namespaces here: %s", firstLine(string(out), err))
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
