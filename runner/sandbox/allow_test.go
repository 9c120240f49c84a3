package sandbox

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestPermits(t *testing.T) {
	for _, test := range []struct {
		list, host string
		port       uint16
		want       bool
	}{
		{"api.example.com", "api.example.com", 443, true},
		{"api.example.com", "API.example.com.", 22, true},
		{"API.Example.com", "api.example.com", 443, true},
		{"api.example.com", "example.com", 443, false},
		{"api.example.com", "evil-api.example.com", 443, false},
		{"api.example.com", "api.example.com.evil.org", 443, false},
		{"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false},
		{"*.example.com", "evilexample.com", 443, false},
		{"api.example.com:443", "api.example.com", 443, true},
		{"api.example.com:443", "api.example.com", 80, false},
		{":443", "anything.org", 443, true},
		{":443", "anything.org", 80, false},
		{"127.0.0.1:8080", "127.0.0.1", 8080, true},
		{"127.0.0.1:8080", "127.0.0.2", 8080, false},
		{"[::1]:8080", "::1", 8080, true},
		{"localhost:8080", "127.0.0.1", 8080, true},
		{"127.0.0.1:8080", "localhost", 8080, true},
		{"example.com", "127.0.0.1", 8080, false},
		{"::1", "0:0:0:0:0:0:0:1", 1, true},
		{"a.org,b.org", "b.org", 1, true},
		{"", "a.org", 443, false},
	} {
		var entries []string
		if test.list != "" {
			entries = strings.Split(test.list, ",")
		}
		list, err := ParseAllowed(entries)
		if err != nil {
			t.Errorf("%s: %v", test.list, err)
		}
		if got := list.Permits(test.host, test.port); got != test.want {
			t.Errorf("%s permits %s:%d = %v", test.list, test.host, test.port, got)
		}
		again, err := ParseAllowed(strings.Split(list.String(), ","))
		if test.list != "" && (err != nil || again.String() != list.String()) {
			t.Errorf("%s became %s and then %s, %v", test.list, list, again, err)
		}
	}
}

func TestParse_refuses(t *testing.T) {
	for _, text := range []string{"", ":", ":0", ":70000", "a b", "http://a.org", "a.org/path", "*", "*.", "a..org", "a.org:x", "1.2.3", "all", "none"} {
		if list, err := ParseAllowed([]string{text}); err == nil && text != "all" && text != "none" {
			t.Errorf("%q is read as %s", text, list)
		}
	}
}

func TestLoopback(t *testing.T) {
	list, err := ParseAllowed([]string{"localhost:1", "127.0.0.1:2", "[::1]:2", "localhost", "a.org:3", ":4"})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Loopback(); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("loopback ports %v", got)
	}
	if _, only := list.Ports(); only {
		t.Error("a list with hosts names ports only")
	}
}

func TestReaches(t *testing.T) {
	private := []string{"127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1",
		"100.64.0.1", "100.127.255.255", "224.0.0.1", "239.1.1.1", "ff02::1", "0.0.0.0", "0.1.2.3", "::", "255.255.255.255", "240.0.0.1", "198.18.0.1", "192.0.0.1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1",
		"::127.0.0.1", "2002:7f00:1::", "2002:a00:1::1", "fec0::1"}
	public := []string{"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.2.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"}
	any, _ := ParseAllowed([]string{"*.example.com", ":443"})
	for _, address := range slices.Concat(private, public) {
		a := netip.AddrPortFrom(netip.MustParseAddr(address), 443)
		if any.Reaches(a) != slices.Contains(public, address) {
			t.Errorf("%s is reached: %v", address, any.Reaches(a))
		}
		named, err := ParseAllowed([]string{"[" + strings.TrimSuffix(address, "%eth0") + "]:443"})
		if err != nil || !named.Reaches(a) || !any.Reaches(a) && named.Reaches(netip.AddrPortFrom(a.Addr(), 80)) {
			t.Errorf("%s by %s: %v", address, named, err)
		}
	}
	local, _ := ParseAllowed([]string{"localhost:11434"})
	for address, want := range map[string]bool{"127.0.0.1:11434": true, "[::1]:11434": true, "127.0.0.1:80": false, "127.0.0.2:11434": false, "10.0.0.1:11434": false} {
		if local.Reaches(netip.MustParseAddrPort(address)) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
