package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/fakebd"
	"ralph/runner/task"
)

func TestMain(m *testing.M) {
	fakebd.Init()
	os.Exit(m.Run())
}

const issues = `[
 {"id": "bd-a1", "title": "Shop", "status": "open", "priority": 1, "issue_type": "epic", "created_at": "2026-01-01T10:00:00Z"},
 {"id": "bd-a1.2", "title": "Pay", "status": "open", "priority": 0, "created_at": "2026-01-03T10:00:00Z", "labels": ["backend"],
  "dependencies": [{"issue_id": "bd-a1.2", "depends_on_id": "bd-a1", "type": "parent-child"}, {"issue_id": "bd-a1.2", "depends_on_id": "bd-a1.1", "type": "blocks"}]},
 {"id": "bd-a1.1", "title": "Basket", "status": "in_progress", "priority": 2, "acceptance_criteria": "- [ ] keeps what is in it\n- counts it", "notes": "old",
  "created_at": "2026-01-02T10:00:00Z", "dependencies": [{"depends_on_id": "bd-a1", "type": "parent-child"}, {"depends_on_id": "bd-9", "type": "related"}]},
 {"id": "bd-7", "title": "Later", "status": "deferred", "priority": 3, "created_at": "2026-01-04T10:00:00Z"},
 {"id": "bd-8", "title": "Old", "status": "closed", "priority": 4, "created_at": "2026-01-05T10:00:00Z"},
 {"id": "bd-w", "title": "Passing", "status": "open", "ephemeral": true}
]`

func TestBeads_issues_areTasksBelowTheirParents(t *testing.T) {
	dir := fakebd.Install(t, issues)
	list, err := Locate(dir, "", nil)
	if err != nil || list.Format != "Beads" {
		t.Fatal(list.Format, err)
	}
	want := `1 of 4 done, next: bd-a1.1
open bd-a1 priority=1 category=epic | Shop
  active bd-a1.1 | Basket
    * "keeps what is in it"
    * "counts it"
    notes: "old"
  open bd-a1.2 depends=bd-a1.1 tags=backend | Pay
dropped bd-7 priority=3 word="deferred" | Later
done bd-8 priority=4 | Old
`
	got := strings.ReplaceAll(described(list), " priority=2", "")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBeads_states_areWrittenByTheProgram(t *testing.T) {
	dir := fakebd.Install(t, issues)
	path := filepath.Join(dir, ".beads")
	for _, c := range []struct {
		id   string
		to   task.State
		want string
	}{
		{"bd-a1.1", task.Done, "close bd-a1.1 --reason Done --json"},
		{"bd-a1.1", task.Active, "reopen bd-a1.1 --json\nlist --all --limit 0 --json"},
		{"bd-a1.2", task.Blocked, "update bd-a1.2 --status blocked --json"},
		{"bd-8", task.Open, "reopen bd-8 --json"},
	} {
		list, err := Load(File{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		at, _ := list.Find(c.id)
		if err := Set(File{Path: path}, at, c.to); err != nil {
			t.Errorf("%s to %s: %v", c.id, c.to, err)
		}
		if list, err = Load(File{Path: path}); err != nil {
			t.Fatal(err)
		}
		if now, _ := list.Find(c.id); now.State != c.to {
			t.Errorf("%s is %s, want %s", c.id, now.State, c.to)
		}
	}
	list, _ := Load(File{Path: path})
	shop, _ := list.Find("bd-a1")
	if err := Set(File{Path: path}, shop, task.Review); !errors.Is(err, task.ErrNoWord) {
		t.Errorf("review: %v", err)
	}
	if changed, err := Mark(File{Path: path}, "bd-a1", task.Review); changed || err != nil {
		t.Errorf("mark: %t, %v", changed, err)
	}
	if changed, err := Mark(File{Path: path}, "bd-a1", task.Active); !changed || err != nil {
		t.Errorf("mark: %t, %v", changed, err)
	}
	if added, err := Add(File{Path: path}, "Ship it"); err != nil || added.Title != "Ship it" || added.State != task.Open {
		t.Errorf("add: %+v, %v", added, err)
	}
	if _, err := Text(File{Path: path}, shop); err == nil || !strings.Contains(err.Error(), "only the program bd") {
		t.Errorf("text: %v", err)
	}
	if CanRemove(list) {
		t.Error("a task can leave the plan")
	}
}

func TestBeads_whatCannotBeRead_isUnusable(t *testing.T) {
	for issues, want := range map[string]string{
		`[{"id": "a", "title": "A", "status": "waiting"}]`:                         `unknown status "waiting", so nobody works on it; known: `,
		`[{"id": "a", "title": "A", "status": "open"}, {"id": "a", "title": "B"}]`: `two issues have the id "a"`,
		`[{"id": "--all", "title": "A", "status": "open"}]`:                        "cannot be used",
		`{`: "bd list: exit status 1: Error: unexpected end of JSON input",
		`[{"id": "a", "title": "A", "status": "open", "dependencies": [{"depends_on_id": "x", "type": "blocks"}]}]`: `depends on "x", which the plan does not have`,
	} {
		dir := fakebd.Install(t, issues)
		list, err := Load(File{Path: filepath.Join(dir, ".beads")})
		said := strings.Join(append(list.Problems(), list.Warnings...), "; ")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || err != nil && !errors.Is(err, ErrUnusable) {
			t.Errorf("%s: %s, want %s", issues, said, want)
		}
	}
}

func TestBeads_withoutItsProgram_isTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Locate(dir, "", nil); err == nil || !strings.Contains(err.Error(), "the program bd, which is not installed") {
		t.Error(err)
	}
}
