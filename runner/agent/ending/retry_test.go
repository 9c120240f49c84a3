package ending

import (
	"testing"
	"time"
)

func TestDelay_noticesOfCLIs(t *testing.T) {
	for notice, want := range map[string]time.Duration{
		"Retrying in 120s (attempt 2/10): [API Error: 429 Usage limit reached, resets in 3h]": 2 * time.Minute,
		"Retrying in 5s 429 Too Many Requests":                                                5 * time.Second,
		"Retrying in 5s 401 Unauthorized":                                                     5 * time.Second,
		"Retrying in 5 seconds 3 attempts left":                                               5 * time.Second,
		"Retrying in 60 seconds...":                                                           time.Minute,
		"retry 1 of 10 in 2m0.5s: 529 overloaded":                                             2*time.Minute + 500*time.Millisecond,
		"retry 3 of 10 in 1h0m0s":                                                             time.Hour,
		"Attempt 3 failed: retry in 1500ms":                                                   1500 * time.Millisecond,
		"Waiting 60s before retrying: usage limit reached, resets in 3h":                      time.Minute,
		"Will wait 2m 5s and retry":                                                           125 * time.Second,
		"Please wait 45 minutes.":                                                             0,
		"Reconnecting... 1/5":                                                                 0,
		"Retrying with backoff":                                                               0,
		"the CLI retries by itself":                                                           0,
	} {
		if got := Delay(notice); got != want {
			t.Errorf("%s: %s, want %s", notice, got, want)
		}
	}
}
