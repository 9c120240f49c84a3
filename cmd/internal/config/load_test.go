package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"ralph/state/option"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// write puts a file into dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// yamlFor writes path: value as nested YAML.
func yamlFor(o option.Row, value string) string {
	group, key, _ := strings.Cut(o.YAML, ".")
	return fmt.Sprintf("%s:\n  %s: %q\n", group, key, value)
}

func TestLoad_eachSourceWinsOverTheLowerOnesForEveryOption(t *testing.T) {
	for _, o := range Table() {
		low, high := other(o)
		dir, home := t.TempDir(), t.TempDir()
		l := Loader{Dir: dir, Home: home}
		user := filepath.Join(home, ".config/ralph/config.yaml")
		steps := []struct {
			kind, where string
			set         func(value string)
		}{
			{SourceDefault, "", func(string) {}},
			{SourceUser, user + ":2", func(v string) { write(t, home, ".config/ralph/config.yaml", yamlFor(o, v)) }},
			{SourceProject, ".ralph/config.yaml:2", func(v string) { write(t, dir, yamlName, yamlFor(o, v)) }},
			{SourceRC, ".ralphrc:1", func(v string) { write(t, dir, rcName, o.Key+"="+rcQuote(v)) }},
			{SourceEnvironment, "$" + o.Key, func(v string) { l.Env = []string{o.Key + "=" + v} }},
			{SourceFlag, "--" + o.Flag, func(v string) { l.Flags = map[string]string{o.Key: v} }},
		}
		for i, step := range steps {
			if step.kind == SourceFlag && o.Flag == "" {
				continue
			}
			want := []string{low, high}[i%2]
			if i == 0 {
				want = o.Default
			}
			step.set(want)
			c, warnings, err := l.Load()
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s from %s: %v, %q", o.Key, step.kind, err, warnings)
			}
			value, _ := o.Parse(want)
			option.Store(c.field(o.Key), value)
			shown := c.text(o)
			if o.Secret && shown != "" {
				shown = "(set, not shown)"
			}
			if got, want := rowOf(t, c, o.Key), (Row{o.Key, shown, Source{step.kind, step.where}, o.Help}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}

func rowOf(t *testing.T, c *Config, key string) Row {
	t.Helper()
	for _, row := range c.Rows() {
		if row.Key == key {
			return row
		}
	}
	t.Fatalf("no row %s", key)
	return Row{}
}

func TestLoad_valueIsTheOneOfTheWinningSource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rcName, "MAX_CALLS_PER_HOUR=11\nCLAUDE_MODEL=from-rc\nON_LIMIT=stop\n")
	l := Loader{Dir: dir, Env: []string{"MODEL=from-env", "ON_LIMIT="}, Flags: map[string]string{"MAX_CALLS_PER_HOUR": "22"}}
	c, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if c.CallsPerHour != 22 || c.Model != "from-env" || c.OnLimit != "stop" {
		t.Errorf("calls %d, model %q, on limit %q", c.CallsPerHour, c.Model, c.OnLimit)
	}
}

func TestLoad_badValueNamesPlaceAndWhatIsAllowed(t *testing.T) {
	for _, o := range Table() {
		for _, text := range bad(o) {
			if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
				continue // refused by the reader of the file already
			}
			places := []struct {
				where string
				load  func(l *Loader, dir string)
			}{
				{yamlName + ":2", func(_ *Loader, dir string) { write(t, dir, yamlName, yamlFor(o, text)) }},
				{rcName + ":2", func(_ *Loader, dir string) { write(t, dir, rcName, "\n"+o.Key+"='"+text+"'") }},
			}
			if text != "" {
				places = append(places, struct {
					where string
					load  func(l *Loader, dir string)
				}{"$" + o.Key, func(l *Loader, _ string) { l.Env = []string{o.Key + "=" + text} }})
			}
			if o.Flag != "" {
				places = append(places, struct {
					where string
					load  func(l *Loader, dir string)
				}{"--" + o.Flag, func(l *Loader, _ string) { l.Flags = map[string]string{o.Key: text} }})
			}
			for _, place := range places {
				l := Loader{Dir: t.TempDir()}
				place.load(&l, l.Dir)
				c, _, err := l.Load()
				var usage *UsageError
				if !errors.As(err, &usage) || c != nil {
					t.Fatalf("%s %q from %s: %v", o.Key, text, place.where, err)
				}
				message := err.Error()
				if usage.Where != place.where || !strings.HasPrefix(message, place.where+": ") ||
					!strings.Contains(message, o.Allowed()) || strings.ContainsAny(message, "\n\x1b") {
					t.Errorf("%s %q from %s: %q", o.Key, text, place.where, message)
				}
				if o.Max != "" && !strings.Contains(message, "from "+o.Min+" to "+o.Max) {
					t.Errorf("%q does not name the range", message)
				}
			}
		}
	}
}

func TestLoad_messages(t *testing.T) {
	for _, test := range []struct {
		name, rc, yaml string
		env            []string
		flags          map[string]string
		wantErr        string
		want           []Warning
	}{
		{name: "number out of range", flags: map[string]string{"MAX_CALLS_PER_HOUR": "0"},
			wantErr: `--calls: "0" is not a whole number from 1 to 1000000`},
		{name: "timeout out of range", flags: map[string]string{"CLAUDE_TIMEOUT_MINUTES": "1441"},
			wantErr: `--timeout: "1441" is not a number of minutes from 0 to 1440, or as long a duration, such as 90s or 2h`},
		{name: "enum", rc: "ON_LIMIT=sleep", wantErr: `.ralphrc:1: ON_LIMIT: "sleep" is not one of wait, stop`},
		{name: "bad value although a flag replaces it", rc: "AGENT=-x", flags: map[string]string{"AGENT": "codex"},
			wantErr: `.ralphrc:1: AGENT: "-x" is not text on one line that does not start with -`},
		{name: "alias in the environment", env: []string{"AGENT_TIMEOUT_MINUTES=soon"},
			wantErr: `$AGENT_TIMEOUT_MINUTES: "soon" is not a number of minutes from 0 to 1440, or as long a duration, such as 90s or 2h`},
		{name: "long value is cut", rc: "ON_LIMIT=" + strings.Repeat("x", 100),
			wantErr: `.ralphrc:1: ON_LIMIT: "` + strings.Repeat("x", 60) + `"... is not one of wait, stop`},
		{name: "another tool's sandbox", rc: "MODEL=a\nSANDBOX_PROVIDER=e2b",
			wantErr: `.ralphrc:2: SANDBOX_PROVIDER: "e2b" is not one of off, podman, docker, bwrap, landlock, auto`},
		{name: "another tool's sandbox, in its words", rc: "SANDBOX_PROVIDER=docker", env: []string{"RALPH_DOCKER_IMAGE=mine"}},
		{name: "no sandbox", env: []string{"RALPH_USE_DOCKER=no"}},
		{name: "another name of the default mode of tests", rc: "TEST_MODE=baseline"},
		{name: "another tool's auto is ours", env: []string{"RALPH_USE_DOCKER=auto", "RALPH_DOCKER_PERMISSION=bypass"}},
		{name: "slip in the name of a check", rc: "LNIT_COMMAND=make",
			wantErr: `.ralphrc:1: unknown key "LNIT_COMMAND"; did you mean LINT_COMMAND?; correct or remove it to start`},
		{name: "slip in the name of a protection", rc: "ALLLOWED_TOOLS=Read",
			wantErr: `.ralphrc:1: unknown key "ALLLOWED_TOOLS"; did you mean ALLOWED_TOOLS?; correct or remove it to start`},
		{name: "a protection that does not exist", rc: "PROTECTED_PATHS=src",
			want: []Warning{`.ralphrc:1: unknown key "PROTECTED_PATHS"`}},
		{name: "an unknown key of the sandbox", rc: "SANDBOX_NETWORK_OFF=1",
			wantErr: `.ralphrc:1: unknown key "SANDBOX_NETWORK_OFF"; correct or remove it to start`},
		{name: "an unknown key of the sandbox in YAML", yaml: "sandbox:\n  mode: off\n  readonly: [src]",
			wantErr: `.ralph/config.yaml:3: unknown key "sandbox.readonly"; correct or remove it to start`},
		{name: "permissions in YAML", yaml: "permissions: {deny: [Bash]}",
			wantErr: `.ralph/config.yaml:1: unknown key "permissions"; correct or remove it to start`},
		{name: "a misspelled list of judges", yaml: "judge:\n- name: a",
			wantErr: `.ralph/config.yaml:1: unknown key "judge"; did you mean judges?; correct or remove it to start`},
		{name: "such words elsewhere", yaml: "team:\n  reviewer: ann\n  checks: [a]", want: []Warning{`.ralph/config.yaml:1: unknown key "team"`}},
		{name: "such a name that asks for nothing, or serves another key", rc: "READONLY=\nTEST_DIR=web\nTEST_COMMAND='make -C web'\nMODEL=${TEST_DIR}",
			want: []Warning{`.ralphrc:1: unknown key "READONLY"`, `.ralphrc:2: unknown key "TEST_DIR"`}},
		{name: "a protection in YAML", yaml: "agent:\n  disallowed_tools: [Bash]",
			wantErr: `.ralph/config.yaml:2: unknown key "agent.disallowed_tools"; did you mean agent.allowed_tools?; correct or remove it to start`},
		{name: "~ in a key of another tool", rc: "LOG_DIR=~/logs\nPATH=x:~/bin", want: []Warning{`.ralphrc:2: unknown key "PATH"`, `.ralphrc: not used by ralph: LOG_DIR`}},
		{name: "~ in a key that is used", rc: "PLAN_FILE=~/plan.md", wantErr: ".ralphrc:1: ~ is not expanded: write ${HOME}"},
		{name: "slip of the hand", rc: "MAX_CALL_PER_HOUR=5\nmax_iterations=3\nSOMETHING_ELSE=1",
			want: []Warning{
				`.ralphrc:1: unknown key "MAX_CALL_PER_HOUR"; did you mean MAX_CALLS_PER_HOUR?`,
				`.ralphrc:2: unknown key "max_iterations"; did you mean MAX_ITERATIONS?`,
				`.ralphrc:3: unknown key "SOMETHING_ELSE"`}},
		{name: "the same key twice", rc: "MODEL=a\nexport TEST_COMMAND=make\n\nTEST_COMMAND='go vet'",
			want: []Warning{`.ralphrc:4: TEST_COMMAND is set on line 2, too; line 4 counts`}},
		{name: "a key that extends its earlier value", rc: "ALLOWED_TOOLS=Read\nALLOWED_TOOLS=\"${ALLOWED_TOOLS},Write\"\nX=1\nX=2",
			want: []Warning{`.ralphrc:3: unknown key "X"`, `.ralphrc:4: unknown key "X"`}},
		{name: "short name of something else", rc: "MODE=x\nNODE=1\nPATH=/bin",
			want: []Warning{
				`.ralphrc:1: unknown key "MODE"; did you mean MODEL?`,
				`.ralphrc:2: unknown key "NODE"`,
				`.ralphrc:3: unknown key "PATH"`}},
		{name: "key that lost to a stronger source does not warn", rc: "MODEL=a", yaml: "agent: {model: b}", env: []string{"CLAUDE_MODEL=c"}},
		{name: "unknown variables do not warn", env: []string{"MAX_CALL_PER_HOUR=5", "RALPH_X=1"}},
		{name: "variables of another tool that matter", env: []string{"RALPH_DIR=.state", "DRY_RUN=true", "PROJECT_TYPE=go"},
			want: []Warning{`$DRY_RUN: not used by ralph; use the flag --dry-run`, `$RALPH_DIR: not used by ralph; its files are always in .ralph`}},
		{name: "keys of another tool are one note", rc: "PROJECT_TYPE=go\nPROJECT_NAME=x\nCLAUDE_OUTPUT_FORMAT=json\nPROJECT_NAME=y",
			want: []Warning{`.ralphrc: not used by ralph: CLAUDE_OUTPUT_FORMAT, PROJECT_NAME, PROJECT_TYPE`}},
		{name: "keys of another tool that matter", rc: "FIX_PLAN_FILE=x\nDRY_RUN=",
			want: []Warning{
				`.ralphrc:1: FIX_PLAN_FILE is not used by ralph; write PLAN_FILE, relative to the project`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.rc != "" {
				write(t, dir, rcName, test.rc)
			}
			if test.yaml != "" {
				write(t, dir, yamlName, test.yaml)
			}
			_, warnings, err := Loader{Dir: dir, Env: test.env, Flags: test.flags}.Load()
			if (err == nil) != (test.wantErr == "") || err != nil && err.Error() != test.wantErr {
				t.Errorf("error\n%v, want\n%s", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoad_flagOfNoOptionIsAnError(t *testing.T) {
	for _, key := range []string{"NOPE", "TEST_COMMAND"} {
		_, _, err := Loader{Dir: t.TempDir(), Flags: map[string]string{key: "x"}}.Load()
		var usage *UsageError
		if err == nil || errors.As(err, &usage) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestLoad_pathsAreRelativeToTheProjectAndFlagsToTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rcName, "PROMPT_FILE=docs/p.md\nPLAN_FILE=/abs/plan.md")
	c, _, err := Loader{Dir: dir, Cwd: "/work"}.Load()
	if err != nil || c.PromptFile != filepath.Join(dir, "docs/p.md") || c.PlanFile != "/abs/plan.md" {
		t.Errorf("%q, %q, %v", c.PromptFile, c.PlanFile, err)
	}
	c, _, err = Loader{Dir: dir, Cwd: "/work", Flags: map[string]string{"PROMPT_FILE": "../q.md", "PLAN_FILE": ""}}.Load()
	if err != nil || c.PromptFile != "/q.md" || c.PlanFile != "" {
		t.Errorf("%q, %q, %v", c.PromptFile, c.PlanFile, err)
	}
}

func TestLoad_userFileFollowsXDG(t *testing.T) {
	dir, home, xdg := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, home, ".config/ralph/config.yaml", "agent: {name: from-home}")
	write(t, xdg, "ralph/config.yaml", "agent: {name: from-xdg}")
	for _, test := range []struct{ env, want string }{
		{"XDG_CONFIG_HOME=" + xdg, "from-xdg"},
		{"XDG_CONFIG_HOME=relative", "from-home"},
		{"XDG_CONFIG_HOME=", "from-home"},
	} {
		c, _, err := Loader{Dir: dir, Home: home, Env: []string{test.env}}.Load()
		if err != nil || c.Agent != test.want {
			t.Errorf("%s: %q, %v", test.env, c.Agent, err)
		}
	}
}

func TestLoad_writesNothing(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	if _, _, err := (Loader{Dir: dir, Home: home}).Load(); err != nil {
		t.Fatal(err)
	}
	if _, err := (Loader{Dir: dir, Home: home}).Untrusted(); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{dir, home} {
		if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", root, entries, err)
		}
	}
}

func TestLoad_unusableFileIsAUsageErrorWithItsLine(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"huge", func(p string) error { return os.WriteFile(p, make([]byte, 2<<20), 0o644) }, ": is larger than 64 KiB"},
		{"directory", func(p string) error { return os.Mkdir(p, 0o755) }, ": is a folder; ralph reads only a plain file here"},
		{"named pipe", func(p string) error { return syscall.Mkfifo(p, 0o644) }, ": is a FIFO; ralph reads only a plain file here"},
		{"link to a device", func(p string) error { return os.Symlink("/dev/zero", p) }, ": is a symbolic link; ralph reads only a plain file here"},
		{"NUL byte", func(p string) error { return os.WriteFile(p, []byte("\n\nA=\x00"), 0o644) }, ":3: holds a NUL byte: the file must be plain text in UTF-8"},
		{"UTF-16", func(p string) error { return os.WriteFile(p, []byte("\xff\xfeA\x00=\x00"), 0o644) }, ":1: holds a NUL byte: the file must be plain text in UTF-8"},
		{"lone carriage return", func(p string) error { return os.WriteFile(p, []byte("#a\n#b\rA=1\n"), 0o644) }, `:2: holds a carriage return inside a line: lines must end with \n or \r\n`},
		{"bracket bomb", func(p string) error { return os.WriteFile(p, []byte("\n"+strings.Repeat("[", 60000)), 0o644) }, ":2: is nested too deeply"},
		{"bracket bomb over lines", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("[\n", 30000)), 0o644) }, ":101: is nested too deeply"},
		{"dash bomb", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("- ", 30000)), 0o644) }, ":1: is indented too deeply"},
	} {
		for _, name := range []string{rcName, yamlName} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := test.make(path); err != nil {
					t.Fatal(err)
				}
				_, _, err := Loader{Dir: dir}.Load()
				var usage *UsageError
				if !errors.As(err, &usage) || err.Error() != name+test.want {
					t.Errorf("%v, want %s", err, name+test.want)
				}
			})
		}
	}
}

func TestLoad_byteOrderMarkCRLFAndMissingFinalNewlineAreTaken(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rcName, "\ufeffMODEL=\"a b\"\r\nAGENT=codex\r\n# end\r\nON_LIMIT=stop")
	write(t, dir, yamlName, "\ufefflimits:\r\n  calls_per_hour: 5\r\nsession:\r\n  continue: true")
	c, warnings, err := Loader{Dir: dir}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if c.Model != "a b" || c.Agent != "codex" || c.OnLimit != "stop" || c.CallsPerHour != 5 || !c.Continue {
		t.Errorf("%+v", c.Options)
	}
	if got := c.Source("ON_LIMIT").String(); got != ".ralphrc:4 (rc)" {
		t.Errorf("source %q", got)
	}
}

// Variables of other tools of this kind work, with their values.
func TestLoad_variablesOfOtherTools_work(t *testing.T) {
	for _, test := range []struct{ set, key, want string }{
		{"RALPH_CLAUDE_PERMISSION=--dangerously-skip-permissions", "PERMISSION_MODE", "bypass"},
		{"RALPH_CLAUDE_PERMISSION=acceptEdits", "PERMISSION_MODE", "allowed-tools"},
		{"RALPH_NOTIFY_TOOL=none", "ENABLE_NOTIFICATIONS", "false"},
		{"RALPH_NOTIFY_TOOL=notify-send", "ENABLE_NOTIFICATIONS", "true"},
	} {
		c, warnings, err := Loader{Dir: t.TempDir(), Env: []string{test.set}}.Load()
		if err != nil || len(warnings) > 0 {
			t.Fatal(test.set, err, warnings)
		}
		if got := c.text(Index()[test.key]); got != test.want || c.Source(test.key).Kind != SourceEnvironment {
			t.Errorf("%s: %s=%s from %s, want %s", test.set, test.key, got, c.Source(test.key), test.want)
		}
	}
	_, _, err := Loader{Dir: t.TempDir(), Env: []string{"RALPH_CLAUDE_PERMISSION=--yes"}}.Load()
	if err == nil || err.Error() != `$RALPH_CLAUDE_PERMISSION: "--yes" is not one of allowed-tools, bypass` {
		t.Error(err)
	}
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, rcName, "RALPH_CLAUDE_PERMISSION=--dangerously-skip-permissions\n")
	if u, err := l.Untrusted(); err != nil || u == nil || linesOf(u)[0] != ".ralphrc:1: RALPH_CLAUDE_PERMISSION=bypass" {
		t.Errorf("a project file skips the permission checks without consent: %+v, %v", u, err)
	}
}

func TestBad_optionOfAFile_hasTheNameThatTheFileUses(t *testing.T) {
	for rc, want := range map[string]string{
		"AGENT_CMD=x":       ".ralphrc:1: AGENT_CMD: bad",
		"CLAUDE_CODE_CMD=x": ".ralphrc:1: CLAUDE_CODE_CMD: bad",
	} {
		dir := t.TempDir()
		write(t, dir, rcName, rc)
		c, _, err := Loader{Dir: dir}.Load()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Bad("CLAUDE_CODE_CMD", errors.New("bad")); err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The key counts, wherever it stands.
func TestLoad_aliasAndKey_keyCounts(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, rcName, "MODEL=a\nCLAUDE_MODEL=b\nAGENT_CMD=c\nCLAUDE_CODE_CMD=d\n")
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 || c.Model != "a" || c.AgentCmd != "d" {
		t.Errorf("%q, %q, %v, %v", c.Model, c.AgentCmd, warnings, err)
	}
	l.Env = []string{"MODEL=e", "CLAUDE_MODEL=f"}
	if c, _, err = l.Load(); err != nil || c.Model != "e" || c.Source("MODEL").Where != "$MODEL" {
		t.Errorf("%q, %v", c.Model, err)
	}
}
