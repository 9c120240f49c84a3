package preflight

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ralph/internal/recordings"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/rules"
	"ralph/state"
)

var update = flag.Bool("update", false, "choose the recordings again")

const source = "../../../runner/agent/testdata"

// maxOutput keeps long recordings out of the program.
const maxOutput = 24 << 10

func TestRecordings_areThoseOfPackageAgent(t *testing.T) {
	want := choose(t)
	if *update {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
		err := json.NewEncoder(w).Encode(want)
		if err = errors.Join(err, w.Close(), os.WriteFile("recordings.json.gz", packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !reflect.DeepEqual(want, all()) {
		t.Error("recordings.json.gz is stale; run: go test ./cmd/internal/preflight -run Recordings -update")
	}
}

// choose takes for each class and agent the recording that shows most: of a
// limit its end, of a good turn some work, then the format that the row asks
// for, then the shortest.
func choose(t *testing.T) []Recording {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(source, "golden.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]recordings.Recording{}
	for _, s := range agent.Specs() {
		archive, err := os.ReadFile(filepath.Join(source, "recordings", s.Name+".txtar"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		list, parseErr := recordings.Parse(archive)
		if err := errors.Join(err, parseErr); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			sources[r.Name] = r
		}
	}
	type key struct{ class, agent string }
	best := map[key]candidate{}
	for line := range strings.Lines(string(table)) {
		f := strings.Split(line, "\t")
		if f[0] == "recording" {
			continue
		}
		for _, name := range []string{f[1], string(agent.FormatText)} {
			k := key{f[2], name}
			if c, ok := candidateOf(t, sources[f[0]], ending.Class(f[2]), name); ok && (best[k].Output == "" || better(c, best[k])) {
				best[k] = c
			}
		}
	}
	var all []Recording
	for _, c := range best {
		all = append(all, c.Recording)
	}
	slices.SortFunc(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Agent, b.Agent))
	})
	return all
}

type candidate struct {
	Recording
	rank int
}

func better(a, b candidate) bool {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(len(a.Output), len(b.Output)), cmp.Compare(a.Name, b.Name)) < 0
}

func candidateOf(t *testing.T, from recordings.Recording, class ending.Class, row string) (candidate, bool) {
	t.Helper()
	name, out := from.Name, from.Output
	// They were made in two sittings of one morning.
	at := time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)
	if strings.HasPrefix(name, "pty-") {
		at = at.Add(90 * time.Minute)
	}
	r := Recording{Name: name, Class: class, Agent: row, Recorded: at, Args: from.Args, Output: out,
		Exit: ptyexec.Exit{Code: from.Exit, Signal: from.KilledBy(), Cause: ptyexec.CauseExited}}
	if from.TimedOut {
		r.Exit.Cause = ptyexec.CauseTimeout
	}
	s, err := agent.Find(row)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 || len(out) > maxOutput || !utf8.ValidString(out) || row == "text" && strings.Contains(out, `{"`) {
		return candidate{}, false
	}
	tr := decode(s, r)
	o := s.Classify(tr, r.Exit, at)
	if o.Class != class {
		return candidate{}, false
	}
	c := candidate{Recording: r}
	signal, _ := statusblock.Parse(tr.Final)
	switch {
	case class == ending.UsageLimit && !o.ResetsAt.IsZero(),
		class == ending.CompletedTurn && tr.ToolCalls > 0 && !signal.Exit:
		c.rank += 2
	}
	if tr.Rejected != nil {
		c.rank++
	}
	if strings.Contains(name, "claude10") || strings.Contains(name, "claude20") {
		c.rank-- // old builds
	}
	if usual := slices.IndexFunc(s.Args, func(a string) bool { return strings.Contains(a, "json") }); usual >= 0 && slices.Contains(r.Args, s.Args[usual]) {
		c.rank++
	}
	return c, true
}

func options() rules.Policy {
	return rules.Policy{BreakerPolicy: rules.BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2, OutputDeclineThreshold: 70},
		CompletionClaims: 2, CallsPerHour: 100, OnLimit: "wait"}
}

func TestPlay_everyRecording_getsItsClass(t *testing.T) {
	now := time.Date(2031, 2, 3, 10, 0, 0, 0, time.Local)
	played := map[string]int{}
	for _, s := range agent.Specs() {
		for _, c := range ending.Classes() {
			r, ok := FindRecording(c.Class, s)
			if !ok {
				continue
			}
			played[s.Name]++
			scene := PlayRecording(r, DrillSetting{Spec: s, Policy: options(), Now: now})
			if scene.Outcome.Class != c.Class {
				t.Errorf("%s as %s (%s): %q, %s", c.Class, s.Name, r.Name, scene.Outcome.Class, scene.Outcome.Reason)
			}
			if scene.Outcome.Reason == "" || scene.Decision.Rule == "" {
				t.Errorf("%s as %s: %+v", c.Class, s.Name, scene)
			}
			d := scene.Decision
			if !d.Until.IsZero() && (d.Until.Before(now) || d.Until.After(now.AddDate(0, 0, 8))) {
				t.Errorf("%s as %s: until %s", c.Class, s.Name, d.Until)
			}
			infrastructure := c.Class.Transient() || d.Rule == state.RuleUsageLimit || d.Rule == "agent_unusable" || c.Class == ending.StaleSession
			if infrastructure != (len(scene.Counted) == 0) && !c.Class.Success() {
				t.Errorf("%s as %s counts %q", c.Class, s.Name, scene.Counted)
			}
		}
	}
	for _, s := range agent.Specs() {
		if played[s.Name] < 10 {
			t.Errorf("%s: %d classes", s.Name, played[s.Name])
		}
	}
	t.Log(played)
}

func scene(t *testing.T, class ending.Class, name string, change func(*DrillSetting)) Scene {
	t.Helper()
	s, err := agent.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := FindRecording(class, s)
	if !ok {
		t.Fatalf("no %s of %s", class, name)
	}
	set := DrillSetting{Spec: s, Policy: options(), Now: time.Date(2031, 2, 3, 10, 0, 0, 0, time.Local)}
	if change != nil {
		change(&set)
	}
	return PlayRecording(r, set)
}

func TestPlay_limit_isOverAsLongAfterNowAsRecorded(t *testing.T) {
	now := time.Date(2031, 2, 3, 10, 0, 0, 0, time.Local)
	got := scene(t, ending.UsageLimit, "claude", nil)
	if got.Decision.Action != state.ActionWait || got.Outcome.ResetsAt.IsZero() || !got.Outcome.Limit.ResetsAt.Equal(got.Outcome.ResetsAt) {
		t.Fatalf("%+v", got)
	}
	if left := got.Decision.Until.Sub(now); left < time.Minute || left > 24*time.Hour {
		t.Errorf("waits %s", left)
	}
	stop := scene(t, ending.UsageLimit, "claude", func(s *DrillSetting) { s.Policy.OnLimit = "stop" })
	if stop.Decision.Exit != state.ExitLimited {
		t.Errorf("on-limit stop: %+v", stop.Decision)
	}
	other := scene(t, ending.UsageLimit, "claude", func(s *DrillSetting) { s.Fallback = "codex" })
	if other.Decision.Action != state.ActionRetry || !strings.Contains(other.Decision.Reason, "codex") {
		t.Errorf("with a fallback: %+v", other.Decision)
	}
}

func TestPlay_denial_isAnsweredByTheUsersOwnThreshold(t *testing.T) {
	got := scene(t, ending.PermissionDenied, "claude", nil)
	if got.Decision.Action != state.ActionContinue || !slices.Contains(got.Counted, "refused permissions 1 of 2") {
		t.Errorf("%+v", got)
	}
	got = scene(t, ending.PermissionDenied, "claude", func(s *DrillSetting) { s.Policy.DenialThreshold = 1 })
	if got.Decision.Exit != state.ExitHalted || got.Decision.Rule != "permission_denied" {
		t.Errorf("%+v", got.Decision)
	}
}

func TestPlay_patternOfTheUser_changesTheReading(t *testing.T) {
	got := scene(t, ending.Crash, "amp", func(s *DrillSetting) {
		s.Spec.Patterns = append(s.Spec.Patterns, ending.Pattern{Class: ending.Auth, Match: `.+`})
	})
	if got.Outcome.Class != ending.Auth || got.Decision.Exit != state.ExitAgent {
		t.Errorf("%+v", got)
	}
}

func TestFind_ownAgents_playThoseOfTheSameFormat(t *testing.T) {
	for format, want := range map[agent.Format]string{agent.FormatClaude: "claude", agent.FormatCodex: "codex", agent.FormatText: "text"} {
		r, ok := FindRecording(ending.Auth, agent.Spec{Name: "mine", Format: format})
		if !ok || r.Agent != want {
			t.Errorf("%s: %q", format, r.Agent)
		}
	}
	if r, ok := FindRecording(ending.MaxBudget, agent.Spec{Name: "codex", Format: agent.FormatCodex}); ok {
		t.Errorf("codex has no budget, yet: %+v", r)
	}
	if r, ok := FindRecording(ending.MaxBudget, agent.Spec{Name: "amp", Format: agent.FormatClaude}); ok {
		t.Errorf("amp has recordings of its own, yet: %+v", r.Name)
	}
}
