package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/hooks"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/state"
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

func ruleTable[R rules.Rule[rules.Admission] | rules.Rule[rules.Conclusion] | rules.ReviewRow | rules.CaseRow](rows []R) string {
	var out strings.Builder
	out.WriteString("| rule | when | then |\n|---|---|---|\n")
	for _, row := range rows {
		r := reflect.ValueOf(row)
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", r.FieldByName("Name"), r.FieldByName("When"), r.FieldByName("Then"))
	}
	return out.String()
}

// jsonFields are the names that a struct has in JSON, those of embedded structs
// among them.
func jsonFields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, jsonFields(f.Type)...)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func eventKinds() string {
	var out strings.Builder
	out.WriteString("| kind | meaning | fields of `data` |\n|---|---|---|\n")
	for _, k := range state.Kinds() {
		var fields string
		if names := jsonFields(reflect.TypeOf(k.Payload)); len(names) > 0 {
			fields = " `" + strings.Join(names, "` `") + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s |%s |\n", k.Kind, k.Meaning, fields)
	}
	return out.String()
}

// hookTables are the points of a run, and what a hook gets in its environment.
func hookTables() (points, environment string) {
	var p, e strings.Builder
	p.WriteString("| point | when | a hook that blocks prevents |\n|---|---|---|\n")
	for _, r := range hooks.Points() {
		fmt.Fprintf(&p, "| `%s` | %s | %s |\n", r.Point, r.When, r.Veto)
	}
	e.WriteString("| variable | holds |\n|---|---|\n")
	for _, v := range (hooks.Facts{}).Variables() {
		if v.Meaning != "" {
			fmt.Fprintf(&e, "| `%s` | %s |\n", v.Name, v.Meaning)
		}
	}
	return p.String(), e.String()
}

// roleTable is who a run asks about a task.
func roleTable() string {
	var out strings.Builder
	out.WriteString("| role | asked when | may write | which agent | when it refuses |\n|---|---|---|---|---|\n")
	for _, r := range roles.Table() {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.Asked, r.Writes, r.Agent, r.Fails)
	}
	return out.String()
}

// statusKeys are the lines of a status block.
func statusKeys() string {
	var out strings.Builder
	out.WriteString("| line | values | what it means |\n|---|---|---|\n")
	for _, k := range statusblock.Keys() {
		names, values := append([]string{k.Name}, k.Also...), strings.Join(k.Values, "` `")
		switch {
		case len(k.Values) > 1:
			values = "`" + values + "`"
		case values == "":
			values = "text"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", strings.Join(names, "`, `"), values, strings.ReplaceAll(k.Means, "|", "\\|"))
	}
	return out.String()
}

// outcomes lists how a call can end, below what ralph does then.
func outcomes() string {
	var answers []string
	of := map[string]string{}
	for _, c := range ending.Classes() {
		then := answer(c.Class)
		if of[then] == "" {
			answers = append(answers, then)
		}
		of[then] += fmt.Sprintf("- `%s`: %s\n", c.Class, c.Meaning)
	}
	var out strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&out, "%s%s:\n\n%s\n", strings.ToUpper(a[:1]), a[1:], of[a])
	}
	return out.String()
}

// answer says in words what the loop does about an outcome.
func answer(c ending.Class) string {
	switch rules.KindOf(c) {
	case rules.KindLimit:
		return "wait until the reset, or stop with exit code 7; costs nothing"
	case rules.KindTransient:
		return fmt.Sprintf("retry after 5 s, doubling up to 10 min, up to %d times; these retries cost nothing", rules.MaxRetries)
	case rules.KindUnusable:
		return "stop with exit code 6"
	case rules.KindStale:
		return "retry once without the session; costs nothing"
	}
	switch {
	case c == ending.QuestionAsked:
		return "the task waits for an answer; the run takes the next one"
	case c == ending.PermissionDenied:
		return "continue and tell the agent; exit code 3 after `CB_PERMISSION_DENIAL_THRESHOLD` in a row"
	case c == ending.TimeoutWithWork:
		return "continue, and the work counts; without any change it is an error"
	case rules.AgentHint(agent.Outcome{Class: c}) != "":
		return "continue and tell the agent; the circuit breaker counts it if nothing changed"
	case c.Success():
		return "continue, or end by the rules of completion"
	}
	return "continue after a wait (`COOLDOWN_ON_ERROR`); the circuit breaker counts it as an error"
}

// generated are the tables that documents take from the code, by the name in
// their markers: <!-- generated: NAME --> ... <!-- end -->.
func generated() map[string]string {
	var exits, files, findings strings.Builder
	exits.WriteString("| code | name | when |\n|---|---|---|\n")
	for _, e := range state.ExitCodes() {
		fmt.Fprintf(&exits, "| %d | %s | %s |\n", e.Code, e.Name, e.When)
	}
	files.WriteString("| file | form | lifetime |\n|---|---|---|\n")
	for _, f := range state.Files() {
		fmt.Fprintf(&files, "| `%s` | %s | %s |\n", f.Name, f.Form, f.Lifetime)
	}
	findings.WriteString("| finding | what was found |\n|---|---|\n")
	for _, k := range audit.Kinds() {
		more := ""
		if k.Revert {
			more = ". `revert` takes the tick back"
		}
		if k.Doubt {
			more = ". `halt` does not end the run: honest work can look the same"
		}
		fmt.Fprintf(&findings, "| `%s` | %s%s |\n", k.Kind, k.Found, more)
	}
	points, environment := hookTables()
	return map[string]string{
		"status block": statusKeys(),
		"roles":        roleTable(),
		"points":       points, "hook environment": environment,
		"findings": findings.String(), "exit codes": exits.String(), "admit rules": ruleTable(rules.AdmitRules()), "conclude rules": ruleTable(rules.ConcludeRules()), "review rules": ruleTable(rules.ReviewRules()), "fixed rules": ruleTable(rules.CaseRules()),
		"state files": files.String(), "outcomes": outcomes(), "event kinds": eventKinds(),
	}
}

func TestGenerated_tablesInTheDocuments_areCurrent(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, path := range append(docs, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := string(data)
		for name, table := range generated() {
			start, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
			i := strings.Index(want, start)
			if i < 0 {
				continue
			}
			seen[name] = true
			from := i + len(start)
			to := strings.Index(want[from:], end)
			if to < 0 {
				t.Fatalf("%s: %q has no end marker", path, name)
			}
			want = want[:from] + table + want[from+to:]
		}
		if want == string(data) {
			continue
		}
		if !*update {
			t.Errorf("%s is stale; run: make generate", path)
			continue
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range generated() {
		if !seen[name] {
			t.Errorf("no document shows %q", name)
		}
	}
}

func TestRules_eachName_isAConstantWithARow(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "..", "..", "state", "rule.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^\tRule\w+ += "(\w+)"`).FindAllStringSubmatch(string(src), -1) {
		want = append(want, m[1])
	}
	tables := generated()
	for _, table := range []string{"admit rules", "conclude rules", "review rules", "fixed rules"} {
		for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(tables[table], -1) {
			got = append(got, m[1])
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); len(got) < 20 || !slices.Equal(want, got) {
		t.Errorf("state/rule.go has\n%q, the tables of rules have\n%q", want, got)
	}
}

func TestHelp_everyFlagAndVerb_saysWhatItDoes(t *testing.T) {
	root, _ := newRootCmd(cmdline.New())
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" { // cobra's own
			return
		}
		if c.Short == "" {
			t.Errorf("%s has no help", c.CommandPath())
		}
		if c.Example == "" && c.Name() != "help" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		if c.HasParent() && c.Parent() == root && c.GroupID == "" && !c.Hidden {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no help", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(root)
}
