package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sahilm/fuzzy"

	"ralph/state/view"
)

// tasksPage is the page of tasks. It is not safe for concurrent use.
type tasksPage struct {
	all       []shownTask
	at        map[string]int // index by id
	list                     // what is on the screen of them
	taskInput                // what a person is asked
	first     string         // id of the task to be selected at first; empty: the first one
	left      bool           // if that one is done, select the first one that is left
	open      bool           // the selected task is shown alone
	row       int            // first one of the details
	quiet     bool           // it is a panel: nothing is selected
	ready     bool           // the tasks were read
	why       string         // they could not be
	work      map[string]work
	known     latest // of the run, for work
}

// list is a view of the tasks.
type list struct {
	shown    []int // indexes of the tasks
	hits     [][]int
	query    string
	selected int // in shown
	top      int // first row on the screen
	height   int // rows, at the latest draw
	width    int
	head     int // rows above the first task
}

// latest is what changes when there is new work.
type latest struct {
	run   string
	turns int
	cost  float64
	ended time.Time
	found int
}

// newTasksPage returns a page that waits for its tasks.
func newTasksPage() *tasksPage { return &tasksPage{} }

// tasksPageAt returns a page that selects this task first.
func tasksPageAt(id string) *tasksPage { return &tasksPage{first: id} }

// tasksPageLeft returns a page that selects this task first if it is left to do, else the first one that is.
func tasksPageLeft(id string) *tasksPage { return &tasksPage{first: id, left: true} }

// Len is how many tasks there are.
func (p *tasksPage) Len() int { return len(p.all) }

// Load shows tasks. The selected one stays selected.
func (p *tasksPage) Load(all []shownTask) {
	id, at := cmp.Or(p.chosen(), p.first), p.selected
	p.first = ""
	p.all, p.at, p.ready, p.why = all, make(map[string]int, len(all)), true, ""
	for i := range all {
		p.at[all[i].ID] = i
		all[i].named()
	}
	p.find()
	p.selected = min(at, max(len(p.shown)-1, 0))
	p.choose(id)
	if p.left {
		p.left = false
		p.chooseLeft()
	}
	if len(all) == 0 {
		p.open = false
	}
}

// Fail shows why there are no tasks. What was read before stays.
func (p *tasksPage) Fail(why string) {
	if !p.ready {
		p.why = why
	}
}

// chosen is the id of the selected task; empty if there is none.
func (p *tasksPage) chosen() string {
	if t := p.task(); t != nil {
		return t.ID
	}
	return ""
}

// task is the selected one; nil if there is none.
func (p *tasksPage) task() *shownTask {
	if p.selected < 0 || p.selected >= len(p.shown) {
		return nil
	}
	return &p.all[p.shown[p.selected]]
}

// choose selects a task if it is listed.
func (p *tasksPage) choose(id string) {
	if i, known := p.at[id]; known {
		if row := slices.Index(p.shown, i); row >= 0 {
			p.selected = row
		}
	}
}

// chooseLeft selects the first task that is left to do, unless the selected one is.
func (p *tasksPage) chooseLeft() {
	left := func(i int) bool { return p.all[i].pending() && !p.all[i].Optional }
	if t := p.task(); t != nil && !t.pending() {
		p.selected = max(slices.IndexFunc(p.shown, left), 0)
	}
}

// taskSource lets the fuzzy search read the tasks.
type taskSource []shownTask

func (s taskSource) String(i int) string { return s[i].name }
func (s taskSource) Len() int            { return len(s) }

// find fills the list: all tasks, or those that match, best first.
func (p *tasksPage) find() {
	p.shown, p.hits = make([]int, 0, len(p.all)), nil
	if strings.TrimSpace(p.query) == "" {
		for i := range p.all {
			p.shown = append(p.shown, i)
		}
		return
	}
	for _, m := range fuzzy.FindFrom(strings.TrimSpace(p.query), taskSource(p.all)) {
		p.shown = append(p.shown, m.Index)
		p.hits = append(p.hits, m.MatchedIndexes)
	}
}

// search narrows the list; the best match is selected.
func (p *tasksPage) search(query string) {
	id := p.chosen()
	p.query = query
	p.find()
	p.selected, p.top = 0, 0
	if query == "" {
		p.choose(id)
	}
}

// Scroll moves by rows, up for a negative number.
func (p *tasksPage) Scroll(by int) {
	if p.open {
		p.row = max(p.row+by, 0) // drawing limits it to the text
		return
	}
	p.selected = min(max(p.selected+by, 0), max(len(p.shown)-1, 0))
}

// Click selects the task at a row of the list.
func (p *tasksPage) Click(x, y int) {
	if at := p.top + y - p.head; !p.open && x < p.width && y >= p.head && at < len(p.shown) {
		p.selected = at
	}
}

// screenful is how far a page key moves.
func (p *tasksPage) screenful() int { return max(p.height-1, 1) }

// counts are the tasks that are done and those that count.
func (p *tasksPage) counts() (done, total int) {
	for i := range p.all {
		if t := &p.all[i]; !t.Optional && t.State != "dropped" {
			total++
			if t.State == "done" {
				done++
			}
		}
	}
	return done, total
}

// block is where a task ends in the list, with what is nested below it.
func (p *tasksPage) block(i int) int {
	end := i + 1
	for end < len(p.all) && p.all[end].Depth > p.all[i].Depth {
		end++
	}
	return end
}

// neighbour is the index of the task before or after one, on the same level and below the same
// task; -1: there is none.
func (p *tasksPage) neighbour(i, by int) int {
	if by > 0 {
		if end := p.block(i); end < len(p.all) && p.all[end].Depth == p.all[i].Depth {
			return end
		}
		return -1
	}
	for j := i - 1; j >= 0 && p.all[j].Depth >= p.all[i].Depth; j-- {
		if p.all[j].Depth == p.all[i].Depth {
			return j
		}
	}
	return -1
}

// swap exchanges a task with its neighbour on the screen until the plan is read again. It
// touches only these two: a plan of 20,000 tasks moves as fast as a small one. No search is on.
func (p *tasksPage) swap(first, second int) {
	id := p.chosen()
	middle, end := p.block(first), p.block(second)
	copy(p.all[first:end], slices.Concat(p.all[middle:end], p.all[first:middle]))
	for i := first; i < end; i++ {
		p.at[p.all[i].ID] = i
	}
	p.selected = p.at[id]
}

// see updates the page with what the run has done.
func (p *tasksPage) see(m *view.Model) {
	now := latest{run: m.Run.ID, turns: len(m.Run.Iterations), cost: m.Run.Usage.CostUSD}
	if now.turns > 0 {
		latest := &m.Run.Iterations[now.turns-1]
		now.ended, now.found = latest.Ended, latest.Found
	}
	if p.work == nil || now != p.known {
		p.work, p.known = worked(&m.Run), now
	}
}

func taskCount(n int) string {
	text := strconv.Itoa(n)
	if n >= 10_000 {
		text = text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}
