package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

const shop = `{
  "name": "Shop",
  "branchName": "ralph/shop",
  "description": "A shop",
  "userStories": [
    {
      "id": "US-002", "title": "Pay", "priority": 2, "passes": false, "dependsOn": ["US-001"],
      "acceptanceCriteria": ["card", "Typecheck passes"], "notes": "n", "extra": {"passes": 1}
    },
    {"id": 7, "title": "Löschen \u00fc", "description": "d", "priority": 1, "passes": true},
    {"id": "US-001", "title": "Cart", "priority": 3, "passes": false},
    {"id": "US-009", "passes": false}
  ]
}
`

func TestParse_prd(t *testing.T) {
	l, err := Parse("prd.json", []byte("\xef\xbb\xbf"+shop), defaults)
	if err != nil {
		t.Fatal(err)
	}
	want := task.List{Format: "prd.json", Project: "Shop", Description: "A shop", Branch: "ralph/shop", Tasks: []task.Task{
		{ID: "US-002", Title: "Pay", Priority: 2, DependsOn: []string{"US-001"}, Criteria: []string{"card", "Typecheck passes"}, Notes: "n", Line: 6},
		{ID: "7", Title: "Löschen ü", Description: "d", Priority: 1, State: task.Done, Line: 10},
		{ID: "US-001", Title: "Cart", Priority: 3, Line: 11},
		{ID: "US-009", Title: "US-009", Priority: task.NoPriority, Line: 12},
	}}
	if d := cmp.Diff(want, l); d != "" {
		t.Error(d)
	}
	if l.Done() != 1 || l.Remaining() != 3 {
		t.Errorf("done %d, remaining %d", l.Done(), l.Remaining())
	}
}

func TestParse_prdWithoutStoriesHasNoTasks(t *testing.T) {
	l, err := Parse("prd.json", []byte(`{"project": "x", "name": "y", "userStories": []}`), nil)
	if err != nil || len(l.Tasks) != 0 || l.Project != "x" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestParse_brokenPRDNamesThePlace(t *testing.T) {
	stories := func(s ...string) string { return "{\n\"userStories\": [\n" + strings.Join(s, ",\n") + "\n]}" }
	for _, c := range []struct{ in, want string }{
		{"", "line 1, column 1: invalid JSON: unexpected end"},
		{"{\n  \"a\": 1,\n}", "line 3, column 1: invalid JSON: invalid character '}'"},
		{"{\"a\": 1} x", "line 1, column 10: invalid JSON"},
		{`[]`, `must be an object with an array "userStories"`},
		{`{}`, `"userStories" is missing: it must be an array of stories`},
		{`{"userStories": {}}`, `userStories (line 1): must be an array of stories, found {}`},
		{`{"userStories": null}`, `userStories (line 1): must be an array of stories, found null`},
		{stories(`{"id": "a"}`, `"b"`), `userStories[1] (line 4): must be an object, found "b"`},
		{stories(`{"title": "a"}`), `userStories[0] (line 3): "id" is missing`},
		{stories(`{"id": "a", "passes": "yes"}`), `userStories[0].passes (line 3): must be true or false, found "yes"`},
		{stories(`{"id": "a", "passes": null}`), `must be true or false, found null`},
		{stories(`{"id": "a", "passes": 1}`), `must be true or false, found 1`},
		{stories(`{"id": "a"}`, `{"id": "b"}`, `{"id": "a"}`), `userStories[2].id (line 5): "a" is also the id of the story in line 3`},
		{stories(`{"id": "a", "priority": "high"}`), `userStories[0].priority (line 3): must be a whole number, 1 comes first, found "high"`},
		{stories(`{"id": "a", "priority": 1.5}`), `found 1.5`},
		{stories(`{"id": "a", "priority": 1e300}`), `found 1e300`},
	} {
		_, err := Parse("prd.json", []byte(c.in), nil)
		if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.in, err, c.want)
		}
	}
}

// planOf builds a prd.json of "id priority done dependencies...".
func planOf(t *testing.T, stories ...string) task.List {
	t.Helper()
	var out []string
	for _, s := range stories {
		f := strings.Fields(s)
		deps := `"` + strings.Join(f[3:], `","`) + `"`
		if len(f) == 3 {
			deps = ""
		}
		out = append(out, fmt.Sprintf(`{"id":%q,"priority":%s,"passes":%s,"dependsOn":[%s]}`, f[0], f[1], f[2], deps))
	}
	l, err := Parse("prd.json", []byte(`{"userStories":[`+strings.Join(out, ",")+`]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNext_storiesByPriorityAndDependencies(t *testing.T) {
	for _, c := range []struct {
		name    string
		stories []string
		want    string
		blocked string
	}{
		{"lowest number first", []string{"a 2 false", "b 1 false"}, "b", ""},
		{"file order among equals", []string{"a 1 true", "b 1 false", "c 1 false"}, "b", ""},
		{"no priority comes last", []string{"a null false", "b 99 false"}, "b", ""},
		{"zero and below come before one", []string{"a 1 false", "b 0 false"}, "b", ""},
		{"waits for its dependency", []string{"a 1 false b", "b 9 false"}, "b", ""},
		{"dependency is done", []string{"a 1 false b", "b 9 true"}, "a", ""},
		{"missing dependency", []string{"a 1 false x", "b 2 false"}, "b", "a"},
		{"behind a blocked one", []string{"a 1 false b", "b 1 false x"}, "", "a b"},
		{"circle", []string{"a 1 false b", "b 1 false c", "c 1 false a", "d 5 false"}, "d", "a b c"},
		{"depends on itself", []string{"a 1 false a"}, "", "a"},
		{"circle broken by a done story", []string{"a 1 false b", "b 1 true a"}, "a", ""},
		{"done in spite of a missing dependency", []string{"a 1 true x", "b 1 false a"}, "b", ""},
		{"all done", []string{"a 1 true"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := planOf(t, c.stories...)
			next, ok := l.Next()
			if next.ID != c.want || ok != (c.want != "") {
				t.Errorf("next %q %v, want %q", next.ID, ok, c.want)
			}
			var blocked []string
			for _, b := range l.Blocked() {
				blocked = append(blocked, b.ID)
			}
			if got := strings.Join(blocked, " "); got != c.blocked {
				t.Errorf("blocked %q, want %q", got, c.blocked)
			}
		})
	}
}

func TestParse_judgeOrProviderThatIsNotUnderstood_isRefusedWithItsLine(t *testing.T) {
	for item, want := range map[string]string{
		`"judges": [{"persona": "qa", "requireEvidence": true, "weight": 0.5}]`:      "",
		`"judges": {"persona": "qa", "require_evidence": null, "timeout": "2m"}`:     "",
		`"judges": ["qa", "security"], "evidencePath": "proof"`:                      "",
		`"judges": [{"persona": "qa", "provider": {"provider": "x", "model": "y"}}]`: "",
		`"provider": {"provider": "gemini", "model": "flash"}`:                       "",
		`"judges": [{"persona": "qa", "requireEvidnce": true}]`:                      `[0].judges[0] (line 2): unknown key "requireEvidnce"; known: name, persona, criteria`,
		`"judges": ["qa", {"persona": "qa", "requireEvidence": "yes"}]`:              `[0].judges[1].requireEvidence (line 2): must be true or false, found "yes"`,
		`"judges": [{"persona": "qa", "threshold": "high"}]`:                         `[0].judges[0].threshold (line 2): must be a number from 1 to 100, found "high"`,
		`"judges": [{"persona": "qa", "criteria": ["a", 7]}]`:                        `must be a text or an array of texts`,
		`"judges": [{"persona": "qa", "timeout": "soon"}]`:                           `must be seconds, or a duration`,
		`"judges": [true]`: `[0].judges[0] (line 2): must be the name of a judge`,
		`"judges": [{"persona": "qa", "provider": {"provider": "x", "mode": "plan"}}]`: `[0].judges[0].provider (line 2): unknown key "mode"`,
		`"provider": {"provider": "gemini", "mode": "plan"}`:                           `[0].provider (line 2): unknown key "mode"; known: name, provider, model`,
		`"mode": "plan"`: `[0].mode (line 2): must be left out`,
	} {
		for name, file := range map[string]string{
			"prd.json":          `{"userStories": [` + "\n" + `{"id": "a", "title": "A", ` + item + `}]}`,
			".ralph/tasks.json": `{"tasks": [` + "\n" + `{"id": "a", "name": "A", "status": "pending", ` + item + `}]}`,
		} {
			l, err := Parse(name, []byte(file), nil)
			if want == "" && err != nil || want != "" && (!errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name)) {
				t.Errorf("%s, %s: %v, want %q", name, item, err, want)
			}
			if strings.HasPrefix(item, `"provider"`) && err == nil && l.Tasks[0].Choice != (task.Choice{Agent: "gemini", Model: "flash"}) {
				t.Errorf("%s: %+v", item, l.Tasks[0].Choice)
			}
			if strings.Contains(item, "evidencePath") && l.Tasks[0].Evidence != "proof" {
				t.Errorf("%s: %+v", item, l.Tasks[0])
			}
		}
	}
}

// A misspelled key would leave the review out without a word. Keys of other tools stay, whatever they are called.
func TestParse_keyThatIsNearlyOneOfRalphs_isNotIgnored(t *testing.T) {
	for item, want := range map[string]struct{ refused, warned string }{
		`"judgs": ["security"]`:           {refused: `[0] (line 3): unknown key "judgs"; did you mean judges?`},
		`"judge": ["qa"]`:                 {refused: `unknown key "judge"; did you mean judges?`},
		`"Judges": "qa"`:                  {refused: `unknown key "Judges"; did you mean judges?`},
		`"jugdes": {"name": "qa"}`:        {refused: `unknown key "jugdes"; did you mean judges?`},
		`"evidencePth": "proof"`:          {refused: `unknown key "evidencePth"; did you mean evidence_path?`},
		`"evidence-path": "proof"`:        {refused: `unknown key "evidence-path"; did you mean evidence_path?`},
		`"acceptanceCriterion": "a"`:      {refused: `unknown key "acceptanceCriterion"; did you mean acceptance_criteria?`},
		`"acceptance_criteriaa": ["a"]`:   {refused: `unknown key "acceptance_criteriaa"; did you mean acceptance_criteria?`},
		`"pases": true`:                   {warned: `[0] (line 3): unknown key "pases"; did you mean passes?`},
		`"passed": true`:                  {warned: `unknown key "passed"; did you mean passes?`},
		`"checks": ["make test"]`:         {warned: `[0] (line 3): ralph reads no "checks" in a plan: write it into .ralph/config.yaml`},
		`"allowedTools": ["Read"]`:        {warned: `ralph reads no "allowedTools" in a plan`},
		`"phases": ["a"], "passed": "no"`: {},
		`"judged": true, "budget": "x", "badges": ["a"], "nudges": ["a"], "edges": []`: {},
		`"evidence": "x", "acceptance": "x", "criteria": ["x"], "estimate": 3`:         {},
	} {
		for name, file := range map[string]string{
			"prd.json":          `{"userStories": [` + "\n" + `{"id": "a", "title": "A",` + "\n" + item + `}]}`,
			".ralph/tasks.json": `{"tasks": [` + "\n" + `{"id": "a", "name": "A", "status": "pending",` + "\n" + item + `}]}`,
		} {
			l, err := Parse(name, []byte(file), nil)
			if want.refused == "" && err != nil || want.refused != "" && (!errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), want.refused)) {
				t.Errorf("%s, %s: %v, want %q", name, item, err, want.refused)
			}
			if said := strings.Join(l.Warnings, "; "); (said == "") != (want.warned == "") || !strings.Contains(said, want.warned) {
				t.Errorf("%s, %s: warned %q, want %q", name, item, said, want.warned)
			}
		}
	}
}

// Who writes into the plan what protects a run must hear that it does not.
func TestParse_protectionOfTheWholePlan_isNotIgnored(t *testing.T) {
	for key, want := range map[string]string{
		`"judges": ["security"]`: `the file (line 2): ralph reads no "judges" of a whole plan: write it into each item, or into .ralph/config.yaml`,
		`"sandbox": "bwrap"`:     `the file (line 2): ralph reads no "sandbox" in a plan`,
		`"agent": "claude"`:      "",
	} {
		for name, list := range map[string]string{"prd.json": `"userStories": [{"id": "a", "title": "A", "passes": false}]`,
			".ralph/tasks.json": `"tasks": [{"id": "a", "name": "A", "status": "pending"}]`} {
			l, err := Parse(name, []byte("{"+list+",\n"+key+"}"), nil)
			if said := strings.Join(l.Warnings, "; "); err != nil || (said == "") != (want == "") || !strings.Contains(said, want) {
				t.Errorf("%s, %s: %v, warned %q, want %q", name, key, err, said, want)
			}
		}
	}
}

func TestParse_keysOfARecord_haveTwoSpellings(t *testing.T) {
	for _, keys := range []string{`"acceptanceCriteria": ["c"], "dependsOn": ["a"]`, `"acceptance_criteria": ["c"], "depends_on": ["a"]`} {
		l, err := Parse("prd.json", []byte(`{"user_stories": [{"id": "a"}, {"id": "b", `+keys+`}]}`), nil)
		if err != nil || len(l.Tasks) != 2 || len(l.Tasks[1].Criteria) != 1 || len(l.Tasks[1].DependsOn) != 1 {
			t.Errorf("%s: %+v, %v", keys, l.Tasks, err)
		}
	}
}
