package config

import (
	"strings"
	"testing"
)

func TestCheck_badValues_areRefused(t *testing.T) {
	for _, bad := range []Notifications{{Notify: []string{"me"}}, {NotifyOn: []string{"never"}}} {
		if bad.Check() == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
}

func TestCheck_addresses(t *testing.T) {
	for name, c := range map[string]struct {
		settings Notifications
		want     string // part of the error; empty: none
	}{
		"known":            {Notifications{Notify: []string{"ntfy://ntfy.sh/t", "desktop", "generic+https://x/y", "smtp://a:b@h:25/?from=a@b&to=c@d"}}, ""},
		"of the services":  {Notifications{Notify: []string{"https://discord.com/api/webhooks/4711/TOKEN-_x", "https://hooks.slack.com/services/T0/B0/X0"}}, ""},
		"no webhook":       {Notifications{Notify: []string{"https://discord.com/channels/4711"}}, "to POST to it: generic+https://"},
		"misspelt":         {Notifications{Notify: []string{"desktop", "nfty://ntfy.sh/secret"}}, "NOTIFY: entry 2 names no service; allowed are desktop, and addresses such as"},
		"no service":       {Notifications{Notify: []string{"https://push.example/t"}}, "to POST to it: generic+https://"},
		"nothing after it": {Notifications{Notify: []string{"ntfy://"}}, "NOTIFY: entry 1 names no service; allowed are desktop"},
		"custom address":   {Notifications{Notify: []string{"ntfy+https://x/y"}}, "NOTIFY: entry 1 names no service; allowed are desktop"},
	} {
		err := c.settings.Check()
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error names the address: %v", name, err)
		}
	}
}

func TestAddress_asServicesShowThem_isThatOfTheLibrary(t *testing.T) {
	for to, want := range map[string]string{
		"https://discord.com/api/webhooks/4711/TOKEN-_x":                       "discord://TOKEN-_x@4711",
		"https://ptb.discord.com/api/v10/webhooks/4711/TOKEN?wait=true":        "discord://TOKEN@4711",
		"https://discordapp.com/api/webhooks/4711/TOKEN?thread_id=12":          "discord://TOKEN@4711?thread_id=12",
		"https://hooks.slack.com/services/T0/B0/X0":                            "slack://hook:T0-B0-X0@webhook",
		"https://chat.googleapis.com/v1/spaces/S/messages?key=K&token=T%3D":    "googlechat://chat.googleapis.com/v1/spaces/S/messages?key=K&token=T%3D",
		"https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d":       "teams+https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d",
		"https://ntfy.sh/my-topic":                                             "ntfy://ntfy.sh/my-topic",
		"https://evil.example/?https://discord.com/api/webhooks/4711/TOKEN-_x": "https://evil.example/?https://discord.com/api/webhooks/4711/TOKEN-_x",
		"https://discord.com.evil.example/api/webhooks/4711/TOKEN":             "https://discord.com.evil.example/api/webhooks/4711/TOKEN",
		"ntfy://ntfy.sh/my-topic":                                              "ntfy://ntfy.sh/my-topic",
	} {
		if got := Address(to); got != want {
			t.Errorf("%s: %s, want %s", to, got, want)
		}
	}
}
