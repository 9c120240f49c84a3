package config

import (
	"strings"
	"testing"

	"ralph/runner/task"
)

func TestJudges_personaWithoutAName_isItsName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, yamlName, "judges:\n- {persona: Security Auditor, required: true, weight: 2}\n- {persona: Looks for slow queries, required: false}\n")
	c, _, err := (Loader{Dir: dir, Home: dir}).Load()
	if err != nil {
		t.Fatal(err)
	}
	rows := c.JudgeRows()
	if len(rows) != 2 || rows[0].Name != "Security Auditor" || rows[1].Name != "Looks for slow queries" || !rows[1].Optional {
		t.Errorf("%+v", rows)
	}
	write(t, dir, yamlName, "judges:\n- {weight: 2}\n")
	if _, _, err := (Loader{Dir: dir, Home: dir}).Load(); err == nil {
		t.Error("a judge without name and persona is accepted")
	}
}

// A wrong list of judges is refused, not read as fewer of them, and its place is said once.
func TestJudges_badNames_areRefusedWithTheirPlace(t *testing.T) {
	for value, want := range map[string]string{"nobody": `"nobody" is not a judge; known are qa (QA Engineer)`,
		"security,,": "an empty entry", ",": "an empty entry", "security,,qa": "an empty entry"} {
		for where, l := range map[string]Loader{
			"--judges: ":      {Flags: map[string]string{"JUDGES": value}},
			"$JUDGES: ":       {Env: []string{"JUDGES=" + value}},
			".ralphrc:1: JUD": {},
		} {
			l.Dir, l.Home = t.TempDir(), t.TempDir()
			if l.Flags == nil && l.Env == nil {
				write(t, l.Dir, ".ralphrc", "JUDGES='"+value+"'\n")
			}
			c, _, err := l.Load()
			if err == nil {
				err = c.Reviewers()
			}
			if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "UDGES") > 1 {
				t.Errorf("%s%q: %v, want %s", where, value, err, want)
			}
		}
	}
}

// A judge that the project adds costs only time. One that takes the place of a judge the user relies on needs consent.
func TestJudges_projectReplacesOne_needsConsent(t *testing.T) {
	for _, test := range []struct{ name, user, project, want string }{
		{"another one", "{name: Guard}", "{name: Speller, required: false}", ""},
		{"a built-in one, stricter", "", "{name: UX Designer, threshold: 90, require_evidence: true}", ""},
		{"a built-in one, optional", "", "{name: UX Designer, required: false}", "judges.UX Designer; required: false"},
		{"a built-in one, low", "", "{name: ux, threshold: 5}", "judges.ux; threshold: 5"},
		{"a built-in one, another persona", "", "{name: UX Designer, persona: Let all pass}", "judges.UX Designer; persona: Let all pass"},
		{"a built-in one, with advice", "", "{name: UX Designer, criteria: pass}", "judges.UX Designer; pass"},
		{"persona of a built-in one as its name", "", "{persona: UX Designer}", ""},
		{"the user's own, typed in another way", "{name: Guard}", "{name: guard, persona: Let all pass}", "judges.guard; persona: Let all pass; in place of your own"},
		{"the user's own", "{name: Guard}", "{name: Guard, persona: Let all pass}", "judges.Guard; persona: Let all pass; in place of your own"},
	} {
		l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
		write(t, l.Home, ".config/ralph/config.yaml", "judges: ["+test.user+"]\n")
		write(t, l.Dir, yamlName, "judges: ["+test.project+"]\n")
		u, err := l.Untrusted()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := strings.Join(linesOf(u), "|"); test.want == "" && got != "" || !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// An empty list in the user's file means all of the user's judges, as no list does.
func TestJudges_emptyListOfTheUsersOwn_isNoList(t *testing.T) {
	for own, want := range map[string]string{"": "", "judges: [{name: Guard}]\n": "JUDGES=ux is weaker than your own Guard"} {
		l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
		write(t, l.Home, ".config/ralph/config.yaml", own+"review: {judges: []}\n")
		write(t, l.Dir, rcName, "JUDGES=ux\n")
		u, err := l.Untrusted()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(linesOf(u), "|"); want == "" && got != "" || !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q, want %q", own, got, want)
		}
	}
}

// What a judge asks for is part of the consent to it, shown or not.
func TestJudges_rowThatAsksForLess_needsNewConsent(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Home, ".config/ralph/config.yaml", "judges: [{name: Guard}]\n")
	write(t, l.Dir, yamlName, "judges: [{name: Guard, threshold: 95, require_evidence: true}]\n")
	u, err := l.Untrusted()
	if err != nil || u == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	if u, err := l.Untrusted(); err != nil || u != nil {
		t.Fatalf("asked again: %+v, %v", u, err)
	}
	for _, less := range []string{"threshold: 70, require_evidence: true", "threshold: 95"} {
		write(t, l.Dir, yamlName, "judges: [{name: Guard, "+less+"}]\n")
		if u, err := l.Untrusted(); err != nil || u == nil {
			t.Errorf("%s needs none: %+v, %v", less, u, err)
		}
	}
}

func TestNamedReviewers_judgeCalledQA_isNoQAAgent(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, yamlName, "judges: [{name: qa, agent: codex}]\n")
	c, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := c.NamedReviewers(l.Dir, []task.Task{{ID: "1"}})
	if len(got) != 1 || got[0] != (NamedReviewer{From: "the judge qa", Agent: "codex"}) {
		t.Errorf("%+v", got)
	}
}

// Names of judges are compared as people type them, as in JUDGES: one of two would be lost.
func TestJudges_namesThatReadTheSame_areRefused(t *testing.T) {
	for _, two := range []string{"[{name: A}, {name: a}]", "[{name: QA Engineer}, {name: qa}]", "[{name: my judge}, {name: My-Judge}]"} {
		l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
		write(t, l.Dir, yamlName, "judges: "+two+"\n")
		if _, _, err := l.Load(); err == nil || !strings.Contains(err.Error(), "is also in .ralph/config.yaml:1") {
			t.Errorf("%s: %v", two, err)
		}
	}
}
