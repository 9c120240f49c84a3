package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
)

func spec(t *testing.T, c CustomRow) Spec {
	t.Helper()
	s, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// classOf classifies a call that printed the text.
func classOf(s Spec, text string, exit ptyexec.Exit) ending.Class {
	var tr Transcript
	d := s.NewDecoder(tr.Add)
	_, _ = d.Write([]byte(text)) // never fails
	d.Close()
	return s.Classify(&tr, exit, time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)).Class
}

func TestFormats_areThoseOfTheAgents(t *testing.T) {
	for _, s := range Specs() {
		if !slices.Contains(CustomFormats(), string(s.Format)) {
			t.Errorf("%s is missing, which %s prints", s.Format, s.Name)
		}
	}
}

func TestSpec_argv(t *testing.T) {
	full := CustomRow{Name: "own", Command: []string{"own", "--json"}, Prompt: PromptStdin, Format: FormatClaude,
		Resume: []string{"--resume", "{}"}, Model: []string{"--model={}"}, Bypass: []string{"--yes"}}
	placed := full
	placed.Command = []string{"own", "{model}", "do", "{permissions}"}
	entries := full
	entries.Allowed = []string{"--allow", "{}"}
	once := full
	once.Allowed = []string{"--sandbox"}
	arg := CustomRow{Name: "own", Command: []string{"own"}, Prompt: PromptArg, Format: FormatText}
	inside := CustomRow{Name: "own", Command: []string{"own", "--message={prompt}", "--end"}, Prompt: PromptArg, Format: FormatText}
	file := CustomRow{Name: "own", Command: []string{"own", "--file={prompt_file}"}, Prompt: PromptFile, Format: FormatText}
	expand := func(command ...string) CustomRow {
		return CustomRow{Name: "own", Command: command, Prompt: PromptStdin, Format: FormatText}
	}
	none := Request{ArgvCall: ArgvCall{Prompt: "p"}}
	all := Request{ArgvCall: ArgvCall{Prompt: "-p", Model: "m", Session: "s", PermissionMode: PermitBypass, AllowedTools: []string{"Read", "Edit"}}}
	allowed := all
	allowed.PermissionMode = PermitAllowedTools
	withFile := all
	withFile.PromptFile = "/tmp/p.md"
	for name, c := range map[string]struct {
		custom CustomRow
		req    Request
		want   string
	}{
		"what has no place comes last":  {full, all, "own|--json|--yes|--model=m|--resume|s"},
		"nothing asked for":             {full, Request{}, "own|--json"},
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
	c := CustomRow{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText}
	if spec(t, c).Command(Request{}).Pipe {
		t.Error("a pipe by default")
	}
	c.Pipe = true
	if !spec(t, c).Command(Request{}).Pipe {
		t.Error("no pipe")
	}
}

func TestSpec_patternsOfTheUser_comeBeforeTheBuiltInOnes(t *testing.T) {
	c := CustomRow{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText}
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
	c := CustomRow{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText,
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
		_, err := CustomRow{Name: "mine", Command: []string{"mine"}, Prompt: PromptStdin, Format: FormatText, Keys: []string{key}}.Spec()
		if err == nil || !strings.HasPrefix(err.Error(), FieldKeys+" ") {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestSpec_modelTwiceOrBesideAnotherPlaceholder_isRefused(t *testing.T) {
	for _, command := range [][]string{{"own", "{model}", "{model}"}, {"own", "{model}-{prompt}"}, {"{model}"}} {
		_, err := CustomRow{Name: "own", Command: command, Prompt: PromptArg, Format: FormatText}.Spec()
		if err == nil || !strings.HasPrefix(err.Error(), FieldCommand+" ") {
			t.Errorf("%q: %v", command, err)
		}
	}
}
