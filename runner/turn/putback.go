package turn

import (
	"fmt"
	"slices"
	"sync"

	"ralph/runner/audit"
	"ralph/runner/sandbox/gitkeep"
)

// putBack collects what ralph put back after contained programs, because git starts it.
type putBack struct {
	mu  sync.Mutex
	all []gitkeep.Replaced // not told yet
}

// add is called after each program.
func (p *putBack) add(r gitkeep.Replaced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, r)
}

// findings returns one for each program since the latest call.
func (p *putBack) findings() (found []audit.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.all {
		found = append(found, audit.Finding{Kind: audit.KindStateChanged, Text: r.String()})
	}
	p.all = nil
	return found
}

// leads says which file led git to another repository; empty: none.
func (p *putBack) leads() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.all {
		for _, file := range r.Files {
			if slices.Contains([]string{".git", ".git/commondir", ".git/gitdir"}, file) {
				return fmt.Sprintf("%s was changed, which leads git to another repository; ralph restored it", file)
			}
		}
	}
	return ""
}
