package sandbox

import (
	"fmt"
	"strconv"
	"strings"
)

// network is what contained programs may connect to. The zero value: nothing.
type network struct {
	all   bool
	ports []uint16 // on any host
}

func parseNet(entries []string) (network, error) {
	if len(entries) == 0 || len(entries) == 1 && entries[0] == NetAll {
		return network{all: true}, nil
	}
	if len(entries) == 1 && entries[0] == NetNone {
		return network{}, nil
	}
	var n network
	for _, entry := range entries {
		text, ok := strings.CutPrefix(entry, ":")
		port, err := strconv.ParseUint(text, 10, 16)
		if !ok || err != nil || port == 0 {
			return n, fmt.Errorf("SANDBOX_NET: %q is not all, none, or a list of :PORT", entry)
		}
		n.ports = append(n.ports, uint16(port))
	}
	return n, nil
}
