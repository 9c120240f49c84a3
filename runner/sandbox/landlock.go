package sandbox

import (
	"errors"
	"fmt"

	"ralph/ptyexec"
)

// landlock confines the command in the guard: it needs neither root nor another
// program.
func landlock(c ptyexec.Command, v view, n network) (ptyexec.Command, error) {
	confine := &ptyexec.Confinement{}
	var err error
	if confine.Read, err = without("/", v.hidden); err != nil {
		return c, fmt.Errorf("list what may be read: %w", err)
	}
	for _, path := range append(append([]string{v.Dir, "/dev"}, v.Write...), v.temp...) {
		paths, err := without(path, v.hidden)
		if err != nil {
			return c, fmt.Errorf("list what may be written: %w", err)
		}
		confine.Write = append(confine.Write, paths...)
	}
	if !n.all {
		confine.Ports = append([]uint16{}, n.ports...)
	}
	c.Confine = confine
	return c, nil
}

func landlockWorks() error {
	switch v := ptyexec.ConfineVersion(); {
	case v == 0:
		return errors.New("the kernel has no Landlock (Linux 5.13 or later, with landlock in the list of CONFIG_LSM or lsm=)")
	case v < ptyexec.ConfineMin:
		return fmt.Errorf("the kernel has Landlock %d; %d is needed (Linux 6.2 or later)", v, ptyexec.ConfineMin)
	}
	return nil
}

func landlockFilters(n network) string {
	if v := ptyexec.ConfineVersion(); !n.all && v < ptyexec.ConfineTCP {
		return fmt.Sprintf("the kernel has Landlock %d; %d is needed for SANDBOX_NET (Linux 6.7 or later)", v, ptyexec.ConfineTCP)
	}
	return ""
}
