package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"ralph/runner/sandbox"
)

// lines collects what a proxy prints.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// proxied asks for an address through a proxy with a list, by a request and by a tunnel, and returns the answers and
// what the proxy prints.
func proxied(t *testing.T, list, address string) (request, tunnel, printed string) {
	t.Helper()
	entries, err := sandbox.ParseAllowed(strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	out := &lines{}
	proxy := httptest.NewServer(handler(entries, out))
	defer proxy.Close()
	ask := func(format string) string {
		conn, err := net.Dial("tcp", proxy.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, format, address)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		return resp.Status
	}
	request = ask("GET http://%[1]s/ HTTP/1.1\r\nHost: %[1]s\r\nConnection: close\r\n\r\n")
	tunnel = ask("CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n")
	return request, tunnel, out.String()
}

// names makes all names resolve to this address.
func names(t *testing.T, address net.IP) {
	t.Helper()
	dns, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dns.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := dns.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
			if v4 := address.To4(); v4 != nil && q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AResource{A: [4]byte(v4)}}}
			} else if v4 == nil && q.Type == dnsmessage.TypeAAAA {
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(address)}}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = dns.WriteTo(packed, from)
			}
		}
	}()
	old := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = old })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", dns.LocalAddr().String())
	}}
}

// A name that is allowed, or a port on any host, leads to no address of this machine or a private network that
// SANDBOX_NET does not name.
func TestHandler_privateAddresses_onlyNamedOnesAreReached(t *testing.T) {
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	names(t, net.IPv4(127, 0, 0, 1))
	port := ":" + u.Port()
	for _, c := range []struct {
		list, address string
		want          bool
	}{
		{port, "127.0.0.1" + port, false}, {port, "[::ffff:127.0.0.1]" + port, false}, {port, "0.0.0.0" + port, false}, {port, "[::]" + port, false},
		{port, "localhost" + port, false}, {port, "name.example.com" + port, false},
		{"name.example.com", "name.example.com" + port, false}, {"*.example.com", "a.example.com" + port, false},
		{"127.0.0.1" + port, "127.0.0.1" + port, true}, {"localhost" + port, "localhost" + port, true}, {"localhost" + port, "127.0.0.1" + port, true},
		{"name.example.com,127.0.0.1" + port, "name.example.com" + port, true}, {"name.example.com,127.0.0.1:1", "name.example.com" + port, false},
		{"name.example.com,127.0.0.2", "name.example.com" + port, false},
	} {
		hits = 0
		request, tunnel, printed := proxied(t, c.list, c.address)
		if reached := strings.HasPrefix(request, "200") && strings.HasPrefix(tunnel, "200"); reached != c.want || (hits > 0) != c.want {
			t.Errorf("%s by %s: %q, %q, %d requests", c.address, c.list, request, tunnel, hits)
		}
		if refused := strings.Count(printed, "refused"); c.want != (refused == 0) {
			t.Errorf("%s by %s: printed %s", c.address, c.list, printed)
		}
	}
}

// A proxy of the user's own may be on a private address. What it is asked for may not.
func TestHandler_behindAnotherProxy_privateAddressesAreRefused(t *testing.T) {
	hits := 0
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer upstream.Close()
	t.Setenv("HTTPS_PROXY", upstream.URL)
	names(t, net.IPv4(10, 0, 0, 1))
	for address, want := range map[string]int{"10.0.0.1:443": 0, "127.0.0.1:443": 0, "name.example.com:443": 0, "192.0.2.1:443": 1} {
		hits = 0
		if _, tunnel, _ := proxied(t, ":443", address); hits != want || strings.HasPrefix(tunnel, "200") != (want > 0) {
			t.Errorf("%s: %q, %d requests", address, tunnel, hits)
		}
	}
}
