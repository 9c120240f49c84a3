package sandbox

import (
	"errors"
	"fmt"

	"ralph/ptyexec"
	"ralph/ptyexec/confine"
)

// landlock confines the command in the guard: it needs neither root nor another
// program.
func landlock(c ptyexec.Command, v view, n network) (ptyexec.Command, error) {
	limits := &confine.Limits{Processes: mostProcesses}
	var err error
	if limits.Read, err = without("/", v.hidden); err != nil {
		return c, fmt.Errorf("list what may be read: %w", err)
	}
	for _, path := range append(append([]string{v.Dir, "/dev"}, v.Write...), v.temp...) {
		paths, err := without(path, v.hidden)
		if err != nil {
			return c, fmt.Errorf("list what may be written: %w", err)
		}
		limits.Write = append(limits.Write, paths...)
	}
	if !n.all {
		ports, _ := n.list.Ports()
		limits.Ports = append([]uint16{}, ports...)
	}
	c.Confine = limits
	return c, nil
}

func landlockWorks(Settings) error {
	switch v := confine.Version(); {
	case v == 0:
		return errors.New("the kernel has no Landlock (Linux 5.13 or later, with landlock in the list of CONFIG_LSM or lsm=)")
	case v < confine.Min:
		return fmt.Errorf("the kernel has Landlock %d; %d is needed (Linux 6.2 or later)", v, confine.Min)
	}
	return nil
}

func landlockFilters(n network) string {
	if _, only := n.list.Ports(); !only {
		return "Landlock cannot tell hosts apart, only ports; use bwrap for hosts, or name ports only (SANDBOX_NET=:443)"
	}
	if v := confine.Version(); !n.all && v < confine.TCP {
		return fmt.Sprintf("the kernel has Landlock %d; %d is needed for SANDBOX_NET (Linux 6.7 or later)", v, confine.TCP)
	}
	return ""
}
