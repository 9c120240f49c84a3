package git

// This file finds what git ignores although it decides how tests run.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// standIns match files that take the place of a test runner, or that it loads by itself.
var standIns = sync.OnceValue(func() (p struct{ output, compiled, script, loaded, module, start, settings *regexp.Regexp }) {
	re := regexp.MustCompile
	p.output = re(`(?:^|/)(?:\.[^/]*|dist|build|out|target|obj|te?mp|venv|env|node_modules|vendor|third_party|__pycache__)/`)
	p.compiled = re(`^(?:node|bun|deno|go|cargo|make|sh|bash|env|python[\d.]*|ruby|java|php|diff|cmp|comm|[ef]?grep|sed|awk|sort|uniq|wc|cat|test|expr)$`)
	p.script = re(`^(?:jest|vitest|mocha|pytest|py\.test|tox|nox)$`)
	p.loaded = re(`^(?:conftest|sitecustomize|usercustomize)\.py$`)
	p.module = re(`(?:^|/)(?:_?pytest|unittest|doctest|nose2?|pluggy)(?:\.py|/__init__\.py)$`)
	p.start = re(`^(?:sitecustomize|usercustomize|_?pytest|unittest|pluggy)\.py$|\.pth$`)
	p.settings = re(`^(?:pytest\.ini|\.mocharc(?:\.\w+)?|(?:jest|vitest|karma|ava|cypress|playwright)\.(?:config|conf|workspace)\.\w+)$`)
	return p
})

// findStandIns returns the content of such files among what git ignores: the entries of git ls-files --directory. Of a
// folder it looks at the files in it, at its programs, and at what Python loads. What a package manager installed does
// not count, nor does build output.
func findStandIns(root, entries string) map[string]string {
	found := map[string]string{}
	add := func(name string) {
		if text, ok := standsIn(root, name); ok {
			found[name] = text
		}
	}
	for entry := range strings.SplitSeq(entries, "\x00") {
		if !strings.HasSuffix(entry, "/") {
			add(entry)
			continue
		}
		for _, below := range []string{"*", "bin/*", ".bin/*", "lib/python*/site-packages/*"} {
			names, _ := fs.Glob(os.DirFS(filepath.Join(root, entry)), below) // the pattern is valid
			for _, name := range names {
				add(entry + name)
			}
		}
	}
	return found
}

// standsIn returns the content of a file, and whether it is a stand-in.
func standsIn(root, name string) (string, bool) {
	p := standIns()
	dir, base := path.Split(name)
	program, bin := p.compiled.MatchString(base) || p.script.MatchString(base), path.Base(dir) == "bin"
	site := path.Base(dir) == "site-packages"
	switch {
	case strings.HasPrefix(name, ".ralph/"):
		return "", false
	case program:
		return wrapper(root, name, p.script.MatchString(base) && bin && recorded(root, path.Dir(path.Clean(dir)), "lib/python*/site-packages/", "bin/"+base))
	case site && !p.start.MatchString(base), !site && p.output.MatchString(dir):
		return "", false
	case !site && !p.loaded.MatchString(base) && !p.module.MatchString(name) && !p.settings.MatchString(base) && !strings.HasSuffix(base, "_test.go"):
		return "", false
	}
	data, err := projectfs.In(root).Read(filepath.Join(root, name), maxText)
	text := string(data)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist): // a link, or too large: Python loads it all the same
		return err.Error(), true
	case err != nil, strings.HasSuffix(base, "_test.go") && !strings.Contains(text, "func TestMain("):
		return "", false
	case site: // a line of a .pth runs if it imports; virtualenv has one of its own
		runs := path.Ext(base) != ".pth" || base != "_virtualenv.pth" && strings.Contains("\n"+text, "\nimport")
		return text, runs && !recorded(root, dir, "", base)
	}
	return text, true
}

// wrapper returns the text of a program that is a script of the project, unless installed.
func wrapper(root, name string, installed bool) (string, bool) {
	file := filepath.Join(root, filepath.FromSlash(name))
	realRoot, err := filepath.EvalSymlinks(root)
	target, bad := filepath.EvalSymlinks(file)
	rel, outside := filepath.Rel(realRoot, target)
	if err != nil || bad != nil || outside != nil || !filepath.IsLocal(rel) || installed {
		return "", false
	}
	if info, err := os.Stat(target); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", false
	}
	if path.Base(path.Dir(name)) == ".bin" { // npm links to the package beside it, and pnpm starts it
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), "..", path.Base(name), "package.json")); err == nil {
			return "", false
		}
	}
	if link := filepath.Join(realRoot, filepath.FromSlash(name)) != target; link && slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "node_modules") {
		return "", false
	}
	data, err := projectfs.In(realRoot).Read(target, maxText)
	return string(data), err == nil && strings.HasPrefix(string(data), "#!")
}

// recorded reports whether a package of Python in a folder lists a file as its own.
func recorded(root, folder, packages, file string) bool {
	lists, _ := fs.Glob(os.DirFS(filepath.Join(root, folder)), packages+"*.dist-info/RECORD") // the pattern is valid
	return slices.ContainsFunc(lists, func(list string) bool {
		data, _ := projectfs.In(root).Read(filepath.Join(root, folder, list), maxText)
		return strings.Contains(strings.ReplaceAll("\n"+string(data), "\n../../../", "\n"), "\n"+file+",")
	})
}

// Shadows returns those of the files that are scripts with the name of a program, in a folder that the project puts on
// PATH: a check finds them first.
func Shadows(ctx context.Context, dir string, files []string) (found []HiddenFile) {
	root, _ := Root(dir)
	for _, file := range files {
		folder, base := path.Split(file)
		if folder == "" || !standIns().compiled.MatchString(base) {
			continue
		}
		if _, script := wrapper(root, file, false); !script {
			continue
		}
		// bin, ./bin, $PWD/bin, $(CURDIR)/bin, but not /usr/local/bin
		onPath := regexp.MustCompile(`(?:^|[\s"'=:]|\$\w+/|[)}]/|\./)` + regexp.QuoteMeta(strings.TrimSuffix(folder, "/")) + `(?:[^\w-]|$)`)
		lines, _ := command.Run(ctx, root, "grep", "--untracked", "-h", "-I", "-w", "-F", "-e", "PATH") // an error: there is none
		if slices.ContainsFunc(strings.Split(lines, "\n"), onPath.MatchString) {
			found = append(found, HiddenFile{File: file, StandIn: true, OnPath: true})
		}
	}
	return found
}
