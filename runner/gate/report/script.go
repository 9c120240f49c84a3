package report

import "ralph/logs/lazy"

// script reads what small test scripts print for each test, after the output of the test itself: "ok NAME", "FAIL NAME".
// One such line, or none about a test that passed, may mean anything.
type script struct {
	c      *collector
	tests  []Test
	passed bool     // one did
	said   *Excerpt // since the last result
}

var scriptResult = lazy.Regexp(`^(ok|FAIL) +([A-Za-z_./](?:[\w./#@-]|::|\[[^\]]*\])*)(?::.*)?$`)

func (s *script) line(line string) {
	m := scriptResult().FindStringSubmatch(line)
	switch {
	case m == nil || len(s.tests) >= maxTests:
		s.said.WriteLine(line)
		return
	case m[1] == "ok":
		s.passed = true
		s.tests = append(s.tests, Test{Name: m[2], Status: Passed})
	default:
		s.tests = append(s.tests, Test{Name: m[2], Status: Failed, Message: s.said.String()})
	}
	s.said = newMessage()
}

func (s *script) end() {
	if !s.passed || len(s.tests) < 2 {
		return
	}
	for _, t := range s.tests {
		s.c.add(t)
	}
}
