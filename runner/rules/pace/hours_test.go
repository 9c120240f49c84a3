package pace

import (
	"math"
	"testing"
	"time"
	_ "time/tzdata" // for the zones of the tests
)

func TestNext_timeOfDay_isTheNextOne(t *testing.T) {
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
	for _, tc := range []struct{ now, clock, next string }{
		{"2026-11-20 18:00", "07:30", "2026-11-21 07:30"},
		{"2026-11-20 06:00", "07:30", "2026-11-20 07:30"},
		{"2026-11-20 23:00", "23:00", "2026-11-21 23:00"},
		{"2026-12-31 18:00", "0:05", "2027-01-01 00:05"},
		{"2026-03-28 23:00", "07:30", "2026-03-29 07:30"}, // the clocks are set forward
		{"2026-11-20 18:00", "", ""},
	} {
		if got := Next(tc.clock, at(tc.now)); !got.Equal(at(tc.next)) {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestLeft_earlierOfBothBounds_counts(t *testing.T) {
	now := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	end := now.Add(13 * time.Hour)
	for _, tc := range []struct {
		after, most, left time.Duration
	}{
		{0, 2 * time.Hour, 2 * time.Hour},
		{time.Hour, 2 * time.Hour, time.Hour},
		{6 * time.Hour, 0, 7 * time.Hour},
		{14 * time.Hour, 0, -time.Hour},
	} {
		if got := Left(tc.most, now, end, now.Add(tc.after)); got != tc.left {
			t.Errorf("%+v: %s", tc, got)
		}
	}
	if got := Left(0, now, time.Time{}, now); got != math.MaxInt64 {
		t.Error(got)
	}
}
