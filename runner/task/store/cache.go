package store

import (
	"sync"
	"time"

	"ralph/runner/task"
	"ralph/runner/task/disk"
)

// Cache reads a plan again only when it has changed, and in a folder only the files that have. The zero value
// is empty. Callers must not change the tasks of the plans.
type Cache struct {
	mu   sync.Mutex
	path string // of the plan in it
	plan plan
	err  error
	of   disk.Stamp // of the file when it was read; zero: nothing is known of it
}

// open is the function open, from memory if the plan is still the same. A nil Cache keeps nothing.
func (c *Cache) open(f File) (plan, error) {
	if c == nil {
		return open(f.Path, f.OptionalSections)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path != f.Path {
		c.path, c.plan, c.err, c.of = f.Path, plan{}, nil, disk.Stamp{}
	}
	now := disk.StampOf(f.Path)
	if now != (disk.Stamp{}) && now == c.of {
		return c.plan, c.err
	}
	began := time.Now()
	c.plan, c.err = c.plan.again(f.Path, f.OptionalSections)
	c.of = disk.Stamp{}
	if alone := c.plan.Beside == nil && c.plan.More == nil && c.plan.format.Files == nil && c.plan.Program == nil; c.err == nil && alone && now.Old(began) {
		c.of = now
	}
	return c.plan, c.err
}

// list is the plan of a file, without what is seen of it.
func (f File) list() (task.List, error) {
	p, err := f.Cache.open(f)
	return p.List, err
}
