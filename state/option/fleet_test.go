package option

import (
	"testing"
)

func TestHideUsers_anyAddress_losesItsPassword(t *testing.T) {
	for list, want := range map[string]string{
		"nats://a:PW@h1,nats://c:PW@h2":   "nats://...@h1,nats://...@h2",
		"u:PW@127.0.0.1:1":                "...@127.0.0.1:1",
		"PW@h:1,u:PW@i:2, tls://PW@j":     "...@h:1,...@i:2, tls://...@j",
		"nats://u:PW@127.0.0.1:1x":        "nats://...@127.0.0.1:1x",
		"nats://u:p#PW@h":                 "nats://...@h",
		"nats://u:HUN/TER@h":              "nats://...@h",
		"nats://u:1/PW@h":                 "nats://...@h",
		"nats://u:PW,PW,PW@h":             "nats://...@h",
		"nats://u:PW@PW@h":                "nats://...@h",
		"nats://h:1,nats://u:PW@i,h:2":    "nats://h:1,nats://...@i,h:2",
		"nats://h:1x,nats://u:PW@i,tls:/": "nats://h:1x,nats://...@i,tls:/",
		"local":                           "local",
		"":                                "",
	} {
		if got := HideUsers(list); got != want {
			t.Errorf("%s is shown as %s, want %s", list, got, want)
		}
	}
}

func TestServers_onlyAddresses_areTaken(t *testing.T) {
	for text, want := range map[string]bool{
		"nats://h": true, "h:4222": true, "[::1]:4222": true, "tls://u:p@h:1, wss://i": true, "nats://h/": true, "t@h:1": true,
		"": false, "foo": false, "http://x": false, "://h:1": false, "nats://": false, "nats://:1": false, "nats://h:1x": false,
		"nats://h:65536": false, "h:0": false, "nats://a b": false, "nats://h/x": false, "nats://h?x": false, "nats://h#x": false,
		"nats://u:100%@h": false, "nats://h,": false, "nats://u:1/PW@h": false,
	} {
		if Servers(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
