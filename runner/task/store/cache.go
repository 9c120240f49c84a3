package store

import (
	"slices"
	"sync"
)

// Cache reads a plan again only if its files have changed. The zero value is empty. Callers must not change the tasks
// of the plans.
type Cache struct {
	mu   sync.Mutex
	path string // of the plan in it
	plan plan   // zero: none
}

// open is the function open, but from memory if the plan is still the same. A nil Cache keeps nothing.
func (c *Cache) open(f File) (plan, error) {
	if c == nil {
		return open(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path == f.Path && c.plan.current() {
		return c.plan, nil
	}
	p, err := open(f)
	if c.path, c.plan = f.Path, p; err != nil {
		c.plan = plan{}
	}
	return p, err
}

// current reports whether the files of a plan have certainly not changed.
func (p plan) current() bool {
	switch {
	case p.Name == "", p.Program != nil:
		return false
	case p.format.Files != nil:
		_, paths, err := folderFiles(p.in, p.Path)
		same := func(f planFile, path string) bool { return f.path == path }
		if err != nil || !slices.EqualFunc(p.files, paths, same) {
			return false
		}
	case p.Beside != nil || p.More != nil: // a file may have appeared beside the plan
		return false
	}
	return !slices.ContainsFunc(p.files, func(f planFile) bool {
		return f.of == (stamp{}) || stampOf(p.in, f.path) != f.of
	})
}
