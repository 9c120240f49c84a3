package reviewers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// Another writer of the plan holds its lock: a report waits, and takes nothing of what was written away.
func TestTake_planIsLocked_theReportWaitsAndKeepsWhatOthersWrote(t *testing.T) {
	project, copied := t.TempDir(), t.TempDir()
	const story = "docs/stories/1.2.login.story.md"
	put := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "docs/stories"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, story), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(project, "# S\n\n## Status\n\nReady for Review\n")
	put(copied, "# S\n\n## Status\n\nReady for Review\n\n## QA Results\n\nfine\n")
	plan := filepath.Join(project, "docs/stories")
	p := &Panel{Dir: project, AIOS: roles.AIOSOptions{Enabled: "true"}.At(project), Log: hclog.NewNullLogger()}
	r := &workspace{dir: copied, project: project, request: Request{Plan: store.File{Path: plan}, Story: roles.AIOSContext{Path: story},
		Task: task.Task{ID: "1.2", File: "1.2.login.story.md"}}}

	unlock, err := store.LockPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan []string, 1)
	go func() { taken <- p.keepReport(r, []string{story}, &state.Verdict{}) }()
	select {
	case <-taken:
		t.Error("it wrote the plan while somebody else had its lock")
	case <-time.After(200 * time.Millisecond):
	}
	put(project, "# S, renamed by a person\n\n## Status\n\nReady for Review\n")
	unlock()
	if undone := <-taken; len(undone) != 1 { // the reviewer's version has the old title
		t.Errorf("undone %v", undone)
	}
	want := "# S, renamed by a person\n\n## Status\n\nReady for Review\n\n## QA Results\n\nfine\n"
	if got, _ := os.ReadFile(filepath.Join(project, story)); string(got) != want {
		t.Errorf("%q", got)
	}
}

// A link or a pipe among the reports neither brings foreign files in, nor leads out, nor holds ralph up.
func TestTake_linksAndPipes_areNotFollowed(t *testing.T) {
	project, copied, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{project, copied} {
		if err := os.MkdirAll(filepath.Join(dir, "docs/qa"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret, theirs := filepath.Join(outside, "secret"), filepath.Join(outside, "theirs")
	for path, text := range map[string]string{secret: "secret", theirs: "theirs", filepath.Join(copied, "docs/qa/out.md"): "report",
		filepath.Join(copied, "docs/qa/good.md"): "report"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(copied, "docs/qa/leak.md")),
		os.Symlink(theirs, filepath.Join(project, "docs/qa/out.md")),
		syscall.Mkfifo(filepath.Join(copied, "docs/qa/pipe.md"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := &Panel{Dir: project, AIOS: roles.AIOSOptions{Enabled: "true"}.At(project), Log: hclog.NewNullLogger()}
	r := &workspace{dir: copied, project: project, request: Request{Emit: func(state.Event) {}}}
	taken := make(chan []string, 1)
	go func() {
		taken <- p.keepReport(r, []string{"docs/qa/good.md", "docs/qa/leak.md", "docs/qa/out.md", "docs/qa/pipe.md"}, &state.Verdict{})
	}()
	select {
	case undone := <-taken:
		if len(undone) != 3 {
			t.Errorf("undone %v", undone)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a pipe")
	}
	if text, _ := os.ReadFile(theirs); string(text) != "theirs" {
		t.Errorf("a file outside of the project: %q", text)
	}
	if text, err := os.ReadFile(filepath.Join(project, "docs/qa/leak.md")); err == nil {
		t.Errorf("a foreign file is in the project: %q", text)
	}
	if text, _ := os.ReadFile(filepath.Join(project, "docs/qa/good.md")); string(text) != "report" {
		t.Errorf("the report: %q", text)
	}
}

// A folder that leads out of the project gets nothing, and a person sees why. The gate file counts all the same.
func TestReport_folderIsALinkThatLeadsOut_isAFinding(t *testing.T) {
	project, copied, outside := t.TempDir(), t.TempDir(), t.TempDir()
	const gate = "docs/qa/gates/1.2-login.yml"
	for _, link := range []string{".aios", "docs"} {
		if err := os.Symlink(outside, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(copied, filepath.Dir(gate)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, gate), []byte("gate: FAIL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var found []string
	req := Request{Dir: project, Task: task.Task{ID: "1.2", File: "1.2.login.story.md"}, Emit: func(e state.Event) {
		found = append(found, e.Data.(state.Finding).Text)
	}}
	p := &Panel{Dir: project, AIOS: roles.AIOSOptions{Enabled: "true"}.At(project), Log: hclog.NewNullLogger()}
	v := state.Verdict{Verdict: state.VerdictPass}
	p.handOff(t.Context(), req, roles.AIOSHandoff{From: "dev", To: "qa"})
	p.keepReport(&workspace{dir: copied, project: project, request: req}, []string{gate}, &v)
	if v.Verdict != state.VerdictFail {
		t.Errorf("verdict %q", v.Verdict)
	}
	if len(found) != 2 || !strings.Contains(found[0], "handoff") || !strings.Contains(found[1], "review report") {
		t.Errorf("found %q", found)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside: %v, %v", left, err)
	}
}
