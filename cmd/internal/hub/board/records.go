package board

import (
	"os"
	"slices"
	"sync"

	"ralph/state/view/report"
)

// records are the reports of runs that have ended. Each is read once.
type records struct {
	mu  sync.Mutex
	all map[string]*report.Report // by project, run and time: a run that goes on gets another one
}

const maxRecords = 500 // of all projects

// of lists the recorded runs of a project, the latest first.
func (c *records) of(p project) (all []*report.Report) {
	r := p.reader()
	names, _ := r.Recorded() // without them, only the current run is shown
	slices.Reverse(names)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range names {
		info, err := os.Stat(r.ReportPath(run, ".json"))
		if err != nil {
			continue
		}
		key := p.Key + run + info.ModTime().String()
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

// samples are the tasks that other runs did.
func (c *records) samples(p project, but string) (all []report.Sample) {
	for _, rep := range c.of(p) {
		if rep.Run != but {
			all = append(all, rep.Samples()...)
		}
	}
	return all
}
