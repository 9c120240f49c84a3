package retest

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/names"
	"ralph/runner/audit/signature"
	"ralph/runner/audit/values"
	"ralph/runner/git"
	"ralph/runner/git/command"
)

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
func (s sources) of(most int, wanted func(function string) bool) (all [][]mutate.Mutant) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		for _, m := range mutate.Of(name, s[name], most, wanted) {
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
	groups := s.of(perFunction, func(function string) bool { return rank(function) >= 0 })
	slices.SortStableFunc(groups, func(a, b []mutate.Mutant) int { return cmp.Compare(rank(a[0].Func), rank(b[0].Func)) })
	for _, group := range groups {
		if len(all)+len(group) <= mostMutants {
			all = append(all, group...)
		}
	}
	return all
}

// asked are mutants of functions that changed tests name now and did not before, if the task names them or wants tests, or
// they are new.
func (x *probe) asked(u undo, s sources) (all [][]mutate.Mutant) {
	known, wanted := map[string]bool{}, map[string]bool{}
	for _, f := range x.files {
		maps.Copy(known, signature.Defined(f.Before))
		maps.Copy(wanted, signature.Defined(f.After))
	}
	maps.DeleteFunc(wanted, func(name string, _ bool) bool { return known[name] })
	for _, name := range slices.Concat(names.Of(x.text), names.Quoted(x.text)) {
		wanted[name] = true
	}
	named := func(function string) bool {
		return slices.ContainsFunc(u.files, func(f git.Text) bool {
			was, is := testsIn(f)
			return names.In(is, function) && !names.In(was, function)
		})
	}
	if asks.ForTests(x.text) {
		return [][]mutate.Mutant{inTurn(s.of(fewAsked, s.reached(named)))}
	}
	for _, group := range s.of(perFunction, func(function string) bool { return wanted[function] && named(function) }) {
		if len(all) < mostGroups {
			all = append(all, group)
		}
	}
	return all
}

// inTurn takes one mutant of each function, then another one.
func inTurn(groups [][]mutate.Mutant) (all []mutate.Mutant) {
	for i := range fewAsked {
		for _, group := range groups {
			if i < len(group) && len(all) < mostAsked {
				all = append(all, group[i])
			}
		}
	}
	return all
}

// reached accepts functions that are named, and what those call in their own file.
func (s sources) reached(named func(function string) bool) func(function string) bool {
	all := map[string]bool{}
	for _, text := range s {
		bodies := mutate.Bodies(text)
		var add func(function string)
		add = func(function string) {
			if all[function] {
				return
			}
			all[function] = true
			for other := range bodies {
				if names.In(bodies[function], other) {
					add(other)
				}
			}
		}
		for function := range bodies {
			if named(function) {
				add(function)
			}
		}
	}
	return func(function string) bool { return all[function] }
}

// testsIn is the part of a file that has tests, before and now.
func testsIn(f git.Text) (was, is string) {
	if path.Ext(f.Path) != ".rs" || isTest(f.Path) {
		return f.Before, f.After
	}
	_, was, _ = strings.Cut(f.Before, inlineMark)
	_, is, _ = strings.Cut(f.After, inlineMark)
	return was, is
}
