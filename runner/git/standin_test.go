package git

import (
	"os"
	"path"
	"strings"
	"testing"

	"ralph/internal/world"
)

// What decides how tests run may stand where git does not look. What package managers and builds make may stand there, too.
func TestSince_ignoredFilesOfAKindThatDecidesHowTestsRun(t *testing.T) {
	const site = ".venv/lib/python3.12/site-packages/"
	for name, c := range map[string]struct {
		files map[string]string // programs: in a folder bin or .bin, or without an extension
		want  string
	}{
		"a program of a check":         {files: map[string]string{"tools/bin/diff": "#!/bin/sh\n", "node_modules/.bin/grep": "#!/bin/sh\n"}, want: "node_modules/.bin/grep tools/bin/diff"},
		"a module":                     {files: map[string]string{"pytest.py": "x"}, want: "pytest.py"},
		"a package":                    {files: map[string]string{"pytest/__init__.py": "x", "pytest/__main__.py": "x"}, want: "pytest/__init__.py"},
		"a conftest beside tests":      {files: map[string]string{"tests/conftest.py": "x"}, want: "tests/conftest.py"},
		"what Python starts with":      {files: map[string]string{"sitecustomize.py": "x", "usercustomize.py": "x"}, want: "sitecustomize.py usercustomize.py"},
		"settings of a runner":         {files: map[string]string{"pytest.ini": "x", "jest.config.js": "x"}, want: "jest.config.js pytest.ini"},
		"a program of its own":         {files: map[string]string{"node_modules/.bin/jest": "#!/bin/sh\n"}, want: "node_modules/.bin/jest"},
		"a wrapper on PATH":            {files: map[string]string{"bin/go": "#!/bin/sh\n", "tools/bin/make": "#!/bin/sh\n"}, want: "bin/go tools/bin/make"},
		"a script as Python":           {files: map[string]string{".venv/bin/python": "#!/bin/sh\n"}, want: ".venv/bin/python"},
		"a line that Python runs":      {files: map[string]string{site + "a.pth": "import os\n"}, want: site + "a.pth"},
		"a module among the installed": {files: map[string]string{site + "sitecustomize.py": "x"}, want: site + "sitecustomize.py"},
		"a main for tests":             {files: map[string]string{"z_test.go": "package a\n\nfunc TestMain(m *testing.M) {}\n"}, want: "z_test.go"},

		"caches": {files: map[string]string{".pytest_cache/v/cache/lastfailed": "{}", "__pycache__/conftest.cpython-312.pyc": "x",
			"tests/__pycache__/pytest.py": "x", "coverage.out": "x"}},
		"installed by npm, pnpm": {files: map[string]string{"node_modules/.bin/jest": "#!/bin/sh\n", "node_modules/jest/package.json": "{}",
			"node_modules/.bin/tsc": "#!/bin/sh\n", "node_modules/ava/jest.config.js": "x"}},
		"a virtual environment": {files: map[string]string{".venv/pyvenv.cfg": "x", ".venv/bin/pytest": "#!/bin/sh\n", ".venv/bin/pip": "#!/bin/sh\n",
			site + "_virtualenv.pth": "import _virtualenv\n", site + "distutils-precedence.pth": "import os\n", site + "project.pth": "/src\n",
			site + "pytest/__init__.py": "x", site + "numpy/conftest.py": "x",
			site + "pytest-8.dist-info/RECORD":      "../../../bin/pytest,sha256=a,9\npytest/__init__.py,,\n",
			site + "setuptools-70.dist-info/RECORD": "a.py,,\ndistutils-precedence.pth,sha256=a,1\n"}},
		"build output":        {files: map[string]string{"build/lib/a/conftest.py": "x", "build/conftest.py": "x", "dist/jest.config.js": "x", "target/debug/make": "x"}},
		"a compiled program":  {files: map[string]string{"bin/node": "\x7fELF\x00"}},
		"a test like another": {files: map[string]string{"z_test.go": "package a\n"}},
		"data":                {files: map[string]string{"bin/make.txt": "x", ".env": "x", "local/settings.py": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := world.Folder{TB: t, Dir: t.TempDir()}
			p.Git("init", "-q")
			p.Write("tests/a_test.py", "a")
			p.Commit("first")
			head := p.Git("rev-parse", "HEAD")
			before, err := LookForHidden(t.Context(), p.Dir)
			p.Do(err)
			rules := "__pycache__/\nnode_modules/\n"
			for file, text := range c.files {
				p.Write(file, text)
				if dir := path.Base(path.Dir(file)); dir == "bin" || dir == ".bin" || path.Ext(file) == "" {
					p.Do(os.Chmod(p.Path(file), 0o755))
				}
				rules += "/" + file + "\n"
			}
			p.Write(".git/info/exclude", rules)
			now, all, err := before.Since(t.Context(), head, false)
			p.Do(err)
			var got []string
			for _, h := range all {
				if h.StandIn {
					got = append(got, h.File)
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("found %q, want %q", text, c.want)
			}
			if c.want == "" {
				return
			}
			if _, again, err := now.Since(t.Context(), head, false); err != nil || len(again) > 0 {
				t.Errorf("found again: %v, %v", again, err)
			}
			p.Write(got[0], c.files[got[0]]+"# more\n")
			if _, more, err := now.Since(t.Context(), head, false); err != nil || len(more) != 1 || !more[0].StandIn {
				t.Errorf("after a change: %v, %v", more, err)
			}
		})
	}
}

// A script with the name of a program counts if the project's own lines put its folder on PATH.
func TestShadows(t *testing.T) {
	for name, c := range map[string]struct {
		file, makefile string
		want           bool
	}{
		"CURDIR":                {"bin/diff", "export PATH := $(CURDIR)/bin:$(PATH)\ntest:\n\t./run | diff - want\n", true},
		"PWD":                   {"tools/bin/grep", "test:\n\tPATH=$$PWD/tools/bin:$$PATH ./t\n", true},
		"relative":              {"bin/cmp", "test:\n\tPATH=bin:$$PATH ./t\n", true},
		"the system's":          {"bin/diff", "export PATH := /usr/local/bin:$(PATH)\n", false},
		"another folder":        {"scripts/diff", "export PATH := $(CURDIR)/bin:$(PATH)\n", false},
		"a name of the project": {"bin/todo", "export PATH := $(CURDIR)/bin:$(PATH)\n", false},
		"no folder":             {"diff", "export PATH := $(CURDIR):$(PATH)\n", false},
	} {
		p := world.Folder{TB: t, Dir: t.TempDir()}
		p.Git("init", "-q")
		p.Write("Makefile", c.makefile)
		p.Commit("first")
		p.Write(c.file, "#!/bin/sh\nexit 0\n")
		p.Do(os.Chmod(p.Path(c.file), 0o755))
		if got := Shadows(t.Context(), p.Dir, []string{"Makefile", c.file}); (len(got) > 0) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
