package agent

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"ralph/ptyexec"
)

func custom(t *testing.T, c Custom) Spec {
	t.Helper()
	s, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCustom_argv(t *testing.T) {
	full := Custom{Name: "own", Command: []string{"own", "--json"}, Prompt: PromptStdin, Format: FormatClaude,
		Resume: []string{"--resume", "{}"}, Model: []string{"--model={}"}, Bypass: []string{"--yes"}}
	placed := full
	placed.Command = []string{"own", "{model}", "do", "{permissions}"}
	entries := full
	entries.Allowed = []string{"--allow", "{}"}
	once := full
	once.Allowed = []string{"--sandbox"}
	arg := Custom{Name: "own", Command: []string{"own"}, Prompt: PromptArg, Format: FormatText}
	inside := Custom{Name: "own", Command: []string{"own", "--message={prompt}", "--end"}, Prompt: PromptArg, Format: FormatText}
	file := Custom{Name: "own", Command: []string{"own", "--file={prompt_file}"}, Prompt: PromptFile, Format: FormatText}
	all := Request{Prompt: "-p", Model: "m", Session: "s", PermissionMode: PermitBypass, AllowedTools: []string{"Read", "Edit"}}
	allowed := all
	allowed.PermissionMode = PermitAllowedTools
	withFile := all
	withFile.PromptFile = "/tmp/p.md"
	for name, c := range map[string]struct {
		custom Custom
		req    Request
		want   string
	}{
		"what has no place comes last": {full, all, "own|--json|--yes|--model=m|--resume|s"},
		"nothing asked for":            {full, Request{}, "own|--json"},
		"placed":                       {placed, all, "own|--model=m|do|--yes|--resume|s"},
		"an entry each":                {entries, allowed, "own|--json|--allow|Read|--allow|Edit|--model=m|--resume|s"},
		"one switch":                   {once, allowed, "own|--json|--sandbox|--model=m|--resume|s"},
		"prompt last":                  {arg, all, "own|\n-p"},
		"prompt inside":                {inside, all, "own|--message=\n-p|--end"},
		"prompt file":                  {file, withFile, "own|--file=/tmp/p.md"},
		"prompt file not written yet":  {file, all, "own|--file={prompt_file}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(custom(t, c.custom).Command(c.req).Args, "|"); got != c.want {
				t.Errorf("argv %q, want %q", got, c.want)
			}
		})
	}
}

func TestCustom_pipe_reachesTheCommand(t *testing.T) {
	c := Custom{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText}
	if custom(t, c).Command(Request{}).Pipe {
		t.Error("a pipe by default")
	}
	c.Pipe = true
	if !custom(t, c).Command(Request{}).Pipe {
		t.Error("no pipe")
	}
}

func TestPrepare_promptFile_isPrivateAndGoneAfterwards(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := custom(t, Custom{Name: "own", Command: []string{"own", "{prompt_file}"}, Prompt: PromptFile, Format: FormatText})
	prompt := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	cmd, done, err := s.Prepare(Request{Prompt: prompt})
	if err != nil {
		t.Fatal(err)
	}
	path := cmd.Args[1]
	data, err := os.ReadFile(path)
	if err != nil || string(data) != prompt {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if cmd.Stdin != nil {
		t.Error("also on standard input")
	}
	done()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	t.Setenv("TMPDIR", "/no/such/folder")
	if _, done, err := s.Prepare(Request{Prompt: "p"}); err == nil {
		t.Error("no error without a folder for temporary files")
	} else {
		done()
	}
}

func TestCustom_patternsOfTheUser_comeBeforeTheBuiltInOnes(t *testing.T) {
	c := Custom{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText}
	classify := func(text string) Class {
		s := custom(t, c)
		tr, _ := decodeAll(s, []byte(text))
		return s.Classify(tr, ptyexec.Exit{Code: 1, Cause: ptyexec.CauseExited}, recordedAt).Class
	}
	const text = "working\nthe tank is empty, rate limit\n"
	if got := classify(text); got != ClassRateLimited {
		t.Fatalf("%q before", got)
	}
	c.Patterns = []Pattern{{Class: ClassUsageLimit, Match: `tank is EMPTY`}}
	if got := classify(text); got != ClassUsageLimit {
		t.Errorf("%q with a pattern", got)
	}
	c.Patterns = []Pattern{{Class: ClassUnknown, Match: `tank is empty`}}
	if got := classify(text); got != ClassCrash {
		t.Errorf("%q with a pattern for nothing", got)
	}
}

func TestCustom_patternForAOneLineAnswer_countsAlsoWithExitCode0(t *testing.T) {
	c := Custom{Name: "own", Command: []string{"own"}, Prompt: PromptStdin, Format: FormatText,
		Patterns: []Pattern{{Class: ClassAuth, Match: `who are you`}, {Class: ClassUnknown, Match: `^error budget`}}}
	for text, want := range map[string]Class{
		"who are you?\n":                         ClassAuth,
		"error budget: usage limit reached\n":    ClassCompletedTurn,
		"I asked: who are you\nand it said: a\n": ClassCompletedTurn, // an answer of several lines is an answer
	} {
		s := custom(t, c)
		tr, _ := decodeAll(s, []byte(text))
		if got := s.Classify(tr, ptyexec.Exit{Cause: ptyexec.CauseExited}, recordedAt).Class; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFind_knowsBuiltInAndOwnRows(t *testing.T) {
	own := []Spec{{Name: "own"}}
	for _, name := range []string{"claude", "own"} {
		if s, err := Find(name, own); err != nil || s.Name != name {
			t.Errorf("%q, %v", s.Name, err)
		}
	}
	if _, err := Find("nobody", own); err == nil || !strings.HasSuffix(err.Error(), "cursor-agent, text, own") {
		t.Errorf("%v", err)
	}
}

func TestVersionCommand_takesTheProgramInUse(t *testing.T) {
	s := row(t, "claude")
	cmd := s.VersionCommand(Request{Program: []string{"npx", "claude"}, Env: []string{"CLAUDECODE=1", "A=b"}})
	if got := strings.Join(cmd.Args, " "); got != "npx claude --version" || !cmd.Pipe || slices.Contains(cmd.Env, "CLAUDECODE=1") || !slices.Contains(cmd.Env, "A=b") {
		t.Errorf("%s, %v", got, cmd)
	}
}
