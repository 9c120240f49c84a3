package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"ralph/runner/task"
)

var updateGolden = flag.Bool("update", false, "write what the fixtures want")

// fixture is a project with a plan, and what ralph makes of it.
type fixture struct {
	path    string
	archive *txtar.Archive
	fields  map[string][]string // lines "name: value" of the comment
	want    string
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	var all []fixture
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{path: path, archive: a, fields: map[string][]string{}}
		for line := range strings.Lines(string(a.Comment)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				f.fields[name] = append(f.fields[name], value)
			}
		}
		a.Files = slices.DeleteFunc(a.Files, func(file txtar.File) bool {
			if file.Name == "want" {
				f.want = string(file.Data)
			}
			return file.Name == "want"
		})
		all = append(all, f)
	}
	return all
}

func (f fixture) name() string { return strings.TrimSuffix(filepath.Base(f.path), ".txtar") }

func (f fixture) field(name string) string {
	if all := f.fields[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// project writes the files, each changed by edit.
func (f fixture) project(t *testing.T, edit func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range f.archive.Files {
		write(t, filepath.Join(dir, file.Name), string(edit(file.Data)))
	}
	return dir
}

// plan returns the path of the plan: found, or given.
func (f fixture) plan(t *testing.T, dir string) string {
	t.Helper()
	if given := f.field("given"); given != "" {
		return filepath.Join(dir, given)
	}
	all := All(dir, nil)
	if len(all) == 0 || all[0].Path != filepath.Join(dir, f.field("plan")) || all[0].Format != f.field("format") {
		t.Fatalf("found %v, want %s", all, f.field("plan"))
	}
	return all[0].Path
}

// described shows a list, a line for each task.
func described(l task.List) string {
	var b strings.Builder
	next, _ := l.Next()
	fmt.Fprintf(&b, "%d of %d done, next: %s\n", l.Done(), l.Total(), cmp2(next.ID))
	for _, t := range l.Tasks {
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", t.Depth), t.State, t.ID)
		add := func(name string, show bool, value any) {
			if show {
				fmt.Fprintf(&b, " %s=%v", name, value)
			}
		}
		add("optional", t.Optional, true)
		add("parallel", t.Parallel, true)
		add("phase", t.Phase > 0, t.Phase)
		add("priority", t.Priority != 0 && t.Priority != task.NoPriority, t.Priority)
		add("depends", len(t.DependsOn) > 0, strings.Join(t.DependsOn, ","))
		add("tags", len(t.Tags) > 0, strings.Join(t.Tags, ","))
		add("category", t.Category != "", t.Category)
		add("judges", len(t.Judges) > 0, strings.Join(t.Judges, ","))
		add("agent", t.Choice != task.Choice{}, strings.TrimSpace(t.Choice.Agent+" "+t.Choice.Model))
		add("word", t.Word != "", fmt.Sprintf("%q", t.Word))
		add("file", t.File != "", fmt.Sprintf("%q", t.File))
		add("line", t.Line > 0, t.Line)
		fmt.Fprintf(&b, " | %s\n", t.Title)
		for _, c := range t.Criteria {
			fmt.Fprintf(&b, "    * %q\n", c)
		}
		if t.Description != "" {
			fmt.Fprintf(&b, "    %q\n", t.Description)
		}
		if t.Notes != "" {
			fmt.Fprintf(&b, "    notes: %q\n", t.Notes)
		}
	}
	return b.String()
}

func cmp2(id string) string {
	if id == "" {
		return "none"
	}
	return id
}

func same(data []byte) []byte { return data }

func TestFormats_everyFixture_isReadAsItWants(t *testing.T) {
	seen := map[string]int{}
	for _, f := range fixtures(t) {
		t.Run(f.name(), func(t *testing.T) {
			dir := f.project(t, same)
			path := f.plan(t, dir)
			list, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
			if want := f.field("error"); want != "" {
				if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want %q in one line", err, want)
				}
				return
			}
			if err != nil || list.Format != f.field("format") {
				t.Fatalf("%q, %v", list.Format, err)
			}
			seen[list.Format]++
			got := described(list)
			if *updateGolden {
				f.update(t, got)
			} else if d := cmp.Diff(f.want, got); d != "" {
				t.Error(d)
			}
			wantTexts(t, "problem", f.fields["problem"], list.Problems())
			wantTexts(t, "warning", f.fields["warning"], list.Warnings)
		})
	}
	for _, row := range formats() {
		if seen[row.Name] == 0 && row.Program == nil { // that one has no files; see beads_test.go
			t.Errorf("no fixture for %s", row.Name)
		}
	}
}

// wantTexts compares texts with parts of them.
func wantTexts(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%ss %q, want %q", what, got, want)
		return
	}
	for _, part := range want {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, part) && !strings.Contains(text, "\n") }) {
			t.Errorf("%ss %q, want %q", what, got, part)
		}
	}
}

func (f fixture) update(t *testing.T, got string) {
	t.Helper()
	a := *f.archive
	a.Files = append(slices.Clone(a.Files), txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(f.path, txtar.Format(&a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// variants change a project in ways that must make no difference.
func variants() map[string]func([]byte) []byte {
	return map[string]func([]byte) []byte{
		"as it is":        same,
		"CRLF":            func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) },
		"byte order mark": func(data []byte) []byte { return append([]byte("\xef\xbb\xbf"), data...) },
		"no last newline": func(data []byte) []byte { return bytes.TrimSuffix(data, []byte("\n")) },
	}
}

func TestFormats_everyStateIsWrittenAndReadBack_andNoOtherByteChanges(t *testing.T) {
	for _, f := range fixtures(t) {
		for name, variant := range variants() {
			if f.field("error") != "" {
				continue
			}
			t.Run(f.name()+"/"+name, func(t *testing.T) {
				if testing.Short() && name != "CRLF" {
					t.Skip("long: every variant of every fixture")
				}
				t.Parallel()
				dir := f.project(t, variant)
				path := f.plan(t, dir)
				list, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
				if err != nil {
					t.Fatal(err)
				}
				plain := list
				plain.Path = ""
				if want := described(plain); want != f.want && !*updateGolden {
					t.Error(cmp.Diff(f.want, want))
				}
				before := files(t, dir)
				for i := range list.Tasks {
					for s := task.Open; s <= task.Dropped; s++ {
						f.set(t, list, i, s)
						for file, text := range before { // back to how it was
							if content(t, filepath.Join(dir, file)) != text {
								write(t, filepath.Join(dir, file), text)
							}
						}
					}
				}
			})
		}
	}
}

// set writes a state and compares all that can be seen.
func (f fixture) set(t *testing.T, list task.List, i int, s task.State) {
	t.Helper()
	path := list.Path
	dir := filepath.Dir(path)
	if f.field("plan") != "" {
		dir = strings.TrimSuffix(path, filepath.FromSlash(f.field("plan")))
	}
	before, one := files(t, dir), list.Tasks[i]
	err := Set(File{Path: path}, one, s)
	after := files(t, dir)
	if errors.Is(err, task.ErrNoWord) || err != nil && strings.Contains(err.Error(), "several tasks") {
		if d := cmp.Diff(before, after); d != "" {
			t.Errorf("%s -> %s: refused, but %s", one.ID, s, d)
		}
		return
	}
	if err != nil {
		t.Errorf("%s -> %s: %v", one.ID, s, err)
		return
	}
	now, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
	if err != nil {
		t.Errorf("%s -> %s: %v", one.ID, s, err)
		return
	}
	want := slices.Clone(list.Tasks)
	if want[i].State != s {
		want[i].State, want[i].Word = s, ""
	}
	if word := list.Words[s]; word != "" && list.Tasks[i].State != s && now.Word(now.Tasks[i]) != word {
		t.Errorf("%s -> %s: the word is %q, want %q", one.ID, s, now.Word(now.Tasks[i]), word)
	}
	for j := range want { // a criterion's box is not part of its text, but its place may be new
		want[j].Line, now.Tasks[j].Line = 0, 0
		want[j].Updated, now.Tasks[j].Updated = "", ""
	}
	if d := cmp.Diff(want, now.Tasks); d != "" {
		t.Errorf("%s -> %s: %s", one.ID, s, d)
	}
	for name, text := range after {
		if bad := foreign(before[name], text); bad != "" {
			t.Errorf("%s -> %s: %s: %s", one.ID, s, name, bad)
		}
	}
	if err := Restore(File{Path: path}, now.Tasks[i], one); err != nil && !errors.Is(err, task.ErrNoWord) {
		t.Errorf("%s -> %s and back: %v", one.ID, s, err)
	}
}

// state is what a change of a state may write.
var states = regexp.MustCompile(`^(?:|[ xX~?-]|"?[A-Za-zÀ-ɏ _-]+"?|"?\d{4}-\d\d-\d\d(?:T[\d:]+Z)?"?|,\s*"(?:passes|status)"\s*:\s*(?:true|"\w+"))$`)

var dates = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:T[\d:]+Z| \d\d:\d\d)?`)

// foreign describes what differs besides states; empty: nothing.
func foreign(before, after string) string {
	if before == after {
		return ""
	}
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	if len(a) != len(b) { // a member on a line of its own
		cut := cutEnds(before, after)
		if cut[0] != "" || !states.MatchString(cut[1]) {
			return fmt.Sprintf("%q became %q", cut[0], cut[1])
		}
		return ""
	}
	for i := range a {
		rest := cutEnds(dates.ReplaceAllString(a[i], "DATE"), dates.ReplaceAllString(b[i], "DATE"))
		word := func(s string) bool { return states.MatchString(s) || strings.Contains(a[i], `"status"`) }
		if a[i] != b[i] && (!word(rest[0]) || !word(rest[1])) {
			return fmt.Sprintf("line %d: %q became %q", i+1, a[i], b[i])
		}
	}
	return ""
}

// cutEnds is what is left of two texts without what they begin and end with.
func cutEnds(a, b string) [2]string {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return [2]string{a, b}
}

// files returns the contents of all files below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			all[rel] = content(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
