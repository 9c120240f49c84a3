package retest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/names"
	"ralph/runner/audit/values"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/sandbox"
)

const (
	mutantTime  = time.Minute // for all runs of a check with mutants
	mostMutants = 6
	mostCode    = 4 << 20 // bytes of code that are read
	unseen      = 2       // mutants of a function that no test notices, for a finding
)

// mutants tries whether the tests notice small changes of the code: those that they noticed as they were, and any change
// of a function for which the task asks, if the new tests name it. Changed code may do anything, so without a sandbox it
// tries nothing.
func (x *probe) mutants(ctx context.Context) ([]string, error) {
	if asks.ForRemoval(x.text) || asks.ForFewerTests(x.text) || asks.ForSkips(x.text) || patterns().goes.MatchString(x.text) {
		return nil, nil
	}
	u := plan(x.files, x.green, "")
	u.files = slices.Concat(u.files, x.asserting(u))
	rows := x.quick()
	if len(rows) == 0 || len(u.files) == 0 {
		return nil, nil
	}
	sources, err := x.sources(ctx)
	if err != nil {
		return nil, err
	}
	tests, err := x.tests(ctx)
	if err != nil {
		return nil, err
	}
	old, asked := sources.tested(u, tests), sources.asked(u, x.text)
	if len(old)+len(asked) == 0 {
		return nil, nil
	}
	if ok, err := x.contained(ctx); err != nil || !ok {
		return nil, err
	}
	is, err := x.with(ctx, rows, nil)
	if err != nil || slices.ContainsFunc(is.Results, func(r gate.Result) bool { return !r.Passed }) {
		return nil, err
	}
	trial := trial{x: x, rows: rows, undo: u, sources: sources, is: is}
	found, err := trial.unproven(ctx, asked)
	if err != nil || len(found) > 0 || len(old) == 0 {
		return found, err
	}
	return trial.lost(ctx, old)
}

// quick are the checks that can run often enough.
func (x *probe) quick() (rows []gate.Check) {
	for _, r := range x.p.Report.Results {
		if !r.Passed || r.Duration > mutantTime/mostMutants/2 || !slices.ContainsFunc(x.green, func(c gate.Check) bool { return c.Name == r.Name }) {
			continue
		}
		c := r.Check
		c.Timeout = 10*time.Second + 5*r.Duration // a mutant may never end
		rows = append(rows, c)
	}
	return rows
}

// contained puts the copy into a sandbox, unless the user's is on. It returns false if none works here.
func (x *probe) contained(ctx context.Context) (bool, error) {
	if err := x.copy(ctx); err != nil || x.suite.Place.Box.On() {
		return true, err
	}
	for _, settings := range []sandbox.Settings{{Sandbox: "bwrap", SandboxNet: []string{sandbox.NetNone}}, {Sandbox: "landlock"}} {
		if settings, err := settings.Resolve(); err == nil {
			err = x.contain(settings)
			place := &x.suite.Place
			for _, entry := range place.Env { // what Go builds is found by its content
				if dir, ok := strings.CutPrefix(entry, "GOCACHE="); ok {
					place.Box.Write = append(place.Box.Write, dir)
				}
			}
			return true, err
		}
	}
	return false, nil
}

// asserting are changed files of code, not of tests, in which a function that asserts lost a line.
func (x *probe) asserting(u undo) (all []git.Text) {
	for _, f := range x.files {
		known := slices.ContainsFunc(u.files, func(o git.Text) bool { return o.Path == f.Path })
		if known || !f.Existed || !isProduct(f) {
			continue
		}
		was, is := strings.Split(f.Before, "\n"), strings.Split(f.After, "\n")
		if slices.ContainsFunc(values.Without(was, is), func(line string) bool { return inside(was, []string{line}) }) {
			all = append(all, f)
		}
	}
	return all
}

// sources are the files of code in the project, by path.
type sources map[string]string

func (x *probe) sources(ctx context.Context) (sources, error) {
	out, err := command.Run(ctx, x.p.Dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	all, size := sources{}, 0
	for name := range strings.SplitSeq(out, "\x00") {
		if !mutate.Code(name) || isTest(name) || ours(name) || size > mostCode {
			continue
		}
		text, err := os.ReadFile(filepath.Join(x.p.Dir, filepath.FromSlash(name)))
		if err == nil && len(text) < maxTests { // one that cannot be read is not changed
			size += len(text)
			all[name] = string(text)
		}
	}
	return all, nil
}

// of are mutants of the wanted functions, those of each function one after the other.
func (s sources) of(wanted func(function string) bool) (all [][]mutate.Mutant) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		for _, m := range mutate.Of(name, s[name], wanted) {
			if _, ok := m.In(s[name]); !ok {
				continue
			}
			if n := len(all); n > 0 && all[n-1][0].Path == m.Path && all[n-1][0].Func == m.Func {
				all[n-1] = append(all[n-1], m)
				continue
			}
			all = append(all, []mutate.Mutant{m})
		}
	}
	return slices.DeleteFunc(all, func(m []mutate.Mutant) bool { return len(m) < unseen })
}

// tested are mutants of functions that the tests name: first those in lines that changed, then those in files that did.
func (s sources) tested(u undo, tests []string) (all []mutate.Mutant) {
	var lines, files strings.Builder
	for _, f := range u.files {
		if f.Existed {
			files.WriteString(f.Before)
			lines.WriteString(strings.Join(values.Without(strings.Split(f.Before, "\n"), strings.Split(f.After, "\n")), "\n"))
		}
	}
	if files.Len() == 0 && len(u.added) == 0 {
		return nil
	}
	places := []string{lines.String(), files.String(), strings.Join(tests, "\n")}
	rank := func(function string) int {
		return slices.IndexFunc(places, func(text string) bool { return names.In(text, function) })
	}
	groups := s.of(func(function string) bool { return rank(function) >= 0 })
	slices.SortStableFunc(groups, func(a, b []mutate.Mutant) int { return cmp.Compare(rank(a[0].Func), rank(b[0].Func)) })
	for _, group := range groups {
		if len(all)+len(group) <= mostMutants {
			all = append(all, group...)
		}
	}
	return all
}

// asked are mutants of the functions that a task asks for, or asks for tests of, and that changed tests name.
func (s sources) asked(u undo, task string) (all [][]mutate.Mutant) {
	wanted := slices.Concat(names.Of(task), names.Quoted(task))
	for _, group := range s.of(func(function string) bool { return slices.Contains(wanted, function) }) {
		named := slices.ContainsFunc(u.files, func(f git.Text) bool {
			return f.Exists && names.In(f.After, group[0].Func) && !names.In(f.Before, group[0].Func)
		})
		if named && len(all) < mostMutants/unseen {
			all = append(all, group)
		}
	}
	return all
}

// trial runs the checks with mutants.
type trial struct {
	x       *probe
	rows    []gate.Check
	undo    undo
	sources sources
	is, was gate.Report // without a mutant: with the tests of now, and as they were
}

// now runs the checks with a mutant.
func (t *trial) now(ctx context.Context, m mutate.Mutant) (gate.Report, error) {
	text, _ := m.In(t.sources[m.Path])
	return t.x.with(ctx, t.rows, []git.Text{{Path: m.Path, Before: text, After: t.sources[m.Path], Existed: true, Exists: true}})
}

// then does so with the tests as they were.
func (t *trial) then(ctx context.Context, m mutate.Mutant) (gate.Report, error) {
	files := slices.Clone(t.undo.files)
	i := slices.IndexFunc(files, func(f git.Text) bool { return f.Path == m.Path })
	if i < 0 {
		files, i = append(files, git.Text{Path: m.Path, Before: t.sources[m.Path], After: t.sources[m.Path], Existed: true, Exists: true}), len(files)
	}
	files[i].Before, _ = m.In(files[i].Before)
	return t.x.with(ctx, t.rows, files)
}

// unproven are sentences about functions of which no test notices any mutant.
func (t *trial) unproven(ctx context.Context, groups [][]mutate.Mutant) (found []string, err error) {
	for _, group := range groups {
		survived := 0
		for _, m := range group {
			r, err := t.now(ctx, m)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(r.Results, func(r gate.Result) bool { return !r.Passed }) {
				break
			}
			survived++
		}
		if survived == len(group) {
			found = append(found, fmt.Sprintf("the tests of %s notice nothing: they also pass with %q instead of %q in %s", group[0].Func,
				group[0].Now, group[0].Was, group[0].Path))
		}
	}
	return found, nil
}

// sight is what tests notice of a mutant. A check without names of tests counts as one test.
type sight struct {
	mutant    mutate.Mutant
	then, now []string
}

// lost are sentences about tests that noticed mutants as they were, and now notice none of them.
func (t *trial) lost(ctx context.Context, mutants []mutate.Mutant) ([]string, error) {
	var err error
	if t.was, err = t.x.with(ctx, t.rows, t.undo.files); err != nil {
		return nil, err
	}
	var all []sight
	for _, m := range mutants {
		then, err := t.then(ctx, m)
		if err != nil {
			return nil, err
		}
		s := sight{mutant: m, then: t.noticed(then, t.was)}
		if len(s.then) == 0 {
			continue
		}
		now, err := t.now(ctx, m)
		if err != nil {
			return nil, err
		}
		if s.now = t.noticed(now, t.is); slices.ContainsFunc(s.now, func(name string) bool { return !slices.Contains(s.then, name) }) {
			continue // another test notices it now
		}
		all = append(all, s)
	}
	found := blind(all, t.is)
	if len(found) == 0 {
		return nil, nil
	}
	again, err := t.then(ctx, found[0].mutant)
	if err != nil || !slices.Contains(t.noticed(again, t.was), found[0].then[0]) {
		return nil, err
	}
	var lines []string
	for _, s := range found {
		lines = append(lines, fmt.Sprintf("%s no longer notices that %q becomes %q in %s, and did before its change", s.then[0],
			s.mutant.Was, s.mutant.Now, s.mutant.Path))
	}
	return lines, nil
}

// blind is, for each test that noticed at least two mutants and now notices none, the first of them. A test that is gone
// counts if no other one notices them.
func blind(all []sight, is gate.Report) (found []sight) {
	var left []string
	unnamed := false
	for _, r := range is.Results {
		left = append(append(left, r.Name), r.Tests.PassedTests()...)
		unnamed = unnamed || len(r.Tests.PassedTests()) == 0
	}
	lost, still := map[string][]mutate.Mutant{}, map[string]bool{}
	for _, s := range all {
		for _, name := range s.then {
			if len(s.now) == 0 || unnamed || slices.Contains(left, name) {
				lost[name] = append(lost[name], s.mutant)
			}
		}
		for _, name := range s.now {
			still[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if len(lost[name]) >= unseen && !still[name] {
			found = append(found, sight{mutant: lost[name][0], then: []string{name}})
		}
	}
	return found
}

// noticed are the tests that fail in a run and pass without the mutant.
func (t *trial) noticed(with, without gate.Report) (all []string) {
	for i, r := range with.Results {
		base := without.Results[i]
		if r.Passed || r.TimedOut || broken().MatchString(r.Output) {
			continue
		}
		passed, red := base.Tests.PassedTests(), base.Tests.StillFailed()
		failed := slices.DeleteFunc(r.Tests.FailedTests(), func(f report.Test) bool {
			return len(passed) > 0 && !slices.Contains(passed, f.Name) || slices.Contains(red, f.Name) // unittest names only failures
		})
		for _, f := range failed {
			all = append(all, f.Name)
		}
		if len(failed) == 0 && base.Passed {
			all = append(all, r.Name)
		}
	}
	return all
}
