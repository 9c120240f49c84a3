package allow

import (
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
		list, err := Parse(entries)
		if err != nil {
			t.Errorf("%s: %v", test.list, err)
		}
		if got := list.Permits(test.host, test.port); got != test.want {
			t.Errorf("%s permits %s:%d = %v", test.list, test.host, test.port, got)
		}
		again, err := Parse(strings.Split(list.String(), ","))
		if test.list != "" && (err != nil || again.String() != list.String()) {
			t.Errorf("%s became %s and then %s, %v", test.list, list, again, err)
		}
	}
}

func TestParse_refuses(t *testing.T) {
	for _, text := range []string{"", ":", ":0", ":70000", "a b", "http://a.org", "a.org/path", "*", "*.", "a..org", "a.org:x", "1.2.3", "all", "none"} {
		if list, err := Parse([]string{text}); err == nil && text != "all" && text != "none" {
			t.Errorf("%q is read as %s", text, list)
		}
	}
}

func TestLoopback(t *testing.T) {
	list, err := Parse([]string{"localhost:1", "127.0.0.1:2", "[::1]:2", "localhost", "a.org:3", ":4"})
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
