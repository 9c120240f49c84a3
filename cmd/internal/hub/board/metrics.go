package board

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ralph/state"
	"ralph/state/question"
	"ralph/state/view"
)

// metric is a row of /metrics: a gauge of the latest run of each project.
type metric struct {
	name, help string
	values     func(p metricsProject, s view.Snapshot) []point
}

// point is a value with more labels than those of the run: "name", "value", ...
type point struct {
	labels []string
	value  float64
}

func metrics() []metric {
	one := func(f func(s view.Snapshot) float64) func(metricsProject, view.Snapshot) []point {
		return func(_ metricsProject, s view.Snapshot) []point { return []point{{nil, f(s)}} }
	}
	return []metric{
		{"ralph_run_info", "The latest run of each project; always 1.", func(_ metricsProject, s view.Snapshot) []point {
			return []point{{[]string{"state", s.State, "agent", s.Status.Agent, "model", s.Status.Model,
				"rule", s.Status.Rule}, 1}}
		}},
		{"ralph_run_alive", "1 while the runner is alive.", one(func(s view.Snapshot) float64 {
			if s.Alive {
				return 1
			}
			return 0
		})},
		{"ralph_run_start_time_seconds", "When the run began.",
			one(func(s view.Snapshot) float64 { return float64(s.Status.StartedAt.Unix()) })},
		{"ralph_run_status_age_seconds", "Time since the runner wrote its status.",
			one(func(s view.Snapshot) float64 { return s.Age.Seconds() })},
		{"ralph_run_iterations", "Iterations that have ended.",
			one(func(s view.Snapshot) float64 { return float64(s.Status.LoopCount) })},
		{"ralph_run_exit_code", "Exit code of a run that has ended.", func(_ metricsProject, s view.Snapshot) []point {
			if s.Status.Active() || s.State == view.StateStarting { // a crash leaves none, either
				return nil
			}
			return []point{{nil, float64(s.Status.ExitCode)}}
		}},
		{"ralph_run_cost_usd", "Cost as the agent estimates it; none while no agent has named one.",
			func(_ metricsProject, s view.Snapshot) []point {
				if s.Status.Usage.CostUSD == 0 {
					return nil
				}
				return []point{{nil, s.Status.Usage.CostUSD}}
			}},
		{"ralph_run_tokens", "Tokens by kind.", func(_ metricsProject, s view.Snapshot) []point {
			u := s.Status.Usage
			return []point{{[]string{"kind", "input"}, float64(u.InputTokens)},
				{[]string{"kind", "output"}, float64(u.OutputTokens)},
				{[]string{"kind", "cache_read"}, float64(u.CacheReadTokens)},
				{[]string{"kind", "cache_write"}, float64(u.CacheWriteTokens)}}
		}},
		{"ralph_plan_tasks", "Tasks of the plan.",
			one(func(s view.Snapshot) float64 { return float64(s.Status.Task.Total) })},
		{"ralph_plan_tasks_done", "Tasks that are done.",
			one(func(s view.Snapshot) float64 { return float64(s.Status.Task.Done) })},
		{"ralph_check_failed", "1 if the latest run of a check failed.", checksFailed},
		{"ralph_findings_open", "What a person has to look at.",
			one(func(s view.Snapshot) float64 { return float64(len(s.Status.Review)) })},
		{"ralph_questions_open", "Questions that wait for an answer.", func(p metricsProject, _ view.Snapshot) []point {
			return []point{{nil, float64(questionsOf(p))}}
		}},
	}
}

func checksFailed(_ metricsProject, s view.Snapshot) (all []point) {
	for _, c := range s.Status.Checks {
		failed := 0.0
		if c.Result == "failed" || c.Result == "running" && !c.RedSince.IsZero() {
			failed = 1
		}
		all = append(all, point{[]string{"check", c.Name}, failed})
	}
	return all
}

func questionsOf(p metricsProject) (n int) {
	list, _ := question.In(p.reader()).List() // none can be read: none is counted
	for _, q := range list {
		if q.Open() {
			n++
		}
	}
	return n
}

// metricsProject is a folder with runs. The key distinguishes folders with the same name.
type metricsProject struct{ Key, Dir string }

func (p metricsProject) reader() *state.Reader {
	return state.Open(filepath.Join(p.Dir, state.DirName))
}

// metricsText is the latest run of each project in the text format of Prometheus. It is so
// small that no library is needed.
func metricsText(projects []metricsProject, now time.Time) []byte {
	type run struct {
		metricsProject
		view.Snapshot
	}
	var runs []run
	for _, p := range projects {
		if s := view.Gather(p.reader(), now); s.State != view.StateNone {
			runs = append(runs, run{p, s})
		}
	}
	var out bytes.Buffer
	for _, m := range metrics() {
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %[1]s gauge\n", m.name, m.help)
		for _, r := range runs {
			whose := []string{"project", filepath.Base(r.metricsProject.Dir), "key", r.Key, "run", runOf(r.Snapshot)}
			for _, v := range m.values(r.metricsProject, r.Snapshot) {
				fmt.Fprintf(&out, "%s{%s} %s\n", m.name, labels(append(whose[:len(whose):len(whose)], v.labels...)),
					strconv.FormatFloat(v.value, 'g', -1, 64))
			}
		}
	}
	return out.Bytes()
}

func runOf(s view.Snapshot) string {
	if s.Status.RunID == "" {
		return s.Owner.RunID
	}
	return s.Status.RunID
}

// labels are pairs of names and values.
func labels(pairs []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, pairs[i]+`="`+escape.Replace(strings.ToValidUTF8(pairs[i+1], "\ufffd"))+`"`)
	}
	return strings.Join(all, ",")
}
