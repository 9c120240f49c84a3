package notify

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestLook_messages_countOnlyWithTheToken(t *testing.T) {
	now := time.Now().Unix() + 1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/topic/json" && r.URL.Query().Get("since") == "m4", r.URL.Query().Get("offset") == "13":
			fmt.Fprint(w, `{"result":[]}`)
		case r.URL.Path == "/topic/json":
			for i, text := range []string{"stop", "wrong-token stop", "right-token answer q1 Use a, -x", "right-token  pause"} {
				fmt.Fprintf(w, "{\"id\":\"m%d\",\"event\":\"message\",\"message\":%q}\n{\"event\":\"open\"}\n", i+1, text)
			}
		case r.URL.Path == "/bot12:key/getUpdates":
			fmt.Fprintf(w, `{"result":[{"update_id":11,"message":{"date":%d,"text":"right-token stop","chat":{"id":7}}},
				{"update_id":12,"message":{"date":%[1]d,"text":"right-token stop","chat":{"id":8}}}]}`, now)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct{ to, want string }{
		{"ntfy://" + host + "/topic?scheme=http", "[[answer --by=ntfy -- q1 Use a, -x] [pause]]"},
		{"telegram://12:key@" + host + "?chats=7&scheme=http", "[[stop]]"},
	} {
		b, err := openInbox(c.to, "right-token")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{c.want, "[]"} {
			all, err := b.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			verbs := [][]string{}
			for _, r := range all {
				args, _, ok := r.Verb()
				if !ok {
					t.Errorf("%q asks for nothing", r.Text)
				}
				verbs = append(verbs, args)
			}
			if fmt.Sprint(verbs) != want {
				t.Errorf("%s: %q, want %s", c.to, verbs, want)
			}
		}
	}
	if _, err := openInbox("ntfy://x/y", "short"); err == nil {
		t.Error("a short token is taken")
	}
	if _, _, ok := (received{Text: "abort"}).Verb(); ok {
		t.Error("abort is obeyed")
	}
}

// Anybody can write to a bot and to most topics, so what strangers send must not keep the user's own words away.
func TestLook_longMessagesOfStrangersCameFirst_theReplyIsRead(t *testing.T) {
	now := time.Now().Unix() + 1
	strange := strings.Repeat(`\u0434`, 4096) // the longest message of Telegram, as it sends it
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/topic/json" {
			fmt.Fprintf(w, "{\"id\":\"m1\",\"event\":\"message\",\"message\":\"%s\"}\n", strings.Repeat(strange, 5))
			fmt.Fprintln(w, `{"id":"m2","event":"message","message":"right-token stop"}`)
			return
		}
		fmt.Fprint(w, `{"result":[`)
		for i := range 99 { // with the reply as many as come at once
			fmt.Fprintf(w, `{"update_id":%d,"message":{"date":%d,"text":"%s","chat":{"id":8}}},`, i, now, strange)
		}
		fmt.Fprintf(w, `{"update_id":99,"message":{"date":%d,"text":"right-token stop","chat":{"id":7}}}]}`, now)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for _, to := range []string{"ntfy://" + host + "/topic?scheme=http", "telegram://12:key@" + host + "?chats=7&scheme=http"} {
		b, err := openInbox(to, "right-token")
		if err != nil {
			t.Fatal(err)
		}
		if all, err := b.Look(t.Context()); err != nil || len(all) != 1 || all[0].Text != "stop" {
			t.Errorf("%.8s: %v, %v", to, all, err)
		}
	}
}
