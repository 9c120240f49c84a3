package pace

import (
	"math"
	"testing"
	"time"
	_ "time/tzdata" // for the zones of the tests
)

func TestAfter_timesOfDay_areTheNextOnes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones")
	}
	at := func(text string) time.Time {
		if text == "" {
			return time.Time{}
		}
		v, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tc := range []struct{ now, start, until, begin, end string }{
		{"2026-11-20 18:00", "23:00", "07:30", "2026-11-20 23:00", "2026-11-21 07:30"},
		{"2026-11-20 23:30", "23:00", "07:30", "2026-11-21 23:00", "2026-11-22 07:30"},
		{"2026-11-20 06:00", "", "07:30", "", "2026-11-20 07:30"},
		{"2026-11-20 18:00", "23:00", "22:30", "2026-11-20 23:00", "2026-11-21 22:30"},
		{"2026-11-20 23:00", "", "23:00", "", "2026-11-21 23:00"},
		{"2026-12-31 18:00", "0:05", "", "2027-01-01 00:05", ""},
		{"2026-03-28 23:00", "", "07:30", "", "2026-03-29 07:30"}, // the clocks are set forward
	} {
		h := Hours{StartAt: tc.start, Until: tc.until}.After(at(tc.now))
		if !h.Begin.Equal(at(tc.begin)) || !h.End.Equal(at(tc.end)) {
			t.Errorf("%+v: %v to %v", tc, h.Begin, h.End)
		}
	}
}

func TestLeft_waitForTheBeginning_doesNotCount(t *testing.T) {
	now := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	h := Hours{StartAt: "23:00", Until: "07:30"}.After(now)
	for _, tc := range []struct {
		after, most, left time.Duration
	}{
		{0, 2 * time.Hour, 2 * time.Hour},
		{6 * time.Hour, 2 * time.Hour, time.Hour},
		{6 * time.Hour, 0, 7*time.Hour + 30*time.Minute},
		{14 * time.Hour, 0, -30 * time.Minute},
	} {
		if got := h.Left(tc.most, now, now.Add(tc.after)); got != tc.left {
			t.Errorf("%+v: %s", tc, got)
		}
	}
	if got := (HoursWindow{}).Left(0, now, now); got != math.MaxInt64 {
		t.Error(got)
	}
}
