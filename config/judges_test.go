package config

import (
	"strings"
	"testing"
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
