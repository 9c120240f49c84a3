package store

import (
	"sync"
	"time"
)

// Cache reads a plan again only if it has changed, and of a folder only the changed files. The zero value
// is empty. Callers must not change the tasks of the plans.
type Cache struct {
	mu   sync.Mutex
	path string // of the plan in it
	plan plan
	err  error
	of   stamp // of the file when it was read; zero: not known
}

// open is the function open, but from memory if the plan is still the same. A nil Cache keeps nothing.
func (c *Cache) open(f File) (plan, error) {
	if c == nil {
		return open(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path != f.Path {
		c.path, c.plan, c.err, c.of = f.Path, plan{}, nil, stamp{}
	}
	now := stampOf(f.Project(), f.Path)
	if now != (stamp{}) && now == c.of {
		return c.plan, c.err
	}
	began := time.Now()
	c.plan, c.err = c.plan.reload(f)
	c.of = stamp{}
	oneFile := c.plan.Beside == nil && c.plan.More == nil && c.plan.format.Files == nil && c.plan.Program == nil
	if c.err == nil && oneFile && now.Old(began) {
		c.of = now
	}
	return c.plan, c.err
}
