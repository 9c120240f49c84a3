package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/spf13/pflag"
)

// Serve has the settings of the dashboard. ralph serve passes them to ralph-hub serve.
type Serve struct {
	Listen  string // HOST:PORT
	Cert    string // file; empty: no TLS
	Key     string
	Proxy   string // the address that people use, behind a proxy with TLS; empty if there is none
	Actions bool   // users who are logged in may act
	Link    bool   // only print a link
}

// Flags declares the flags.
func (s *Serve) Flags(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&s.Listen, "listen", "127.0.0.1:8477",
		"Listen on `ADDRESS:PORT`; other than loopback needs TLS or a proxy.")
	fs.BoolVar(&s.Actions, "actions", false, "Let who is logged in pause, stop, answer, accept and change the plan.")
	fs.BoolVar(&s.Link, "link", false, "Print a link that logs you in, good for 15 minutes, and end.")
	fs.StringVar(&s.Cert, "cert", "", "TLS certificate `FILE`, with --key.")
	fs.StringVar(&s.Key, "key", "", "TLS key `FILE`.")
	fs.StringVar(&s.Proxy, "behind-proxy", "", "A proxy with TLS passes requests on; people use its `URL`.")
}

// Check returns what is wrong, as a line for people.
func (s Serve) Check() error {
	host, port, err := net.SplitHostPort(s.Listen)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return fmt.Errorf("--listen %q is not ADDRESS:PORT, such as 127.0.0.1:8477", s.Listen)
	}
	if host != "localhost" {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("--listen %q must begin with an IP address or localhost; 0.0.0.0 means all", s.Listen)
		}
	}
	if (s.Cert == "") != (s.Key == "") {
		return errors.New("--cert and --key go together")
	}
	if s.Proxy != "" {
		u, err := url.Parse(s.Proxy)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.User != nil {
			return fmt.Errorf("--behind-proxy %q is not a URL such as https://ralph.example.org", s.Proxy)
		}
	}
	if !s.Loopback() && s.Cert == "" && s.Proxy == "" {
		return fmt.Errorf("--listen %s can be reached from other machines: add --cert and --key, "+
			"or --behind-proxy URL", s.Listen)
	}
	return nil
}

// Loopback reports whether only this machine can connect.
func (s Serve) Loopback() bool {
	host, _, _ := net.SplitHostPort(s.Listen)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// URL is the address that people use.
func (s Serve) URL() string {
	switch {
	case s.Proxy != "":
		return s.Proxy
	case s.Cert != "":
		return "https://" + s.Listen + "/"
	}
	return "http://" + s.Listen + "/"
}
