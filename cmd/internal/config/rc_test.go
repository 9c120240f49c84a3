package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"ralph/state/option"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseRC_hostileFileIsRefusedWithItsLineAndRunsNothing(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // line and a part of the problem
	}{
		{"command substitution", "A=1\nB=$(touch x)", "2: command substitution is not allowed"},
		{"in double quotes", `A="a $(touch x)"`, "1: command substitution is not allowed"},
		{"backticks", "A=`touch x`", "1: command substitution is not allowed"},
		{"backticks in double quotes", "A=\"`touch x`\"", "1: command substitution is not allowed"},
		{"in a default", `A="${B:-$(touch x)}"`, "1: command substitution is not allowed"},
		{"in a default of an unset name", `A="${NONE:-$(touch x)}"`, "1: command substitution is not allowed"},
		{"in an export", "export A=$(touch x)", "1: command substitution is not allowed"},
		{"process substitution", "A=<(touch x)", "1: this pattern is not allowed"},
		{"arithmetic", "A=$((1+1))", "1: arithmetic is not allowed"},
		{"old arithmetic", "A=$[1+1]", "1: arithmetic is not allowed"},
		{"second statement", "A=1; touch x", "1: ; and & are not allowed"},
		{"semicolon alone", "A=1;", "1: ; and & are not allowed"},
		{"background", "A=1 &", "1: ; and & are not allowed"},
		{"command", "touch x", "1: commands are not allowed"},
		{"command after an assignment", "A=1 touch x", `1: a value with spaces needs quotes: A="..."`},
		{"spaces around =", "A = 1", "1: no spaces are allowed around ="},
		{"and", "A=1 && touch x", "1: commands are not allowed"},
		{"pipe", "A=1 | touch x", "1: commands are not allowed"},
		{"negation", "! A=1", "1: commands are not allowed"},
		{"function", "\n\nf() { touch x; }\nf", "3: functions are not allowed"},
		{"function keyword", "function f { touch x; }", "1: functions are not allowed"},
		{"source", "source ./evil", "1: commands are not allowed"},
		{"dot", ". ./evil", "1: commands are not allowed"},
		{"eval", "eval 'touch x'", "1: commands are not allowed"},
		{"set", "set -e", "1: commands are not allowed"},
		{"trap", "trap 'touch x' EXIT", "1: commands are not allowed"},
		{"alias", "alias a='touch x'", "1: commands are not allowed"},
		{"if", "if true; then A=1; fi", "1: commands are not allowed"},
		{"for", "for i in 1; do touch x; done", "1: commands are not allowed"},
		{"block", "{ A=1; }", "1: commands are not allowed"},
		{"subshell", "(touch x)", "1: commands are not allowed"},
		{"test", "[[ -f x ]]", "1: commands are not allowed"},
		{"arithmetic command", "((A=1))", "1: commands are not allowed"},
		{"let", "let A=1", "1: commands are not allowed"},
		{"time", "time touch x", "1: commands are not allowed"},
		{"coproc", "coproc touch x", "1: commands are not allowed"},
		{"here-document", "cat <<E\n$(touch x)\nE", "1: redirections are not allowed"},
		{"here-document on an assignment", "A=1 <<E\n`touch x`\nE", "1: redirections are not allowed"},
		{"redirection", "A=1 > x", "1: redirections are not allowed"},
		{"redirection alone", "> x", "1: redirections are not allowed"},
		{"array", "A=(a b)", `1: arrays are not allowed: write a list as A="one,two"`},
		{"array with a command", "A=($(touch x))", "1: arrays are not allowed"},
		{"index", "A[0]=1", "1: only KEY=value is allowed"},
		{"index with a command", "A[$(touch x)]=1", "1: only KEY=value is allowed"},
		{"append", "A+=1", "1: only KEY=value is allowed"},
		{"declare", "declare A=1", "1: declare is not allowed"},
		{"readonly", "readonly A=1", "1: readonly is not allowed"},
		{"export of nothing", "A=1\nexport A", "2: export needs KEY=value"},
		{"export with an option", "export -f a", "1: export needs KEY=value"},
		{"export of an expansion", "export $A", "1: export needs KEY=value"},
		{"indirection", "A=${!B}", "1: only ${NAME} and ${NAME:-default} are expanded"},
		{"length", "A=${#B}", "1: only ${NAME}"},
		{"assigning default", "A=${B:=c}", "1: only ${NAME}"},
		{"error default", "A=${B:?c}", "1: only ${NAME}"},
		{"alternative", "A=${B:+c}", "1: only ${NAME}"},
		{"default without colon", "A=${B-c}", "1: only ${NAME}"},
		{"prefix removal", "A=${B#c}", "1: only ${NAME}"},
		{"slice", "A=${B:0:1}", "1: only ${NAME}"},
		{"replacement", "A=${B/c/d}", "1: only ${NAME}"},
		{"case", "A=${B^^}", "1: only ${NAME}"},
		{"transformation", "A=${B@P}", "1: only ${NAME}"},
		{"names", "A=${!B*}", "1: only ${NAME}"},
		{"element", "A=${B[$(touch x)]}", "1: only ${NAME}"},
		{"positional", "A=$1", "1: only ${NAME}"},
		{"special", "A=$$", "1: only ${NAME}"},
		{"C quotes", `A=$'\n'`, "1: $'...' is not allowed"},
		{"translated quotes", `A=$"a"`, `1: $"..." is not allowed`},
		{"tilde that another key holds", "A=~/x\nB=${A}", "2: A holds a ~: ~ is not expanded: write ${HOME}"},
		{"tilde that another key holds after a colon", "A=x:~/y\nB=$A", "2: A holds a ~: ~ is not expanded: write ${HOME}"},
		{"pattern", "A=@(a|b)", "1: this pattern is not allowed"},
		{"parentheses without quotes", "ALLOWED_TOOLS=Bash(git add *)", `1: is not KEY=value; a value with spaces, parentheses or other signs needs quotes: KEY="a value"`},
		{"open quote", "A=1\nB=\"a\nC=3\n", "2: a quote or bracket is not closed; "},
		{"open brace", "A=${B", "1: a quote or bracket is not closed; "},
		{"bad name", "1A=2", "1: commands are not allowed"},
		{"doubling", "A0=aaaaaaaaaaaaaaaa\n" + doubling(20), "14: the value is too long"},
		{"words", strings.Repeat("if ", 20000), "1: is not KEY=value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			assigns, _, err := parseRC(test.text, map[string]string{"B": "x"})
			if err == nil || assigns != nil {
				t.Fatalf("taken as %v", assigns)
			}
			if got := err.Error(); !strings.HasPrefix(got, rcName+":"+test.want) || strings.Contains(got, "\n") {
				t.Errorf("%q, want %q", got, test.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("created %v", entries)
			}
		})
	}
}

// doubling is n lines that each double the value of the one before.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		from, to := string(rune('A'+i))+"0", string(rune('B'+i))+"0"
		b.WriteString(to + "=$" + from + "$" + from + "\n")
	}
	return b.String()
}

// accepted are files that must mean to ralph what they mean to a shell.
var accepted = []string{
	"",
	"# only a comment",
	"A=1",
	"  A=1  # why\n\n\nexport B=2",
	"A=1 B=2",
	"A=",
	`A=""`,
	`A="a b"`,
	`A='a $B "c" \ d'`,
	`A="a 'b' \"c\" \$d \\ \e"`,
	`A=a\ b\$c\\d`,
	`A=a"b"'c'd`,
	"A=a#b",
	"A=*.go",
	"A={a,b}",
	"A=a=b",
	"A=b~/c",
	`A="~/b:~/c"`,
	"A=\"a\\\nb\"",
	"A=a\\\nb",
	"A=\"a\nb\"",
	"A=1\nA=2",
	"A=1\nB=$A",
	`A=1` + "\n" + `B="x${A}y$A"`,
	"A=${A:-3}",
	"E=${E:-3}",
	"EMPTY=${EMPTY:-3}",
	`A="${A:-my project}"`,
	`A="${A:-${C:-deep}}"`,
	`A=${A:-"a b"}`,
	`A="${A:-}"`,
	`A='${E}'`,
	`A="$UNSET"`,
	`A="cost: $ 5"`,
	`export A="x" B='y'`,
	`ALLOWED_TOOLS="Write,Bash(git add *),Bash(npm *)"`,
	"A=ä€😀",
}

func TestParseRC_acceptedFileMeansWhatItMeansToBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to compare with")
	}
	env := map[string]string{"E": "from env", "EMPTY": "", "LC_ALL": "C.UTF-8"}
	for _, text := range accepted {
		assigns, _, err := parseRC(text, env)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, script := "", ". ./rc\n"
		last := map[string]string{}
		for _, a := range assigns {
			last[a.name] = a.value
		}
		for _, a := range assigns {
			got += a.name + "=" + last[a.name] + "\n"
			script += "printf '%s\\n' \"" + a.name + "=$" + a.name + "\"\n"
		}
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", script)
		cmd.Dir = t.TempDir()
		write(t, cmd.Dir, "rc", text)
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got != string(want) {
			t.Errorf("%q means\n%s, to bash\n%s", text, got, want)
		}
	}
}

func TestParseRC_namesComeFromEarlierKeysThenTheEnvironment(t *testing.T) {
	env := map[string]string{"HOME": "/home/me", "A": "env", "EMPTY": ""}
	assigns, warnings, err := parseRC("A=file\nB=$A\nC=$HOME/x\n\nD=\"<$NOPE>${EMPTY}${NOPE:-}${A:-$NOPE}\"", env)
	if err != nil {
		t.Fatal(err)
	}
	want := []assignment{{name: "A", value: "file", line: 1, used: true}, {name: "B", value: "file", line: 2},
		{name: "C", value: "/home/me/x", line: 3}, {name: "D", value: "<>file", line: 5}}
	if diff := cmp.Diff(want, assigns, cmp.AllowUnexported(assignment{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Warning{".ralphrc:5: NOPE is not set and counts as empty"}, warnings); diff != "" {
		t.Error(diff)
	}
}

// upstreamTemplate has the lines of the file that `ralph enable` of
// frankbria/ralph-claude-code writes into a project.
const upstreamTemplate = `# .ralphrc - Ralph project configuration
PROJECT_NAME="${PROJECT_NAME:-my-project}"
PROJECT_TYPE="${PROJECT_TYPE:-unknown}"
CLAUDE_CODE_CMD="claude"
MAX_CALLS_PER_HOUR=${MAX_CALLS_PER_HOUR:-50}
CLAUDE_TIMEOUT_MINUTES=20
CLAUDE_OUTPUT_FORMAT="json"
ALLOWED_TOOLS="Write,Read,Edit,Bash(git add *),Bash(npm *),Bash(pytest)"
SESSION_CONTINUITY=true
SESSION_EXPIRY_HOURS=24
TASK_SOURCES="local"
GITHUB_TASK_LABEL="ralph-task"
BEADS_FILTER="status:open"
CB_NO_PROGRESS_THRESHOLD=3
CB_SAME_ERROR_THRESHOLD=5
CB_OUTPUT_DECLINE_THRESHOLD=70
CB_COOLDOWN_MINUTES=0
CB_AUTO_RESET=false
CLAUDE_AUTO_UPDATE=true
CLAUDE_MIN_VERSION="2.0.76"
RALPH_VERBOSE=false
# PROMPT_FILE="PROMPT.md"
`

func TestLoad_fileOfTheUpstreamTemplateWorksWithOneNote(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rcName, upstreamTemplate)
	for _, test := range []struct {
		env  []string
		want int
	}{{nil, 50}, {[]string{"MAX_CALLS_PER_HOUR=7"}, 7}} {
		l := Loader{Dir: dir, Env: test.env}
		c, warnings, err := l.Load()
		if err != nil || len(warnings) != 1 {
			t.Fatal(err, warnings)
		}
		if c.CallsPerHour != test.want || c.Timeout != 20*time.Minute || !c.Continue || c.Cooldown != 0 || len(c.AllowedTools) != 6 {
			t.Errorf("%+v", c.Options)
		}
		const tools = ".ralphrc:8: ALLOWED_TOOLS adds Bash(npm *), Bash(pytest)"
		if u, err := l.Untrusted(); err != nil || u == nil || !slices.Equal(linesOf(u), []string{tools}) {
			t.Errorf("asks for consent to something else: %+v, %v", u, err)
		}
	}
}

func FuzzParseRC(f *testing.F) {
	for _, text := range accepted {
		f.Add(text)
	}
	f.Add("A=$(x)\n")
	f.Add("A=(\n")
	f.Add(upstreamTemplate)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, rcName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, _, err := Loader{Dir: dir}.Load()
		if (c == nil) != (err != nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil {
			if message := err.Error(); strings.ContainsAny(message, "\n\x1b\x00") || !strings.HasPrefix(message, rcName+":") {
				t.Fatalf("message %q", message)
			}
			return
		}
		for _, row := range c.Rows() {
			if !option.Printable(row.Value) || row.Source.Kind == "" {
				t.Fatalf("row %+v", row)
			}
		}
	})
}
