package touch

import (
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
		if got := (Settings{Quiet: c.quiet}).After(at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("%s at %s: %v", c.quiet, c.now, got)
		}
	}
	for _, bad := range []Settings{{Quiet: "22-7"}, {Notify: []string{"me"}}, {Webhooks: []string{"ftp://x"}}, {NotifyOn: []string{"never"}}, {WebhookEvents: []string{"x"}}} {
		if bad.Check([]string{"run_end"}) == nil {
			t.Errorf("accepted: %+v", bad.Quiet)
		}
	}
}
