package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/ptyexec/cover"
	"ralph/runner/task/store"
)

// While a call works on a copy, whatever changes the plan itself is a person's. What the call made of
// its own task gets into it.
func TestSettle_aPersonChangesThePlanMeanwhile_thatStays(t *testing.T) {
	dir := t.TempDir()
	f := store.File{Path: filepath.Join(dir, "plan.md"), Name: "plan.md"}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(f.Path, "- [ ] one\n- [ ] two\n")
	before := store.Read(f)
	p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0]}, before)
	places := cover.Places{Stages: []cover.Stage{{Dir: filepath.Join(dir, "copy"), File: f.Path}}}
	p.CallStarts(&places)
	put(f.Path, "- [ ] one\n- [ ] two, quickly\n")
	put(places.Stages[0].To, "- [x] one\n- [ ] two\n")
	o, err := p.Settle(by(before))
	if text, _ := os.ReadFile(f.Path); string(text) != "- [x] one\n- [ ] two, quickly\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if !o.Says || len(o.Touched) > 0 {
		t.Errorf("%+v", o)
	}
}

// A task may be about the plan itself. Without a sandbox, and without a task, all may change.
func TestSettle_whoMayChangeThePlan_does(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		contained bool
		own, keep bool
	}{
		"contained":        {"- [ ] one\n- [ ] two\n", true, true, true},
		"not contained":    {"- [ ] one\n- [ ] two\n", false, true, false},
		"without a task":   {"- [ ] one\n- [ ] two\n", true, false, false},
		"about the plan":   {"- [ ] split the other tasks into smaller ones\n- [ ] two\n", true, true, false},
		"nested":           {"- [ ] one\n  - [ ] two\n", true, true, false},
		"around it":        {"- [ ] zero\n  - [ ] one\n- [ ] two\n", true, true, true},
		"several, the 2nd": {"- [ ] one\n- [x] two\n", true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := store.File{Path: filepath.Join(t.TempDir(), "plan.md"), Name: "plan.md"}
			if err := os.WriteFile(f.Path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := store.Read(f)
			call := Call{Plan: f}
			if c.own {
				call.Task = before.List.Tasks[0]
			}
			p := Remember(c.contained, call, before)
			if err := os.WriteFile(f.Path, []byte(before.List.Tasks[0].Title+" is gone\n- [x] "+before.List.Tasks[0].Title+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			o, err := p.Settle(by(before))
			if text, _ := os.ReadFile(f.Path); (string(text) == c.text) != c.keep || err != nil || (len(o.Touched) > 0) != c.keep {
				t.Errorf("%q, %v, %+v", text, err, o)
			}
			if now := store.Read(f); c.keep && (!o.Made(now).IsDone(call.Task.ID) || !o.Says) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A plan that nobody can use ends no run: it is as it was before the call.
func TestSettle_planIsBroken_isAsBefore(t *testing.T) {
	const text = `{"userStories": [{"id": "A", "title": "a", "passes": false}]}`
	for name, made := range map[string]string{"a comma": `{"userStories": [{"id": "A", "title": "a", "passes": true,}]}`,
		"another type": `{"userStories": [{"id": "A", "title": "a", "passes": "true"}]}`, "gone": "", "empty": "{\"userStories\": []}"} {
		for _, contained := range []bool{false, true} {
			f := store.File{Path: filepath.Join(t.TempDir(), "prd.json"), Name: "prd.json"}
			write(t, f.Path, text)
			before := store.Read(f)
			p := Remember(contained, Call{Plan: f, Task: before.List.Tasks[0]}, before)
			if write(t, f.Path, made); made == "" {
				_ = os.Remove(f.Path)
			}
			o, err := p.Settle(by(before))
			found := o.Findings(nil)
			if now, _ := os.ReadFile(f.Path); string(now) != text || err != nil || len(found) != 1 || !found[0].Doubt || o.Made(before).IsDone("A") {
				t.Errorf("%s, contained %t: %q, %v, %v", name, contained, now, err, found)
			}
		}
	}
}

// A copy of the plan that nobody can use does not get into the plan, also where the call may change all tasks.
func TestSettle_copyIsBroken_isKeptAside(t *testing.T) {
	const one, about = "Add a file", "Split the plan into smaller tasks"
	story := func(title, passes string) string {
		return `{"userStories": [{"id": "A", "title": "` + title + `", "passes": ` + passes + `}]}`
	}
	for name, c := range map[string]struct {
		file, text, made string
		broken           bool
	}{
		"a comma":                   {"prd.json", story(one, "false"), story(one, "true,"), true},
		"another type":              {"prd.json", story(one, "false"), story(one, `"true"`), true},
		"no bytes":                  {"prd.json", story(one, "false"), "", true},
		"no tasks":                  {"prd.json", story(one, "false"), `{"userStories": []}`, true},
		"no boxes":                  {"plan.md", "- [ ] " + one + "\n", "All done.\n", true},
		"asked for the plan":        {"prd.json", story(about, "false"), story(about, "true,"), true},
		"a tick":                    {"prd.json", story(one, "false"), story(one, "true"), false},
		"asked for it, another one": {"plan.md", "- [ ] " + about + "\n", "- [ ] " + one + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, logs := store.File{Path: filepath.Join(dir, c.file), Name: c.file}, filepath.Join(dir, "logs")
			if err := os.Mkdir(logs, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, f.Path, c.text)
			before := store.Read(f)
			p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0], Logs: logs, Iteration: 3}, before)
			places := cover.Places{Stages: []cover.Stage{{Dir: filepath.Join(dir, "copy"), File: f.Path}}}
			p.CallStarts(&places)
			write(t, places.Stages[0].To, c.made)
			o, err := p.Settle(by(before))
			want, wantKept := c.made, ""
			if c.broken {
				want, wantKept = c.text, c.made
			}
			now, _ := os.ReadFile(f.Path)
			kept, _ := os.ReadFile(filepath.Join(logs, "3."+c.file))
			found := o.Findings(nil)
			if string(now) != want || string(kept) != wantKept || err != nil || (o.Broken != "") != c.broken || (len(found) == 1) != c.broken {
				t.Errorf("plan %q, kept %q, %v, %+v", now, kept, err, found)
			}
			if c.broken && (o.Made(before).IsDone(before.List.Tasks[0].ID) || !strings.Contains(fmt.Sprint(found), "ralph did not put it into the plan")) {
				t.Errorf("%+v", found)
			}
		})
	}
}

// If checks can only read the plan, every change is a person's, and half an edit will become a whole one. Where they can
// write it, a plan that nobody can use is put back, unless a person has changed it with ralph's commands: then ralph
// only says so.
func TestGuardChecks_planIsBroken(t *testing.T) {
	const text, half, reworded = "- [ ] one\n- [ ] two\n", "tasks will follow\n", "- [ ] one\n- [ ] two, quickly\n"
	for name, c := range map[string]struct {
		readOnly, person bool
		made, want, says string // made: empty: the plan is gone; says: empty: nothing
	}{
		"read-only, half an edit":          {true, false, half, half, ""},
		"read-only, gone":                  {true, false, "", "", ""},
		"read-only, a whole edit":          {true, false, reworded, reworded, ""},
		"half an edit":                     {false, false, half, text, "cannot be used: it has no tasks any more; ralph restored the plan"},
		"gone":                             {false, false, "", text, "is gone; ralph restored the plan"},
		"another task":                     {false, false, reworded, text, `"two" was changed`},
		"its own task":                     {false, false, "- [x] one\n- [ ] two\n", "- [x] one\n- [ ] two\n", ""},
		"and a person has added a task":    {false, true, half, half, "cannot be used: it has no tasks any more; ralph left it"},
		"gone, and a person added a task":  {false, true, "", "", "is gone; ralph left it"},
		"a person has added a task, alone": {false, true, text + "- [ ] three\n", text + "- [ ] three\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := store.File{Path: filepath.Join(dir, "plan.md"), Name: "plan.md", Edits: filepath.Join(t.TempDir(), "edits")}
			write(t, f.Path, text)
			before := store.Read(f)
			p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0]}, before)
			found, err := p.GuardChecks(c.readOnly, func() error {
				if c.person {
					added, err := store.Add(f, "three")
					if err = errors.Join(err, store.RecordEdit(f.Edits, store.JournalEdit{After: &added})); err != nil {
						t.Error(err)
					}
				}
				if write(t, f.Path, c.made); c.made == "" {
					return os.Remove(f.Path)
				}
				return nil
			})
			said := ""
			for _, one := range found {
				said += one.Text
			}
			now, _ := os.ReadFile(f.Path)
			if string(now) != c.want || err != nil || (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
				t.Errorf("plan %q, %v, said %q", now, err, said)
			}
		})
	}
}

// A link in place of the plan, or where ralph keeps what does not count, leads ralph nowhere.
func TestSettle_linksOfTheCall_leadNowhere(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	f := store.File{Path: filepath.Join(dir, "project", "plan.md"), Name: "plan.md"}
	logs := filepath.Join(dir, "project", ".ralph", "logs", "run")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	const text, mine = "- [ ] one\n- [ ] two\n", "mine"
	for _, links := range [][2]string{{secret, f.Path}, {secret, filepath.Join(logs, "3.plan.md")}} {
		for path, is := range map[string]string{secret: mine, f.Path: text} {
			_ = os.Remove(path)
			if err := os.WriteFile(path, []byte(is), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := store.Read(f)
		p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0], Logs: logs, Iteration: 3}, before)
		p.CallStarts(nil)
		if err := os.WriteFile(f.Path, []byte("- [x] one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(links[1])
		if err := os.Symlink(links[0], links[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Settle(by(before)); err != nil {
			t.Error(err)
		}
		kept, _ := os.ReadFile(filepath.Join(logs, "3.plan.md"))
		now, _ := os.ReadFile(f.Path)
		left, _ := os.ReadFile(secret)
		if string(left) != mine || string(now) != text || string(kept) == mine {
			t.Errorf("link %s: secret %q, plan %q, kept %q", links[1], left, now, kept)
		}
	}
}

// A contained call can learn where its copy goes, and put a link there.
func TestSettle_linkWhereTheCopyGoes_leadsNowhere(t *testing.T) {
	dir := t.TempDir()
	f, logs := store.File{Path: filepath.Join(dir, "project", "plan.md"), Name: "plan.md"}, filepath.Join(dir, "project", ".ralph", "logs", "run")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	const text = "- [ ] one\n- [ ] two\n"
	for _, secret := range []string{"mine", "- [ ] one\n- [ ] two\nmine\n"} {
		write(t, f.Path, text)
		write(t, filepath.Join(dir, "secret"), secret)
		before := store.Read(f)
		p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0], Logs: logs, Iteration: 3}, before)
		places := cover.Places{Stages: []cover.Stage{{Dir: filepath.Join(dir, "project", "copy"), File: f.Path}}}
		p.CallStarts(&places)
		if err := os.Symlink("../secret", places.Stages[0].To); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Settle(by(before)); err != nil {
			t.Error(err)
		}
		kept, _ := os.ReadFile(filepath.Join(logs, "3.plan.md"))
		if now, _ := os.ReadFile(f.Path); string(now) != text || len(kept) > 0 {
			t.Errorf("plan %q, kept %q", now, kept)
		}
		if _, err := os.Lstat(places.Stages[0].To); err == nil {
			t.Error("the link is still there")
		}
	}
}

// by is what people changed: nothing but what before says.
func by(before store.Plan) People { return func() (store.Plan, bool) { return before, false } }

// A person's command of ralph may change the plan after the call, and be recorded a moment later.
func TestSettle_aPersonChangesThePlanAtTheEnd_thatStays(t *testing.T) {
	const base, forged, person = "- [ ] one\n- [ ] two\n", "- [x] one\n- [ ] less\n", "- [x] one\n- [ ] less\n- [ ] three\n"
	for name, c := range map[string]struct {
		at         int // of the questions about people's changes, the one before which the person writes
		told, kept bool
	}{"between two looks, and recorded": {2, true, true}, "and it is not known who did": {2, false, false}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := store.File{Path: filepath.Join(dir, "plan.md"), Name: "plan.md", Edits: filepath.Join(dir, "e")}
			write(t, f.Path, base)
			before := store.Read(f)
			p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0]}, before)
			p.CallStarts(nil)
			write(t, f.Path, forged)
			asked := 0
			_, err := p.Settle(func() (store.Plan, bool) {
				if asked++; asked == c.at {
					write(t, f.Path, person)
				}
				return before, c.told && asked > c.at
			})
			text, _ := os.ReadFile(f.Path)
			if want := map[bool]string{true: person, false: base}[c.kept]; string(text) != want || err != nil {
				t.Errorf("after %d questions: %q, %v", asked, text, err)
			}
		})
	}
}

// What goes with a change of other tasks is named, whether the call worked on a copy or on the plan.
func TestSettle_newTaskBesideAChangeOfAnother_isNamed(t *testing.T) {
	for _, copied := range []bool{false, true} {
		dir := t.TempDir()
		f := store.File{Path: filepath.Join(dir, "plan.md"), Name: "plan.md"}
		if err := os.WriteFile(f.Path, []byte("- [ ] one\n- [ ] two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := store.Read(f)
		p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0]}, before)
		made := f.Path
		if copied {
			places := cover.Places{Stages: []cover.Stage{{Dir: filepath.Join(dir, "copy"), File: f.Path}}}
			p.CallStarts(&places)
			made = places.Stages[0].To
		}
		if err := os.WriteFile(made, []byte("- [x] one\n- [x] too\n- [ ] three\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := p.Settle(by(before))
		all := o.Findings(nil)
		if err != nil || len(all) != 1 || !strings.HasSuffix(o.Answer(all[0]), `To keep them, add them yourself: ["too" "three"]`) {
			t.Errorf("copied %t: %v %+v", copied, err, o)
		}
	}
}
