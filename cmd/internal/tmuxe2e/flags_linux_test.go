package tmuxe2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/config"
	"ralph/internal/world"
	"ralph/state/option"
)

// other returns a value of the option that is not its default, written as ralph
// writes it.
func (p *project) other(o option.Row) string {
	p.Helper()
	own := map[string]string{
		"AGENT":           "codex",
		"FALLBACK_AGENTS": "claude",
		"PROMPT_FILE":     filepath.Join(p.dir, "my prompt; #1.md"),
		"PLAN_FILE":       filepath.Join(p.dir, "my plan.md"),
		"UNTIL":           time.Now().Add(-time.Hour).Format("15:04"),
		"ISOLATE":         "none", "PARALLEL": "1", // the project has no repository
		"FLEET": "", "FLEET_CREDS": "", // a run for a fleet needs one, too
		"MAX_CONTINUATIONS": "7", // the agent's own limit is lower than 17
		"PACE":              "spread seven_day",
		"ONLY_TASK":         "", // the plan has none
		"POP_TASKS":         "false", "QA": "false", "JUDGES": "",
		"SANDBOX": "off", // the agent writes where no sandbox lets it
	}
	if value, ok := own[o.Key]; ok {
		return value
	}
	candidates := map[option.Kind][]string{
		option.Int: {"17", "18"}, option.USD: {"1.25", "2.5"}, option.Minutes: {"17", "18"}, option.Hours: {"17", "18"},
		option.Duration: {"1h17m", "1h18m"}, option.Bool: {"true", "false"}, option.Enum: o.Values,
		option.String: {"it's; #{odd} $HOME ü"}, option.List: {"Read,Bash(echo \";\" *),Bash(a, b)"},
	}[o.Kind]
	for _, value := range candidates {
		if value != o.Default {
			return value
		}
	}
	p.Fatalf("no other value for %s of kind %s", o.Key, o.Kind)
	return ""
}

// kept returns the flags of the latest run, as they are kept to resume it.
func (p *project) kept() (flags map[string]string) {
	p.Helper()
	runs, err := config.Loader{Dir: p.dir, Home: p.Home}.KeptRuns()
	p.Do(err)
	for _, run := range runs {
		if run.Run == p.status().RunID {
			flags = run.Flags
		}
	}
	return flags
}

func TestMonitor_everyFlag_reachesTheInnerRunner(t *testing.T) {
	world.Long(t, "every flag")
	t.Parallel()
	w := newHome(t, "")
	p := w.project("all flags", modeWork)
	p.Write("all flags/my prompt; #1.md", "Do it.\n")
	p.Write("all flags/my plan.md", "- [ ] a task\n")
	var given []string
	want := map[string]string{}
	for _, o := range config.Table() {
		if o.Flag == "" {
			continue
		}
		value := p.other(o)
		want[o.Key] = value
		if o.Kind == option.Path && value != "" {
			value = filepath.Base(value) // relative to where the user is
		}
		given = append(given, "--"+o.Flag+"="+value)
	}
	if len(given) < 20 {
		t.Fatalf("only %d flags in the table", len(given))
	}
	s := p.monitored(large, given...)
	seen := p.working()
	if diff := cmp.Diff(want, p.kept()); diff != "" {
		t.Errorf("given to ralph --monitor and used by the runner:\n%s", diff)
	}
	if !slices.Contains(seen.Args, p.other(rowOf(t, "MODEL"))) {
		t.Errorf("the model is not among the agent's arguments %q", seen.Args)
	}
	p.ralph("abort")
	s.quits("STOPPED", 130)
}

func rowOf(t *testing.T, key string) option.Row {
	t.Helper()
	for _, o := range config.Table() {
		if o.Key == key {
			return o
		}
	}
	t.Fatalf("no option %s", key)
	return option.Row{}
}

func TestMonitor_flagsThatAreNoOptions_reachTheInnerRunner(t *testing.T) {
	world.Long(t, "every other flag")
	for _, c := range []struct {
		name       string
		args, want []string          // want: of the runner's command line
		kept       map[string]string // beside the plan
		shows      string            // in the runner's pane
	}{
		{"live", []string{"--live"}, []string{"run", "--live", "--output=text"}, nil, "needle-01"},
		{"headless, the opposite of an option", []string{"--headless", "--no-continue"}, []string{"run", "--continue=false", "--headless", "--output=text"}, map[string]string{"SESSION_CONTINUITY": "false"}, "--- iteration 1"},
		{"json", []string{"--output", "json", "-c", "5"}, []string{"run", "--calls=5", "--output=json"}, map[string]string{"MAX_CALLS_PER_HOUR": "5"}, `{"v":2,"seq":`}, // the pane is narrow, and cuts what stands later in a line
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newHome(t, "")
			w.Set("SESSION_CONTINUITY", "true")
			p := w.project("project", modeWork)
			s := p.monitored(large, c.args...)
			p.working()
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.status().PID))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
			if diff := cmp.Diff(append([]string{filepath.Join(world.Programs(t), "ralph"), "-C", p.dir}, c.want...), got); diff != "" {
				t.Errorf("the runner's command line:\n%s", diff)
			}
			want := map[string]string{"PLAN_FILE": ".ralph/fix_plan.md"}
			maps.Copy(want, c.kept)
			if diff := cmp.Diff(want, p.kept()); diff != "" {
				t.Errorf("the runner's options:\n%s", diff)
			}
			s.shows(c.shows)
			p.mode(modeDone)
			s.quits("COMPLETED", 0)
		})
	}
}

func TestMonitor_callersEnvironment_reachesTheAgentAndTheServersDoesNot(t *testing.T) {
	world.Long(t, "tmux")
	t.Parallel()
	w := newHome(t, "set-environment -g FROM_CONF conf\n")
	own := w.Env
	w.Env = append(slices.Clone(own), "STALE_KEY=old", "CHANGED=old")
	w.tmux("new-session", "-d", "-s", "mine", "cat")
	given := map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-none", "ANTHROPIC_AUTH_TOKEN": "none", "CHANGED": "new", "TWO_LINES": "one\ntwo;\n", "ODD": `'"$HOME #{pane_id}\;` + "\t🙂", "BASH_FUNC_f%%": "() { :; }",
		"BIG": strings.Repeat("x", 100_000),
	}
	w.Env = slices.Clone(own)
	for name, value := range given {
		w.Env = append(w.Env, name+"="+value)
	}
	p := w.project("project", modeWork)
	s := p.monitored(usual, "once")
	seen := map[string]string{}
	for _, pair := range p.working().Env {
		name, value, _ := strings.Cut(pair, "=")
		seen[name] = value
	}
	for _, pair := range w.Env {
		name, want, _ := strings.Cut(pair, "=")
		if got, ok := seen[name]; name != "TERM" && (!ok || got != want) {
			t.Errorf("%s is %.60q in the agent, want %.60q", name, got, want)
		}
	}
	for _, name := range []string{"STALE_KEY", "RALPH_REPORT"} {
		if value, ok := seen[name]; ok {
			t.Errorf("%s=%q is in the agent's environment", name, value)
		}
	}
	if runner, _ := p.panes(); seen["TMUX_PANE"] != "" && seen["TMUX_PANE"] != runner {
		t.Errorf("TMUX_PANE is %q, not the runner's %s", seen["TMUX_PANE"], runner)
	}
	p.mode(modeIdle)
	s.quits("STOPPED", 4)
	s.said("stopped after 1 iteration, 0 of 2 tasks done")
}
