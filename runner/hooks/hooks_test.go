package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/ptyexec"
	"ralph/runner/sandbox"
	"ralph/state"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}

func TestAt_pointWithoutHooks_costsNothing(t *testing.T) {
	s := Set{Hooks: []Hook{{Point: PostTask, Command: "exit 1"}}}
	for _, set := range []*Set{{}, &s} {
		n := testing.AllocsPerRun(100, func() {
			set.At(t.Context(), PreTask, func() Facts { t.Error("the facts were gathered"); return Facts{} })
		})
		if n > 1 {
			t.Errorf("%.0f allocations", n)
		}
	}
}

func TestAnswered_onlyOneObjectAtTheEnd(t *testing.T) {
	for output, want := range map[string]Answer{
		"": {}, "done": {}, "{}": {}, `{"other": 1}`: {}, `"block"`: {}, `{"block": "yes"}`: {},
		"{\n \"block\": true,\n \"reason\": \"r\"\n}\n": {Block: true, Reason: "r"},
		"building\n{\"note\": \"n\"}\n\n":               {Note: "n"},
		"{\"note\": \"n\"}\nlast":                       {},
	} {
		if got := parseAnswer(output); got != want {
			t.Errorf("%q: %+v, want %+v", output, got, want)
		}
	}
	if got := parseAnswer(`{"note": "` + strings.Repeat("x", 1<<20) + `"}`); len(got.Note) > maxNote+10 {
		t.Errorf("a note of %d bytes", len(got.Note))
	}
}

func TestAt_when_runsOnlyForFilesThatMatch(t *testing.T) {
	dir := t.TempDir()
	var ran []string
	s := Set{Dir: dir, Env: os.Environ(), Emit: func(p state.Payload) {
		if h, ok := p.(state.Hook); ok {
			ran = append(ran, h.Command)
		}
	}, Hooks: []Hook{{Point: PostTask, Command: "true go", When: []string{"*.go"}}, {Point: PostTask, Command: "true web", When: []string{"web/**"}}}}
	s.At(t.Context(), PostTask, func() Facts { return Facts{Files: []string{"web/a.ts"}} })
	if got := strings.Join(ran, ","); got != "true web" {
		t.Errorf("ran %s", got)
	}
}

func TestAt_afterOneThatBlocks_theOthersDoNotRun(t *testing.T) {
	dir := t.TempDir()
	s := Set{Dir: dir, Env: os.Environ(), Emit: func(state.Payload) {}, Hooks: []Hook{
		{Point: PreTask, Command: `echo '{"block": true}'`}, {Point: PreTask, Command: "touch second"}}}
	if v := s.At(t.Context(), PreTask, func() Facts { return Facts{} }); !v.Block || v.Why == "" {
		t.Errorf("%+v", v)
	}
	if _, err := os.Stat(filepath.Join(dir, "second")); err == nil {
		t.Error("the second hook ran")
	}
}

func TestAt_sandbox_containsTheHook(t *testing.T) {
	settings, err := sandbox.Settings{Sandbox: "landlock"}.Resolve()
	if err != nil {
		t.Skip(err)
	}
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "written-by-the-hook")
	contained, err := settings.At(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var event state.Hook
	env := append(os.Environ(), "TMPDIR="+dir) // else the temporary folder is open to all
	s := Set{Dir: dir, Env: env, Sandbox: contained, Hooks: []Hook{{Point: RunStart, Command: "touch inside; touch " + outside}},
		Emit: func(p state.Payload) {
			if h, ok := p.(state.Hook); ok {
				event = h
			}
		}}
	s.At(context.Background(), RunStart, func() Facts { return Facts{} })
	if _, err := os.Stat(outside); err == nil || event.Failed == "" {
		t.Errorf("wrote outside of the project: %+v", event)
	}
	if _, err := os.Stat(filepath.Join(dir, "inside")); err != nil {
		t.Errorf("%v: %+v", err, event)
	}
}

func TestOptions_newRow_hasAnOption(t *testing.T) {
	var c Commands
	rows := c.options(append(Points(), Row{Point: "pre_lunch", When: "before lunch"}))
	if last := rows[len(rows)-1]; len(rows) != len(Points())+1 || last.Key != "HOOK_PRE_LUNCH" || last.Field != &c.Hook[len(rows)-1] {
		t.Errorf("%d rows, the last is %+v", len(rows), last)
	}
}

func TestAfter_reachesThePointsWhoseRowsSaySo(t *testing.T) {
	for want, turn := range map[string]Turn{
		"post_iteration":                             {},
		"on_error post_iteration":                    {Failed: true},
		"on_limit post_iteration":                    {Limited: true},
		"on_question post_task post_iteration":       {Asked: true, Aside: true},
		"on_story_complete post_task post_iteration": {Done: true},
	} {
		var got []string
		for _, p := range After(turn) {
			got = append(got, string(p))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: %q, want %q", turn, got, want)
		}
	}
	for _, r := range Points() {
		if r.After != nil && !r.Turn {
			t.Errorf("%s follows a turn, and its row does not say so", r.Point)
		}
	}
}
