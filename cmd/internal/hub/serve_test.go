package hub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// alone gives the test a home of its own, and a port that is in use.
func alone(t *testing.T) (token, busy string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv(state.InsideVar, "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return filepath.Join(home, "ralph", "hub", "token"), listener.Addr().String()
}

func hub(ctx context.Context, out io.Writer, args ...string) error {
	root := Root()
	root.SetOut(out)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

func TestServe_badInput_isOneLine(t *testing.T) {
	token, busy := alone(t)
	for _, c := range []struct {
		args  string
		want  string
		usage bool
		set   func()
	}{
		{"--listen " + busy, "another program listens on", false, nil},
		{"--listen 8080", "is not ADDRESS:PORT", true, nil},
		{"--listen 127.0.0.1:99999", "is not ADDRESS:PORT", true, nil},
		{"--listen example.org:80", "must begin with an IP address", true, nil},
		{"--listen 0.0.0.0:0", "add --cert and --key", true, nil},
		{"--listen [::]:0", "add --cert and --key", true, nil},
		{"--cert x", "go together", true, nil},
		{"--cert /no --key /no", "no such file", true, nil},
		{"--behind-proxy http://x", "is not a URL such as", true, nil},
		{"--behind-proxy https://x/path", "is not a URL such as", true, nil},
		{"more", "takes no arguments", true, nil},
		{"--actions", "inside of run R", true, func() { t.Setenv(state.InsideVar, "R") }},
		{"--link", "inside of run R", true, nil},
		{"--listen 127.0.0.1:0", "only you can read", false, func() { _ = os.Chmod(token, 0o644) }},
		{"--listen 127.0.0.1:0", "fewer than 20 characters", false, func() { _ = os.Remove(token); _ = os.WriteFile(token, nil, 0o600) }},
		{"--listen 127.0.0.1:0", "must be a file", false, func() { _ = os.Remove(token); _ = os.Symlink("/etc/passwd", token) }},
	} {
		if c.set != nil {
			c.set()
		}
		err := hub(t.Context(), io.Discard, append([]string{"serve", "--ralph", "ralph"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.args, err)
		}
		if usage := errors.As(err, new(*cmdline.ExitError)); usage != c.usage {
			t.Errorf("%s: usage %t", c.args, usage)
		}
	}
}

// certificate writes one for this machine.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &pair.PublicKey, pair)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// started runs the dashboard until the test ends, and returns what it prints first.
func started(t *testing.T, args ...string) (url, link string) {
	t.Helper()
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hub(ctx, w, append([]string{"serve", "--ralph", "ralph"}, args...)...); _ = w.Close() }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var said []byte
	for len(regexp.MustCompile(`\n`).FindAll(said, -1)) < 2 {
		b := make([]byte, 1024)
		n, err := r.Read(b)
		if said = append(said, b[:n]...); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	all := regexp.MustCompile(`https?://\S+`).FindAllString(string(said), 2)
	return all[0], all[1]
}

// With TLS on all addresses, or behind a proxy, nobody reads without a login.
func TestServe_forOtherMachines_asksForALogin(t *testing.T) {
	token, _ := alone(t)
	cert, key := certificate(t)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	get := func(url, host string, edit func(*http.Request)) int {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if req.Host = host; edit != nil {
			edit(req)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if c := res.Cookies(); len(c) > 0 && (!c[0].Secure || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode) {
			t.Errorf("cookie %+v", c[0])
		}
		return res.StatusCode
	}
	url, link := started(t, "--listen", "0.0.0.0:0", "--cert", cert, "--key", key)
	url, link = strings.NewReplacer("0.0.0.0", "127.0.0.1", "[::]", "127.0.0.1").Replace(url), strings.NewReplacer("0.0.0.0", "127.0.0.1", "[::]", "127.0.0.1").Replace(link)
	secret, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret))) }
	for _, c := range []struct {
		path, host string
		edit       func(*http.Request)
		want       int
	}{
		{"", "", nil, http.StatusUnauthorized}, {"metrics", "", nil, http.StatusUnauthorized}, {"events", "", nil, http.StatusUnauthorized},
		{"metrics", "", bearer, http.StatusOK}, {"", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, http.StatusUnauthorized},
		{"login", "", nil, http.StatusOK}, {"", "evil.example", bearer, http.StatusMisdirectedRequest},
		{"", "", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "ralph", Value: "1.2.3"}) }, http.StatusUnauthorized},
	} {
		if got := get(url+c.path, c.host, c.edit); got != c.want {
			t.Errorf("/%s as %q: %d, want %d", c.path, c.host, got, c.want)
		}
	}
	if got := get(link, "", nil); got != http.StatusOK {
		t.Errorf("the link: %d", got)
	}
}

func TestServe_behindAProxy_answersToItsNameOnly(t *testing.T) {
	alone(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	_ = listener.Close()
	if _, link := started(t, "--listen", at, "--behind-proxy", "https://ralph.example.org"); !strings.HasPrefix(link, "https://ralph.example.org/login?code=") {
		t.Errorf("the link is %s", link)
	}
	for host, want := range map[string]int{"ralph.example.org": http.StatusUnauthorized, "evil.example.org": http.StatusMisdirectedRequest} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/", nil)
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s: %d", host, res.StatusCode)
		}
	}
}
