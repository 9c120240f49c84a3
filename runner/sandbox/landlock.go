package sandbox

import (
	"errors"
	"fmt"
	"slices"

	"ralph/ptyexec"
	"ralph/ptyexec/confine"
)

// landlock lets ptyexec's guard confine the command: that needs neither root nor another
// program.
func landlock(c ptyexec.Command, v *view, n network) (ptyexec.Command, error) {
	limits := &confine.Limits{Processes: maxProcesses}
	var err error
	if limits.Read, err = without("/", append([]string{v.home.dir}, v.hidden...)); err != nil {
		return c, fmt.Errorf("list readable paths: %w", err)
	}
	fixed := ownFolders(v.fixed, v.Write)
	for _, path := range slices.Concat(v.reads, fixed) {
		paths, err := without(path, v.hidden)
		if err != nil {
			return c, fmt.Errorf("list readable paths: %w", err)
		}
		limits.Read = append(limits.Read, paths...)
	}
	if v.gitCopy != "" {
		limits.Read = append(limits.Read, v.gitCopy)
	}
	limits.Write = append(limits.Write, devices()...)
	for _, path := range slices.Concat([]string{v.Dir}, v.Write, v.temp) {
		holes := slices.Concat(v.hidden, fixed)
		if within(v.home.dir, path) {
			holes = append(holes, v.home.dir)
		}
		paths, err := without(path, holes)
		if err != nil {
			return c, fmt.Errorf("list writable paths: %w", err)
		}
		limits.Write = append(limits.Write, paths...)
	}
	if !n.All {
		ports, _ := n.List.Ports()
		limits.Ports = append([]uint16{}, ports...)
	}
	c.Confine = limits
	return c, nil
}

// devices returns those that programs need. A CLI opens terminals for its own programs. Landlock can allow only the
// whole folder, which also has the user's terminals: docs/sandbox.md says so.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
		"/dev/pts", "/dev/shm"}
}

// ownFolders returns the fixed paths that are themselves folders of the agent. Others cannot be protected: Landlock
// would then refuse new files in their folder.
func ownFolders(fixed, write []string) []string {
	return slices.DeleteFunc(slices.Clone(fixed), func(path string) bool { return !slices.Contains(write, path) })
}

func landlockWorks(Settings) error { return landlockFits(confine.Version()) }

func landlockFits(v int) error {
	switch {
	case v == 0:
		return errors.New("the kernel has no Landlock: it needs Linux 5.13 or later, " +
			"with landlock in CONFIG_LSM or lsm=")
	case v < confine.Min:
		return fmt.Errorf("the kernel has Landlock %d; %d is needed (Linux 6.2 or later)", v, confine.Min)
	}
	return nil
}

// Lacks says what this sandbox does not do on this kernel; empty: it does everything.
func (s Settings) Lacks() string {
	if lacks := s.profile().lacks; lacks != nil {
		return lacks()
	}
	return ""
}

func lacks(version int) string {
	if version < confine.Scoped {
		return fmt.Sprintf("the kernel has Landlock %d: before Linux 6.12, "+
			"it does not refuse signals to other processes "+
			"and abstract sockets", version)
	}
	return ""
}

func landlockFilters(n network) string {
	if _, only := n.List.Ports(); !only {
		return "Landlock cannot tell hosts apart, only ports; " +
			"use bwrap for hosts, or name ports only (SANDBOX_NET=:443)"
	}
	if v := confine.Version(); !n.All && v < confine.TCP {
		return fmt.Sprintf("the kernel has Landlock %d; %d is needed for SANDBOX_NET (Linux 6.7 or later)", v,
			confine.TCP)
	}
	return ""
}
