// Package service makes the machine's service manager resume runs after a reboot: it
// writes and enables a systemd user unit or a launchd agent. It starts no run.
package service

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is the line that identifies files written by ralph.
const mark = "Written by: ralph service install"

// stopTimeout is how many seconds ralph has to end its agent before the manager kills it.
// It usually needs a few.
const stopTimeout = 60

// Service is the service of one project.
type Service struct {
	Name    string // of the file, without its ending; see Name
	Program string // ralph, absolute
	Dir     string // the project, absolute
	Path    string // PATH of the run; see AbsolutePath
	Log     string // absolute; a manager without a journal writes what ralph prints here
}

// Argv returns the command line that resumes a run.
func (s Service) Argv() []string { return []string{s.Program, "-C", s.Dir, "resume", "--unfinished"} }

// Name returns the name of a project's file, without its extension. It is valid for
// every manager and unique for each folder.
func Name(dir string) string {
	base := strings.Map(func(r rune) rune {
		if plain(r) && !strings.ContainsRune("/=:+@,", r) {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return fmt.Sprintf("ralph-%.40s-%x", base, sum[:4])
}

// AbsolutePath removes the relative folders from PATH: the run would find the project's
// own programs there.
func AbsolutePath(path string) string {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}

// Manager is one kind of service manager.
type Manager struct {
	Name    string
	ending  string
	folder  func(home, config string) string
	text    func(Service) (string, error)
	project func(text string) string
	// Enables is true if systemctl must enable a service. Otherwise the manager starts all that are in its folder.
	Enables bool
	Boot    string // how a user lets services start at boot; empty: they start at login
	set     string // how to set a variable for the service, whose file is FILE
}

// Of returns the manager of an operating system, named as in GOOS.
func Of(goos string) (Manager, error) {
	switch goos {
	case "linux":
		folder := func(_, config string) string { return filepath.Join(config, "systemd", "user") }
		return Manager{Name: "systemd", ending: ".service", folder: folder, text: unit, project: unitProject,
			Enables: true, Boot: "loginctl enable-linger",
			set: "systemctl --user edit FILE, or ~/.config/environment.d/ralph.conf"}, nil
	case "darwin":
		folder := func(home, _ string) string { return filepath.Join(home, "Library", "LaunchAgents") }
		return Manager{Name: "launchd", ending: ".plist", folder: folder, text: agent, project: agentProject,
			set: "launchctl setenv NAME VALUE"}, nil
	}
	return Manager{}, fmt.Errorf(
		"ralph knows no service manager for %s, only for linux (systemd) and darwin (launchd)", goos)
}

// File returns the path of a service's file. config is $XDG_CONFIG_HOME or its default.
func (m Manager) File(home, config, name string) string {
	return filepath.Join(m.folder(home, config), name+m.ending)
}

// Project returns the folder in a file that Text wrote; empty if there is none.
func (m Manager) Project(text string) string { return m.project(text) }

// Text returns the content of the file. The error names a value that the file cannot hold.
func (m Manager) Text(s Service) (string, error) {
	for _, part := range []struct{ what, value string }{
		{"the program", s.Program}, {"the project", s.Dir}, {"PATH", s.Path}, {"the log", s.Log},
	} {
		if !utf8.ValidString(part.value) || strings.ContainsFunc(part.value, unicode.IsControl) {
			return "", fmt.Errorf("%s is %q: a service file must be UTF-8 without control characters", part.what,
				part.value)
		}
	}
	return m.text(s)
}

// Ours reports whether ralph wrote this file.
func Ours(text string) bool {
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case "# " + mark, "<!-- " + mark + " -->":
			return true
		}
	}
	return false
}
