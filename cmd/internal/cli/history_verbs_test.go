package cli

import (
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state/view"
)

func TestUnkept_eachReason_isOneSentence(t *testing.T) {
	repo := world.Project(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
	bare := t.TempDir()
	for _, test := range []struct {
		dir  string
		row  view.Iteration
		want string
	}{
		{repo, view.Iteration{Number: 3}, "iteration 3 is still running; what it changes is known when it ends"},
		{repo, view.Iteration{Number: 3, CutOff: true}, "iteration 3 was cut off, so nothing is kept of its end; see: git status"},
		{repo, view.Iteration{Number: 2}, "run r has no iteration 3; see: ralph iterations"},
		{repo, view.Iteration{Number: 3, Ended: time.Now()}, "nothing is kept of iteration 3: its agent was not called, or it is too long ago; see: ralph iterations"},
		{bare, view.Iteration{Number: 3, Ended: time.Now()}, "nothing is kept of iteration 3: " + bare + " is not a git repository"},
	} {
		p := &past{run: "r", dir: test.dir, events: []view.Iteration{test.row}}
		if got := p.unkept(3); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
