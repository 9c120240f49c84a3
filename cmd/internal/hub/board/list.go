package board

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
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
	maxPast   = 30
	maxChips  = 12
	roomCards = 40 << 10 // bytes

	maxCardCells = 20 // iterations in the strip of a card
)

// filter is what a page of runs shows: a state, a project. The zero value: all.
type filter struct{ State, Key string }

// The states that a page of runs can be about.
const (
	living = "living"
	yours  = "for-you" // a person has to do something
	ended  = "ended"
)

func (f filter) query() string { return "?state=" + f.State + "&project=" + f.Key }

// list is a page of runs.
type list struct {
	*topic
	filter
	board  *Board
	mu     sync.Mutex
	looked time.Time
}

// list returns the page that the query of a request names.
func (b *Board) list(r *http.Request) *list {
	q := r.URL.Query()
	f := filter{q.Get("state"), q.Get("project")}
	if !slices.Contains([]string{living, yours, ended}, f.State) {
		f.State = ""
	}
	if !slices.ContainsFunc(b.all(), func(p project) bool { return p.Key == f.Key }) {
		f.Key = ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lists[f]
	if l == nil {
		l = &list{topic: newTopic(), filter: f, board: b}
		b.lists[f] = l
	}
	return l
}

// card is the latest run of a project.
type card struct {
	project
	summary.Summary
	Run    string
	Strip  strip
	Asks   int // open questions
	Look   int // what a person has to look at
	urgent int
	began  time.Time
}

// chip is a link to another page of runs.
type chip struct {
	Text string
	filter
	On bool
}

// At is its address.
func (c chip) At() string { return "/" + c.query() }

// look updates the list, unless somebody has just done so.
func (l *list) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.looked) < listFresh {
		return
	}
	var d struct {
		States, Projects []chip
		Cards            []card
		Past             []past
		Filtered         bool
		More             int // cards that are left out
	}
	d.Filtered = l.filter != filter{}
	for _, state := range []string{"", yours, living, ended} {
		d.States = append(d.States, chip{strings.ReplaceAll(cmp.Or(state, "all"), "-", " "), filter{state, l.Key}, state == l.State})
	}
	d.Projects = []chip{{"all projects", filter{l.State, ""}, l.Key == ""}}
	for _, p := range l.board.all() {
		d.Projects = append(d.Projects, chip{termtext.Fit(p.Name(), 30), filter{l.State, p.Key}, p.Key == l.Key})
		if l.Key != "" && l.Key != p.Key {
			continue
		}
		c := l.board.cardOf(p, now)
		if c.Run != "" && map[string]bool{"": true, living: c.Alive, yours: c.Asks+c.Look > 0, ended: !c.Alive}[l.State] {
			d.Cards = append(d.Cards, c)
		}
		for _, rep := range l.board.records.Of(p.reader()) {
			if rep.Run != c.Run && (l.State == "" || l.State == ended) {
				d.Past = append(d.Past, pastOf(p, rep))
			}
		}
	}
	slices.SortStableFunc(d.Cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(a.urgent, b.urgent), b.began.Compare(a.began))
	})
	slices.SortStableFunc(d.Past, func(a, b past) int { return b.Of.StartedAt.Compare(a.Of.StartedAt) })
	all := len(d.Cards)
	d.Cards = within(d.Cards, roomCards, 800, func(c card) string {
		return strings.Repeat(" ", 70*len(c.Strip.Cells)) + c.What + c.Plan.Task
	})
	d.More, d.Past, d.Projects = all-len(d.Cards), d.Past[:min(len(d.Past), maxPast)], d.Projects[:min(len(d.Projects), maxChips)]
	l.put([]part{{ID: "runs", HTML: render("list", d)}}, nil)
	l.looked = now
}

// kept is what the events of a project's latest run say, as far as they were read. Only what is new is read again.
type kept struct {
	mu sync.Mutex
	told

	// The strip as it was after some iteration. Board.mu guards it.
	strip strip
	after string
	busy  bool
}

type told struct {
	run   string
	fold  report.Fold
	files []string // the last one is read up to at
	at    int64
}

func (b *Board) keptOf(p project) *kept {
	if b.kept[p.Dir] == nil {
		b.kept[p.Dir] = &kept{}
	}
	return b.kept[p.Dir]
}

// read folds the events that have come since. A file that is moved keeps its place in the list.
func (t *told) read(r *state.Reader, run string) error {
	files, err := view.RunFiles(r)
	last := max(len(t.files)-1, 0)
	if t.run != run || len(files) <= last || !slices.Equal(files[:last], t.files[:last]) {
		*t, last = told{run: run}, 0
	}
	for i := last; i < len(files) && err == nil; i++ {
		if i > last {
			t.at = 0
		}
		t.at, err = view.ScanLines(files[i], t.at, -1, func(line []byte) bool {
			if e, ok := state.EventFilter(report.Wanted).Decode(line); ok && e.Run == run {
				t.fold.Add(e)
			}
			return true
		})
	}
	if t.files, _ = view.RunFiles(r); err != nil || !slices.Equal(t.files, files) { // moved meanwhile
		*t = told{}
	}
	return err
}

// stripOf is the strip of a run on the page of all runs. Events are read in the background, after each iteration.
func (b *Board) stripOf(p project, m *view.Model) strip {
	run, after := m.Status.RunID, fmt.Sprint(m.Status.RunID, m.Status.LoopCount, m.Status.IterationStartedAt, m.State)
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.keptOf(p)
	if k.after != after && !k.busy {
		k.busy = true
		go func() {
			k.mu.Lock()
			_ = k.read(p.reader(), run) // what cannot be read is not shown
			k.fold.Run.Settle(m.Alive)
			s := stripOf(&view.Model{Snapshot: m.Snapshot, Run: k.fold.Run}, maxCardCells, time.Now())
			k.mu.Unlock()
			b.mu.Lock()
			k.strip, k.after, k.busy = s, after, false
			b.mu.Unlock()
		}()
	}
	return k.strip
}

// cardOf sums up the latest run of a project. Runs that wait for a person are listed first, then those that are alive.
func (b *Board) cardOf(p project, now time.Time) card {
	r := p.reader()
	m := view.Model{Snapshot: view.Gather(r, now)}
	c := card{project: p, Summary: summary.Of(&m, now), Run: cmp.Or(m.Status.RunID, m.Owner.RunID),
		began: m.Status.StartedAt, Strip: b.stripOf(p, &m)}
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
