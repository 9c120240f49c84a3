// Package report reads what test runners print, or write into report files, and
// finds each test in it. It runs nothing.
package report

import (
	"bytes"
	"io"
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

// Test is one test, or one unit that cannot be told apart further: a package
// that does not build, a file that cannot be loaded.
type Test struct {
	Name    string `json:"name"` // unique in its check: "example.com/p.TestA/b", "t/test_a.py::test_b", "a.test.js > suite > name"
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"` // of a failed test: at most 4 KiB, the beginning and the end
}

// Summary is what was found.
type Summary struct {
	// Tests holds at most 20,000 tests, and failed ones up to 40,000. Some formats
	// name only those.
	Tests []Test `json:"tests,omitempty"`
	// Passed, Failed and Skipped also count tests that have no name in Tests.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Known is true when the output or a file was in a known format.
	Known bool `json:"known,omitempty"`
	// Nothing is the test runner's own line saying that there is no code, or that
	// there are no tests; empty when it did not say so.
	Nothing string `json:"nothing,omitempty"`
}

// Total is the number of tests that were found or counted.
func (s Summary) Total() int { return s.Passed + s.Failed + s.Skipped }

// FailedTests are the tests that failed, in order.
func (s Summary) FailedTests() []Test {
	var failed []Test
	for _, t := range s.Tests {
		if t.Status == Failed {
			failed = append(failed, t)
		}
	}
	return failed
}

// Merge adds what another source of the same run says; where both know a test,
// the other one's word counts, but not its name.
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
	if c.nothing == "" {
		c.nothing = o.Nothing
	}
	return c.summary()
}

const (
	maxTests   = 20_000
	maxLine    = 64 << 10
	maxMessage = 4 << 10
)

func newMessage() *Excerpt { return &Excerpt{Head: maxMessage * 3 / 4, Tail: maxMessage / 4} }

// collector gathers the tests of all parsers of one output.
type collector struct {
	tests           []Test
	index           map[string]int
	passed, skipped int // by summary lines, where passed tests have no names
	failed          int // without a name, because there are too many
	known           bool
	nothing         string
}

func newCollector() *collector { return &collector{index: map[string]int{}} }

// add records a test; a second word on the same test replaces the first, but a
// message is never lost to an empty one.
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

// parser reads one format, line by line. Lines come without colours and
// without their ends.
type parser interface {
	line(text string)
	end()
}

// Stream finds tests in the output of a command while it comes.
type Stream struct {
	text    io.Writer
	c       *collector
	events  *goEvents // nil: JSON lines are text like any other
	parsers []parser
	partial []byte
}

// NewStream returns a Stream for a format of Formats. What a person wants to
// read is passed on to text: all of it without colours, JSON events in readable form.
func NewStream(f Format, text io.Writer) *Stream {
	c := newCollector()
	s := &Stream{text: text, c: c}
	for _, r := range rows() {
		if f == r.format || f == Auto {
			s.parsers = append(s.parsers, r.parser(c))
		}
	}
	if f == Go || f == Auto {
		s.events = newGoEvents(c, text)
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
	if s.events != nil && s.events.line(s.partial) {
		s.partial = s.partial[:0]
		return
	}
	line := strings.TrimRight(strip(string(s.partial)), "\r\n")
	s.partial = s.partial[:0]
	_, _ = io.WriteString(s.text, line+end) // an Excerpt, or the reader's own loss
	if s.c.nothing == "" && saysNothing(line) {
		s.c.nothing = strings.TrimSpace(line)
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
	if s.events != nil {
		s.events.end()
	}
	for _, p := range s.parsers {
		p.end()
	}
	return s.c.summary()
}
