package report

import (
	"fmt"
	"path"
	"strings"
)

// cargo reads the text of cargo test.
type cargo struct {
	target   string // crate or test file, as a prefix of names
	failures bool   // after "failures:", which has a block for each
	block
}

func (c *cargo) line(line string) {
	rest := strings.TrimLeft(line, " ")
	switch {
	case strings.HasPrefix(rest, "Running ") && strings.HasSuffix(rest, ")"):
		c.settle()
		c.target = targetOf(rest)
	case strings.HasPrefix(rest, "Doc-tests "):
		c.settle()
		c.target = "doc " + rest[len("Doc-tests "):]
	case strings.HasPrefix(line, "test result: "):
		c.settle()
		c.failures = false
		c.totals(line)
	case line == "failures:", line == "successes:": // with --show-output, tests that passed have blocks, too
		c.settle()
		c.failures = line == "failures:"
	case c.failures && strings.HasPrefix(line, "---- ") && strings.HasSuffix(line, " ----"):
		c.settle()
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(line[5:], " ----"), " stdout"), " stderr")
		c.open(c.full(name))
	case c.name != "":
		c.text.WriteLine(line)
	case strings.HasPrefix(line, "test "):
		c.result(line[len("test "):])
	}
}

// totals reads "test result: FAILED. 1 passed; 2 failed; 1 ignored; ...".
func (c *cargo) totals(line string) {
	how, passed, failed, ignored := "", 0, 0, 0
	_, err := fmt.Sscanf(line, "test result: %s %d passed; %d failed; %d ignored", &how, &passed, &failed, &ignored)
	if err == nil {
		c.c.count(passed, failed, ignored)
	}
}

// targetOf returns "cc" for "Running unittests src/lib.rs (target/debug/deps/cc-a2c3e3b3)".
func targetOf(line string) string {
	exe := path.Base(strings.ReplaceAll(strings.TrimSuffix(line[strings.LastIndex(line, "(")+1:], ")"), `\`, "/"))
	if i := strings.LastIndex(exe, "-"); i > 0 {
		exe = exe[:i]
	}
	return exe
}

func (c *cargo) full(test string) string {
	sep := "::"
	if strings.HasPrefix(c.target, "doc ") {
		sep = ": "
	}
	return strings.TrimPrefix(c.target+sep+strings.TrimSuffix(test, " - should panic"), "::")
}

func (c *cargo) result(rest string) {
	name, how, _ := strings.Cut(rest, " ... ")
	how, _, _ = strings.Cut(how, ", ")
	status, known := map[string]Status{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[how]
	if !known {
		return
	}
	c.c.add(Test{Name: c.full(name), Status: status})
}
