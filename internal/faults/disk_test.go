//go:build linux

package faults

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/internal/world"
)

const insideVar = "RALPH_FAULTS_INSIDE" // this process may mount: nobody outside sees it

// inNamespace runs the test again in a mount namespace of its own, as root there,
// and tells whether this is that second run.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVar) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	world.Programs(t) // built out here
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVar+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this user may make no mount namespace: %v", err)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("inside of the namespace: %s", out)
	}
	return false
}

// smallDisk makes a world on a file system of its own.
func smallDisk(t *testing.T, act string) *project {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return newProjectIn(t, home, act, 3)
}

// fill leaves no byte on the disk of the folder.
func fill(dir string) {
	f, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
}

// wholeFiles are the files that a full disk must not cost a byte.
func (w *project) wholeFiles() map[string]string {
	all := map[string]string{}
	for _, name := range []string{planName, ".ralph/PROMPT.md", "keep.txt"} {
		all[name] = w.Read(name)
	}
	return all
}

// diskTrouble checks an end for lack of a disk: the documented code, its cause
// in words, the agent stopped, every file whole.
func (w *project) diskTrouble(p *world.Process, before map[string]string, words string) {
	w.Helper()
	p.Ends(1)
	if !strings.Contains(p.Said(), words) {
		w.Errorf("does not say %q:\n%s", words, p.Said())
	}
	w.NoneLeft(leftBound)
	for name, text := range before {
		if now := w.Read(name); now != text {
			w.Errorf("%s held %d bytes and holds %d", name, len(text), len(now))
		}
	}
	for _, err := range unreadable(w.Path(".ralph")) {
		w.Error(err)
	}
}

func TestDiskFull_duringACall_stopsTheAgentAndGoesOnWithSpace(t *testing.T) {
	world.Long(t, "a disk that fills")
	if !inNamespace(t) {
		return
	}
	w := smallDisk(t, "fills-disk")
	w.Write("keep.txt", "mine\n")
	p := w.ralph()
	w.Until("the disk is full", func() bool { return len(w.entries("full")) > 0 })
	began := time.Now()
	w.diskTrouble(p, w.wholeFiles(), "no space left on device")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	w.diskTrouble(w.ralph(), w.wholeFiles(), "no space left on device")
	w.Do(os.Remove(w.Path("filler")))
	w.Set(actVar, "worker")
	w.ralph().Ends(0)
	for _, err := range unreadable(w.Path(".ralph")) {
		t.Error(err)
	}
}

func TestDiskFull_byTheAgentsOwnOutput_isToldAndNothingIsTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("long: an agent that fills a disk")
	}
	if !inNamespace(t) {
		return
	}
	w := smallDisk(t, "talks")
	w.Set(amountVar, "100000000")
	w.Write("keep.txt", "mine\n")
	w.diskTrouble(w.ralph(), w.wholeFiles(), "no space left on device")
	w.Do(os.RemoveAll(w.Path(".ralph/logs")))
	w.Set(actVar, "worker")
	w.ralph().Ends(0)
}

func TestDiskReadOnly_atTheStartAndDuringACall_isTold(t *testing.T) {
	world.Long(t, "a disk of its own")
	if !inNamespace(t) {
		return
	}
	w := smallDisk(t, "silent-late")
	w.Write("keep.txt", "mine\n")
	stateDir := w.Path(".ralph")
	p := w.ralph()
	w.Until("a call", func() bool { return len(w.entries("call")) > 0 })
	w.readOnly(stateDir)
	w.diskTrouble(p, w.wholeFiles(), "read-only file system")
	calls := len(w.entries("call"))
	w.diskTrouble(w.ralph(), w.wholeFiles(), "read-only file system")
	if len(w.entries("call")) != calls {
		t.Error("the agent was called although nothing could be counted")
	}
	w.Do(unix.Unmount(stateDir, unix.MNT_DETACH))
	w.Set(actVar, "worker")
	w.ralph().Ends(0)
}

// readOnly puts a read-only view of a folder on top of it.
func (w *project) readOnly(dir string) {
	w.Helper()
	w.Do(unix.Mount(dir, dir, "", unix.MS_BIND, ""))
	w.Do(unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}
