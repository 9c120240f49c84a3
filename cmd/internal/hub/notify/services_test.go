package notify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ralph/cmd/internal/config"
)

// sends makes the test binary send a message to each address on its standard input. It prints a line for each:
// the scheme, and the error. If it is a duration, the tries end after it, and the process three seconds later.
const sends = "RALPH_NOTIFY_TEST_SENDS"

func TestMain(m *testing.M) {
	if os.Getenv(sends) == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	limit, limited := time.ParseDuration(os.Getenv(sends))
	if limited == nil {
		time.AfterFunc(limit, cancel)
	}
	long := Message{On: "halted", Title: "ralph: shop: test", Text: strings.Repeat("日", 9000) + "\nNext: ralph"}
	var all sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		to := lines.Text()
		all.Go(func() {
			scheme, _, _ := strings.Cut(to, "://")
			fmt.Printf("%s %v\n", scheme, Send(ctx, to, long))
		})
	}
	all.Wait()
	if limited == nil {
		<-time.After(3 * time.Second) // what goes on behind its back
	}
}

const hexText = "0123456789abcdef0123456789abcdef"

// addresses are an address of each service, and a server that must get the message: PORT is that of the test's
// own server, for services that take no proxy.
func addresses() map[string][2]string {
	return map[string][2]string{
		"bark":       {"bark://:devicekey@bark.example.invalid/", "bark.example.invalid"},
		"discord":    {"discord://TOKEN@4711", "discord.com"},
		"generic":    {"generic://hook.example.invalid/x?template=json", "hook.example.invalid"},
		"googlechat": {"googlechat://chat.example.invalid/v1/spaces/S/messages?key=K&token=T", "chat.example.invalid"},
		"gotify":     {"gotify://127.0.0.1:PORT/AzyoeNS.D4iJLVa?disabletls=yes", "127.0.0.1"},
		"hangouts":   {"hangouts://old.example.invalid/v1/spaces/S/messages?key=K&token=T", "old.example.invalid"},
		"ifttt":      {"ifttt://webhookid/?events=e", "maker.ifttt.com"},
		"join":       {"join://shoutrrr:apikey@join/?devices=d", "joinjoaomgcd.appspot.com"},
		"lark":       {"lark://open.larksuite.com/token", "open.larksuite.com"},
		"matrix":     {"matrix://:token@matrix.example.invalid/?rooms=!r", "matrix.example.invalid"},
		"mattermost": {"mattermost://127.0.0.1:PORT/token?disabletls=yes", "127.0.0.1"},
		"notifiarr":  {"notifiarr://apikey/?channel=4711", "notifiarr.com"},
		"ntfy":       {"ntfy://127.0.0.1:PORT/topic?scheme=http", "127.0.0.1"},
		"opsgenie":   {"opsgenie://api.opsgenie.com/eb243592-faa2-4ba2-a551-1afdf565c889", "api.opsgenie.com"},
		"pagerduty":  {"pagerduty://events.pagerduty.com/" + hexText, "events.pagerduty.com:443"},
		"pushbullet": {"pushbullet://o." + hexText + "/device", "api.pushbullet.com"},
		"pushover":   {"pushover://shoutrrr:token@user/", "api.pushover.net"},
		"rocketchat": {"rocketchat://rocket.example.invalid/tokenA/tokenB/channel", "rocket.example.invalid"},
		"signal":     {"signal://signal.example.invalid:8443/+15551234567/+15557654321", "signal.example.invalid"},
		"slack":      {"slack://hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX@webhook", "hooks.slack.com"},
		"smtp":       {"smtp://127.0.0.1:1/?from=a@example.com&to=b@example.com&timeout=2s", ""},
		"teams": {"teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/" +
			"33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05?host=x.webhook.office.com", "x.webhook.office.com"},
		"telegram": {"telegram://123456:ABC-def_1@telegram?chats=4711", "api.telegram.org"},
		"wecom":    {"wecom://693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa", "qyapi.weixin.qq.com"},
		"zulip":    {"zulip://bot%40example.com:KEY@zulip.example.invalid/?stream=s&topic=t", "zulip.example.invalid"},
	}
}

// outside is every server of the internet: a proxy, which leads to answer or, without one, refuses to connect.
type outside struct {
	env   []string
	local string // the port of a server without TLS; closed if the proxy refuses

	mu    sync.Mutex
	asked []string // hosts, without and with their port
}

func (o *outside) ask(host string) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, name, host)
}

func newOutside(t *testing.T, answer http.HandlerFunc) *outside {
	t.Helper()
	o := &outside{}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.ask(r.Host)
		answer(w, r)
	}))
	t.Cleanup(plain.Close)
	o.local = plain.URL[strings.LastIndexByte(plain.URL, ':')+1:]
	secure := httptest.NewUnstartedServer(answer)
	cert, file := authority(t)
	secure.TLS = &tls.Config{GetCertificate: cert}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	if answer == nil {
		plain.Close()
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.ask(r.Host)
		if answer == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		through(w, secure.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	o.env = append(os.Environ(), sends+"=1", "HTTPS_PROXY="+proxy.URL, "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "SSL_CERT_FILE="+file)
	return o
}

// through connects the client of a proxy to a server.
func through(w http.ResponseWriter, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// authority returns a certificate for any host, and the file of the authority that vouches for it.
func authority(t *testing.T) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	make := func(host string) ([]byte, error) {
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ralph"}, NotAfter: time.Now().Add(time.Hour),
			IsCA: true, BasicConstraintsValid: true, DNSNames: []string{host}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
		return x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	}
	root, err := make("root")
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err == nil {
		err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		der, err := make(hello.ServerName)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}, file
}

// send sends to each address in a process of its own, and returns the errors; "<nil>": it was sent.
func (o *outside) send(t *testing.T, schemes ...string) map[string]string {
	t.Helper()
	var all []string
	for _, scheme := range schemes {
		all = append(all, strings.ReplaceAll(addresses()[scheme][0], "PORT", o.local))
	}
	return o.sendTo(t, all...)
}

func (o *outside) sendTo(t *testing.T, all ...string) map[string]string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var in, errs bytes.Buffer
	for _, to := range all {
		fmt.Fprintln(&in, to)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env, cmd.Stdin, cmd.Stderr = o.env, &in, &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errs.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		scheme, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[scheme] = what
	}
	return got
}

// What cannot be sent is an error, and ends nothing else.
func TestSend_everyService_unreachableServer_isAnError(t *testing.T) {
	o := newOutside(t, nil)
	got := o.send(t, config.Services()...)
	for _, scheme := range config.Services() {
		if got[scheme] == "" || got[scheme] == "<nil>" {
			t.Errorf("%s: %q", scheme, got[scheme])
		}
	}
}

// Each service takes the parameters that ralph passes: the message gets as far as the server.
func TestSend_everyService_serverThatFails_isAsked_andIsAnError(t *testing.T) {
	o := newOutside(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden) // not 5xx: discord would try for a minute
		_, _ = io.WriteString(w, "<html>no</html>")
	})
	got := o.send(t, config.Services()...)
	for _, scheme := range config.Services() {
		if got[scheme] == "" || got[scheme] == "<nil>" {
			t.Errorf("%s: %q", scheme, got[scheme])
		}
		if host := addresses()[scheme][1]; host != "" && !slices.Contains(o.asked, host) {
			t.Errorf("%s did not ask %s: %s", scheme, host, got[scheme])
		}
	}
}

func TestSend_telegram_isSentOnlyIfTheServiceSaysSo(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ok":true,"result":{"message_id":1}}`: "<nil>",
		`{"ok":false,"description":"no chat"}`:  "no chat",
		`<html>maintenance</html>`:              "the service answered 200 OK without JSON",
		``:                                      "the service answered 200 OK without JSON",
		`[]`:                                    "the service answered 200 OK without JSON",
	} {
		o := newOutside(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		if got := o.send(t, "telegram")["telegram"]; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}

// A message that counts as not sent is sent again later, so nobody may send it meanwhile.
func TestSend_discord_asksNoMoreAfterItsTime(t *testing.T) {
	if testing.Short() {
		t.Skip("long: the library waits between its tries")
	}
	var asked atomic.Int64
	o := newOutside(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	o.env = append(o.env, sends+"=2s") // it asks after 0, 1, 3 and 7 seconds
	if got := o.send(t, "discord")["discord"]; got == "<nil>" || asked.Load() < 1 || asked.Load() > 2 {
		t.Errorf("%q after %d tries", got, asked.Load())
	}
}

// Discord's own address works as Discord shows it, and the message is one card in the color of its occasion.
func TestSend_addressAsDiscordShowsIt_isOneCard(t *testing.T) {
	body := make(chan string, 1)
	o := newOutside(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body <- r.URL.Path + " " + string(data)
		w.WriteHeader(http.StatusNoContent)
	})
	if got := o.sendTo(t, "https://discord.com/api/webhooks/4711/TOKEN"); got["https"] != "<nil>" {
		t.Fatal(got)
	}
	got := <-body
	for _, want := range []string{"/api/webhooks/4711/TOKEN ", `"title":"ralph: shop: test"`, `Next: ralph"`, `"color":12068652`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %.300s ... %s", want, got, got[max(0, len(got)-200):])
		}
	}
	if n := strings.Count(got, `"description"`); n != 1 {
		t.Errorf("%d cards", n)
	}
}
