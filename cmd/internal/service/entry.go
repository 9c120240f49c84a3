package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// Entry is the service of a project and the path of its file.
type Entry struct {
	Service
	Manager Manager
	File    string
}

// For describes the service of the project in dir, an absolute path without
// symbolic links: a project has one service, whatever path leads to it.
func For(dir string) (Entry, error) {
	var e Entry
	var err error
	if e.Manager, err = Of(runtime.GOOS); err != nil {
		return e, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return e, fmt.Errorf("find home: %w", err)
	}
	folder := filepath.Join(home, ".config")
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		folder = dir
	}
	e.Service = Service{Name: Name(dir), Dir: dir, Path: AbsolutePath(os.Getenv("PATH"))}
	e.Log = filepath.Join(home, "Library", "Logs", e.Name+".log")
	e.File = e.Manager.File(home, folder, e.Name)
	e.Program, err = program()
	return e, err
}

// program returns the path by which ralph was called, which may be a link that survives
// an update of ralph, or else the executable.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find ralph: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return self, nil
	}
	one, err := os.Stat(self)
	other, otherErr := os.Stat(called)
	if err != nil || otherErr != nil || !os.SameFile(one, other) {
		return self, nil
	}
	return called, nil
}

// owner returns the project whose service the file is; empty if ralph did not write the
// file. A symbolic link is not ralph's: it may mask the service.
func (m Manager) owner(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	text, err := os.ReadFile(file) // file: in the home folder
	if err != nil || !Ours(string(text)) {
		return "", err
	}
	return m.Project(string(text)), nil
}

// ForeignError is a file at the path of the service that ralph must not touch.
type ForeignError struct {
	File, Project string // Project is empty if ralph did not write the file
}

func (e *ForeignError) Error() string {
	if e.Project == "" {
		return fmt.Sprintf("%q was not written by ralph", e.File)
	}
	return fmt.Sprintf("%q is the service of another project, %q, and is left alone", e.File, e.Project)
}

// Installed reports whether the file exists. The error is a *ForeignError if ralph did
// not write it for this project.
func (e Entry) Installed() (bool, error) {
	project, err := e.Manager.owner(e.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("read service: %w", err)
	case project != e.Dir:
		return true, &ForeignError{e.File, project}
	}
	return true, nil
}

// Lost returns the projects with a service whose folder is gone.
func (e Entry) Lost() []string {
	var dirs []string
	entries, _ := os.ReadDir(filepath.Dir(e.File))
	for _, file := range entries {
		dir, err := e.Manager.owner(filepath.Join(filepath.Dir(e.File), file.Name()))
		if err != nil || dir == "" {
			continue
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Write writes the file in one step.
func (e Entry) Write(text string) error {
	folder := filepath.Dir(e.File)
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = renameio.WriteFile(e.File, []byte(text), 0o644,
			renameio.WithTempDir(folder), renameio.WithStaticPermissions(0o644))
	}
	if err != nil {
		return fmt.Errorf("write service: %w", err)
	}
	return nil
}

// Remove disables the service and removes its file.
func (e Entry) Remove() error {
	base, folder := filepath.Base(e.File), filepath.Dir(e.File)
	if e.Manager.Enables && systemctl("disable", base) != nil {
		// Without a running manager, remove the link that enable made.
		_ = os.Remove(filepath.Join(folder, "default.target.wants", base))
	}
	if err := os.Remove(e.File); err != nil {
		return fmt.Errorf("remove service: %w", err)
	}
	if e.Manager.Enables {
		_ = systemctl("daemon-reload") // a manager that does not answer has not read the file
	}
	return nil
}

// Enable enables the service without starting it. launchd reads the folder at login;
// loading the file now would start the service.
func (e Entry) Enable() error {
	if !e.Manager.Enables {
		return nil
	}
	if err := systemctl("daemon-reload"); err != nil {
		return err
	}
	return systemctl("enable", filepath.Base(e.File))
}

// Enabled returns nil if the manager will start the service.
func (e Entry) Enabled() error {
	if !e.Manager.Enables {
		return nil
	}
	return systemctl("is-enabled", filepath.Base(e.File))
}

// EnableWith returns the command that does what Enable does.
func (e Entry) EnableWith() string {
	return "systemctl --user daemon-reload && systemctl --user enable " + filepath.Base(e.File)
}

// SetWith says how to set a variable for the service.
func (e Entry) SetWith() string {
	return strings.ReplaceAll(e.Manager.set, "FILE", filepath.Base(e.File))
}

// AtBoot reports whether the service starts with the machine rather than with
// the user's login.
func (e Entry) AtBoot() bool {
	me, err := user.Current()
	if err != nil || e.Manager.Boot == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "loginctl", "show-user", me.Username, "--property=Linger", "--value").Output()
	return err == nil && strings.TrimSpace(string(out)) == "yes"
}

// systemctl runs a command of the user's systemd.
func systemctl(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl",
		append([]string{"--user", "--quiet"}, args...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	if said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); said != "" {
		return fmt.Errorf("systemctl --user %s: %s", args[0], said)
	}
	return fmt.Errorf("systemctl --user %s: %w", args[0], err)
}
