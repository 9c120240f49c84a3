package tmux

import (
	"fmt"
	"strings"
	"testing"
)

func TestOpen_windowOfAnotherSize_keepsTheSharesOfThePanes(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	l.Width, l.Height = 200, 50
	s := open(t, c, l)
	read(t, out)
	at := func() string {
		where, err := c.ask(t.Context(), "list-panes", "-t", s.ID, "-F", "#{pane_id} #{pane_width}x#{pane_height} #{pane_left},#{pane_top}")
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(s.Runner, "runner", s.Monitor, "monitor", "\n", "; ").Replace(where)
	}
	for _, step := range []struct {
		w, h int
		want string
	}{
		{110, 30, "runner 36x30 0,0; monitor 73x30 37,0"},
		{80, 24, "monitor 80x17 0,0; runner 80x6 0,18"},
		{60, 15, "monitor 60x11 0,0; runner 60x3 0,12"},
		{200, 50, "runner 66x50 0,0; monitor 133x50 67,0"},
	} {
		if _, err := c.ask(t.Context(), "resize-window", "-t", s.Monitor, "-x", fmt.Sprint(step.w), "-y", fmt.Sprint(step.h)); err != nil {
			t.Skip("this tmux cannot resize a window by itself:", err)
		}
		until(t, step.want, func() bool { return at() == step.want })
	}
}
