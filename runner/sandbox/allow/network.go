package allow

import (
	"fmt"
	"slices"
	"strings"
)

// Values of SANDBOX_NET that are not hosts.
const (
	All  = "all"
	None = "none"
)

// Network is what SANDBOX_NET says. The zero value: programs may connect to nothing.
type Network struct {
	All  bool
	List List // without All
}

// ParseNetwork reads the entries of SANDBOX_NET; none means All.
func ParseNetwork(entries []string) (n Network, err error) {
	if len(entries) == 0 || len(entries) == 1 && entries[0] == All {
		return Network{All: true}, nil
	}
	if len(entries) == 1 && entries[0] == None {
		return Network{}, nil
	}
	if slices.Contains(entries, All) || slices.Contains(entries, None) {
		return n, fmt.Errorf("SANDBOX_NET: %s and %s cannot be combined with other entries", All, None)
	}
	if n.List, err = Parse(entries); err != nil {
		return n, fmt.Errorf("SANDBOX_NET: %w", err)
	}
	return n, nil
}

// Wider reports whether a value of SANDBOX_NET allows something that the user's own value does not.
func Wider(own, value string) bool {
	mine, err1 := ParseNetwork(strings.Split(own, ","))
	theirs, err2 := ParseNetwork(strings.Split(value, ","))
	switch {
	case err1 != nil || err2 != nil || theirs.All:
		return !mine.All
	case mine.All:
		return false
	}
	return slices.ContainsFunc(theirs.List, func(e Entry) bool { return !mine.List.Permits(e.Host, e.Port) })
}
