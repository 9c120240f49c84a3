package config

import (
	"strings"
	"testing"
	"time"
)

func TestAfter_quietHours(t *testing.T) {
	at := func(clock string) time.Time {
		v, err := time.ParseInLocation("2 15:04", clock, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ quiet, now, want string }{
		{"", "1 23:00", "1 23:00"},
		{"22:00-07:00", "1 21:59", "1 21:59"},
		{"22:00-07:00", "1 22:00", "2 07:00"},
		{"22:00-07:00", "2 06:59", "2 07:00"},
		{"22:00-07:00", "2 07:00", "2 07:00"},
		{"12:00-13:30", "1 12:10", "1 13:30"},
		{"12:00-13:30", "1 14:00", "1 14:00"},
	} {
		if got := (Notifications{Quiet: c.quiet}).After(at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("%s at %s: %v", c.quiet, c.now, got)
		}
	}
	for _, bad := range []Notifications{{Quiet: "22-7"}, {Notify: []string{"me"}}, {Webhooks: []string{"ftp://x"}}, {NotifyOn: []string{"never"}}, {WebhookEvents: []string{"x"}}} {
		if bad.Check([]string{"run_end"}) == nil {
			t.Errorf("accepted: %+v", bad.Quiet)
		}
	}
}

func TestCheck_addresses(t *testing.T) {
	for name, c := range map[string]struct {
		settings Notifications
		want     string // part of the error; empty: none
	}{
		"known":            {Notifications{Notify: []string{"ntfy://ntfy.sh/t", "desktop", "generic+https://x/y", "smtp://a:b@h:25/?from=a@b&to=c@d"}}, ""},
		"misspelt":         {Notifications{Notify: []string{"desktop", "nfty://ntfy.sh/secret"}}, "NOTIFY: entry 2 names no service; allowed are desktop, and addresses such as"},
		"no service":       {Notifications{Notify: []string{"https://ntfy.sh/t"}}, "to POST to it: generic+https://"},
		"nothing after it": {Notifications{Notify: []string{"ntfy://"}}, "NOTIFY: entry 1 has nothing after ntfy://"},
		"custom address":   {Notifications{Notify: []string{"ntfy+https://x/y"}}, "has a + in ntfy+https; only generic, notifiarr, teams take one"},
		"quiet all day":    {Notifications{Quiet: "22:00-22:00"}, "ends when it begins"},
		"hook":             {Notifications{Webhooks: []string{"https://"}}, "WEBHOOKS: entry 1"},
		"webhook":          {Notifications{Replies: []string{"webhook://127.0.0.1:80/x"}, ReplyToken: "12345678"}, "REPLIES: entry 1 is not allowed"},
		"short token":      {Notifications{Replies: []string{"ntfy://ntfy.sh/t"}, ReplyToken: "1234567"}, "REPLY_TOKEN has 7 characters: REPLIES needs at least 8"},
		"two words":        {Notifications{Replies: []string{"ntfy://ntfy.sh/t"}, ReplyToken: "1234 5678"}, "without spaces"},
	} {
		err := c.settings.Check(nil)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error names the address: %v", name, err)
		}
	}
}
