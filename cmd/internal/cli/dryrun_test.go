package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"ralph/internal/world"
)

func TestRun_dryRun_saysWhatIsNextInBothForms(t *testing.T) {
	for plan, want := range map[string]struct{ line, next string }{
		"- [x] one\n- [ ] two\n": {"1 of 2 done, next: two\n", "two"},
		"- [x] one\n- [x] two\n": {"2 of 2 done\n", ""},
	} {
		w := newEmptyWorld(t)
		w.Env = append(w.Env, "AGENT=text", "AGENT_CMD=cat")
		w.write(".ralph/PROMPT.md", "Do it.\n")
		w.write(".ralph/fix_plan.md", plan)
		w.want(0, want.line, "run", "--dry-run")
		_, out := w.do("run", "--dry-run", "--output", "json")
		var got struct {
			Args         []string
			Prompt, Next string
			Plan         string
			Done, Total  int
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if len(got.Args) == 0 || !strings.Contains(got.Prompt, "Do it.") || !strings.HasSuffix(got.Plan, "/.ralph/fix_plan.md") || got.Total != 2 || got.Next != want.next {
			t.Errorf("%q: %+v", plan, got)
		}
	}
}

func TestRun_dryRunAsJSON_saysWhatNeedsConsent(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{".ralph/PROMPT.md": "Do it.\n", ".ralph/fix_plan.md": "- [ ] one\n",
		".ralphrc": "AGENT=text\nAGENT_CMD=cat\n"})
	for i, want := range []string{".ralphrc:2: AGENT_CMD=cat", ""} {
		out, err := verb(t, dir, "run", "--dry-run", "--output", "json")
		var got struct{ Consent []string }
		if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &got); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err != nil || strings.Join(got.Consent, "; ") != want {
			t.Errorf("%d: %v, consent %q, want %q", i, err, got.Consent, want)
		}
		if _, err := verb(t, dir, "trust", "--yes"); err != nil {
			t.Fatal(err)
		}
	}
}
