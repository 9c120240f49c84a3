package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"ralph/runner/task"
)

// edit replaces a range with a text.
type edit struct {
	task.Range
	Text string
}

// Set gives t another state in the plan at path and changes nothing else: one byte of a box,
// or the value of a field. It reads the files again and finds t by its own id, by its title,
// or by its id if the title has changed, so other lines may have moved. It does nothing if t
// has that state. The write is atomic, keeps the file's mode and
// never overwrites what somebody else has written meanwhile. It fails if t is gone or
// several tasks match, and with task.ErrNoWord if the format has no word for the state.
func Set(f File, t task.Task, s task.State) error { return set(f, t, task.Task{State: s}) }

// Restore gives t in the plan the state of the earlier version, and its word for it.
func Restore(f File, t, earlier task.Task) error { return set(f, t, earlier) }

// Mark gives the task with an id another state, and reports whether the files have changed. It changes nothing if the
// plan cannot be read, if the task is gone or has that state, or if the format has no word for it.
func Mark(f File, id string, s task.State) (changed bool, err error) {
	p, err := open(f)
	t, known := p.List.Find(id)
	if err != nil || !known || t.State == s {
		return false, nil
	}
	if err = Set(f, t, s); errors.Is(err, task.ErrNoWord) {
		return false, nil
	}
	return err == nil, err
}

// SetResults writes results of a task, by key, where its record has a place for them. It reports whether the files
// have changed.
func SetResults(f File, t task.Task, results map[string]any) (changed bool, err error) {
	err = update(f, func(p *plan) (edits []edit, err error) {
		i, err := task.Locate(p.Tasks, t)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(results)) {
			if to, ok := p.Spots[i].Results[key]; ok {
				text, err := json.Marshal(results[key])
				if err != nil {
					return nil, fmt.Errorf("write results: %w", err)
				}
				edits = append(edits, edit{to.Range, to.Words[task.Done] + string(text)})
			}
		}
		changed = len(edits) > 0
		return edits, nil
	})
	return changed && err == nil, err
}

// set gives a task the state of another one, and its word for it.
func set(f File, t, to task.Task) error {
	err := error(nil)
	if program, ok := f.program(); ok {
		err = program.setState(f.Path, t, to.State)
	} else {
		err = update(f, func(p *plan) ([]edit, error) { return p.stateEdits(t, to.State, to.Word) })
	}
	if err != nil {
		return fmt.Errorf("mark task %q in %q: %w", t.Title, f.Path, err)
	}
	return nil
}

// stateEdits returns the edits that give t a state, in ralph's word for it or the given one.
func (p *plan) stateEdits(t task.Task, s task.State, word string) ([]edit, error) {
	i, err := task.Locate(p.Tasks, t)
	if err != nil {
		return nil, err
	}
	now := p.Tasks[i]
	if now.State == s && (word == "" || now.Word == word) {
		return nil, nil
	}
	edits, err := spot(p.Spots[i]).to(now.State, s)
	if w := p.Spots[i].Word; word != "" && w.End > 0 {
		edits = slices.DeleteFunc(edits, func(e edit) bool {
			return e.File == w.File && e.Start >= w.Start && e.End <= w.End
		})
		edits, err = append(edits, edit{w, word}), nil
	}
	return edits, err
}

type spot task.Spot

// to returns the edits that change a state.
func (s spot) to(from, to task.State) ([]edit, error) {
	var edits []edit
	for _, place := range s.States {
		text, ok := place.Words[to]
		if !ok || place.Final && from != task.Done && to != task.Done {
			continue
		}
		edits = append(edits, edit{place.Range, task.Stamped(text, time.Now())})
	}
	if !slices.ContainsFunc(s.States, func(p task.Place) bool { _, ok := p.Words[to]; return ok && !p.Final }) {
		return nil, fmt.Errorf("%w: %s", task.ErrNoWord, to)
	}
	return edits, nil
}

// update changes files of a plan. It calls change again whenever
// somebody else has written a file meanwhile.
func update(f File, change func(*plan) ([]edit, error)) error {
	unlock, err := LockPlan(f.Path)
	if err != nil {
		return err
	}
	defer unlock()
	for range MaxTries {
		p, err := open(f)
		if err != nil {
			return err
		}
		edits, err := change(&p)
		if err != nil || len(edits) == 0 {
			return err
		}
		if err = p.write(edits); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}

// apply returns the files with the edits, by index.
func (p *plan) apply(edits []edit) map[int][]byte {
	sort.SliceStable(edits, func(i, j int) bool {
		return cmp.Or(cmp.Compare(edits[i].File, edits[j].File), cmp.Compare(edits[j].Start, edits[i].Start)) < 0
	})
	texts := map[int][]byte{}
	for _, e := range edits {
		f := p.files[e.File]
		data, changed := texts[e.File]
		if !changed {
			data = f.data
		}
		texts[e.File] = slices.Concat(data[:f.bom+e.Start], []byte(e.Text), data[f.bom+e.End:])
	}
	return texts
}

// write applies the edits, unless a file has changed since it was read. It writes the first file last. That is the plan
// itself with the states: until then, another try can start again.
func (p *plan) write(edits []edit) error {
	texts := p.apply(edits)
	maps.DeleteFunc(texts, func(i int, text []byte) bool { return bytes.Equal(text, p.files[i].data) })
	for i := range texts {
		if now, err := p.in.Read(p.files[i].path, MaxSize); err != nil || !bytes.Equal(now, p.files[i].data) {
			return ErrChanged
		}
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(texts))) {
		f := p.files[i]
		if err := replaceFile(p.in, f.path, f.data, texts[i]); err != nil {
			return err
		}
	}
	return nil
}
