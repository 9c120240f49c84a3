package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"ralph/cmd/internal/service"
)

// serviceFile is the service of a project and where its file is.
type serviceFile struct {
	service.Service
	manager service.Manager
	path    string
}

// service describes the file of this project. It has one, by whatever link the
// project is reached.
func (a *app) service() (serviceFile, error) {
	dir, err := a.project()
	if err != nil {
		return serviceFile{}, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return serviceFile{}, fmt.Errorf("find project: %w", err)
	}
	return serviceOf(dir)
}

func serviceOf(dir string) (u serviceFile, err error) {
	if u.manager, err = service.Of(runtime.GOOS); err != nil {
		return u, usageError("%v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return u, fmt.Errorf("find home: %w", err)
	}
	folder := filepath.Join(home, ".config")
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		folder = dir
	}
	u.Service = service.Service{Name: service.Name(dir), Dir: dir, Path: service.AbsolutePath(os.Getenv("PATH"))}
	u.Log = filepath.Join(home, "Library", "Logs", u.Name+".log")
	u.path = u.manager.File(home, folder, u.Name)
	u.Program, err = program()
	return u, err
}

// program is how ralph was called, where that is a link that stays when ralph
// is updated; else the file itself.
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

// projectOf is the project whose service the file is; "" for a file that ralph
// did not write. A link may be one that disables the service.
func (u serviceFile) projectOf(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil || !service.Ours(string(text)) {
		return "", err
	}
	return u.manager.Project(string(text)), nil
}

// found tells whether the file is there. The error names one that is not of
// this project.
func (u serviceFile) found() (bool, error) {
	project, err := u.projectOf(u.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("read service: %w", err)
	case project == "":
		return true, usageError("%q was not written by ralph", u.path)
	case project != u.Dir:
		return true, usageError("%q is the service of another project, %q, and is left alone", u.path, project)
	}
	return true, nil
}

// lost are the projects with a service whose folder is gone.
func (u serviceFile) lost() []string {
	var dirs []string
	entries, _ := os.ReadDir(filepath.Dir(u.path))
	for _, e := range entries {
		dir, err := u.projectOf(filepath.Join(filepath.Dir(u.path), e.Name()))
		if err != nil || dir == "" {
			continue
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
