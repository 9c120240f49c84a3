package notify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A server that fails is asked less and less, one that answers again as often as before.
func TestKeepLooking_serverThatFails_isAskedLessAndLess(t *testing.T) {
	for name, c := range map[string]struct {
		bad      int // answers that are failures
		min, max int // looks in half an hour
	}{"always": {1 << 40, 8, 16}, "six times": {6, 300, 600}, "never": {0, 600, 601}} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			w := &Watch{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			asked := 0
			w.keepLooking(ctx, func(context.Context) ([]received, error) {
				if asked++; asked <= c.bad {
					return nil, errors.New("no route")
				}
				return nil, nil
			})
			if asked < c.min || asked > c.max {
				t.Errorf("%s: %d looks, want %d to %d", name, asked, c.min, c.max)
			}
			if n := strings.Count(log.String(), "cannot be read"); n != min(asked, c.bad) {
				t.Errorf("%s: %d lines for %d looks", name, n, asked)
			}
		})
	}
}
