package retest

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/names"
	"ralph/runner/audit/signature"
	"ralph/runner/audit/values"
	"ralph/runner/git"
	"ralph/runner/turn/retest/paths"
)

// sources returns the files of code in the project.
func (x *probe) sources(ctx context.Context) (mutate.Sources, error) {
	return x.read(ctx, func(name string) bool { return mutate.Code(name) && !paths.IsTest(name) && !paths.Ours(name) },
		mostCode)
}

// tested returns mutants of functions that the tests name: first those in lines that changed, then those in files that
// did.
func tested(s mutate.Sources, u undo, tests []string) (all []mutate.Mutant) {
	var lines, files strings.Builder
	for _, f := range u.files {
		if f.Existed {
			files.WriteString(f.Before)
			lines.WriteString(strings.Join(values.Without(strings.Split(f.Before, "\n"),
				strings.Split(f.After, "\n")), "\n"))
		}
	}
	if files.Len() == 0 && len(u.added) == 0 {
		return nil
	}
	before := map[string]bool{}
	for _, place := range []string{lines.String(), files.String(), strings.Join(tests, "\n")} {
		here := mutate.Words(place)
		left := max(mostMutants-len(all), 0) / perFunction
		for _, group := range s.Of(perFunction, left,
			func(function string) bool { return here[function] && !before[function] }) {
			all = append(all, group...)
		}
		maps.Copy(before, here)
	}
	return all
}

// asked returns mutants of functions that changed tests name now and did not before, if the task names them or wants
// tests, or they are new.
func (x *probe) asked(u undo, s mutate.Sources) [][]mutate.Mutant {
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
		if some := mutate.InTurn(s.Of(perFunctionAsked, mostAsked, s.Reached(named)), mostAsked); len(some) >= unseen {
			return [][]mutate.Mutant{some}
		}
		return nil
	}
	return s.Of(mostAsked, mostGroups, func(function string) bool { return wanted[function] && named(function) })
}

// testsIn returns the part of a file that has tests, before and now.
func testsIn(f git.Text) (was, is string) {
	if path.Ext(f.Path) != ".rs" || paths.IsTest(f.Path) {
		return f.Before, f.After
	}
	_, was, _ = strings.Cut(f.Before, paths.InlineMark)
	_, is, _ = strings.Cut(f.After, paths.InlineMark)
	return was, is
}
