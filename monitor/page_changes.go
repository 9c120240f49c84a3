package monitor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// changesPage shows what an iteration or a task changed: a patch.
type changesPage struct {
	*logPage
	of    string      // the number of an iteration, or the id of a task
	name  string      // "iteration 6", "task T4"
	run   string      // its id; empty: the latest
	lines []view.Line // of the patch
	files []int       // the lines that name a file
	count int         // different files; a task's iterations may have changed the same ones
}

const maxDiff = 2 << 20 // bytes of a patch that are shown

// openChanges shows what an iteration changed.
func (u *ui) openChanges(n int) {
	switch i := u.indexOf(n); {
	case i < 0:
		u.say("no iteration has begun yet, so there are no changes")
	case u.model.Run.Iterations[i].Running():
		u.say("iteration %d has not ended yet; what it changes is kept then", n)
	default:
		u.showChanges(strconv.Itoa(n), fmt.Sprintf("iteration %d", n))
	}
}

// showChanges opens the page; ralph itself makes the patch, in the background.
func (u *ui) showChanges(of, name string) {
	if why := u.noRalph(); why != "" {
		u.fail("no changes: " + why)
		return
	}
	p := newChanges(u, of, name)
	u.open("changes", p)
	ralph := u.ralph()
	ralph.Most = maxDiff
	u.background(func() func() {
		out, err := ralph.Output(context.Background(), p.verb("diff")...)
		return func() {
			if err != nil {
				p.show([]view.Line{{Text: termtext.Line(err.Error()), Role: view.RoleWarning, First: true}})
				return
			}
			p.load(string(out))
		}
	})
}

// newChanges returns a page that waits for its patch.
func newChanges(u *ui, of, name string) *changesPage {
	p := &changesPage{of: of, name: name, run: u.runID()}
	p.logPage = newText(u, "Changes of "+name, "d", func() []view.Line { return p.lines })
	p.bare = true
	p.keys = func() []binding {
		return []binding{
			{"] tab", "next file", "the next file", func() { p.step(1) }},
			{"[ backtab", "", "the file before", func() { p.step(-1) }},
			{"u", "undo", "take these changes back, as a new commit (asks first)", p.undo},
		}
	}
	p.show([]view.Line{{Text: "asking git …", Role: view.RoleNote}})
	return p
}

// verb acts on what is shown.
func (p *changesPage) verb(name string, flags ...string) []string {
	verb := append([]string{name}, flags...)
	if p.run != "" {
		verb = append(verb, "--run="+p.run)
	}
	return append(verb, "--", p.of)
}

func (p *changesPage) undo() {
	switch {
	case p.count == 0:
		p.u.say("there is nothing to undo")
	case p.u.model.Alive:
		p.u.say("a run is at work here; undo when it has ended")
	default:
		p.u.confirm("undo "+p.name+": take "+termtext.Count(p.count, "file")+" back, as a new commit",
			func() { p.u.act(p.verb("undo", "--yes")...) })
	}
}

func (p *changesPage) show(lines []view.Line) {
	p.lines = lines
	p.replace(lines)
}

// load shows a patch, or several with a line above each. What git prints above the first hunk of a file becomes a line
// with its name, and remarks.
func (p *changesPage) load(text string) {
	var all []view.Line
	names, hunk := map[string]bool{}, false
	var total, inFile struct{ added, deleted int }
	close := func() { // the latest file
		if n := len(p.files); n > 0 {
			all[p.files[n-1]].Text += fmt.Sprintf("  +%d -%d", inFile.added, inFile.deleted)
		}
		total.added, total.deleted = total.added+inFile.added, total.deleted+inFile.deleted
		inFile.added, inFile.deleted = 0, 0
	}
	for line := range strings.Lines(text) {
		tone, shown := view.PatchLine(strings.TrimRight(line, "\r\n"))
		role := view.RoleText
		switch {
		case strings.HasPrefix(shown, "diff --git "):
			close()
			hunk, role, shown = false, view.RoleHeading, shown[strings.LastIndex(shown, " b/")+len(" b/"):]
			names[shown], p.files = true, append(p.files, len(all))
		case strings.HasPrefix(shown, "iteration "):
			hunk, role = false, view.RoleResult
		case tone == "at":
			hunk, role = true, view.RoleTool
		case !hunk && (tone == "file" || strings.HasPrefix(shown, "index ")):
			continue
		case !hunk:
			role = view.RoleNote
		case strings.HasPrefix(shown, "+"):
			role = view.RoleGood
			inFile.added++
		case strings.HasPrefix(shown, "-"):
			role = view.RoleError
			inFile.deleted++
		}
		all = append(all, view.Line{Text: shown, Role: role})
	}
	close()
	p.count = len(names)
	if p.title.Right = fmt.Sprintf("%s +%d -%d", termtext.Count(p.count, "file"), total.added, total.deleted); len(all) == 0 {
		p.title.Right, all = "", []view.Line{{Text: p.name + " changed no file", Role: view.RoleNote}}
	}
	p.show(all)
}

// step moves the next file to the top, or the one before.
func (p *changesPage) step(by int) {
	at := p.top.line - p.first
	i, here := slices.BinarySearch(p.files, at)
	if by < 0 || here {
		i += by
	}
	if i >= 0 && i < len(p.files) {
		p.top = place{p.first + p.files[i], 0}
	}
}
