package report

import (
	"cmp"
	"slices"
	"strings"
)

// tap reads the Test Anything Protocol with subtests indented by four spaces.
type tap struct {
	c        *collector
	parents  []string // the open subtests, by depth
	last     Test     // its diagnostics may follow
	note     *Excerpt // of last
	comments *Excerpt // since the last result: output of the next test
	yaml     bool
	depth    int // of the last result
}

func (t *tap) line(line string) {
	rest := strings.TrimLeft(line, " ")
	depth := (len(line) - len(rest)) / 4
	if t.yaml {
		t.diagnostic(rest, line)
		return
	}
	switch {
	case rest == "---" && t.last.Name != "":
		t.yaml = true
	case strings.HasPrefix(rest, "# Subtest: "):
		t.settle()
		t.enter(depth, strings.TrimPrefix(rest, "# Subtest: "))
	case strings.HasPrefix(rest, "# "):
		if t.comments == nil {
			t.comments = newMessage()
		}
		t.comments.WriteLine(rest[2:])
	case strings.HasPrefix(rest, "1..") && depth == 0:
		t.c.complete = true
	case t.result(rest, depth):
	case t.last.Status == Failed && t.last.Name != "" && len(line) > len(rest) && !strings.HasPrefix(rest, "1.."):
		t.note.WriteLine(line) // what a small script prints below a failure, without YAML
	}
}

func (t *tap) enter(depth int, name string) {
	for len(t.parents) <= depth {
		t.parents = append(t.parents, "")
	}
	t.parents = append(t.parents[:depth], name)
}

// result reads a line with the result of a test. It returns false for any other line.
func (t *tap) result(rest string, depth int) bool {
	status := Passed
	if after, ok := strings.CutPrefix(rest, "not "); ok {
		status, rest = Failed, after
	}
	rest, ok := strings.CutPrefix(rest, "ok ")
	numbered := rest != "" && rest[0] >= '0' && rest[0] <= '9'
	if !ok || !numbered && !(strings.HasPrefix(rest, "- ") && len(rest) > 2) { // the number may be left out
		return false
	}
	t.settle()
	_, name, _ := strings.Cut(rest, " ")
	name = strings.TrimPrefix(name, "- ")
	if i := strings.LastIndex(name, "# "); i >= 0 {
		directive := strings.ToUpper(name[i+2:])
		if strings.HasPrefix(directive, "SKIP") || strings.HasPrefix(directive, "TODO") {
			status, name = Skipped, name[:i]
		}
	}
	name = strings.TrimSpace(name)
	if name == "" {
		name = "test " + strings.Fields(rest)[0]
	}
	inside := depth < t.depth && depth < len(t.parents) && t.parents[depth] == name
	t.depth = depth
	if inside && status != Failed {
		return true // a group of tests, not one
	}
	name = strings.Join(append(slices.Clone(t.parents[:min(depth, len(t.parents))]), name), " > ")
	t.last, t.note = Test{Name: name, Status: status}, cmp.Or(t.comments, newMessage())
	t.comments = nil
	return true
}

// diagnostic reads a line of the YAML block after a result.
func (t *tap) diagnostic(rest, line string) {
	switch {
	case rest == "...":
		t.yaml = false
	case rest == "failureType: 'subtestsFailed'":
		t.last.Name = "" // the subtests say why
	case rest == "type: 'suite'" && t.last.Status != Failed:
		t.last.Name = "" // a group of tests, not one
	case strings.HasPrefix(rest, "duration_ms: "), strings.Contains(rest, "node:internal/"):
	default:
		t.note.WriteLine(line)
	}
}

// settle records the last result, whose diagnostics are complete.
func (t *tap) settle() {
	if t.last.Name != "" {
		if t.last.Status == Failed {
			t.last.Message = t.note.String()
		}
		t.c.add(t.last)
	}
	t.last = Test{}
}

func (t *tap) end() { t.settle() }
