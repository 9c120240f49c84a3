package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/hooks"
)

func TestHooks_allPlacesWhereTheyCanStand(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, yamlName, `
hooks:
  pre_task:
    - ./setup.sh
    - {type: shell, command: "make deps", timeout: 5m, on_failure: abort_loop}
  post_iteration:
    - {command: gofmt -l ., when: ["*.go"], on_failure: ask_agent}
  on_error: [{type: agent, prompt: "What went wrong?", agent: codex, model: m, timeout: 90s}]
  on_halt: notify-me
`)
	write(t, dir, rcName, "HOOK_PRE_ITERATION='./pre.sh \"$X\"'\nHOOK_ON_HALT=louder\n")
	l := Loader{Dir: dir, Env: []string{"HOOK_ON_COMPLETE=party"}}
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := []hooks.Hook{
		{Point: hooks.PreTask, Command: "./setup.sh"},
		{Point: hooks.PreTask, Type: hooks.Shell, Command: "make deps", Timeout: 5 * time.Minute, OnFailure: hooks.AbortLoop},
		{Point: hooks.PostIteration, Command: "gofmt -l .", When: []string{"*.go"}, OnFailure: hooks.AskAgent},
		{Point: hooks.OnError, Type: hooks.Agent, Prompt: "What went wrong?", Agent: "codex", Model: "m", Timeout: 90 * time.Second},
		{Point: hooks.OnHalt, Command: "notify-me"},
		{Point: hooks.PreIteration, Command: `./pre.sh "$X"`},
		{Point: hooks.OnComplete, Command: "party"},
		{Point: hooks.OnHalt, Command: "louder"},
	}
	if diff := cmp.Diff(want, c.Hooks()); diff != "" {
		t.Error(diff)
	}
	u, err := l.Untrusted()
	if err != nil || u == nil {
		t.Fatal(u, err)
	}
	claims := strings.Join(linesOf(u), "\n")
	for _, line := range []string{".ralphrc:1: HOOK_PRE_ITERATION=./pre.sh \"$X\"", ".ralphrc:2: HOOK_ON_HALT=louder", ".ralph/config.yaml:9: hooks.on_halt=notify-me", ".ralph/config.yaml:4: hooks.pre_task=./setup.sh",
		".ralph/config.yaml:5: hooks.pre_task=make deps; timeout: 5m0s; on_failure: abort_loop", ".ralph/config.yaml:7: hooks.post_iteration=gofmt -l .; when: *.go; on_failure: ask_agent"} {
		if !strings.Contains(claims, line) {
			t.Errorf("no consent is asked for %s in\n%s", line, claims)
		}
	}
	if strings.Contains(claims, "party") {
		t.Errorf("consent is asked for the user's own environment:\n%s", claims)
	}
}

func TestHooks_unknownPoint_isRefusedInFileAndEnvironment(t *testing.T) {
	for name, l := range map[string]Loader{
		".ralphrc:1":  {Dir: t.TempDir()},
		"environment": {Dir: t.TempDir(), Env: []string{"HOOK_PRE_COMMITS=lint", "HOOK_NONE=", "HOOK_STOP=true"}},
	} {
		if l.Env == nil {
			write(t, l.Dir, rcName, "HOOK_PRE_COMMITS=lint\n")
		}
		_, _, err := l.Load()
		if err == nil || !strings.HasPrefix(err.Error(), name+": HOOK_PRE_COMMITS: ") || !strings.Contains(err.Error(), "pre_commit") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A project must not turn off what the user runs before each commit.
func TestHooks_ofUserProjectAndEnvironment_allRun(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	write(t, home, ".config/ralph/config.yaml", "hooks:\n  pre_commit: scan\n")
	write(t, dir, yamlName, "hooks:\n  pre_commit: lint\n")
	c, _, err := Loader{Dir: dir, Home: home, Env: []string{"HOOK_PRE_COMMIT=count"}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range c.Hooks() {
		got = append(got, string(h.Point)+" "+h.Command)
	}
	if diff := cmp.Diff([]string{"pre_commit scan", "pre_commit lint", "pre_commit count"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHooks_changedAnswer_needsConsentAgain(t *testing.T) {
	hash := map[string]bool{}
	for _, more := range []string{"", ", on_failure: skip_task", ", timeout: 2m"} {
		dir := "/nowhere"
		l := Loader{Dir: t.TempDir()}
		write(t, l.Dir, yamlName, "hooks: [{point: pre_task, command: make"+more+"}]")
		c, _, err := l.Load()
		if err != nil {
			t.Fatal(err)
		}
		l.Dir = dir
		hash[l.claims(c)[0].Hash] = true
	}
	if len(hash) != 3 {
		t.Errorf("%d different consents, want 3", len(hash))
	}
}

// Consent is to the command, whether or not another source has a hook for the same point.
func TestHooks_consentHolds_whenTheEnvironmentAddsOne(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, yamlName, "hooks: {post_task: ./done.sh}\n")
	u, err := l.Untrusted()
	if err != nil || u == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	l.Env = []string{"HOOK_POST_TASK=./mine.sh"}
	if u, err := l.Untrusted(); err != nil || u != nil {
		t.Errorf("asked again: %+v, %v", u, err)
	}
	write(t, l.Dir, yamlName, "hooks: {post_task: ./other.sh}\n")
	if u, err := l.Untrusted(); err != nil || u == nil {
		t.Errorf("another command needs none: %+v, %v", u, err)
	}
}

func TestHooks_commandOfAnAgent_isItsPrompt(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, "hooks:\n  preTask: [{type: agent, command: 'Is it clean?', onFailure: skip_task}]\n")
	c, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := []hooks.Hook{{Point: hooks.PreTask, Type: hooks.Agent, Prompt: "Is it clean?", OnFailure: hooks.SkipTask}}
	if diff := cmp.Diff(want, c.Hooks()); diff != "" {
		t.Error(diff)
	}
}
