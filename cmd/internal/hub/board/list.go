package board

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/summary"
)

const (
	listFresh = 900 * time.Millisecond // each viewer asks once a second
	maxCards  = 60
	maxPast   = 40
)

// list is the page of all runs.
type list struct {
	*topic
	board  *Board
	mu     sync.Mutex
	looked time.Time
}

// card is the latest run of a project.
type card struct {
	project
	summary.Summary
	Run    string
	Asks   int // open questions
	Look   int // what a person has to look at
	urgent int
	began  time.Time
}

// pastRow is an earlier run.
type pastRow struct {
	past
	When string
}

// look updates the list, unless somebody has just done so.
func (l *list) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.looked) < listFresh {
		return
	}
	var d struct {
		Cards []card
		Past  []pastRow
	}
	for _, p := range l.board.all() {
		c := cardOf(p, now)
		if c.Run != "" {
			d.Cards = append(d.Cards, c)
		}
		for _, rep := range l.board.records.Of(p.reader()) {
			if rep.Run != c.Run {
				d.Past = append(d.Past, pastRow{pastOf(p, rep), view.Clock(rep.StartedAt, now)})
			}
		}
	}
	slices.SortStableFunc(d.Cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(a.urgent, b.urgent), b.began.Compare(a.began))
	})
	slices.SortStableFunc(d.Past, func(a, b pastRow) int { return b.Of.StartedAt.Compare(a.Of.StartedAt) })
	d.Cards, d.Past = d.Cards[:min(len(d.Cards), maxCards)], d.Past[:min(len(d.Past), maxPast)]
	l.put([]part{{ID: "runs", HTML: render("list", d)}}, nil)
	l.looked = time.Now()
}

// cardOf sums up the latest run of a project. Runs that wait for a person are listed first, then those that are alive.
func cardOf(p project, now time.Time) card {
	r := p.reader()
	m := view.Model{Snapshot: view.Gather(r, now)}
	c := card{project: p, Summary: summary.Of(&m, now), Run: cmp.Or(m.Status.RunID, m.Owner.RunID),
		began: m.Status.StartedAt}
	c.What, c.Plan.Task, c.Identity = termtext.Fit(c.What, 300), fit(c.Plan.Task), fit(c.Identity)
	c.Asks = len(openQuestions(p))
	if m.Status.Status == state.StatusReview {
		c.Look = len(m.Status.Review)
	}
	c.urgent = slices.Index([]string{state.StatusPaused, state.StatusWaiting, state.StatusRunning, view.StateStarting},
		m.State)
	switch {
	case c.Asks+c.Look > 0:
		c.urgent = -1
	case c.urgent < 0:
		c.urgent = 9
	}
	return c
}

func openQuestions(p project) (open []question.Question) {
	list, _ := question.In(p.reader()).List() // none can be read: none is shown
	for _, q := range list {
		if q.Open() {
			open = append(open, q)
		}
	}
	return open
}

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
