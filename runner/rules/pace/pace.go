// Package pace spreads calls over the usage windows of a subscription: from what the agent
// reports about them, it says whether the next call may begin. It is pure.
package pace

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ralph/state/option"
)

// Pacing is what a user can say about it.
type Pacing struct {
	Pace []string // entries that Parse takes; empty: no pacing
}

// Options are the rows of the option table that fill p.
func (p *Pacing) Options() []option.Row {
	return []option.Row{{
		Group: "Limits", Key: "PACE", Flag: "pace", Arg: "LIST", YAML: "limits.pace", Kind: option.List, Field: &p.Pace,
		Takes: func(entries []string) bool { _, err := Parse(entries); return err == nil }, What: allowed,
		Help: "How much of a usage window a run leaves to you: keep 30% of five_hour at 08:00, spread seven_day; " +
			"empty means no pacing.",
	}}
}

const allowed = "a comma list of: keep N% of WINDOW at TIME, spread WINDOW; " +
	"WINDOW is five_hour, seven_day or seven_day_MODEL, N is from 1 to 99"

// Rule is a line under which the use of one window stays.
type Rule struct {
	Window string
	Keep   float64 // share that is left At; 0: the use is spread over the window
	At     string  // time of day
}

// Parse reads the entries of the option.
func Parse(entries []string) (rules []Rule, err error) {
	for _, entry := range entries {
		words := strings.Fields(entry)
		r := Rule{}
		switch {
		case len(words) == 2 && words[0] == "spread":
			r.Window = words[1]
		case len(words) == 6 && words[0] == "keep" && words[2] == "of" && words[4] == "at":
			n, err := strconv.Atoi(strings.TrimSuffix(words[1], "%"))
			_, bad := time.Parse("15:04", words[5])
			if err != nil || bad != nil || n < 1 || n > 99 || !strings.HasSuffix(words[1], "%") {
				return nil, fmt.Errorf("%q is not %s", entry, allowed)
			}
			r = Rule{Window: words[3], Keep: float64(n) / 100, At: words[5]}
		}
		if _, _, ok := parts(r.Window); !ok {
			return nil, fmt.Errorf("%q is not %s", entry, allowed)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (r Rule) String() string {
	if r.Keep > 0 {
		return fmt.Sprintf("keep %.0f%% of %s at %s", r.Keep*100, r.Window, r.At)
	}
	return "spread " + r.Window
}

const week = 7 * 24 * time.Hour

// parts are the length of a window, and the model that it is for; empty: all of them.
func parts(window string) (length time.Duration, model string, ok bool) {
	switch {
	case window == "five_hour":
		return 5 * time.Hour, "", true
	case window == "seven_day":
		return week, "", true
	}
	model, ok = strings.CutPrefix(window, "seven_day_")
	return week, model, ok && model != "" && strings.Trim(model, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// covers is false for a model that the rule's window does not count. The agent's own
// default, whose name is not known, may be any.
func (r Rule) covers(model string) bool {
	_, of, _ := parts(r.Window)
	return of == "" || model == "" || strings.Contains(strings.ToLower(model), of)
}

// Line is the most that may be used, as a share, at now of a window that resets then.
func (r Rule) Line(reset, now time.Time) float64 {
	if r.Keep > 0 {
		if reset.After(r.next(now)) {
			return 1 - r.Keep
		}
		return 1
	}
	length, _, _ := parts(r.Window)
	return min(max(1-reset.Sub(now).Seconds()/length.Seconds(), 0), 1)
}

// next is the time of day after now at which the rest is to be there.
func (r Rule) next(now time.Time) time.Time { return Next(r.At, now) }

// until is when use that is now too much may go on.
func (r Rule) until(use float64, reset, now time.Time) time.Time {
	end := reset
	if r.Keep > 0 {
		end = r.next(now)
	} else {
		length, _, _ := parts(r.Window)
		end = reset.Add(-time.Duration((1 - min(use, 1)) * float64(length)))
	}
	if least := now.Add(time.Second); end.Before(least) { // rounding
		return least
	}
	return end
}
