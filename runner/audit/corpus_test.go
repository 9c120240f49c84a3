package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ralph/runner/gate/report"
	"ralph/runner/task"
)

// The corpora are made-up changes, cheats and honest ones. own was written with
// the rules. The others were written without looking at the rules of their day:
// blind, final and last as a measure, user from what a user met.
var corpora = []string{"own", "blind", "final", "user", "last"}

// sample is one case of a corpus, with these parts below SIDE/NAME/, where the
// side is cheats or honest: files below before/ and after/ (and both/, for the
// reader); plan.before, plan.after and task, the id of the selected one; kind,
// the kind of the change; want, one finding a line as "kind file" or "kind
// task", "*" for any; missed, why the audit does not find it.
type sample struct {
	Input
	kind, missed string
	want         []string
}

// readCorpus returns the samples by SIDE/NAME.
func readCorpus(t testing.TB, corpus string) map[string]sample {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + corpus + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]sample{}
	for _, f := range archive.Files {
		part := strings.SplitN(f.Name, "/", 3)
		name := part[0] + "/" + part[1]
		s := all[name]
		s.add(t, part[2], string(f.Data))
		all[name] = s
	}
	for name, s := range all {
		s.Unchanged = len(s.Files) == 0
		all[name] = s
	}
	return all
}

func (s *sample) add(t testing.TB, part, text string) {
	t.Helper()
	folder, path, _ := strings.Cut(part, "/")
	switch folder {
	case "before":
		f := s.file(path)
		f.Before, f.Existed = text, true
	case "after":
		f := s.file(path)
		f.After, f.Exists = text, true
	case "both": // only what changed is compared
	case "plan.before":
		s.PlanBefore = readPlan(text)
	case "plan.after":
		s.PlanAfter = readPlan(text)
	case "task":
		s.Task = strings.TrimSpace(text)
	case "want":
		s.want = strings.Split(strings.TrimSpace(text), "\n")
	case "kind":
		s.kind = strings.TrimSpace(text)
	case "missed":
		s.missed = strings.TrimSpace(text)
	default:
		t.Fatalf("unknown part %q", part)
	}
}

func (s *sample) file(path string) *File {
	i := slices.IndexFunc(s.Files, func(f File) bool { return f.Path == path })
	if i < 0 {
		i = len(s.Files)
		s.Files = append(s.Files, File{Path: path})
	}
	return &s.Files[i]
}

// readPlan reads boxes, nested by two spaces, and plain items as criteria. The
// id is a leading T1, else the text.
func readPlan(text string) []task.Task {
	var tasks []task.Task
	for line := range strings.Lines(text) {
		item := strings.TrimSpace(line)
		if !strings.HasPrefix(item[1:], " [") {
			last := &tasks[len(tasks)-1]
			last.Criteria = append(last.Criteria, strings.TrimLeft(item, "-* "))
			continue
		}
		title := item[len("- [ ] "):]
		id, _, _ := strings.Cut(strings.Trim(title, "*"), " ")
		if !strings.HasPrefix(id, "T") || strings.Trim(id[1:], "0123456789.") != "" {
			id = title
		}
		one := task.Task{ID: id, Title: title, Depth: indent(line) / 2}
		if item[3] == 'x' {
			one.State = task.Done
		}
		tasks = append(tasks, one)
	}
	return tasks
}

// shows are the findings that tell of each kind of cheat. A kind that is not
// here is not judged.
var shows = map[string][]Kind{
	"removed":   {KindTestsRemoved, KindSkipAdded},
	"skipped":   {KindSkipAdded, KindTestsRemoved},
	"checks":    {KindChecksChanged},
	"plan-text": {KindTaskChanged},
}

// found reports whether the findings tell of the cheat.
func (s sample) found(got []Finding) bool {
	if s.kind != "" {
		return slices.ContainsFunc(got, func(f Finding) bool { return slices.Contains(shows[s.kind], f.Kind) })
	}
	var brief []string
	for _, f := range got {
		brief = append(brief, fmt.Sprintf("%s %s", f.Kind, f.File+f.Task))
	}
	return slices.Equal(s.want, brief) || len(brief) > 0 && slices.Equal(s.want, []string{"*"})
}

// No honest change has a finding. A cheat is found, or says why not.
func TestCompare_corpora(t *testing.T) {
	for _, corpus := range corpora {
		found, cheats, honest := map[string]int{}, map[string]int{}, 0
		samples := readCorpus(t, corpus)
		for _, name := range slices.Sorted(maps.Keys(samples)) {
			s := samples[name]
			got := accusing(Compare(s.Input))
			if strings.HasPrefix(name, "honest/") {
				honest++
				if len(got) > 0 {
					t.Errorf("%s: false alarm on %s: %v", corpus, name, got)
				}
				continue
			}
			cheats[s.kind]++
			switch ok := s.found(got); {
			case ok && s.missed != "":
				t.Errorf("%s: %s is found now: delete its part %q", corpus, name, "missed")
			case !ok && s.missed == "":
				t.Errorf("%s: %s is not found: %v", corpus, name, got)
			case ok:
				found[s.kind]++
			}
		}
		t.Logf("%s: no false alarm on %d honest changes; found, by kind: %v of %v", corpus, honest, found, cheats)
	}
}

// Each kind is in the table once, and a finding says of itself what the table says.
func TestKinds_findingsOfTheCorpora_areAsTheTableSays(t *testing.T) {
	rows := map[Kind]KindRow{}
	for _, k := range Kinds() {
		if _, twice := rows[k.Kind]; twice || k.Found == "" {
			t.Errorf("row %+v", k)
		}
		rows[k.Kind] = k
	}
	seen := map[Kind]bool{}
	count, _ := FewerTests(Input{}, []report.Loss{{Check: "test", Before: 2, Now: 1}}, func(string) bool { return true })
	stub := File{Path: "a.py", After: "def a():\n    raise NotImplementedError\n", Exists: true}
	aware := File{Path: "b.py", After: "if \"pytest\" in sys.modules:\n", Exists: true}
	more := append(Compare(Input{Files: []File{stub, aware}, Whole: true}), slices.Concat(count, GreenByTests("1", []string{"red"}), []Finding{{Kind: KindStateChanged}, TickWithoutWork(task.Task{}, "")})...) // found elsewhere: the last two
	samples := readCorpus(t, "blind")
	samples["git"], samples["repository"] = sample{Input: unseen()}, sample{Input: damaged()} // no text shows these
	for name, s := range samples {
		for _, f := range append(accusing(Compare(s.Input)), more...) {
			seen[f.Kind] = true
			if row, ok := rows[f.Kind]; !ok || row.Doubt != f.Doubt || row.Revert != f.Revert {
				t.Errorf("%s: %+v, and the table says %+v", name, f, row)
			}
		}
	}
	if d := cmp.Diff(len(rows), len(seen)); d != "" {
		t.Errorf("kinds seen: %v", seen)
	}
}

// The same files before and after are not a change, whatever they hold; and nothing
// makes Compare panic.
func FuzzCompare(f *testing.F) {
	for _, corpus := range corpora {
		for _, s := range readCorpus(f, corpus) {
			for _, file := range s.Files {
				f.Add(file.Path, file.Before, file.After)
			}
		}
	}
	f.Fuzz(func(t *testing.T, path, text, other string) {
		same := File{Path: path, Before: text, After: text, Existed: true, Exists: true}
		if found := Compare(Input{Files: []File{same}}); len(found) > 0 {
			t.Errorf("no change, and %v", found)
		}
		changed := same
		changed.After = other
		Compare(Input{Files: []File{changed, {Path: "new_test.go", After: text, Exists: true}}})
	})
}
