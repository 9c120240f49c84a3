package monitor

import (
	"fmt"
	"strings"
	"time"

	"ralph/state"
)

// checksText names each check with its latest result; a red one since when.
func checksText(checks []state.CheckStatus, now time.Time) string {
	var all []string
	for _, c := range checks {
		text := fmt.Sprintf("%s %s", oneLine(c.Name), c.Result)
		switch {
		case c.Result == "running":
			text += fmt.Sprintf(" %.0fs", max(now.Sub(c.StartedAt).Seconds(), 0))
		case !c.RedSince.IsZero():
			text += " since " + clock(c.RedSince, now)
		default:
			text += fmt.Sprintf(" %.1fs", c.Seconds)
		}
		all = append(all, text)
	}
	return strings.Join(all, " · ")
}
