package notify

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func freePort(t *testing.T) (host string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().String()
}

// send returns the status of the answer; 0: nobody listens.
func send(t *testing.T, req *http.Request, token string) int {
	t.Helper()
	req.Header.Set("Authorization", token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestWebhook_postsCountOnlyWithTheToken(t *testing.T) {
	host := freePort(t)
	ctx, cancel := context.WithCancel(t.Context())
	b, err := openInbox("webhook://"+host+"/ralph", "right-token")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := b.Look(ctx); err != nil || len(all) > 0 {
		t.Fatal(all, err)
	}
	b.hook.patience = 0
	post := func(method, path, token, text string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+host+path, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return send(t, req, token)
	}
	const right = "Bearer right-token"
	for _, c := range []struct {
		method, path, token, text string
		want                      int
	}{
		{"POST", "/ralph", right, "answer q1 Use a, -x", 202},
		{"POST", "/ralph/", right, " pause\n", 202},
		{"POST", "/ralph", "", "stop", 401},
		{"POST", "/ralph", "Basic right-token", "right-token stop", 401},
		{"POST", "/ralph", "Bearer wrong-token", "stop", 401},
		{"GET", "/ralph", right, "", 405},
		{"POST", "/", right, "stop", 404},
		{"POST", "/ralph", right, "abort", 400},
		{"POST", "/ralph", right, strings.Repeat("x", maxBody+1), 413},
	} {
		if got := post(c.method, c.path, c.token, c.text); got != c.want {
			t.Errorf("%s %s %q %.30q: %d, want %d", c.method, c.path, c.token, c.text, got, c.want)
		}
	}
	all, err := b.Look(ctx)
	got := ""
	for _, r := range all {
		args, _, _ := r.Verb()
		got += fmt.Sprint(args)
	}
	if err != nil || got != "[answer --by=webhook -- q1 Use a, -x][pause]" {
		t.Errorf("got %s, %v", got, err)
	}
	if all, _ := b.Look(ctx); len(all) > 0 {
		t.Errorf("replies come twice: %v", all)
	}
	second, _ := openInbox("webhook://"+host+"/ralph", "right-token")
	if _, err := second.Look(ctx); err == nil {
		t.Error("two listen on one port")
	}
	cancel()
	for range 1000 {
		if post("POST", "/ralph", right, "pause") == 0 {
			return
		}
	}
	t.Error("it listens after its end")
}

func TestWebhook_whatBecameOfAReply_isTheAnswer(t *testing.T) {
	host := freePort(t)
	b, err := openInbox("webhook://"+host+"/ralph", "right-token")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		said string
		ok   bool
		want int
	}{{"answered q1", true, 200}, {"failed: there is no question q1", false, 409}} {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			for t.Context().Err() == nil {
				if all, _ := b.Look(t.Context()); len(all) > 0 {
					all[0].Tell(c.said, c.ok)
					return
				}
			}
		}()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host+"/ralph", strings.NewReader("answer q1 yes"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer right-token")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if <-answered; res.StatusCode != c.want || string(body) != c.said+"\n" {
			t.Errorf("%d %q, want %d %q", res.StatusCode, body, c.want, c.said)
		}
	}
}

func TestOpen_webhookOfOtherMachines_isRefused(t *testing.T) {
	for _, to := range []string{"webhook://0.0.0.0:80/x", "webhook://example.com:80/x", "webhook://127.0.0.1/x", "webhook://:80/x"} {
		if _, err := openInbox(to, "right-token"); err == nil {
			t.Errorf("%s is taken", to)
		}
	}
}
