package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/recordings"
	"ralph/ptyexec"
	"ralph/runner/agent/ending"
	"ralph/state"
)

// golden is one row of testdata/golden.tsv. The classes were set by hand from how
// each recording was made. The usage was computed from the raw records without
// this package.
type golden struct {
	name, agent         string
	class               ending.Class
	session             bool
	input, output, read int64
	cost                float64
	denials             int
	final               string
}

func goldens(t testing.TB) []golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if f[0] == "recording" {
			continue
		}
		g := golden{name: f[0], agent: f[1], class: ending.Class(f[2]), session: f[3] == "y"}
		g.input, _ = strconv.ParseInt(f[4], 10, 64)
		g.output, _ = strconv.ParseInt(f[5], 10, 64)
		g.read, _ = strconv.ParseInt(f[6], 10, 64)
		g.cost, _ = strconv.ParseFloat(f[7], 64)
		g.denials, _ = strconv.Atoi(f[8])
		if err := json.Unmarshal([]byte(f[9]), &g.final); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, g)
	}
	return out
}

// allRecordings reads testdata/recordings, one archive for each agent.
var allRecordings = sync.OnceValues(func() (map[string]recordings.Recording, error) {
	files, err := filepath.Glob("testdata/recordings/*.txtar")
	if err != nil {
		return nil, err
	}
	all := map[string]recordings.Recording{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		list, err := recordings.Parse(data)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all[r.Name] = r
		}
	}
	return all, nil
})

// recorded returns what a call printed and how it ended.
func recorded(t testing.TB, name string) ([]byte, ptyexec.Exit) {
	t.Helper()
	all, err := allRecordings()
	if err != nil {
		t.Fatal(err)
	}
	r, ok := all[name]
	if !ok {
		t.Fatalf("no recording %q", name)
	}
	exit := ptyexec.Exit{Code: r.Exit, Signal: r.KilledBy(), Cause: ptyexec.CauseExited}
	if r.TimedOut {
		exit.Cause = ptyexec.CauseTimeout
	}
	return []byte(r.Output), exit
}

func row(t testing.TB, name string) Spec {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decodeAll decodes an output and returns its transcript and events.
func decodeAll(s Spec, out []byte) (*Transcript, []state.Payload) {
	var tr Transcript
	var events []state.Payload
	d := s.NewDecoder(func(ev state.Payload) {
		tr.Add(ev)
		events = append(events, ev)
	})
	_, _ = d.Write(out)
	d.Close()
	return &tr, events
}

// recordedAt is the day on which the recordings were made.
var recordedAt = time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)

type cell struct{ class, agent string }

func TestRecordings_each_hasItsClassAndUsage(t *testing.T) {
	right, all := map[cell]int{}, map[cell]int{}
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			s := row(t, g.agent)
			out, exit := recorded(t, g.name)
			tr, _ := decodeAll(s, out)
			o := s.Classify(tr, exit, recordedAt)
			key := cell{string(g.class), g.agent}
			all[key]++
			if o.Class == g.class {
				right[key]++
			} else {
				t.Errorf("class %q, want %q; reason %q", o.Class, g.class, o.Reason)
			}
			if o.Reason == "" {
				t.Error("no reason")
			}
			if got := tr.Session != ""; got != g.session {
				t.Errorf("session %q, want some: %v", tr.Session, g.session)
			}
			if u := tr.Usage; u.InputTokens != g.input || u.OutputTokens != g.output || u.CacheReadTokens != g.read || math.Abs(u.CostUSD-g.cost) > 1e-6 {
				t.Errorf("usage %+v, want input %d output %d read %d cost %v", u, g.input, g.output, g.read, g.cost)
			}
			if len(tr.Denials) != g.denials {
				t.Errorf("denials %v, want %d", tr.Denials, g.denials)
			}
			if g.final != "?" && !strings.HasPrefix(strings.TrimSpace(tr.Final), g.final) || g.final == "" && tr.Final != "" {
				t.Errorf("final %q, want prefix %q", tr.Final, g.final)
			}
			said := !strings.Contains(g.name, "gemini") && !strings.HasSuffix(o.Evidence, "|0") // these name no time
			if g.class == ending.UsageLimit && said && o.ResetsAt.IsZero() {
				t.Error("a usage limit without the time of its end")
			}
		})
	}
	t.Log("\n" + matrix(right, all))
}

// A turn may run in another process: its transcript and outcome arrive as JSON.
func TestRecordings_transcriptAndOutcome_surviveJSON(t *testing.T) {
	for _, g := range goldens(t) {
		s := row(t, g.agent)
		out, exit := recorded(t, g.name)
		tr, _ := decodeAll(s, out)
		outcome := s.Classify(tr, exit, recordedAt)
		if diff := cmp.Diff(*tr, throughJSON(t, *tr)); diff != "" {
			t.Errorf("%s: %s", g.name, diff)
		}
		if diff := cmp.Diff(outcome, throughJSON(t, outcome)); diff != "" {
			t.Errorf("%s: %s", g.name, diff)
		}
		if again := throughJSON(t, *tr); !cmp.Equal(s.Classify(&again, exit, recordedAt), outcome) {
			t.Errorf("%s: another outcome after JSON", g.name)
		}
	}
}

func TestTranscript_everyField_survivesJSON(t *testing.T) {
	limit := state.Limit{Name: "five_hour", Rejected: true, ResetsAt: recordedAt, Utilization: -1}
	tr := Transcript{Session: "s", Resumed: true, Repeats: "r", Final: "f", HasResult: true, ResultError: true, Codes: []string{"c"}, Errors: []string{"e"},
		ErrorCodes: []string{"ec"}, CLI: []string{"l"}, Usage: state.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostUSD: 5},
		ToolCalls: 6, Denials: []state.Tool{{ID: "i", Name: "n", Arg: "a", Parent: "p"}}, TextBytes: 8, Failures: ending.Failures{{Tool: "t", Arg: "a", Text: "x"}}, Rejected: &limit, Asked: true, Asks: []state.Ask{{Text: "q", Options: []string{"o"}}},
		Retries: []state.Retry{{Text: "r", Codes: []string{"429"}}}}
	o := Outcome{Class: ending.UsageLimit, Reason: "r", Evidence: "e", Limit: &limit, ResetsAt: recordedAt, RetryAfter: 1500 * time.Millisecond}
	for _, v := range []reflect.Value{reflect.ValueOf(tr), reflect.ValueOf(o)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the test leaves out %s", v.Type().Field(i).Name)
			}
		}
	}
	if diff := cmp.Diff(tr, throughJSON(t, tr)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(o, throughJSON(t, o)); diff != "" {
		t.Error(diff)
	}
}

func throughJSON[T any](t *testing.T, v T) (back T) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// matrix prints right/all for each class and agent.
func matrix(right, all map[cell]int) string {
	var agents []string
	for _, s := range Specs() {
		agents = append(agents, s.Name)
	}
	table := fmt.Sprintf("%-20s", "right/all")
	for _, a := range agents {
		table += fmt.Sprintf("%10s", a)
	}
	for _, c := range ending.Classes() {
		line := ""
		for _, a := range agents {
			k := cell{string(c.Class), a}
			if all[k] == 0 {
				line += fmt.Sprintf("%10s", "-")
			} else {
				line += fmt.Sprintf("%10s", fmt.Sprintf("%d/%d", right[k], all[k]))
			}
		}
		if strings.ContainsAny(line, "/") {
			table += fmt.Sprintf("\n%-20s%s", c.Class, line)
		}
	}
	return table
}

func TestRecordings_areAllInTheTable(t *testing.T) {
	all, err := allRecordings()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d recordings: %v", len(all), err)
	}
	gs := goldens(t)
	for name := range all {
		if !slices.ContainsFunc(gs, func(g golden) bool { return g.name == name }) {
			t.Errorf("%s is not in golden.tsv", name)
		}
	}
}
