package report

import (
	"path"
	"strings"
)

// cargo reads the text of cargo test.
type cargo struct {
	target string // crate or test file, as a prefix of names
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
	case strings.HasPrefix(line, "test result: "), line == "failures:":
		c.settle()
	case strings.HasPrefix(line, "---- ") && strings.HasSuffix(line, " ----"):
		c.settle()
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(line[5:], " ----"), " stdout"), " stderr")
		c.open(c.full(name))
	case c.name != "":
		c.text.WriteLine(line)
	case strings.HasPrefix(line, "test "):
		c.result(line[len("test "):])
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
	test = strings.TrimSuffix(test, " - should panic")
	switch {
	case c.target == "":
		return test
	case strings.HasPrefix(c.target, "doc "):
		return c.target + ": " + test
	}
	return c.target + "::" + test
}

func (c *cargo) result(rest string) {
	i := strings.LastIndex(rest, " ... ")
	if i < 0 {
		return
	}
	t := Test{Name: c.full(rest[:i])}
	switch how := rest[i+5:]; {
	case how == "ok":
		t.Status = Passed
	case how == "FAILED":
		t.Status = Failed
	case how == "ignored", strings.HasPrefix(how, "ignored, "):
		t.Status = Skipped
	default:
		return
	}
	c.c.add(t)
}

// settle ignores a name that is not that of a test.
func (c *cargo) settle() {
	if _, known := c.c.index[c.name]; !known {
		c.name = ""
	}
	c.block.settle()
}

func (c *cargo) end() { c.settle() }
