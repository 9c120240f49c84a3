package config

import (
	"strings"
	"testing"
)

func TestCheck_badValues_areRefused(t *testing.T) {
	for _, bad := range []Notifications{{Notify: []string{"me"}}, {Webhooks: []string{"ftp://x"}}, {NotifyOn: []string{"never"}}, {WebhookEvents: []string{"x"}}} {
		if bad.Check([]string{"run_end"}) == nil {
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
		"misspelt":         {Notifications{Notify: []string{"desktop", "nfty://ntfy.sh/secret"}}, "NOTIFY: entry 2 names no service; allowed are desktop, and addresses such as"},
		"no service":       {Notifications{Notify: []string{"https://ntfy.sh/t"}}, "to POST to it: generic+https://"},
		"nothing after it": {Notifications{Notify: []string{"ntfy://"}}, "NOTIFY: entry 1 names no service; allowed are desktop"},
		"custom address":   {Notifications{Notify: []string{"ntfy+https://x/y"}}, "NOTIFY: entry 1 names no service; allowed are desktop"},
		"hook":             {Notifications{Webhooks: []string{"https://"}}, "WEBHOOKS: entry 1"},
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
