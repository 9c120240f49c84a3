package retest

import (
	"regexp"
	"sync"
)

// patterns match lines of settings and of reports.
var patterns = sync.OnceValue(func() (p struct{ loads, lacks, rigs *regexp.Regexp }) {
	re := regexp.MustCompile
	p.loads = re(`(?i)test|spec|jest|mocha|addopts|setup|reporter|runner|plugin|hook|loader|--import|--require| -r `)
	p.lacks = re(`fixture '(\w+)' not found|No module named '([\w.]+)'|Cannot find module '([^']+)'`)
	p.rigs = re(`\bpytest_\w+\(|\bautouse\b|\bcollect_ignore|\bsys\.|\bsetattr\(|\bmock\b`)
	return p
})
