package replies

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
		b, err := Open(c.to, "right-token")
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
	if _, err := Open("ntfy://x/y", "short"); err == nil {
		t.Error("a short token is taken")
	}
	if _, _, ok := (Reply{Text: "abort"}).Verb(); ok {
		t.Error("abort is obeyed")
	}
}
