package custom

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/agent/ending"
)

func spec(t *testing.T, c Row) agent.Spec {
	t.Helper()
	s, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// classOf classifies a call that printed the text.
func classOf(s agent.Spec, text string, exit ptyexec.Exit) ending.Class {
	var tr agent.Transcript
	d := s.NewDecoder(tr.Add)
	_, _ = d.Write([]byte(text)) // never fails
	d.Close()
	return s.Classify(&tr, exit, time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)).Class
}

func TestFormats_areThoseOfTheAgents(t *testing.T) {
	for _, s := range agent.Specs() {
		if !slices.Contains(Formats(), string(s.Format)) {
			t.Errorf("%s is missing, which %s prints", s.Format, s.Name)
		}
	}
}

func TestSpec_argv(t *testing.T) {
	full := Row{Name: "own", Command: []string{"own", "--json"}, Prompt: argv.PromptStdin, Format: agent.FormatClaude,
		Resume: []string{"--resume", "{}"}, Model: []string{"--model={}"}, Bypass: []string{"--yes"}}
	placed := full
	placed.Command = []string{"own", "{model}", "do", "{permissions}"}
	entries := full
	entries.Allowed = []string{"--allow", "{}"}
	once := full
	once.Allowed = []string{"--sandbox"}
	arg := Row{Name: "own", Command: []string{"own"}, Prompt: argv.PromptArg, Format: agent.FormatText}
	inside := Row{Name: "own", Command: []string{"own", "--message={prompt}", "--end"}, Prompt: argv.PromptArg, Format: agent.FormatText}
	file := Row{Name: "own", Command: []string{"own", "--file={prompt_file}"}, Prompt: argv.PromptFile, Format: agent.FormatText}
	expand := func(command ...string) Row {
		return Row{Name: "own", Command: command, Prompt: argv.PromptStdin, Format: agent.FormatText}
	}
	none := agent.Request{Call: argv.Call{Prompt: "p"}}
	all := agent.Request{Call: argv.Call{Prompt: "-p", Model: "m", Session: "s", PermissionMode: argv.PermitBypass, AllowedTools: []string{"Read", "Edit"}}}
	allowed := all
	allowed.PermissionMode = argv.PermitAllowedTools
	withFile := all
	withFile.PromptFile = "/tmp/p.md"
	for name, c := range map[string]struct {
		custom Row
		req    agent.Request
		want   string
	}{
		"what has no place comes last":  {full, all, "own|--json|--yes|--model=m|--resume|s"},
		"nothing asked for":             {full, agent.Request{}, "own|--json"},
		"placed":                        {placed, all, "own|--model=m|do|--yes|--resume|s"},
		"an entry each":                 {entries, allowed, "own|--json|--allow|Read|--allow|Edit|--model=m|--resume|s"},
		"one switch":                    {once, allowed, "own|--json|--sandbox|--model=m|--resume|s"},
		"prompt last":                   {arg, all, "own|\n-p"},
		"{model} after an option":       {expand("own", "-m", "{model}", "go"), all, "own|-m|m|go"},
		"{model} after an option, none": {expand("own", "-m", "{model}", "go"), none, "own|go"},
		"{model} inside":                {expand("own", "--model={model}", "go"), all, "own|--model=m|go"},
		"{model} inside, none":          {expand("own", "--model={model}", "go"), none, "own|go"},
		"{model} alone":                 {expand("own", "{model}"), all, "own|m"},
		"prompt inside":                 {inside, all, "own|--message=\n-p|--end"},
		"prompt file":                   {file, withFile, "own|--file=/tmp/p.md"},
		"prompt file not written yet":   {file, all, "own|--file={prompt_file}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(spec(t, c.custom).Command(c.req).Args, "|"); got != c.want {
				t.Errorf("argv %q, want %q", got, c.want)
			}
		})
	}
}

func TestSpec_pipe_reachesTheCommand(t *testing.T) {
	c := Row{Name: "own", Command: []string{"own"}, Prompt: argv.PromptStdin, Format: agent.FormatText}
	if spec(t, c).Command(agent.Request{}).Pipe {
		t.Error("a pipe by default")
	}
	c.Pipe = true
	if !spec(t, c).Command(agent.Request{}).Pipe {
		t.Error("no pipe")
	}
}

func TestSpec_patternsOfTheUser_comeBeforeTheBuiltInOnes(t *testing.T) {
	c := Row{Name: "own", Command: []string{"own"}, Prompt: argv.PromptStdin, Format: agent.FormatText}
	classify := func(text string) ending.Class {
		s := spec(t, c)
		return classOf(s, text, ptyexec.Exit{Code: 1, Cause: ptyexec.CauseExited})
	}
	const text = "working\nthe tank is empty, rate limit\n"
	if got := classify(text); got != ending.RateLimited {
		t.Fatalf("%q before", got)
	}
	c.Patterns = []ending.Pattern{{Class: ending.UsageLimit, Match: `tank is EMPTY`}}
	if got := classify(text); got != ending.UsageLimit {
		t.Errorf("%q with a pattern", got)
	}
	c.Patterns = []ending.Pattern{{Class: ending.Unknown, Match: `tank is empty`}}
	if got := classify(text); got != ending.Crash {
		t.Errorf("%q with a pattern for nothing", got)
	}
}

func TestSpec_patternForAOneLineAnswer_countsWithExitCode0(t *testing.T) {
	c := Row{Name: "own", Command: []string{"own"}, Prompt: argv.PromptStdin, Format: agent.FormatText,
		Patterns: []ending.Pattern{{Class: ending.Auth, Match: `who are you`}, {Class: ending.Unknown, Match: `^error budget`}}}
	for text, want := range map[string]ending.Class{
		"who are you?\n":                         ending.Auth,
		"error budget: usage limit reached\n":    ending.CompletedTurn,
		"I asked: who are you\nand it said: a\n": ending.CompletedTurn, // an answer of several lines is an answer
	} {
		s := spec(t, c)
		if got := classOf(s, text, ptyexec.Exit{Cause: ptyexec.CauseExited}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestSpec_badField_isNamedInTheError(t *testing.T) {
	for _, key := range []string{"", "A B", "!A", "A=b", "[A]"} {
		_, err := Row{Name: "mine", Command: []string{"mine"}, Prompt: argv.PromptStdin, Format: agent.FormatText, Keys: []string{key}}.Spec()
		if err == nil || !strings.HasPrefix(err.Error(), FieldKeys+" ") {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestSpec_modelTwiceOrBesideAnotherPlaceholder_isRefused(t *testing.T) {
	for _, command := range [][]string{{"own", "{model}", "{model}"}, {"own", "{model}-{prompt}"}, {"{model}"}} {
		_, err := Row{Name: "own", Command: command, Prompt: argv.PromptArg, Format: agent.FormatText}.Spec()
		if err == nil || !strings.HasPrefix(err.Error(), FieldCommand+" ") {
			t.Errorf("%q: %v", command, err)
		}
	}
}
