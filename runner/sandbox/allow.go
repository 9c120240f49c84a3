package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// AllowList says what a program may connect to. The zero value: nothing.
type AllowList []allowedHost

// allowedHost allows one host, or one port, or both.
type allowedHost struct {
	Host string // in lower case; "*.example.com" is every name below it; empty: every host
	Port uint16 // 0: every port
}

// ParseAllowed reads entries such as api.example.com, *.example.com, 127.0.0.1:8080,
// [::1]:8080 and :443.
func ParseAllowed(entries []string) (AllowList, error) {
	var list AllowList
	for _, text := range entries {
		e, ok := parse(strings.ToLower(strings.TrimSpace(text)))
		if !ok {
			return nil, fmt.Errorf("%q is not all, none, or a list of HOST, *.HOST, HOST:PORT and :PORT", text)
		}
		list = append(list, e)
	}
	return list, nil
}

func parse(text string) (e allowedHost, ok bool) {
	e.Host = text
	if host, port, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return e, false
		}
		e = allowedHost{host, uint16(n)}
	} else {
		e.Host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	if e.Host == "" {
		return e, e.Port != 0
	}
	return e, net.ParseIP(e.Host) != nil || isName(strings.TrimPrefix(e.Host, "*."))
}

// isName is true for a valid DNS name.
func isName(host string) bool {
	return host != "" && len(host) < 254 && !slices.ContainsFunc(strings.Split(host, "."), func(label string) bool {
		return label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	}) && strings.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz")
}

// Permits reports whether the list allows host and port.
func (l AllowList) Permits(host string, port uint16) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(l, func(e allowedHost) bool {
		return (e.Port == 0 || e.Port == port) && e.covers(host)
	})
}

func (e allowedHost) covers(host string) bool {
	if e.Host == "" || e.Host == host {
		return true
	}
	if domain, ok := strings.CutPrefix(e.Host, "*"); ok {
		return strings.HasSuffix(host, domain)
	}
	a, b := net.ParseIP(e.Host), net.ParseIP(host)
	return a != nil && a.Equal(b) || isLocal(e.Host) && isLocal(host)
}

// Reaches reports whether a program may connect to an address that an allowed host has: to any public one, but to one of
// this machine or of a private network only if the list names the address.
func (l AllowList) Reaches(a netip.AddrPort) bool {
	addr := a.Addr().Unmap().WithZone("")
	return !isPrivate(addr) || slices.ContainsFunc(l, func(e allowedHost) bool {
		named, err := netip.ParseAddr(e.Host)
		return (e.Port == 0 || e.Port == a.Port()) &&
			(err == nil && named.Unmap() == addr || isLocal(e.Host) && isLocal(addr.String()))
	})
}

// isPrivate is true for an address that is not one of a host on the internet.
func isPrivate(addr netip.Addr) bool {
	if v4, ok := embedded(addr); ok {
		addr = v4
	}
	return !addr.IsGlobalUnicast() || addr.IsPrivate() ||
		slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(addr) })
}

// embedded returns the IPv4 address to which a gateway translates an IPv6 address: NAT64, 6to4.
func embedded(addr netip.Addr) (v4 netip.Addr, ok bool) {
	b := addr.As16()
	switch {
	case addr.Is4():
		return addr, false
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case netip.MustParsePrefix("2002::/16").Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:])), true
	}
	return addr, false
}

// special returns networks that are not public, besides those that package netip knows.
var special = sync.OnceValue(func() (all []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", // this host, CGNAT, protocols, tests, reserved
		"::/96", "64:ff9b:1::/48", "2001::/32", "fec0::/10", // IPv4-compatible, local NAT64, Teredo, site-local
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
})

// isLocal is true for the names of this machine's own loopback.
func isLocal(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// Ports returns the ports if the list names only ports.
func (l AllowList) Ports() (ports []uint16, only bool) {
	for _, e := range l {
		if e.Host != "" {
			return nil, false
		}
		ports = append(ports, e.Port)
	}
	return ports, true
}

// Loopback returns the ports of this machine's own loopback that the list names.
func (l AllowList) Loopback() (ports []uint16) {
	for _, e := range l {
		if e.Port != 0 && isLocal(e.Host) && !slices.Contains(ports, e.Port) {
			ports = append(ports, e.Port)
		}
	}
	return ports
}

// String returns the entries as Parse reads them, joined with commas.
func (l AllowList) String() string {
	var texts []string
	for _, e := range l {
		switch {
		case e.Port == 0:
			texts = append(texts, e.Host)
		case e.Host == "":
			texts = append(texts, fmt.Sprintf(":%d", e.Port))
		default:
			texts = append(texts, net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))))
		}
	}
	return strings.Join(texts, ",")
}

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
