package board

import (
	"os"
	"slices"
	"sync"

	"ralph/state"
	"ralph/state/report"
)

// records caches the reports that were read. The zero value is ready for use. It is safe for concurrent use.
type records struct {
	mu  sync.Mutex
	all map[string]*report.Report // by project, run and time: a run that goes on gets another one
}

const maxRecords = 500 // of all projects

// Of lists the recorded runs of a project, the latest first.
func (c *records) Of(r *state.Reader) (all []*report.Report) {
	names, _ := r.Recorded() // without them, only the current run is shown
	slices.Reverse(names)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range names {
		info, err := os.Stat(r.ReportPath(run, ".json"))
		if err != nil {
			continue
		}
		key := r.Dir() + run + info.ModTime().String()
		rep := c.all[key]
		if rep == nil {
			data, err := r.Record(run)
			if err == nil {
				rep, err = report.Decode(data)
			}
			if err != nil || rep == nil {
				continue
			}
			if c.all == nil || len(c.all) >= maxRecords {
				c.all = map[string]*report.Report{}
			}
			c.all[key] = rep
		}
		all = append(all, rep)
	}
	return all
}
