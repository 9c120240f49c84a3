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
		"epoch after a bar":         {"Claude AI usage limit reached|1753441200", evening, time.Unix(1753441200, 0)},
		"epoch zero":                {"Claude AI usage limit reached|0", evening, time.Time{}},
		"epoch in milliseconds":     {"limit reached|1753441200000", evening, time.Unix(1753441200, 0)},
		"epoch in a JSON body":      {`429 {"error":{"message":"The usage limit has been reached","resets_at":1795157070}}`, evening, time.Unix(1795157070, 0)},
		"clock in UTC":              {"You've hit your 5-hour limit · resets 4:49am (UTC)", evening, time.Date(2026, 11, 21, 4, 49, 0, 0, time.UTC)},
		"clock in another zone":     {"Your limit will reset at 10am (America/Lima).", evening, time.Date(2026, 11, 21, 10, 0, 0, 0, lima)},
		"zone ahead of ours":        {"Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade", evening, time.Date(2026, 11, 21, 10, 0, 0, 0, seoul)},
		"local clock":               {"5-hour limit reached ∙ resets 2am", evening, time.Date(2026, 11, 21, 2, 0, 0, 0, berlin)},
		"after midnight":            {"resets 2:30am", evening, time.Date(2026, 11, 21, 2, 30, 0, 0, berlin)},
		"later today":               {"resets 11:30pm", evening, time.Date(2026, 11, 20, 23, 30, 0, 0, berlin)},
		"this very minute":          {"resets 11pm", evening.Add(20 * time.Second), time.Date(2026, 11, 20, 23, 1, 0, 0, berlin)},
		"noon":                      {"resets 12pm", evening, time.Date(2026, 11, 21, 12, 0, 0, 0, berlin)},
		"midnight":                  {"resets 12am", evening, time.Date(2026, 11, 21, 0, 0, 0, 0, berlin)},
		"date and zone":             {"resets Nov 23, 3:09pm (Europe/Rome)", evening, time.Date(2026, 11, 23, 15, 9, 0, 0, zone(t, "Europe/Rome"))},
		"date, whole hour":          {"You've hit your limit · resets Nov 23, 5pm (UTC)", evening, time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC)},
		"date with at":              {"resets Nov 23 at 3:09 pm (UTC)", evening, time.Date(2026, 11, 23, 15, 9, 0, 0, time.UTC)},
		"date over the new year":    {"resets Jan 2, 9am", time.Date(2026, 12, 30, 8, 0, 0, 0, berlin), time.Date(2027, 1, 2, 9, 0, 0, 0, berlin)},
		"date just past":            {"resets Nov 20, 10pm", evening, time.Date(2026, 11, 20, 22, 0, 0, 0, berlin)},
		"date with a year":          {"try again at Nov 23rd, 2026 4:59 AM.", evening, time.Date(2026, 11, 23, 4, 59, 0, 0, berlin)},
		"codex":                     {"Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:59 AM.", evening, time.Date(2026, 11, 21, 4, 59, 0, 0, berlin)},
		"24-hour clock":             {"resets at 14:05 UTC", evening, time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)},
		"time stamp":                {"try again after 2026-11-21T05:00:00Z", evening, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)},
		"span":                      {"Limit resets in 2h 15m", evening, evening.Add(135 * time.Minute)},
		"span in words":             {"try again in 2 hours and 5 minutes", evening, evening.Add(125 * time.Minute)},
		"days":                      {"try again in 1 day 3 hours", evening, evening.Add(27 * time.Hour)},
		"part of a second":          {"Please try again in 1.054s.", evening, evening.Add(1054 * time.Millisecond)},
		"milliseconds":              {"Please try again in 380ms.", evening, evening.Add(380 * time.Millisecond)},
		"retry after":               {"retry after 30 seconds", evening, evening.Add(30 * time.Second)},
		"unknown zone":              {"resets 2am (Mars/Base)", evening, time.Date(2026, 11, 21, 2, 0, 0, 0, berlin)},
		"spring forward":            {"resets 2:30am", time.Date(2026, 3, 28, 23, 0, 0, 0, berlin), time.Date(2026, 3, 29, 3, 30, 0, 0, berlin)},
		"autumn back":               {"resets 9am", time.Date(2026, 10, 24, 23, 0, 0, 0, berlin), time.Date(2026, 10, 25, 9, 0, 0, 0, berlin)},
		"hour out of range":         {"resets 13pm", evening, time.Time{}},
		"no time at all":            {"You've hit your org's monthly usage limit", evening, time.Time{}},
		"numbers that are not time": {"210000 tokens > 200000 maximum", evening, time.Time{}},
		"absurd span":               {"in 99999999999999 days", evening, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, ok := resetTime(c.text, c.now)
			if ok != !c.want.IsZero() || !got.Equal(c.want) {
				t.Errorf("got %v %v, want %v", got, ok, c.want)
			}
		})
	}
}

// at is a time of the table below.
func at(t *testing.T, stamp string) time.Time {
	t.Helper()
	if stamp == "" {
		return time.Time{}
	}
	got, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The clock of this machine says Friday, 20 November 2026, 15:00 in New York, which
// is 20:00 UTC.
func TestResetTime_wordingsOfCLIs(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, zone(t, "America/New_York"))
	for text, want := range map[string]string{
		// Claude Code, by subscription
		"Claude AI usage limit reached|1795240800":                                                             "2026-11-21T06:00:00Z",
		"Claude usage limit reached. Your limit will reset at 10am (America/Lima).":                            "2026-11-21T15:00:00Z",
		"Claude usage limit reached. Your limit will reset at 7pm (Asia/Tokyo).":                               "2026-11-21T10:00:00Z",
		"Claude usage limit reached. Your limit will reset at 11pm.":                                           "2026-11-21T04:00:00Z",
		"Claude usage limit reached. Your limit will reset Nov 24 at 3pm (Europe/Berlin).":                     "2026-11-24T14:00:00Z",
		"5-hour limit reached ∙ resets 2am":                                                                    "2026-11-21T07:00:00Z",
		"5-hour limit reached ∙ resets 8pm":                                                                    "2026-11-21T01:00:00Z",
		"Session limit reached ∙ resets 5:32am":                                                                "2026-11-21T10:32:00Z",
		"Session limit reached ∙ resets 5:32am (UTC)":                                                          "2026-11-21T05:32:00Z",
		"Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max":                                    "2026-11-21T01:00:00Z",
		"You've hit your limit · resets 4:50am (Europe/Rome)":                                                  "2026-11-21T03:50:00Z",
		"You've hit your session limit · resets 8:37pm (Pacific/Auckland)":                                     "2026-11-21T07:37:00Z",
		"You've hit your session limit · resets 8:20pm (Europe/Istanbul)":                                      "2026-11-21T17:20:00Z",
		"You've hit your 5-hour limit · resets 4:49am (UTC)":                                                   "2026-11-21T04:49:00Z",
		"You've hit your weekly limit · resets Nov 23, 3:09pm (UTC)":                                           "2026-11-23T15:09:00Z",
		"You've hit your weekly limit · resets Nov 23 at 3:09pm (Asia/Kolkata)":                                "2026-11-23T09:39:00Z",
		"You've hit your weekly limit · resets Monday, 9am (UTC)":                                              "2026-11-23T09:00:00Z",
		"You've hit your weekly limit · resets Tue 9am (Europe/London)":                                        "2026-11-24T09:00:00Z",
		"You've hit your weekly limit · resets Fri 9pm (UTC)":                                                  "2026-11-20T21:00:00Z",
		"You've hit your weekly limit · resets Fri 7pm (UTC)":                                                  "2026-11-27T19:00:00Z",
		"Opus weekly limit reached ∙ resets Nov 29, 5pm":                                                       "2026-11-29T22:00:00Z",
		"Opus weekly limit reached ∙ resets Jan 2, 5pm":                                                        "2027-01-02T22:00:00Z",
		"Spending cap reached resets 4:56am":                                                                   "2026-11-21T09:56:00Z",
		"Spending cap reached resets Nov 23, 3:09pm":                                                           "2026-11-23T20:09:00Z",
		"You're out of extra usage · resets 9pm":                                                               "2026-11-21T02:00:00Z",
		"You're out of extra usage · resets Dec 1, 12am (UTC)":                                                 "2026-12-01T00:00:00Z",
		"Usage limit reached. Resets tomorrow at 9am (UTC)":                                                    "2026-11-21T09:00:00Z",
		"Usage limit reached. Resets today at 11:30 PM":                                                        "2026-11-21T04:30:00Z",
		"You will regain access on 2026-12-01 at 00:00 UTC.":                                                   "2026-12-01T00:00:00Z",
		"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.": "2026-12-01T00:00:00Z",
		"You will regain access on 2026-12-01.":                                                                "2026-12-01T05:00:00Z",
		"You will regain access on December 1, 2026 at 12:00 AM UTC.":                                          "2026-12-01T00:00:00Z",
		"You will regain access on December 1, 2026.":                                                          "2026-12-01T05:00:00Z",
		"Your limit resets on 1 December 2026":                                                                 "2026-12-01T05:00:00Z",
		"Your limit resets on 1 Dec 2026, 09:30 UTC":                                                           "2026-12-01T09:30:00Z",
		"Your limit resets on Dec 1":                                                                           "2026-12-01T05:00:00Z",
		"Your monthly limit resets December 1 (UTC)":                                                           "2026-12-01T00:00:00Z",
		// Codex
		"You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:59 AM.":                                 "2026-11-21T09:59:00Z",
		"You’ve hit your usage limit. Try again at Nov 25th, 2026 4:59 AM.":                                                                                       "2026-11-25T09:59:00Z",
		"You've hit your usage limit. Try again in 3 days 2 hours 5 minutes.":                                                                                     "2026-11-23T22:05:00Z",
		"You've hit your usage limit. Upgrade to Pro or try again in 1 hour 12 minutes.":                                                                          "2026-11-20T21:12:00Z",
		"You've hit your usage limit. Try again on Tuesday at 9:00 AM.":                                                                                           "2026-11-24T14:00:00Z",
		"You've hit your usage limit. Try again on Tuesday, December 1, 2026 at 9:00 AM PST.":                                                                     "2026-12-01T17:00:00Z",
		`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"pro","resets_at":1795157070,"resets_in_seconds":3600}}`: "2026-11-20T06:44:30Z",
		`{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}`:                                                                                       "2026-11-20T21:00:00Z",
		"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 3000. Please try again in 1.054s.":        "2026-11-20T20:00:01.054Z",
		"Rate limit reached for requests per day (RPD): Limit 200, Used 200. Please try again in 7m12s.":                                                          "2026-11-20T20:07:12Z",
		"Rate limit reached. Please try again in 2h32m12s.":                                                                                                       "2026-11-20T22:32:12Z",
		"Rate limit reached. Please try again in 6m0s.":                                                                                                           "2026-11-20T20:06:00Z",
		"Rate limit reached. Please try again in 1d2h3m4.5s.":                                                                                                     "2026-11-21T22:03:04.5Z",
		"Rate limit reached. Please try again in 380ms.":                                                                                                          "2026-11-20T20:00:00.38Z",
		// Gemini
		"You have exhausted your capacity on this model. Your quota will reset after 2h32m12s.":                                     "2026-11-20T22:32:12Z",
		"You have exhausted your capacity on this model. Your quota will reset after 14h59m3s.":                                     "2026-11-21T10:59:03Z",
		"Quota exceeded. Please retry in 37.224s.":                                                                                  "2026-11-20T20:00:37.224Z",
		`"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]`:                                       "2026-11-20T20:00:37Z",
		"You have exhausted your daily quota on this model.":                                                                        "",
		"Quota exceeded for quota metric 'Requests' and limit 'Requests per day per user' of service 'cloudcode-pa.googleapis.com'": "",
		"Quota exceeded for quota metric 'Requests' and limit 'Requests per minute per user per region'":                            "",
		"You exceeded your current quota, please check your plan and billing details.":                                              "",
		"Your daily limit resets at midnight Pacific time.":                                                                         "2026-11-21T08:00:00Z",
		"Quota resets at 12:00 AM PST":                                                                                              "2026-11-21T08:00:00Z",
		"Quota resets at midnight UTC":                                                                                              "2026-11-21T00:00:00Z",
		// Others
		"rate limited, retry after 30 seconds":                                                                  "2026-11-20T20:00:30Z",
		"429 Too Many Requests (Retry-After: 120)":                                                              "2026-11-20T20:02:00Z",
		"x-ratelimit-reset: 1795240800000\nretry-after: 3600":                                                   "2026-11-21T06:00:00Z",
		"x-ratelimit-reset: 60\nretry-after: 3600":                                                              "2026-11-20T21:00:00Z",
		"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 43154 seconds before retrying.": "2026-11-21T07:59:14Z",
		"retry-after: 3600":                                   "2026-11-20T21:00:00Z",
		"Retrying in 120s… Rate limit reached":                "2026-11-20T20:02:00Z",
		"Limit resets in 2h 15m":                              "2026-11-20T22:15:00Z",
		"Limit resets in about 2 hours":                       "2026-11-20T22:00:00Z",
		"Limit resets in an hour":                             "2026-11-20T21:00:00Z",
		"available again at 2026-11-21T05:00:00Z":             "2026-11-21T05:00:00Z",
		"available again at 2026-11-21T05:00:00.123+02:00":    "2026-11-21T03:00:00.123Z",
		"available again at 2026-11-21 05:00:00 UTC":          "2026-11-21T05:00:00Z",
		"available again at 2026-11-21 05:00":                 "2026-11-21T10:00:00Z",
		"The limit resets at 14:05 UTC":                       "2026-11-21T14:05:00Z",
		"The limit resets at 21:05-23:05":                     "2026-11-21T02:05:00Z",
		"The limit resets at 21:05":                           "2026-11-21T02:05:00Z",
		"The limit resets at 9:00 p.m. EST":                   "2026-11-21T02:00:00Z",
		"The limit resets at 9 AM CET":                        "2026-11-21T08:00:00Z",
		"The limit resets at 9 AM UTC+2":                      "2026-11-21T07:00:00Z",
		"The limit resets at 9 AM GMT+2":                      "2026-11-21T07:00:00Z",
		"The limit resets at 9:00 (UTC-5)":                    "2026-11-21T14:00:00Z",
		"The limit resets at 9 AM (UTC−03:30)":                "2026-11-21T12:30:00Z",
		"The limit resets at 09:00 +0530":                     "2026-11-21T03:30:00Z",
		"resets 9am (+05:45)":                                 "2026-11-21T03:15:00Z",
		"resets 9am (-3)":                                     "2026-11-21T12:00:00Z",
		"resets Nov 23, 9am +0100":                            "2026-11-23T08:00:00Z",
		"available again at 2026-11-21 05:00 UTC+2":           "2026-11-21T03:00:00Z",
		"available again at 2026-11-21 05:00:00 +0530":        "2026-11-20T23:30:00Z",
		"available again at 2026-11-21 05:00 (Europe/Berlin)": "2026-11-21T04:00:00Z",
		"available again at 2026-11-21 05:00 PST":             "2026-11-21T13:00:00Z",
		"The limit resets at 9 AM AEST":                       "2026-11-20T23:00:00Z",
		"The limit resets at 9 AM (SGT)":                      "2026-11-21T01:00:00Z",
		"The limit resets at 9 AM XYZ.":                       "2026-11-21T14:00:00Z",
		"The limit resets at 14:05 -3 requests left":          "2026-11-21T19:05:00Z",
		// More words for dates, zones and spans
		"try again tomorrow at 3am (Europe/Berlin)":                                       "2026-11-21T02:00:00Z",
		"Please wait 2 hours 5 min before trying again.":                                  "2026-11-20T22:05:00Z",
		"Rate limit resets in 2 hours 5 min.":                                             "2026-11-20T22:05:00Z",
		"Your quota resets on Monday at 08:00 CET":                                        "2026-11-23T07:00:00Z",
		"Usage resets Thursday, 26 November at 18:30 (UTC+01:00)":                         "2026-11-26T17:30:00Z",
		"limit will reset at 2026-11-21T08:15:00+05:30":                                   "2026-11-21T02:45:00Z",
		"quota reset time: 2026-11-21T08:15:00.000-0800":                                  "2026-11-21T16:15:00Z",
		"x-ratelimit-reset: 1795240800":                                                   "2026-11-21T06:00:00Z",
		"x-ratelimit-reset-requests: 6m0s":                                                "2026-11-20T20:06:00Z",
		"anthropic-ratelimit-unified-reset: 1795240800":                                   "2026-11-21T06:00:00Z",
		"Retry-After: Sat, 21 Nov 2026 07:28:00 GMT":                                      "2026-11-21T07:28:00Z",
		"You've exceeded your premium request allowance. Resets on December 1st.":         "2026-12-01T05:00:00Z",
		"You have been rate limited. Please wait 45 minutes.":                             "2026-11-20T20:45:00Z",
		"Too many requests. Available again in 1 hr 30 min":                               "2026-11-20T21:30:00Z",
		"Daily quota used. Resets 0:00 UTC":                                               "2026-11-21T00:00:00Z",
		"Quota will be refreshed at 00:00 (Asia/Shanghai)":                                "2026-11-21T16:00:00Z",
		"Try again next Tuesday at 9 AM":                                                  "2026-11-24T14:00:00Z",
		"You can try again on 11/25/2026 at 9:00 AM":                                      "2026-11-25T14:00:00Z",
		"You can try again on 12/1/2026, 9:00:00 AM":                                      "2026-12-01T14:00:00Z",
		"You can try again on 25.11.2026 09:00":                                           "2026-11-25T14:00:00Z",
		"Please wait until 3 a.m. tomorrow.":                                              "2026-11-21T08:00:00Z",
		"You will regain access at 9:00 AM on December 1.":                                "2026-12-01T14:00:00Z",
		"You will regain access at 00:00 UTC on 2026-12-01.":                              "2026-12-01T00:00:00Z",
		"You will regain access at 00:00 UTC on December 1, 2026.":                        "2026-12-01T00:00:00Z",
		"Limit resets 9am tomorrow":                                                       "2026-11-21T14:00:00Z",
		"You can use Opus again at 6:00 PM on Sunday":                                     "2026-11-22T23:00:00Z",
		"Limit resets Nov 30 15:00 UTC":                                                   "2026-11-30T15:00:00Z",
		"Limit resets 30 Nov, 15:00 UTC":                                                  "2026-11-30T15:00:00Z",
		"Limit resets 30-Nov-2026 15:00 UTC":                                              "2026-11-30T15:00:00Z",
		"Limit resets Mon Nov 23 2026 08:00:00 GMT+0100 (Central European Standard Time)": "2026-11-23T07:00:00Z",
		"Limit resets Mon Nov 23 08:00:00 2026":                                           "2026-11-23T13:00:00Z",
		"Limit resets in 04:12:33":                                                        "2026-11-21T00:12:33Z",
		"Resets in: 3h 20m":                                                               "2026-11-20T23:20:00Z",
		"Quota resets in ~2h":                                                             "2026-11-20T22:00:00Z",
		"Resets in 1.5 hours":                                                             "2026-11-20T21:30:00Z",
		`"quotaResetDelay":"13h19m1.2s"`:                                                  "2026-11-21T09:19:01.2Z",
		`"quotaResetTimeStamp":"2026-11-22T11:05:00Z"`:                                    "2026-11-22T11:05:00Z",
		"resets at 5:00:00 PM EST":                                                        "2026-11-20T22:00:00Z",
		"resetTime: Nov 21, 2026, 3:00:00 AM":                                             "2026-11-21T08:00:00Z",
		"limit will reset at Fri Nov 27 2026 10:00:00 UTC":                                "2026-11-27T10:00:00Z",
		"Come back at 17:00.":                                                             "2026-11-20T22:00:00Z",
		"available again at 5pm today":                                                    "2026-11-20T22:00:00Z",
		"Your limit resets in 1 week":                                                     "2026-11-27T20:00:00Z",
		"Try again in 2 weeks 1 day":                                                      "2026-12-05T20:00:00Z",
		"Usage limit reached for 5 hour. Your limit will reset at 2026-11-21 03:15:27":    "2026-11-20T19:15:27Z",
		"您已达到 5 小时的使用上限。您的限额将在 2026-11-21 03:15:27 重置。":                                   "2026-11-20T19:15:27Z",
		"Try again in two hours":                                                          "2026-11-20T22:00:00Z",
		"Try again in half an hour":                                                       "2026-11-20T20:30:00Z",
		"Try again in an hour and 15 minutes":                                             "2026-11-20T21:15:00Z",
		"retry_after_ms: 45000":                                                           "2026-11-20T20:00:45Z",
		"Retry after 90s":                                                                 "2026-11-20T20:01:30Z",
		"Retry-After: 90 seconds":                                                         "2026-11-20T20:01:30Z",
		"resets tonight at 11pm":                                                          "2026-11-21T04:00:00Z",
		"Limit resets at noon on Saturday (UTC)":                                          "2026-11-21T12:00:00Z",
		"Limit resets at 9AM (JST)":                                                       "2026-11-21T00:00:00Z",
		"Limit resets at 9 AM Pacific Time":                                               "2026-11-21T17:00:00Z",
		"Limit resets at 9 AM America/Los_Angeles":                                        "2026-11-21T17:00:00Z",
		"Limit resets at 09:00 Europe/Berlin":                                             "2026-11-21T08:00:00Z",
		"Limit resets in 3 days, 2 hours, and 5 minutes":                                  "2026-11-23T22:05:00Z",
		"Limit resets Nov. 30th at 9am":                                                   "2026-11-30T14:00:00Z",
		"Limit resets Sept 3, 2027":                                                       "2027-09-03T04:00:00Z",
		"Limit resets on the 1st of December":                                             "2026-12-01T05:00:00Z",
		"Limit resets on the 1st":                                                         "",
		"2026-11-20 04:00:00 ERROR Rate limit reached. Try again in 2h":                   "2026-11-20T22:00:00Z",
		"[2026-11-20 04:00:00,123] ERROR Rate limit reached. Resets at 5pm":               "2026-11-20T22:00:00Z",
		"2026/11/20 04:00:00 rate limit reached":                                          "",
		"Rate limit for gpt-4o-2024-08-06 resets 5pm":                                     "2026-11-20T22:00:00Z",
		"You can try again on 12/1/2026, 09:00":                                           "",
		"You can try again on 01/12/2026":                                                 "",
		"You can try again on 13/12/2026":                                                 "2026-12-13T05:00:00Z",
		"server 10.1.2.3: try again at 5pm":                                               "2026-11-20T22:00:00Z",
		"see https://x.y/2026/12/01 and try again at 5pm":                                 "2026-11-20T22:00:00Z",
		"Renews on 2026-12-01":                                                            "2026-12-01T05:00:00Z",
		"Rate limited. Wait 5 seconds":                                                    "2026-11-20T20:00:05Z",
		"retry-after-ms: 45000":                                                           "2026-11-20T20:00:45Z",
		"resets 9am PST/PDT":                                                              "2026-11-21T17:00:00Z",
		"resets 10am Pacific/Auckland":                                                    "2026-11-20T21:00:00Z",
		"resets 9am (US/Pacific)":                                                         "2026-11-21T17:00:00Z",
		"resets next Tuesday":                                                             "2026-11-24T05:00:00Z",
		"resets 2026-12-01T00:00Z":                                                        "2026-12-01T00:00:00Z",
		"resets 20261201T000000Z":                                                         "",
		"resets 2026/12/01 00:00 UTC":                                                     "2026-12-01T00:00:00Z",
		"available again at 2026-11-21 09:00 PM UTC":                                      "2026-11-21T21:00:00Z",
		"available again at 2026-11-21, 9:00 AM":                                          "2026-11-21T14:00:00Z",
		// No time, or one that cannot be read: unknown, not a guess
		"You've hit your org's monthly usage limit":                                                   "",
		"You've hit your individual spend limit · run /usage-credits to ask for more":                 "",
		"Claude AI usage limit reached|0":                                                             "",
		"API Error: Rate limit reached":                                                               "",
		"This request would exceed your organization's rate limit of 50,000 input tokens per minute.": "",
		"Limit of 5 requests for 1 day per user reached":                                              "",
		"50 requests in 1 minute per user":                                                            "",
		"Limit resets at 13pm":                                                                        "",
		"Limit resets on 2026-13-45 at 00:00 UTC":                                                     "",
		"Limit resets on February 30, 2027":                                                           "",
		"Limit resets at 9am (Mars/Base)":                                                             "2026-11-21T14:00:00Z",
		"2026-11-20T04:00:00Z ERROR Rate limit reached for gpt-4o-2024-08-06":                         "",
		"Rate limit reached for gpt-4o-2024-08-06. Please try again in 2s.":                           "2026-11-20T20:00:02Z",
		"Limit resetsſun 9am":                                                                         "",
		"Limit resets Sun 9am":                                                                        "2026-11-22T14:00:00Z",
		"Limit resets Sep 9, 2027 at 9am (UTC)":                                                       "2027-09-09T09:00:00Z",
		"Limit resets Mar 1, 9am (UTC)":                                                               "2027-03-01T09:00:00Z",
		"You have hit your limit. Your plan was changed on Oct 1.":                                    "",
		"usage limit reached; billed on March 3, resets in a while":                                   "",
		"limit reached: on Sat solver plan":                                                           "",
		"Limit resets on the next working day":                                                        "",
		"Request took 3 minutes for 5 tokens":                                                         "",
	} {
		got, _, ok := resetTime(text, now)
		if expected := at(t, want); ok != (want != "") || !got.Equal(expected) {
			t.Errorf("%q:\n got %v %v, want %v", text, got.UTC().Format(time.RFC3339Nano), ok, want)
		}
	}
}

func TestResetTime_datesWithoutYear(t *testing.T) {
	december := time.Date(2026, 12, 29, 22, 0, 0, 0, zone(t, "Europe/Berlin"))
	january := time.Date(2027, 1, 1, 0, 30, 0, 0, zone(t, "Europe/Berlin"))
	for _, c := range []struct {
		text string
		now  time.Time
		want string
	}{
		{"resets Jan 3 at 9am", december, "2027-01-03T08:00:00Z"},
		{"Your limit resets on January 1", december, "2026-12-31T23:00:00Z"},
		{"resets Dec 31, 11pm", december, "2026-12-31T22:00:00Z"},
		{"try again on 2 January at 07:30 UTC", december, "2027-01-02T07:30:00Z"},
		{"resets Fri, Jan 1, 12am (UTC)", december, "2027-01-01T00:00:00Z"},
		{"resets Dec 29, 9pm", december, "2026-12-29T20:00:00Z"},
		{"resets Thursday 6pm", december, "2026-12-31T17:00:00Z"},
		{"resets Dec 31, 11:59pm", january, "2026-12-31T22:59:00Z"},
		{"resets Jan 1, 12:15am", january, "2026-12-31T23:15:00Z"},
		{"resets Nov 30, 9am", january, "2027-11-30T08:00:00Z"},
	} {
		if got, _, ok := resetTime(c.text, c.now); !ok || !got.Equal(at(t, c.want)) {
			t.Errorf("%q at %s:\n got %v %v, want %v", c.text, c.now, got.UTC(), ok, c.want)
		}
	}
}

func FuzzResetTime(f *testing.F) {
	f.Add("resets 4:49am (UTC)", int64(1795150179))
	f.Add("Nov 23, 3:09pm (Europe/Rome)", int64(1795150179))
	f.Add("in 2h 15m", int64(0))
	f.Add("|1753441200", int64(1))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%4102444800, 0).UTC()
		at, _, ok := resetTime(text, now)
		if ok == at.IsZero() && ok {
			t.Errorf("%q: found the zero time", text)
		}
		if !ok && !at.IsZero() {
			t.Errorf("%q: %v without being found", text, at)
		}
	})
}

func TestUnknownZone(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, zone(t, "America/New_York"))
	for text, want := range map[string]string{
		"resets 9am (Mars/Base)": "Mars/Base", "Limit resets at 9 AM XYZ.": "XYZ", "until 2026-11-21 05:00 QQT": "QQT",
		"resets 9am (Europe/Rome)": "", "resets 9am": "", "resets 9am PST": "", "resets 9am UTC+2": "", "resets 9am +0530": "",
		"resets 9am API calls go on": "", "try again in 5 minutes": "", "no time": "",
	} {
		if _, got := Until([]string{text}, false, now); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A time without a zone is not later than the window allows, wherever the provider and this machine are.
func TestUntil_windowNamed_isNeverLongerThanThat(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, local := range []string{"UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Tokyo"} {
		here := now.In(zone(t, local))
		for text, want := range map[string]time.Duration{
			"Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-11-28 22:00:00":                            2 * time.Hour,
			"429 Usage limit reached for 5 hour. Your limit will reset at 2026-11-28 22:00:00":                        2 * time.Hour, // in Beijing
			`{"error":{"code":"1308","message":"Usage limit reached. Your limit will reset at 2026-11-28 22:00:00"}}`: 2 * time.Hour,
			"已达到 5 小时的使用上限。您的限额将在 2026-11-28 22:00:00 重置。":                                                            2 * time.Hour,
			"您的额度已用完，将于2026年11月28日 22:00 重置":                                                                          2 * time.Hour,
			"您的额度已用完，将于 11月28日22:00 恢复":                                                                               2 * time.Hour,
			"今日额度已用完，请在 3 小时 20 分钟后重试":                                                                                200 * time.Minute,
			"5-hour limit reached, resets 2026-11-30 09:00 UTC":                                                       5 * time.Hour,
			"Weekly limit reached, resets 2027-01-09T09:00:00Z":                                                       7 * 24 * time.Hour,
		} {
			at, _ := Until([]string{text}, true, here)
			if got := at.Sub(now); got != want {
				t.Errorf("%s, in %s: %s, want %s", text, local, got, want)
			}
		}
	}
}

func TestText_chineseWordings(t *testing.T) {
	for text, want := range map[string]Class{
		"已达到 5 小时的使用上限。您的限额将在 2026-01-02 15:04:05 重置。": UsageLimit,
		"已达到每周使用上限，您的限额将在 2026-01-02 15:04:05 重置":      UsageLimit,
		"您的套餐额度已用完":             UsageLimit,
		"当日配额已耗尽":               UsageLimit,
		"您的账户已达到速率限制，请您控制请求频率":  RateLimited,
		"您当前使用该API的并发数过高，请降低并发": RateLimited,
		"余额不足或无可用资源包，请充值":       NoCredit,
		"身份验证失败":                Auth,
		"该模型当前访问量过大，请您稍后再试":     Overloaded,
	} {
		if c := (Reader{}).Text(text); c != want {
			t.Errorf("%q: class %q, want %q", text, c, want)
		}
	}
}
