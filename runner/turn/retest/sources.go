package retest

import (
	"context"
	"maps"
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

// sources returns the files of code in the project.
func (x *probe) sources(ctx context.Context) (mutate.Sources, error) {
	root, ok := command.Root(x.p.Dir)
	if !ok {
		return nil, nil
	}
	out, err := command.Run(ctx, x.p.Dir, "ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	all, size := mutate.Sources{}, 0
	for name := range strings.SplitSeq(out, "\x00") {
		if !mutate.Code(name) || isTest(name) || ours(name) || size > mostCode {
			continue
		}
		text, err := readFile(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil { // one that cannot be read is not changed
			size += len(text)
			all[name] = string(text)
		}
	}
	return all, nil
}

// tested returns mutants of functions that the tests name: first those in lines that changed, then those in files that did.
func tested(s mutate.Sources, u undo, tests []string) (all []mutate.Mutant) {
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
	before := map[string]bool{}
	for _, place := range []string{lines.String(), files.String(), strings.Join(tests, "\n")} {
		here := mutate.Words(place)
		left := max(mostMutants-len(all), 0) / perFunction
		for _, group := range s.Of(perFunction, left, func(function string) bool { return here[function] && !before[function] }) {
			all = append(all, group...)
		}
		maps.Copy(before, here)
	}
	return all
}

// asked returns mutants of functions that changed tests name now and did not before, if the task names them or wants tests, or
// they are new.
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
		if some := inTurn(s.Of(fewAsked, mostAsked, s.Reached(named))); len(some) >= unseen {
			return [][]mutate.Mutant{some}
		}
		return nil
	}
	return s.Of(mostAsked, mostGroups, func(function string) bool { return wanted[function] && named(function) })
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

// testsIn returns the part of a file that has tests, before and now.
func testsIn(f git.Text) (was, is string) {
	if path.Ext(f.Path) != ".rs" || isTest(f.Path) {
		return f.Before, f.After
	}
	_, was, _ = strings.Cut(f.Before, inlineMark)
	_, is, _ = strings.Cut(f.After, inlineMark)
	return was, is
}
