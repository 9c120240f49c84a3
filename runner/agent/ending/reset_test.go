package ending

import (
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestResetTime(t *testing.T) {
	berlin, lima, seoul := zone(t, "Europe/Berlin"), zone(t, "America/Lima"), zone(t, "Asia/Seoul")
	evening := time.Date(2026, 11, 20, 23, 0, 0, 0, berlin)
	for name, c := range map[string]struct {
		text string
		now  time.Time
		want time.Time // zero: none
	}{
		"epoch after a bar":        {"Claude AI usage limit reached|1753441200", evening, time.Unix(1753441200, 0)},
		"epoch zero":               {"Claude AI usage limit reached|0", evening, time.Time{}},
		"epoch in milliseconds":    {"limit reached|1753441200000", evening, time.Unix(1753441200, 0)},
		"epoch in a JSON body":     {`429 {"error":{"message":"The usage limit has been reached","resets_at":1795157070}}`, evening, time.Unix(1795157070, 0)},
		"clock in UTC":             {"You've hit your 5-hour limit · resets 4:49am (UTC)", evening, time.Date(2026, 11, 21, 4, 49, 0, 0, time.UTC)},
		"clock in another zone":    {"Your limit will reset at 10am (America/Lima).", evening, time.Date(2026, 11, 21, 10, 0, 0, 0, lima)},
		"zone ahead of ours":       {"Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade", evening, time.Date(2026, 11, 21, 10, 0, 0, 0, seoul)},
		"local clock":              {"5-hour limit reached ∙ resets 2am", evening, time.Date(2026, 11, 21, 2, 0, 0, 0, berlin)},
		"after midnight":           {"resets 2:30am", evening, time.Date(2026, 11, 21, 2, 30, 0, 0, berlin)},
		"later today":              {"resets 11:30pm", evening, time.Date(2026, 11, 20, 23, 30, 0, 0, berlin)},
		"this very minute":         {"resets 11pm", evening.Add(20 * time.Second), time.Date(2026, 11, 20, 23, 1, 0, 0, berlin)},
		"noon":                     {"resets 12pm", evening, time.Date(2026, 11, 21, 12, 0, 0, 0, berlin)},
		"midnight":                 {"resets 12am", evening, time.Date(2026, 11, 21, 0, 0, 0, 0, berlin)},
		"date and zone":            {"resets Nov 23, 3:09pm (Europe/Rome)", evening, time.Date(2026, 11, 23, 15, 9, 0, 0, zone(t, "Europe/Rome"))},
		"date, whole hour":         {"You've hit your limit · resets Nov 23, 5pm (UTC)", evening, time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC)},
		"date with at":             {"resets Nov 23 at 3:09 pm (UTC)", evening, time.Date(2026, 11, 23, 15, 9, 0, 0, time.UTC)},
		"date over the new year":   {"resets Jan 2, 9am", time.Date(2026, 12, 30, 8, 0, 0, 0, berlin), time.Date(2027, 1, 2, 9, 0, 0, 0, berlin)},
		"date just past":           {"resets Nov 20, 10pm", evening, time.Date(2026, 11, 20, 22, 0, 0, 0, berlin)},
		"date with a year":         {"try again at Nov 23rd, 2026 4:59 AM.", evening, time.Date(2026, 11, 23, 4, 59, 0, 0, berlin)},
		"codex":                    {"Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:59 AM.", evening, time.Date(2026, 11, 21, 4, 59, 0, 0, berlin)},
		"24-hour clock":            {"resets at 14:05 UTC", evening, time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)},
		"time stamp":               {"try again after 2026-11-21T05:00:00Z", evening, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)},
		"span":                     {"Limit resets in 2h 15m", evening, evening.Add(135 * time.Minute)},
		"span in words":            {"try again in 2 hours and 5 minutes", evening, evening.Add(125 * time.Minute)},
		"days":                     {"try again in 1 day 3 hours", evening, evening.Add(27 * time.Hour)},
		"part of a second":         {"Please try again in 1.054s.", evening, evening.Add(1054 * time.Millisecond)},
		"milliseconds":             {"Please try again in 380ms.", evening, evening.Add(380 * time.Millisecond)},
		"retry after":              {"retry after 30 seconds", evening, evening.Add(30 * time.Second)},
		"unknown zone":             {"resets 2am (Mars/Base)", evening, time.Date(2026, 11, 21, 2, 0, 0, 0, berlin)},
		"spring forward":           {"resets 2:30am", time.Date(2026, 3, 28, 23, 0, 0, 0, berlin), time.Date(2026, 3, 29, 3, 30, 0, 0, berlin)},
		"autumn back":              {"resets 9am", time.Date(2026, 10, 24, 23, 0, 0, 0, berlin), time.Date(2026, 10, 25, 9, 0, 0, 0, berlin)},
		"hour out of range":        {"resets 13pm", evening, time.Time{}},
		"no time at all":           {"You've hit your org's monthly usage limit", evening, time.Time{}},
		"numbers that are no time": {"210000 tokens > 200000 maximum", evening, time.Time{}},
		"absurd span":              {"in 99999999999999 days", evening, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ResetTime(c.text, c.now)
			if ok != !c.want.IsZero() || !got.Equal(c.want) {
				t.Errorf("got %v %v, want %v", got, ok, c.want)
			}
		})
	}
}

func FuzzResetTime(f *testing.F) {
	f.Add("resets 4:49am (UTC)", int64(1795150179))
	f.Add("Nov 23, 3:09pm (Europe/Rome)", int64(1795150179))
	f.Add("in 2h 15m", int64(0))
	f.Add("|1753441200", int64(1))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%4102444800, 0).UTC()
		at, ok := ResetTime(text, now)
		if ok == at.IsZero() && ok {
			t.Errorf("%q: found the zero time", text)
		}
		if !ok && !at.IsZero() {
			t.Errorf("%q: %v without being found", text, at)
		}
	})
}
