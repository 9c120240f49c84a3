package protect

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// mergeCopy merges the call's copy of the plan into the plan, which somebody else has changed meanwhile: the call's own
// task, and new tasks. It returns a phrase for each thing that it could not merge.
func (p *Plan) mergeCopy(made []byte) (left []string) {
	f, own := p.call.Plan, p.call.Task
	list, err := store.Parse(f.Path, made, f.OptionalSections)
	if err != nil {
		return []string{"all of it"}
	}
	is, known := list.Find(own.ID)
	if !known || !p.mergeOwnTask(made, is.State == own.State && is.Wording() == own.Wording()) {
		left = append(left, fmt.Sprintf("what it says about %q", own.Title))
	}
	_, below := family(list.Tasks, own.ID)
	for i, t := range list.Tasks {
		now := store.Read(f).List
		if _, old := p.before.List.Find(t.ID); old || slices.Contains(below, i) {
			continue
		}
		if _, there := now.Find(t.ID); there {
			continue
		}
		added := t
		if known { // else it may be the call's own task, renamed
			added, err = store.Add(f, t.Title)
		}
		if !known || err != nil || added.State != t.State || added.Wording() != t.Wording() {
			left = append(left, fmt.Sprintf("all of the new task %q", t.Title))
		}
	}
	return left
}

// mergeOwnTask merges the call's own task, or at least its state. It reports whether it could merge all of it.
func (p *Plan) mergeOwnTask(made []byte, same bool) bool {
	f, own := p.call.Plan, p.call.Task
	path := f.Path
	trim := func(text string, err error) string { return strings.TrimRight(text, "\r\n") }
	base, now := trim(store.TextIn(path, p.files[0].data, own)), trim(store.TextIn(path, made, own))
	whole, err := store.Text(f, own)
	switch theirs := trim(whole, err); {
	case base == now && same:
		return true
	case base != "" && base == theirs: // nobody else has changed it
		if _, err := store.Replace(f, own, whole, now+whole[len(theirs):]); err == nil {
			return true
		}
	}
	list, err := store.Parse(path, made, nil)
	to, known := list.Find(own.ID)
	if err != nil || !known {
		return false
	}
	if to.State != own.State {
		err = store.Restore(f, own, to)
	}
	return err == nil && to.Wording() == own.Wording() && p.sameBelow(made)
}

// sameBelow is true if the copy says the same about the tasks below the call's own one.
func (p *Plan) sameBelow(made []byte) bool {
	list, err := store.Parse(p.call.Plan.Path, made, nil)
	if err != nil {
		return false
	}
	_, is := family(list.Tasks, p.call.Task.ID)
	_, was := family(p.before.List.Tasks, p.call.Task.ID)
	if len(is) != len(was) {
		return false
	}
	for i := 1; i < len(is); i++ {
		a, b := list.Tasks[is[i]], p.before.List.Tasks[was[i]]
		if a.State != b.State || a.Wording() != b.Wording() {
			return false
		}
	}
	return true
}

// added returns the titles of the tasks that only the second plan has.
func added(before, after []task.Task) (titles []string) {
	at := task.Index(before)
	for _, t := range after {
		if _, was := at[t.ID]; !was {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// lost names the new tasks that were dropped with the call's other changes; empty: none.
func (o Outcome) lost() string {
	if len(o.added) == 0 {
		return ""
	}
	return fmt.Sprintf("; new tasks were dropped with it. To keep them, add them yourself: %q", o.added)
}
