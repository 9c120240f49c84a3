package config

import "testing"

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
