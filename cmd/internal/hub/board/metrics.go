package board

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ralph/state/view"
)

// point is a value of a metric.
type point struct {
	metric, help string
	value        float64
	labels       []string // more than those of the run: "name", "value", ...
}

// points are the values of one run.
func points(p project, s view.Snapshot) []point {
	st, u := s.Status, s.Status.Usage
	one := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	all := []point{
		{"ralph_run_info", "The latest run of each project; always 1.", 1, []string{"state", s.State, "agent", st.Agent, "model", st.Model, "rule", st.Rule}},
		{"ralph_run_alive", "1 while the runner is alive.", one(s.Alive), nil},
		{"ralph_run_start_time_seconds", "When the run began.", float64(st.StartedAt.Unix()), nil},
		{"ralph_run_status_age_seconds", "Time since the runner wrote its status.", s.Age.Seconds(), nil},
		{"ralph_run_iterations", "Iterations that have ended.", float64(st.LoopCount), nil},
		{"ralph_run_tokens", "Tokens by kind.", float64(u.InputTokens), []string{"kind", "input"}},
		{"ralph_run_tokens", "Tokens by kind.", float64(u.OutputTokens), []string{"kind", "output"}},
		{"ralph_run_tokens", "Tokens by kind.", float64(u.CacheReadTokens), []string{"kind", "cache_read"}},
		{"ralph_run_tokens", "Tokens by kind.", float64(u.CacheWriteTokens), []string{"kind", "cache_write"}},
		{"ralph_plan_tasks", "Tasks of the plan.", float64(st.Task.Total), nil},
		{"ralph_plan_tasks_done", "Tasks that are done.", float64(st.Task.Done), nil},
		{"ralph_findings_open", "What a person has to look at.", float64(len(st.Review)), nil},
		{"ralph_questions_open", "Questions that wait for an answer.", float64(len(openQuestions(p))), nil},
	}
	if !st.Active() && s.State != view.StateStarting { // a crash leaves none, either
		all = append(all, point{"ralph_run_exit_code", "Exit code of a run that has ended.", float64(st.ExitCode), nil})
	}
	if u.CostUSD != 0 {
		all = append(all, point{"ralph_run_cost_usd", "Cost as the agent estimates it; none while no agent has named one.", u.CostUSD, nil})
	}
	for _, c := range st.Checks {
		failed := c.Result == "failed" || c.Result == "running" && !c.RedSince.IsZero()
		all = append(all, point{"ralph_check_failed", "1 if the latest run of a check failed.", one(failed), []string{"check", c.Name}})
	}
	return all
}

// metricsText is the latest run of each project in the text format of Prometheus. It is so
// small that no library is needed.
func metricsText(projects []project, now time.Time) []byte {
	var names []string
	lines := map[string][]string{}
	for _, p := range projects {
		s := view.Gather(p.reader(), now)
		if s.State == view.StateNone {
			continue
		}
		run := []string{"project", filepath.Base(p.Dir), "key", p.Key, "run", cmp.Or(s.Status.RunID, s.Owner.RunID)}
		for _, v := range points(p, s) {
			if lines[v.metric] == nil {
				names = append(names, v.metric)
				lines[v.metric] = []string{fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n", v.metric, v.help, v.metric)}
			}
			lines[v.metric] = append(lines[v.metric], fmt.Sprintf("%s{%s} %s\n", v.metric,
				labels(append(run[:len(run):len(run)], v.labels...)), strconv.FormatFloat(v.value, 'g', -1, 64)))
		}
	}
	var out bytes.Buffer
	for _, name := range names {
		out.WriteString(strings.Join(lines[name], ""))
	}
	return out.Bytes()
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
