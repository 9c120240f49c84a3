// Package report finds the single tests in the output and the report files of test
// runners. It runs nothing.
package report

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
)

// Status is how one test ended.
type Status string

// The values of Status.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Test is one test, or a unit whose tests are not known: a package that does not
// build, a file that cannot be loaded.
type Test struct {
	Name    string `json:"name"` // unique in its check: "example.com/p.TestA/b", "a.test.js > suite > name"
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"` // of a failed test: at most 4 KiB, its beginning and its end
	// Of is what the report names in its place once it passes: its package, or the test that it is a part of. Empty: the
	// test itself.
	Of string `json:"of,omitempty"`
	// Loose is true if the report would neither name nor count it if it passed.
	Loose bool `json:"loose,omitempty"`
}

// Summary has the tests of one run.
type Summary struct {
	// Tests has at most 20,000 tests, and failed ones up to 40,000. Some formats name
	// only failed tests.
	Tests []Test `json:"tests,omitempty"`
	// Passed, Failed and Skipped also count tests that have no name in Tests.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Known is true when the output or a file was in a known format.
	Known bool `json:"known,omitempty"`
	// None is the line in which the test runner says that it ran no test; empty if it does not, or ran one.
	None string `json:"none,omitempty"`
	// Nothing is the line in which the test runner says that there is no code or no
	// test; empty if it does not.
	Nothing string `json:"nothing,omitempty"`
}

// Total returns the number of tests, including those without a name.
func (s Summary) Total() int { return s.Passed + s.Failed + s.Skipped }

// StillFailed names the failed tests, without those that passed when they ran again.
func (s Summary) StillFailed() (names []string) {
	passed := map[string]bool{}
	for _, t := range s.Tests {
		passed[t.Name] = passed[t.Name] || t.Status == Passed
	}
	for _, t := range s.Tests {
		if t.Status == Failed && !passed[t.Name] {
			names = append(names, t.Name)
		}
	}
	return names
}

// PassedTests names the tests that passed, in order.
func (s Summary) PassedTests() (names []string) {
	for _, t := range s.Tests {
		if t.Status == Passed {
			names = append(names, t.Name)
		}
	}
	return names
}

// FailedTests returns the tests that failed, in order.
func (s Summary) FailedTests() []Test {
	var failed []Test
	for _, t := range s.Tests {
		if t.Status == Failed {
			failed = append(failed, t)
		}
	}
	return failed
}

// Merge adds another report of the same run. For a test in both, it takes the result
// from o and the name from s.
func (s Summary) Merge(o Summary) Summary {
	c := newCollector()
	ids := map[string]string{} // by the name that pytest's own reports give them
	for _, t := range s.Tests {
		if dotted, ok := dottedID(t.Name); ok {
			ids[dotted] = t.Name
		}
		c.add(t)
	}
	for _, t := range o.Tests {
		if id, ok := ids[t.Name]; ok {
			t.Name = id
		}
		c.add(t)
	}
	c.passed, c.skipped = max(s.Passed, o.Passed), max(s.Skipped, o.Skipped)
	c.known = s.Known || o.Known
	c.nothing = s.Nothing
	c.nothing = cmp.Or(c.nothing, o.Nothing)
	sum := c.summary()
	if sum.Total() == 0 {
		sum.None = cmp.Or(s.None, o.None)
	}
	return sum
}

const (
	maxTests   = 20_000
	maxLine    = 64 << 10
	maxMessage = 4 << 10
)

func newMessage() *Excerpt { return &Excerpt{Head: maxMessage * 3 / 4, Tail: maxMessage / 4} }

// collector has the tests of all parsers of one output.
type collector struct {
	tests           []Test
	index           map[string]int
	passed, skipped int // by summary lines, where passed tests have no names
	failed          int // without a name, because there are too many
	known           bool
	nothing         string
	complete        bool // passed tests are named or counted, too
	counted         bool // the runner's own number of failed tests is in failedByCount
	failedByCount   int
}

func newCollector() *collector { return &collector{index: map[string]int{}} }

// add records a test. It replaces an earlier result of the same test, but keeps
// that one's message if the new one is empty.
func (c *collector) add(t Test) {
	c.known = true
	t.Name = strings.ToValidUTF8(t.Name, "\uFFFD")
	t.Message = strings.Trim(t.Message, "\n")
	if i, ok := c.index[t.Name]; ok {
		if t.Message == "" {
			t.Message = c.tests[i].Message
		}
		c.tests[i] = t
		return
	}
	if len(c.tests) >= maxTests {
		switch t.Status {
		case Passed:
			c.passed++
			return
		case Skipped:
			c.skipped++
			return
		case Failed:
			if len(c.tests) >= 2*maxTests {
				c.failed++
				return
			}
		}
	}
	c.index[t.Name] = len(c.tests)
	c.tests = append(c.tests, t)
}

// count takes the runner's own numbers.
func (c *collector) count(passed, failed, skipped int) {
	c.known, c.complete, c.counted = true, true, true
	c.passed, c.failedByCount, c.skipped = c.passed+passed, c.failedByCount+failed, c.skipped+skipped
}

// loosen marks the failed tests that will not be in the report once they pass: those of a runner that says nothing about
// passed tests, and those above its own number, such as a suite whose tests passed and whose cleanup failed.
func (c *collector) loosen() {
	well := c.complete || c.passed+c.skipped > 0 ||
		slices.ContainsFunc(c.tests, func(t Test) bool { return t.Status != Failed })
	left := c.failedByCount
	units := map[string]bool{}
	for i, t := range c.tests {
		unit := cmp.Or(t.Of, t.Name)
		if t.Status != Failed || units[unit] {
			continue
		}
		units[unit] = true
		c.tests[i].Loose = t.Loose || !well || c.counted && left == 0
		if !c.tests[i].Loose {
			left--
		}
	}
}

func (c *collector) summary() Summary {
	s := Summary{Tests: c.tests, Known: c.known, Nothing: c.nothing, Failed: c.failed}
	for _, t := range c.tests {
		switch t.Status {
		case Passed:
			s.Passed++
		case Failed:
			s.Failed++
		case Skipped:
			s.Skipped++
		}
	}
	if len(c.tests) < maxTests {
		s.Passed, s.Skipped = max(s.Passed, c.passed), max(s.Skipped, c.skipped)
	} else {
		s.Passed, s.Skipped = s.Passed+c.passed, s.Skipped+c.skipped
	}
	return s
}

// parser reads one format, line by line. Lines have no escape sequences and no
// newline.
type parser interface {
	line(text string)
	end()
}

// block is a failed test whose message follows, line by line.
type block struct {
	c    *collector
	name string // empty: none
	of   string // as in Test
	text *Excerpt
}

func (b *block) open(name string) { b.name, b.text = name, newMessage() }

// settle records the test, if there is one.
func (b *block) settle() {
	if b.name != "" {
		b.c.add(Test{Name: b.name, Of: b.of, Status: Failed, Message: b.text.String()})
	}
	b.name, b.of = "", ""
}

func (b *block) end() { b.settle() }

// Stream finds tests in the output of a running command.
type Stream struct {
	text    io.Writer
	all     []*collector // one for each parser: what one of them counts says nothing about the others
	nothing string
	none    string // the first line that says how many tests ran, and names none
	some    bool   // another one names some
	parsers []parser
	partial []byte
}

// NewStream returns a Stream for Auto or a format of Formats. It writes what a
// person wants to read to text: without escape sequences, and without the lines of Go about tests that run or pass.
func NewStream(f Format, text io.Writer) *Stream {
	s := &Stream{text: text}
	for _, r := range rows() {
		if f != r.format && f != Auto {
			continue
		}
		c := newCollector()
		s.all, s.parsers = append(s.all, c), append(s.parsers, r.parser(c))
	}
	return s
}

// Write takes the next bytes of the output; it never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.partial = append(s.partial, p...)
			if len(s.partial) > maxLine {
				s.flush("")
			}
			break
		}
		s.partial = append(s.partial, p[:i]...)
		s.flush("\n")
		p = p[i+1:]
	}
	return n, nil
}

func (s *Stream) flush(end string) {
	line := strings.TrimRight(strip(string(s.partial)), "\r\n")
	s.partial = s.partial[:0]
	if text, own, marked := strings.Cut(line, goMark); !marked || text != "" || strings.HasPrefix(own, "FAIL") || strings.Contains(own, "--- FAIL") {
		_, _ = io.WriteString(s.text, text+own+end) // an Excerpt cannot fail
	}
	if s.nothing == "" && saysNothing(line) {
		s.nothing = strings.Trim(line, "= ")
	}
	switch m := howMany().FindStringSubmatch(line); {
	case m == nil:
	case strings.Trim(m[1]+m[2], "0") != "":
		s.some = true
	case s.none == "":
		s.none = strings.TrimSpace(line)
	}
	for _, p := range s.parsers {
		p.line(line)
	}
}

// Close ends the output and returns what was found.
func (s *Stream) Close() Summary {
	if len(s.partial) > 0 {
		s.flush("")
	}
	for _, p := range s.parsers {
		p.end()
	}
	sum := Summary{Nothing: s.nothing}
	for _, c := range s.all {
		c.loosen()
		one := c.summary()
		sum.Tests, sum.Known = append(sum.Tests, one.Tests...), sum.Known || one.Known
		sum.Nothing = cmp.Or(sum.Nothing, one.Nothing)
		sum.Passed, sum.Failed, sum.Skipped = sum.Passed+one.Passed, sum.Failed+one.Failed, sum.Skipped+one.Skipped
	}
	if !s.some && sum.Total() == 0 {
		sum.None = cmp.Or(s.none, sum.Nothing)
	}
	return sum
}
