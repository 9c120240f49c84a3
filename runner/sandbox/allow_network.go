package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Values of SANDBOX_NET that are not hosts.
const (
	netAll  = "all"
	netNone = "none"
)

// netRules is what SANDBOX_NET says. The zero value: programs may connect to nothing.
type netRules struct {
	All  bool
	List AllowList // without All
}

// parseNetwork reads the entries of SANDBOX_NET; none means All.
func parseNetwork(entries []string) (n netRules, err error) {
	if len(entries) == 0 || len(entries) == 1 && entries[0] == netAll {
		return netRules{All: true}, nil
	}
	if len(entries) == 1 && entries[0] == netNone {
		return netRules{}, nil
	}
	if slices.Contains(entries, netAll) || slices.Contains(entries, netNone) {
		return n, fmt.Errorf("SANDBOX_NET: %s and %s cannot be combined with other entries", netAll, netNone)
	}
	if n.List, err = ParseAllowed(entries); err != nil {
		return n, fmt.Errorf("SANDBOX_NET: %w", err)
	}
	return n, nil
}

// widerNetwork reports whether a value of SANDBOX_NET allows something that the user's own value does not.
func widerNetwork(own, value string) bool {
	mine, err1 := parseNetwork(strings.Split(own, ","))
	theirs, err2 := parseNetwork(strings.Split(value, ","))
	switch {
	case err1 != nil || err2 != nil || theirs.All:
		return !mine.All
	case mine.All:
		return false
	}
	return slices.ContainsFunc(theirs.List, func(e allowedHost) bool { return !mine.List.Permits(e.Host, e.Port) })
}
