package agent

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommand_argv(t *testing.T) {
	tools := []string{"Write", "Bash(git add:*)", "Bash"}
	for name, c := range map[string]struct {
		agent string
		req   Request
		want  string
	}{
		"claude bypass": {"claude", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass}},
			"claude -p --output-format stream-json --verbose --dangerously-skip-permissions"},
		"claude allowed tools": {"claude", Request{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools, AllowedTools: tools, Model: "opus", Session: "id-1"}},
			"claude -p --output-format stream-json --verbose --permission-mode default --allowedTools Write Bash(git add:*) Bash --model opus --resume id-1"},
		"claude empty list": {"claude", Request{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools}},
			"claude -p --output-format stream-json --verbose --permission-mode default"},
		"own command line": {"claude", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass}, Program: []string{"npx", "claude", "--debug"}},
			"npx claude --debug -p --output-format stream-json --verbose --dangerously-skip-permissions"},
		"codex resume": {"codex", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass, Session: "id-1", Model: "m"}},
			"codex exec --json --skip-git-repo-check -c analytics.enabled=false --dangerously-bypass-approvals-and-sandbox --model m resume id-1 -"},
		"codex sandboxed": {"codex", Request{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools, AllowedTools: tools}},
			"codex exec --json --skip-git-repo-check -c analytics.enabled=false --sandbox workspace-write -"},
		"gemini": {"gemini", Request{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools, AllowedTools: tools}},
			"gemini --output-format stream-json --skip-trust --approval-mode auto_edit --allowed-tools write_file --allowed-tools run_shell_command(git add) --allowed-tools run_shell_command"},
		"opencode": {"opencode", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass, Session: "ses_1"}}, "opencode run --format json --auto --session ses_1"},
		"qwen":     {"qwen", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass, Session: "q"}}, "qwen --output-format stream-json --yolo --resume q"},
		"amp":      {"amp", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass, Session: "T-1"}}, "amp threads continue T-1 --dangerously-allow-all --execute --stream-json"},
		"cursor":   {"cursor-agent", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass, Prompt: "do"}}, "cursor-agent -p --output-format stream-json --trust --force do"},
		"cursor, as a rule": {"cursor", Request{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools, AllowedTools: []string{"Read"}, Model: "auto", Session: "s", Prompt: "do"}},
			"cursor-agent -p --output-format stream-json --trust --force --sandbox enabled --model auto --resume s do"},
		"text": {"text", Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass}, Program: []string{"./my agent.sh", "-x"}}, "./my agent.sh -x"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := row(t, c.agent).Command(c.req)
			if got := strings.Join(cmd.Args, " "); got != c.want {
				t.Errorf("argv\n %s\nwant\n %s", got, c.want)
			}
		})
	}
}

func TestCommand_prompt_isOnStdinAndNotInArgv(t *testing.T) {
	for _, s := range Specs() {
		const prompt = "-starts with a dash\nand is long"
		cmd := s.Command(Request{ArgvCall: ArgvCall{Prompt: prompt, PermissionMode: PermitAllowedTools, AllowedTools: []string{"Read"}}})
		inArgs := slices.ContainsFunc(cmd.Args, func(a string) bool { return strings.Contains(a, "starts with") })
		if s.PromptBy == PromptArg {
			if last := cmd.Args[len(cmd.Args)-1]; strings.HasPrefix(last, "-") || !inArgs || cmd.Stdin != nil {
				t.Errorf("%s: argv %q", s.Name, cmd.Args)
			}
			continue
		}
		if s.PromptBy == PromptFile {
			if cmd.Stdin != nil || inArgs {
				t.Errorf("%s: argv %q", s.Name, cmd.Args)
			}
			continue
		}
		data, err := io.ReadAll(cmd.Stdin)
		if err != nil || string(data) != prompt || inArgs {
			t.Errorf("%s: stdin %q, %v; argv %q", s.Name, data, err, cmd.Args)
		}
	}
}

func TestCommand_insideAnAgentSession_dropsItsVariables(t *testing.T) {
	s := row(t, "claude")
	base := []string{"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SSE_PORT=1", "CLAUDE_CODE_OAUTH_TOKEN=t",
		"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=0", "IS_SANDBOX=0"}
	before := slices.Clone(base)
	got := s.Command(Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass}, Env: base, Root: true}).Env
	want := []string{"PATH=/bin", "CLAUDE_CODE_OAUTH_TOKEN=t", "CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=k",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(base, before) {
		t.Error("the caller's environment was changed")
	}
	for _, r := range []Request{{ArgvCall: ArgvCall{PermissionMode: PermitAllowedTools}, Root: true}, {ArgvCall: ArgvCall{PermissionMode: PermitBypass}}} {
		if slices.Contains(s.Command(r).Env, "IS_SANDBOX=1") {
			t.Errorf("sandbox claimed for %+v", r)
		}
	}
}

func TestFind_unknownName_errorListsTheKnown(t *testing.T) {
	_, err := Find("cluade")
	if err == nil {
		t.Fatal("no error")
	}
	for _, s := range Specs() {
		if !strings.Contains(err.Error(), s.Name) {
			t.Errorf("%q does not name %s", err, s.Name)
		}
		if s.Install == "" || s.Bin == "" && s.Format != FormatText {
			t.Errorf("row %s is incomplete", s.Name)
		}
	}
}

func TestPrepare_promptFile_isPrivateAndRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := Spec{Name: "own", Bin: "own", Template: Template{Args: []string{"{prompt_file}"}, PromptBy: PromptFile}, Format: FormatText}
	prompt := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	cmd, done, err := s.Prepare(Request{ArgvCall: ArgvCall{Prompt: prompt}})
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
	if _, done, err := s.Prepare(Request{ArgvCall: ArgvCall{Prompt: "p"}}); err == nil {
		t.Error("no error without a folder for temporary files")
	} else {
		done()
	}
}

func TestFind_builtInAndOwnRows_areFound(t *testing.T) {
	own := []Spec{{Name: "own"}}
	for _, name := range []string{"claude", "own"} {
		if s, err := Find(name, own...); err != nil || s.Name != name {
			t.Errorf("%q, %v", s.Name, err)
		}
	}
	if _, err := Find("nobody", own...); err == nil || !strings.HasSuffix(err.Error(), "cursor-agent, text, own") {
		t.Errorf("%v", err)
	}
}

func TestInquiry_usesTheConfiguredProgram(t *testing.T) {
	s := row(t, "claude")
	cmd := s.Inquiry(s.VersionArgs, Request{Program: []string{"npx", "claude"}, Env: []string{"CLAUDECODE=1", "A=b"}})
	if got := strings.Join(cmd.Args, " "); got != "npx claude --version" || !cmd.Pipe || slices.Contains(cmd.Env, "CLAUDECODE=1") || !slices.Contains(cmd.Env, "A=b") {
		t.Errorf("%s, %v", got, cmd)
	}
}
