package boxes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
	"ralph/runner/task"
)

// Kiro reads .kiro/specs/FEATURE/tasks.md, also as cc-sdd writes it: numbered boxes, each with
// its steps and references such as _Requirements: 1.1_ below it. The state of the spec is in
// spec.json beside it.
func Kiro(in task.Input) (task.Parsed, error) {
	d := plain()
	d.marks, d.state = " xX-~", append(d.state, task.Active, task.Open)
	d.write = map[task.State]string{task.Open: " ", task.Active: "-", task.Done: "x"}
	d.star, d.id = true, number
	p := parse(in, d)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if at := p.Spots[i].Word; in.Files[0].Data[at.Start] == '~' {
			t.Word = "~" // queued
		}
		t.Parallel = strings.Contains(t.Title, "(P)")
		if !task.Hashed(t.ID) { // cc-sdd does not indent 1.1 below 1
			t.Depth = max(t.Depth, strings.Count(t.ID, "."))
		}
		t.Criteria = slices.DeleteFunc(t.Criteria, func(line string) bool {
			name, value, ok := reference(line)
			if !ok {
				return false
			}
			if name == "Depends" {
				t.DependsOn = append(t.DependsOn, numbers().FindAllString(value, -1)...)
			}
			t.Notes = strings.TrimPrefix(t.Notes+"; "+name+": "+value, "; ")
			return true
		})
	}
	for i := len(p.Tasks) - 1; i >= 0; i-- { // a task includes those below it
		for j := i + 1; j < len(p.Tasks) && p.Tasks[j].Depth > p.Tasks[i].Depth; j++ {
			p.Spots[i].Item.End = max(p.Spots[i].Item.End, p.Spots[j].Item.End)
		}
	}
	p.unique()
	p.unknownMarks("[ ], [x], [-], [~], [ ]*")
	p.Marking = "Tick the box of the task in `%s` (the mark in it becomes `x`)"
	for _, f := range in.Files[1:] {
		fault, err := approval(f)
		if err != nil {
			return p.Parsed, err
		}
		if fault != "" {
			p.Faults = append(p.Faults, fault)
		}
	}
	return p.Parsed, nil
}

// reference reads "_Requirements: 1.1, 1.2_".
func reference(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) < 3 || line[0] != '_' || line[len(line)-1] != '_' {
		return "", "", false
	}
	name, value, ok = strings.Cut(line[1:len(line)-1], ":")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}

// SpecKit reads the tasks.md of a feature: "- [ ] T012 [P] [US1] text (depends on T010)".
// Its headings "Phase N" are barriers.
func SpecKit(in task.Input) (task.Parsed, error) {
	d := plain()
	d.phase = func(heading string) bool { return specKit().phase.MatchString(strings.TrimSpace(heading)) }
	p := parse(in, d)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		for _, tag := range specKit().tag.FindAllStringSubmatch(strings.TrimPrefix(t.Title, t.ID), -1) {
			if tag[1] == "P" {
				t.Parallel = true
			} else {
				t.Tags = append(t.Tags, tag[1])
			}
		}
		if depends := specKit().depends.FindStringSubmatch(t.Title); depends != nil {
			t.DependsOn = specKit().id.FindAllString(depends[1], -1)
		}
	}
	p.unique()
	p.unknownMarks(plainMarks)
	return p.Parsed, nil
}

var specKit = sync.OnceValue(func() (p struct{ phase, tag, depends, id *regexp.Regexp }) {
	p.phase = regexp.MustCompile(`(?i)^\**phase\s+\w+`)
	p.tag = regexp.MustCompile(`\[(P|US\d+|[A-Z]{1,4}\d*)\]`)
	p.depends = regexp.MustCompile(`(?i)\(depends on:? ([^)]*)\)`)
	p.id = regexp.MustCompile(`\bT\d+\w?\b`)
	return p
})

// IsSpecKit reports whether a list of boxes has the numbers of Spec Kit.
func IsSpecKit(data []byte) bool { return specKitBox().Match(data) }

var specKitBox = lazy.Regexp(`(?m)^\s*[-*] \[[ xX]\] T\d{3,}\b`)

// OpenSpec reads openspec/changes/CHANGE/tasks.md: "- [ ] 1.1 text". As in its own tool, a
// task is open with any mark except an x.
func OpenSpec(in task.Input) (task.Parsed, error) {
	d := plain()
	d.id, d.loose = number, true
	p := parse(in, d)
	p.unique()
	if n := len(openSpecBox().FindAll(in.Files[0].Data, -1)); n != len(p.Tasks) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("openspec counts %d tasks here, and ralph %d: "+
			"openspec also counts boxes in code, in comments, without a text and without a space before them",
			n, len(p.Tasks)))
	}
	return p.Parsed, nil
}

// openSpecBox matches what openspec 1.13 counts.
var openSpecBox = lazy.Regexp(`(?m)^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*\[(?:[ \t]*[^\]\s]?[ \t]*\](?:[^(\[]|$)|[ \t]+\])`)

var numbered = lazy.Regexp(`^[*_ ]*(\d+(?:\.\d+)*)[.):]?(?:\*\*)? `)

// number returns the number before a title: "2.1 text", "2. text".
func number(title string) string {
	if m := numbered().FindStringSubmatch(title); m != nil {
		return m[1]
	}
	return ""
}

var numbers = lazy.Regexp(`\d+(?:\.\d+)*`)

// list is a parsed list whose tasks have numbers of their own.
type list struct {
	task.Parsed
	own []string // the number of each task; empty: it has none
}

// unique reports numbers that are used twice: a dependency may mean either.
func (p *list) unique() {
	lines := make(map[string]int, len(p.Tasks))
	for i := range p.Tasks {
		t := &p.Tasks[i]
		id := p.own[i]
		if first := lines[id]; id != "" && first > 0 {
			p.Faults = append(p.Faults, fmt.Sprintf("line %d: %q is also the number of the task in line %d: "+
				"each must be unique", t.Line, id, first))
		} else {
			lines[id] = t.Line
		}
	}
}
