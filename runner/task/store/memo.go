package store

import (
	"bytes"
	"slices"
	"sync"

	"ralph/runner/task"
)

// memo is the latest plan that was parsed. It compares content: what git or an editor does to the times of a file cannot
// deceive it. nil remembers nothing.
type memo struct {
	mu     sync.Mutex
	format string // empty: there is none
	name   string
	in     task.Input
	parsed task.Parsed // nobody changes it
}

// parse parses the files of a plan, unless they are the same as the last time.
func (m *memo) parse(f format, name string, in task.Input) (task.Parsed, error) {
	if m == nil {
		return f.Parse(in)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	same := func(a, b task.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }
	if m.format == f.Name && m.name == name && m.in.Folder == in.Folder &&
		slices.Equal(m.in.OptionalSections, in.OptionalSections) && slices.EqualFunc(m.in.Files, in.Files, same) {
		return m.parsed, nil
	}
	parsed, err := f.Parse(in)
	if err == nil {
		m.format, m.name, m.in, m.parsed = f.Name, name, in, parsed
	}
	return parsed, err
}
