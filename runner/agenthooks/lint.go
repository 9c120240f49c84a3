package agenthooks

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/state/projectfs"
)

// linters are the programs of AutoLint: they read one file and print what is wrong with it.
var linters = []struct{ ext, command string }{
	{".go", "gofmt -e -l {file} 2>&1 | { ! grep .; }"},
	{".py", `python3 -c "import ast,sys; ast.parse(open(sys.argv[1],encoding='utf-8').read(),sys.argv[1])" {file}`},
	{".js", "node --check {file}"}, {".mjs", "node --check {file}"}, {".cjs", "node --check {file}"},
	{".sh", "sh -n {file}"}, {".bash", "bash -n {file}"},
	{".rb", "ruby -c {file}"}, {".php", "php -l {file}"}, {".rs", "rustfmt --check {file}"},
}

// Linter is the command line for sh that looks at a file; empty if there is none.
func Linter(lint, file string) string {
	if lint == AutoLint {
		lint = ""
		for _, l := range linters {
			program, _, _ := strings.Cut(l.command, " ")
			if _, err := exec.LookPath(program); err == nil && l.ext == strings.ToLower(filepath.Ext(file)) {
				lint = l.command
			}
		}
	}
	quoted, err := syntax.Quote(file, syntax.LangPOSIX)
	switch {
	case lint == "" || err != nil:
		return ""
	case !strings.Contains(lint, "{file}"):
		return lint + " " + quoted
	}
	return strings.ReplaceAll(lint, "{file}", quoted)
}

const maxJSON = 64 << 20 // bytes

// BadJSON says what is wrong with a JSON file; empty: nothing, or it is none.
func BadJSON(file string) string {
	if !strings.EqualFold(filepath.Ext(file), ".json") {
		return ""
	}
	// A sandbox may allow the file's folder and nothing above it.
	data, err := projectfs.In(filepath.Dir(file)).Read(file, maxJSON)
	var any json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &any)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
