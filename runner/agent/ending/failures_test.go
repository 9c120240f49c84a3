package ending

import (
	"fmt"
	"strings"
	"testing"
)

const goFails = "--- FAIL: TestParse (0.01s)\n    parse_test.go:12: got 3, want 4\nFAIL\nFAIL\texample.com/p\t0.012s"

func texts(results ...Failure) string {
	var f Failures
	for _, r := range results {
		f.Add(r, r.Text != "ok")
	}
	return strings.Join(f.Texts(), "\n")
}

func TestFailures_sameFailure_sameText(t *testing.T) {
	bash := func(text string) string { return texts(Failure{"Bash", "npm test", text}) }
	for name, pair := range map[string][2]string{
		"times":             {goFails, strings.NewReplacer("0.01s", "1.7s", "0.012s", "2.4s").Replace(goFails)},
		"lines moved":       {goFails, strings.ReplaceAll(goFails, ":12:", ":31:")},
		"more tests pass":   {"ok a.test\n✗ b.test fails", "ok a.test\nok c.test\nok d.test\n✗ b.test fails"},
		"another order":     {"FAIL TestA\nFAIL TestB", "FAIL TestB\nFAIL TestA"},
		"another workspace": {"cannot open /tmp/a1/001/data.json", "cannot open /tmp/b7/001/data.json"},
		"an exit code":      {"Exit code 1\nno such file: data.json", "exit status 2\nno such file: data.json"},
	} {
		if a, b := bash(pair[0]), bash(pair[1]); a != b || a == "" {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
	for name, pair := range map[string][2]string{
		"another test":          {goFails, strings.ReplaceAll(goFails, "TestParse", "TestPrint")},
		"another file":          {"src/a/one.ts: error TS2322: not assignable", "src/a/two.ts: error TS2322: not assignable"},
		"another error at last": {"building\nundefined: x", "building\nundefined: y"},
	} {
		if a, b := bash(pair[0]), bash(pair[1]); a == b {
			t.Errorf("%s: both %q", name, a)
		}
	}
}

func TestFailures_whatIsNoFailure(t *testing.T) {
	for name, results := range map[string][]Failure{
		"repaired":             {{"Bash", "go test ./...", goFails}, {"Bash", "go test ./...", "ok"}},
		"a tool that reads":    {{"Read", "a.go", "File does not exist."}},
		"a look":               {{"Bash", "cd x && grep -r TODO . | head", "grep: x: No such file or directory"}, {"shell", "git log -3", "fatal: no commits"}},
		"no words":             {{"Bash", "make", "Exit code 1"}, {"Bash", "make lint", " \n"}, {"Bash", "x", "Error: exit code 2"}},
		"nothing at all":       {},
		"repaired, then again": {{"Bash", "a", "ok"}, {"Edit", "a.go", "String to replace not found"}, {"Edit", "a.go", "ok"}},
	} {
		if got := texts(results...); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := texts(Failure{"Bash", "git log && go vet", "vet: undefined: x"}); got == "" {
		t.Error("a command that also looks is not a failure")
	}
}

func TestFailures_flood_isBounded(t *testing.T) {
	var f Failures
	for i := range 100 {
		f.Add(Failure{"Bash", fmt.Sprint("make ", i), strings.Repeat(fmt.Sprintf("error in part%c\n", 'a'+i%26), 50) + strings.Repeat("x", 5000) + " failed"}, true)
	}
	if len(f) != maxFailures || f[maxFailures-1].Arg != "make 99" {
		t.Errorf("%d failures, the last of %q", len(f), f[len(f)-1].Arg)
	}
	for _, text := range f.Texts() {
		if len([]rune(text)) > maxSaid+len("bash: ") {
			t.Errorf("%d runes", len([]rune(text)))
		}
	}
}
